#include "tools/cli/tool.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <new>

#include "absl/strings/str_cat.h"
#include "ir/did_you_mean.h"
#include "ir/release.h"
#include "tools/cli/completion.h"
#include "tools/cli/manual.h"
#include "tools/cli/report.h"

namespace tile::tools {
namespace {

// The exit code, unless what was printed did not arrive.
int Flushed(int exit) {
  const bool failed = std::fflush(stdout) != 0 || std::ferror(stdout) != 0;
  if (!failed || (exit != kOk && exit != kDiffers)) return exit;  // one error is enough
  return FailAt("stdout", kEnvironment, "output.write", absl::StrCat("cannot be written: ", std::strerror(errno)));
}

int Print(const std::string& text) {
  std::fputs(text.c_str(), stdout);
  return Flushed(kOk);
}

const Command* Find(const Tool& tool, absl::string_view name) {
  for (const Command* c : tool.commands) {
    if (name == c->name) return c;
  }
  return nullptr;
}

std::string Suggestion(const Tool& tool, const std::string& name) {
  std::vector<absl::string_view> names = {"help", "completion", "manual", "version"};
  for (const Command* c : tool.commands) names.push_back(c->name);
  return ir::DidYouMean(name, names);
}

int NoCommand(const Tool& tool, const std::string& name, absl::string_view what) {
  const std::string suggestion = Suggestion(tool, name);
  return Fail(kUsage, "usage", absl::StrCat("no ", what, " `", name, "`"),
              absl::StrCat(suggestion, suggestion.empty() ? "" : " ", "`", tool.name, " --help` lists them"));
}

int Completion(const Tool& tool, const std::vector<std::string>& args) {
  if (args.size() == 2 && args[1] == "bash") return Print(BashCompletion(tool));
  if (args.size() == 2 && args[1] == "zsh") return Print(ZshCompletion(tool));
  if (args.size() == 2 && (args[1] == "--help" || args[1] == "-h")) {
    return Print(absl::StrCat(
        "usage: ", tool.name, " completion bash|zsh\n\nPrints a script that completes commands, options and ",
        "their values.\n\n  . <(", tool.name, " completion bash)               for this shell\n  ", tool.name,
        " completion zsh > FOLDER/_", tool.name,
        "   FOLDER being in $fpath\n\n./install puts both where shells look.\n"));
  }
  return Fail(kUsage, "usage", absl::StrCat("expected `", tool.name, " completion bash` or `completion zsh`"));
}

int Manual(const Tool& tool, const std::vector<std::string>& args) {
  if (args.size() == 1) return Print(ManualPage(tool));
  if (args.size() == 2 && (args[1] == "--help" || args[1] == "-h")) {
    return Print(absl::StrCat("usage: ", tool.name,
                              " manual\n\nPrints the manual page, in the form that `man` reads.\n\n  ", tool.name,
                              " manual | man -l -              to read it\n  ", tool.name, " manual > FOLDER/man1/",
                              tool.name, ".1   FOLDER being in $MANPATH\n\n./install puts it where `man` looks.\n"));
  }
  return Fail(kUsage, "usage", "`manual` takes no arguments",
              absl::StrCat("`", tool.name, " manual | man -l -` shows the manual page"));
}

// Whether the first argument asks for the release: every tool is asked so.
bool AsksForVersion(const Tool& tool, const std::vector<std::string>& args) {
  if (args.size() > 1) return false;
  if (args[0] == "--version" || args[0] == "-V") return true;
  // A tool that takes a file in place of a command has options, and files may be called so.
  return tool.otherwise == nullptr ? args[0] == "-v" || args[0] == "version"
                                   : args[0] == "version" && access("version", F_OK) != 0;
}

// What a command that was to print JSON has not: why it failed.
int WithJson(int exit) {
  if (exit == kOk || HasPrintedJson()) return exit;
  PrintJson(absl::StrCat("{", FailureMembers(exit), "}"));
  return exit;
}

int RunCommand(const Tool& tool, const Command& command, const std::vector<std::string>& args) {
  const bool has_json = std::any_of(command.options.begin(), command.options.end(),
                                    [](const OptionSpec& o) { return absl::string_view(o.name) == "json"; });
  const auto end = std::find(args.begin(), args.end(), "--");
  const bool json = has_json && std::find(args.begin(), end, "--json") != end;
  KeepDiagnostics(json);
  absl::StatusOr<Options> options = Options::Parse(command, args);
  int exit = kOk;
  if (!options.ok()) {
    exit = Fail(kUsage, "usage", options.status().message());
  } else if (options->has("help")) {
    return Print(HelpOf(tool, command));
  } else {
    try {
      exit = command.run(*options);
    } catch (const std::bad_alloc&) {
      // What the command had is free again.
      exit = Fail(kEnvironment, "memory", "no memory is left", "allow the process more, or use smaller inputs");
    }
  }
  return Flushed(json ? WithJson(exit) : exit);
}

int Run(const Tool& tool, int argc, char** argv) {
  std::vector<std::string> args(argv + 1, argv + argc);
  if (args.empty()) {
    std::fputs(HelpOf(tool).c_str(), stderr);
    return kUsage;
  }
  const std::string first = args[0];
  if (first == "--help" || first == "-h" || (first == "help" && args.size() == 1)) return Print(HelpOf(tool));
  if (first == "--version" || AsksForVersion(tool, args))
    return Print(absl::StrCat(tool.name, " ", ir::kRelease, "\n"));
  if (first == "completion") return Completion(tool, args);
  if (first == "manual") return Manual(tool, args);
  if (first == "help") {
    if (args[1] == "completion") return Completion(tool, {"completion", "--help"});
    if (args[1] == "manual") return Manual(tool, {"manual", "--help"});
    const Command* c = Find(tool, args[1]);
    return c == nullptr ? NoCommand(tool, args[1], "command") : Print(HelpOf(tool, *c));
  }
  const Command* c = Find(tool, first);
  if (c != nullptr) {
    args.erase(args.begin());
  } else if (tool.otherwise != nullptr) {
    // Alone, and near the name of a command: no file was meant.
    const bool misspelled = args.size() == 1 && first[0] != '-' && access(first.c_str(), F_OK) != 0;
    if (misspelled && !Suggestion(tool, first).empty()) return NoCommand(tool, first, "command or file");
    c = tool.otherwise;
  } else {
    return NoCommand(tool, first, "command");
  }
  return RunCommand(tool, *c, args);
}

}  // namespace

int RunTool(const Tool& tool, int argc, char** argv) {
  try {
    return Run(tool, argc, argv);
  } catch (const std::bad_alloc&) {
    static constexpr char kText[] = "error[memory]: no memory is left, not even to say more\n";
    [[maybe_unused]] const ssize_t written = write(STDERR_FILENO, kText, sizeof kText - 1);
    return kEnvironment;
  }
}

}  // namespace tile::tools

#include "tools/cli/options.h"

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "ir/release.h"
#include "tools/cli/report.h"

namespace tile::tools {
namespace {

const OptionSpec kHelp = {"help", 'h', nullptr, "print this help"};

const OptionSpec* FindByName(const Command& c, absl::string_view name) {
  for (const OptionSpec& o : c.options) {
    if (name == o.name) return &o;
  }
  return name == "help" ? &kHelp : nullptr;
}

const OptionSpec* FindByLetter(const Command& c, char letter) {
  for (const OptionSpec& o : c.options) {
    if (o.letter == letter) return &o;
  }
  return letter == 'h' ? &kHelp : nullptr;
}

std::string Flags(const OptionSpec& o) {
  return absl::StrCat(o.letter ? absl::StrCat("-", std::string(1, o.letter), ", ") : "    ", "--", o.name,
                      o.value ? absl::StrCat(" ", o.value) : "");
}

// The exit code, unless what was printed did not arrive.
int Flushed(int exit) {
  const bool failed = std::fflush(stdout) != 0 || std::ferror(stdout) != 0;
  if (!failed || (exit != kOk && exit != kDiffers)) return exit;  // one error is enough
  return FailAt("stdout", kEnvironment, "output.write", absl::StrCat("cannot be written: ", std::strerror(errno)));
}

}  // namespace

std::string Options::value(absl::string_view name) const {
  auto it = values_.find(name);
  return it == values_.end() ? "" : it->second.back();
}

std::vector<std::string> Options::values(absl::string_view name) const {
  auto it = values_.find(name);
  return it == values_.end() ? std::vector<std::string>() : it->second;
}

absl::StatusOr<int64_t> Options::Integer(absl::string_view name, int64_t missing, int64_t least, int64_t most) const {
  if (!has(name)) return missing;
  int64_t n;
  if (!absl::SimpleAtoi(value(name), &n) || n < least || n > most) {
    return absl::InvalidArgumentError(absl::StrCat("--", name, " ", value(name), ": expected a number from ", least, " to ", most));
  }
  return n;
}

absl::StatusOr<double> Options::Number(absl::string_view name, double missing) const {
  if (!has(name)) return missing;
  double x;
  if (!absl::SimpleAtod(value(name), &x) || !(x >= 0)) {
    return absl::InvalidArgumentError(absl::StrCat("--", name, " ", value(name), ": expected a number of 0 or more"));
  }
  return x;
}

absl::StatusOr<Options> Options::Parse(const Command& command, const std::vector<std::string>& args) {
  Options result;
  result.command_line_ = args;
  const auto unknown = [&](absl::string_view text) {
    return absl::InvalidArgumentError(absl::StrCat("unknown option ", text, "; see `--help` of ", command.name));
  };
  for (size_t i = 0; i < args.size(); ++i) {
    const std::string& arg = args[i];
    if (arg == "--") {
      result.positional_.insert(result.positional_.end(), args.begin() + static_cast<std::ptrdiff_t>(i) + 1, args.end());
      break;
    }
    // A negative number is a value, not an option.
    double number;
    if (arg.size() < 2 || arg[0] != '-' || absl::StartsWith(arg, "-:") || absl::StartsWith(arg, "-.") ||
        absl::SimpleAtod(arg, &number)) {
      result.positional_.push_back(arg);
      continue;
    }
    const OptionSpec* spec = nullptr;
    std::string value;
    bool has_value = false;
    if (arg[1] == '-') {
      const size_t eq = arg.find('=');
      const std::string name = arg.substr(2, eq == std::string::npos ? std::string::npos : eq - 2);
      spec = FindByName(command, name);
      if (spec == nullptr) return unknown(absl::StrCat("--", name));
      if (eq != std::string::npos) {
        value = arg.substr(eq + 1);
        has_value = true;
      }
    } else {
      spec = FindByLetter(command, arg[1]);
      if (spec == nullptr) return unknown(arg);
      if (arg.size() > 2) {
        value = arg.substr(2);
        has_value = true;
      }
    }
    if (spec->value == nullptr && has_value) {
      return absl::InvalidArgumentError(absl::StrCat("--", spec->name, " takes no value"));
    }
    if (spec->value != nullptr && !has_value) {
      if (i + 1 == args.size()) return absl::InvalidArgumentError(absl::StrCat("--", spec->name, " needs a value: ", spec->value));
      value = args[++i];
    }
    std::vector<std::string>& list = result.values_[spec->name];
    if (!list.empty() && !spec->repeats && spec->value != nullptr) {
      return absl::InvalidArgumentError(absl::StrCat("--", spec->name, " is given twice"));
    }
    list.push_back(value);
  }
  return result;
}

std::string HelpOf(absl::string_view tool, const Command& c) {
  std::string s = absl::StrCat("usage: ", tool, " ", c.name, " ", c.arguments, "\n\n", c.summary, "\n\noptions:\n");
  size_t width = Flags(kHelp).size();
  for (const OptionSpec& o : c.options) width = std::max(width, Flags(o).size());
  width = std::min<size_t>(width, 30);
  const auto line = [&](const OptionSpec& o) {
    std::string flags = Flags(o);
    if (flags.size() > width) {
      absl::StrAppend(&s, "  ", flags, "\n  ", std::string(width, ' '), "  ", o.help, "\n");
    } else {
      flags.resize(width, ' ');
      absl::StrAppend(&s, "  ", flags, "  ", o.help, "\n");
    }
  };
  for (const OptionSpec& o : c.options) line(o);
  line(kHelp);
  if (c.details[0] != '\0') absl::StrAppend(&s, "\n", c.details);
  absl::StrAppend(&s, "\nexit codes: 0 ok, 1 input rejected, 2 usage, 3 results differ, 4 kernel trapped, 5 environment (no\n"
                      "such device, output cannot be written), 70 internal error\n");
  return s;
}

int RunTool(absl::string_view tool, absl::string_view intro, const std::vector<const Command*>& commands, int argc,
            char** argv) {
  const std::vector<std::string> args(argv + 1, argv + argc);
  const auto overview = [&] {
    std::string s = absl::StrCat(intro, "\nusage: ", tool, " COMMAND [ARGUMENTS…]\n\ncommands:\n");
    for (const Command* c : commands) {
      std::string name = c->name;
      name.resize(10, ' ');
      absl::StrAppend(&s, "  ", name, c->summary, "\n");
    }
    absl::StrAppend(&s, "\n`", tool, " COMMAND --help` tells more; `", tool, " --version` prints the release.\n");
    return s;
  };
  if (args.empty()) {
    std::fputs(overview().c_str(), stderr);
    return kUsage;
  }
  if (args[0] == "--help" || args[0] == "-h" || (args[0] == "help" && args.size() == 1)) {
    std::fputs(overview().c_str(), stdout);
    return Flushed(kOk);
  }
  if (args[0] == "--version") {
    std::printf("%s %s\n", std::string(tool).c_str(), ir::kRelease);
    return Flushed(kOk);
  }
  const bool help = args[0] == "help";
  const std::string& name = help ? args[1] : args[0];
  for (const Command* c : commands) {
    if (name != c->name) continue;
    if (help) {
      std::fputs(HelpOf(tool, *c).c_str(), stdout);
      return Flushed(kOk);
    }
    absl::StatusOr<Options> options = Options::Parse(*c, std::vector<std::string>(args.begin() + 1, args.end()));
    if (!options.ok()) return Fail(kUsage, "usage", options.status().message());
    if (options->has("help")) {
      std::fputs(HelpOf(tool, *c).c_str(), stdout);
      return Flushed(kOk);
    }
    return Flushed(c->run(*options));
  }
  return Fail(kUsage, "usage", absl::StrCat("no command `", name, "`"), absl::StrCat("`", tool, " --help` lists them"));
}

}  // namespace tile::tools

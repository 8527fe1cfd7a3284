#include "tools/cli/options.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "ir/did_you_mean.h"

namespace tile::tools {
namespace {

const OptionSpec* FindByName(const Command& c, absl::string_view name) {
  for (const OptionSpec& o : c.options) {
    if (name == o.name) return &o;
  }
  return name == "help" ? &kHelpOption : nullptr;
}

const OptionSpec* FindByLetter(const Command& c, char letter) {
  for (const OptionSpec& o : c.options) {
    if (o.letter == letter) return &o;
  }
  return letter == 'h' ? &kHelpOption : nullptr;
}

// For a misspelled option; its flags as a user writes them.
std::string Suggestion(const Command& c, absl::string_view name) {
  std::vector<absl::string_view> names = {kHelpOption.name};
  for (const OptionSpec& o : c.options) names.push_back(o.name);
  std::string s = ir::DidYouMean(name, names);
  constexpr absl::string_view kBefore = "did you mean ";
  if (!s.empty()) s.insert(kBefore.size(), "--");
  return s;
}

}  // namespace

const char kExitCodes[] =
    "0 ok, 1 input rejected, 2 usage, 3 results differ, 4 kernel trapped, 5 environment (no\n"
    "such device, output cannot be written), 70 internal error\n";

const OptionSpec kHelpOption = {"help", 'h', nullptr, "print this help"};

std::string OptionFlags(const OptionSpec& o) {
  return absl::StrCat(o.letter ? absl::StrCat("-", std::string(1, o.letter), ", ") : "    ", "--", o.name,
                      o.value ? absl::StrCat(" ", o.value) : "");
}

std::vector<std::string> ValueWords(const OptionSpec& option) {
  std::vector<std::string> words;
  if (option.value == nullptr || !absl::StrContains(option.value, '|')) return words;
  for (absl::string_view word : absl::StrSplit(option.value, '|')) {
    word = word.substr(0, word.find_first_of("[:"));
    // Capitals stand for anything: FILE|FOLDER.
    if (std::any_of(word.begin(), word.end(), absl::ascii_isupper)) return {};
    words.emplace_back(word);
  }
  return words;
}

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
    return absl::InvalidArgumentError(
        absl::StrCat("--", name, " ", value(name), ": expected a number from ", least, " to ", most));
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
  const auto unknown = [&](absl::string_view text, const std::string& suggestion) {
    return absl::InvalidArgumentError(absl::StrCat("unknown option ", text, "\n  fix: ", suggestion,
                                                   suggestion.empty() ? "" : " ", "`", command.name,
                                                   " --help` lists them"));
  };
  for (size_t i = 0; i < args.size(); ++i) {
    const std::string& arg = args[i];
    if (arg == "--") {
      result.positional_.insert(result.positional_.end(), args.begin() + static_cast<std::ptrdiff_t>(i) + 1,
                                args.end());
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
      if (spec == nullptr) return unknown(absl::StrCat("--", name), Suggestion(command, name));
      if (eq != std::string::npos) {
        value = arg.substr(eq + 1);
        has_value = true;
      }
    } else {
      spec = FindByLetter(command, arg[1]);
      if (spec == nullptr)
        return unknown(arg, arg.size() > 2 ? Suggestion(command, absl::string_view(arg).substr(1)) : "");
      if (arg.size() > 2) {
        value = arg.substr(2);
        has_value = true;
      }
    }
    if (spec->value == nullptr && has_value) {
      return absl::InvalidArgumentError(absl::StrCat("--", spec->name, " takes no value"));
    }
    if (spec->value != nullptr && !has_value) {
      if (i + 1 == args.size())
        return absl::InvalidArgumentError(absl::StrCat("--", spec->name, " needs a value: ", spec->value));
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

std::string HelpOf(const Tool& tool, const Command& c) {
  std::string s =
      absl::StrCat("usage: ", tool.name, " ", c.name, " ", c.arguments, "\n\n", c.summary, "\n\noptions:\n");
  size_t width = OptionFlags(kHelpOption).size();
  for (const OptionSpec& o : c.options) width = std::max(width, OptionFlags(o).size());
  width = std::min<size_t>(width, 30);
  const auto line = [&](const OptionSpec& o) {
    std::string flags = OptionFlags(o);
    if (flags.size() > width) {
      absl::StrAppend(&s, "  ", flags, "\n  ", std::string(width, ' '), "  ", o.help, "\n");
    } else {
      flags.resize(width, ' ');
      absl::StrAppend(&s, "  ", flags, "  ", o.help, "\n");
    }
  };
  for (const OptionSpec& o : c.options) line(o);
  line(kHelpOption);
  if (c.details[0] != '\0') absl::StrAppend(&s, "\n", c.details);
  absl::StrAppend(&s, "\nexit codes: ", kExitCodes);
  return s;
}

std::string HelpOf(const Tool& tool) {
  std::string s = absl::StrCat(tool.intro, "\nusage: ", tool.name, " COMMAND [ARGUMENTS…]\n\ncommands:\n");
  const auto line = [&](std::string name, absl::string_view summary) {
    name.resize(std::max<size_t>(name.size() + 1, 12), ' ');
    absl::StrAppend(&s, "  ", name, summary, "\n");
  };
  for (const Command* c : tool.commands) line(c->name, c->summary);
  line("completion", "prints a script that completes commands and options: `completion bash`, `completion zsh`");
  line("manual", "prints the manual page, for `man -l`");
  absl::StrAppend(&s, "\n`", tool.name, " COMMAND --help` tells more; `", tool.name,
                  " --version` prints the release.\n");
  return s;
}

}  // namespace tile::tools

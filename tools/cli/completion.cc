#include "tools/cli/completion.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"

namespace tile::tools {
namespace {

std::vector<std::string> CommandNames(const Tool& tool) {
  std::vector<std::string> names;
  for (const Command* c : tool.commands) names.push_back(c->name);
  for (const char* own : {"help", "completion", "manual"}) names.push_back(own);
  return names;
}

std::vector<OptionSpec> OptionsOf(const Command& c) {
  std::vector<OptionSpec> all = c.options;
  all.push_back(kHelpOption);
  return all;
}

// "-o|--output".
std::string Flags(const OptionSpec& o, absl::string_view before) {
  std::string flags = absl::StrCat(before, "--", o.name);
  if (o.letter != 0) absl::StrAppend(&flags, "|", before, "-", std::string(1, o.letter));
  return flags;
}

// Inside of single quotes in zsh's specifications of options.
std::string ZshText(absl::string_view text) {
  return absl::StrReplaceAll(text, {{"\\", "\\\\"}, {"'", "'\\''"}, {"[", "\\["}, {"]", "\\]"}, {":", "\\:"}});
}

}  // namespace

std::string BashCompletion(const Tool& tool) {
  const std::string names = absl::StrJoin(CommandNames(tool), " ");
  std::string s = absl::StrCat("# Completion of ", tool.name, " for bash, written by `", tool.name,
                               " completion bash`.\n_", tool.name, R"(() {
  local current=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]} command=${COMP_WORDS[1]} options='' words=''
  # --name=value comes as three words.
  if [[ $current == = ]]; then
    current=
  elif [[ $before == = ]]; then
    before=${COMP_WORDS[COMP_CWORD-2]}
  fi
)");
  const std::string otherwise = tool.otherwise == nullptr ? "" : tool.otherwise->name;
  absl::StrAppend(&s, "  case $command in\n    ", absl::StrJoin(CommandNames(tool), "|"),
                  ") ;;\n    *) command=", otherwise.empty() ? "-" : otherwise, " ;;\n  esac\n",
                  "  if [[ $COMP_CWORD == 1 && $current != -?* ]]; then\n    words='", names,
                  "'\n  elif [[ $COMP_CWORD == 1 && $command == - ]]; then\n",
                  "    words='--help --version'\n  else\n    case $command in\n");
  for (const Command* c : tool.commands) {
    std::vector<std::string> options;
    std::string values;
    for (const OptionSpec& o : OptionsOf(*c)) {
      options.push_back(absl::StrCat("--", o.name));
      if (const std::vector<std::string> words = ValueWords(o); !words.empty()) {
        absl::StrAppend(&values, "          ", Flags(o, ""), ") words='", absl::StrJoin(words, " "), "' ;;\n");
      }
    }
    absl::StrAppend(&s, "      ", c->name, ")\n        options='", absl::StrJoin(options, " "), "'\n");
    if (c->words != nullptr) absl::StrAppend(&s, "        words='", absl::StrJoin(c->words(), " "), "'\n");
    if (!values.empty()) absl::StrAppend(&s, "        case $before in\n", values, "        esac ;;\n");
    if (values.empty()) absl::StrAppend(&s, "        ;;\n");
  }
  absl::StrAppend(&s, "      help) words='", absl::StrJoin(CommandNames(tool), " "),
                  "' ;;\n      completion) words='bash zsh' ;;\n    esac\n  fi\n",
                  "  [[ $current == -* && $options ]] && words=$options\n",
                  "  mapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"$current\")\n}\n", "complete -o default -F _",
                  tool.name, " ", tool.name, "\n");
  return s;
}

std::string ZshCompletion(const Tool& tool) {
  std::string s =
      absl::StrCat("#compdef ", tool.name, "\n# Completion of ", tool.name, " for zsh, written by `", tool.name,
                   " completion zsh`.\n_", tool.name, "() {\n  local -a commands\n  commands=(\n");
  for (const Command* c : tool.commands) absl::StrAppend(&s, "    '", c->name, ":", ZshText(c->summary), "'\n");
  absl::StrAppend(
      &s,
      "    'help:how a command is used'\n    'completion:a script that completes commands and options'\n    'manual:the manual page'\n  )\n",
      "  if (( CURRENT == 2 )); then\n    _describe command commands\n",
      tool.otherwise == nullptr ? "" : "    _files\n", "    return\n  fi\n  local command=$words[2]\n");
  if (tool.otherwise != nullptr) {
    absl::StrAppend(&s, "  if (( ! ${commands[(I)$command:*]} )); then\n    command=", tool.otherwise->name,
                    "\n  else\n    shift words; (( CURRENT-- ))\n  fi\n");
  } else {
    absl::StrAppend(&s, "  shift words; (( CURRENT-- ))\n");
  }
  absl::StrAppend(&s, "  case $command in\n");
  for (const Command* c : tool.commands) {
    absl::StrAppend(&s, "    ", c->name, ")\n      _arguments -s");
    for (const OptionSpec& o : OptionsOf(*c)) {
      const std::string long_name = absl::StrCat("--", o.name, o.value == nullptr ? "" : "=");
      std::string value;
      if (o.value != nullptr) {
        const std::vector<std::string> words = ValueWords(o);
        value = absl::StrCat(":", ZshText(o.value), ":",
                             words.empty() ? "_files" : absl::StrCat("(", absl::StrJoin(words, " "), ")"));
      }
      const std::string text = absl::StrCat("[", ZshText(o.help), "]", value);
      absl::StrAppend(&s, " \\\n        '", o.repeats ? "*" : "", long_name, text, "'");
      if (o.letter != 0)
        absl::StrAppend(&s, " \\\n        '", o.repeats ? "*" : "", "-", std::string(1, o.letter),
                        o.value == nullptr ? "" : "+", text, "'");
    }
    absl::StrAppend(&s, " \\\n        '*:",
                    c->words == nullptr ? "file:_files" : absl::StrCat("name:(", absl::StrJoin(c->words(), " "), ")"),
                    "' ;;\n");
  }
  absl::StrAppend(&s,
                  "    help) _describe command commands ;;\n    completion) _values shell bash zsh ;;\n  esac\n}\n_",
                  tool.name, " \"$@\"\n");
  return s;
}

}  // namespace tile::tools

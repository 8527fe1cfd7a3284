#include "tools/cli/manual.h"

#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "ir/release.h"

namespace tile::tools {
namespace {

// Text as the markup has it: no line of it is a request, no character an escape.
std::string Roff(absl::string_view text) {
  std::string out;
  bool first = true;
  for (absl::string_view line : absl::StrSplit(text, '\n')) {
    if (!std::exchange(first, false)) out += '\n';
    if (absl::StartsWith(line, ".") || absl::StartsWith(line, "'")) out += "\\&";
    absl::StrAppend(
        &out, absl::StrReplaceAll(
                  line, {{"\\", "\\e"}, {"-", "\\-"}, {"`", "\\(ga"}, {"'", "\\(aq"}, {"^", "\\(ha"}, {"~", "\\(ti"}}));
  }
  return out;
}

// Lines as they are.
std::string Verbatim(absl::string_view text) {
  return absl::StrCat(".nf\n", Roff(absl::StripTrailingAsciiWhitespace(text)), "\n.fi\n");
}

}  // namespace

std::string ManualPage(const Tool& tool) {
  const absl::string_view intro = tool.intro;
  const std::vector<std::string> lines = absl::StrSplit(absl::StripTrailingAsciiWhitespace(intro), '\n');
  const std::string prefix = absl::StrCat(tool.name, ": ");
  std::string summary = lines[0];
  if (absl::StartsWith(summary, prefix)) summary = summary.substr(prefix.size());
  std::string s = absl::StrCat(".TH ", absl::AsciiStrToUpper(tool.name), " 1 \"\" \"", tool.name, " ", ir::kRelease,
                               "\"\n.SH NAME\n", tool.name, " \\- ", Roff(summary), "\n.SH SYNOPSIS\n.B ", tool.name,
                               "\nCOMMAND [ARGUMENTS...]\n");
  if (lines.size() > 1) {
    absl::StrAppend(&s, ".SH DESCRIPTION\n");
    for (size_t i = 1; i < lines.size(); ++i)
      absl::StrAppend(&s, Roff(absl::StripAsciiWhitespace(lines[i])), "\n.br\n");
  }
  absl::StrAppend(&s, ".SH COMMANDS\n");
  for (const Command* c : tool.commands) {
    absl::StrAppend(&s, ".SS ", tool.name, " ", c->name, " ", Roff(c->arguments), "\n", Roff(c->summary), "\n");
    for (const OptionSpec& o : c->options) {
      absl::StrAppend(&s, ".TP\n.B ", Roff(absl::StripAsciiWhitespace(OptionFlags(o))), "\n", Roff(o.help), "\n");
    }
    if (c->details[0] != '\0') absl::StrAppend(&s, ".PP\n", Verbatim(c->details));
  }
  absl::StrAppend(&s, ".SH \"EXIT STATUS\"\n", Roff(kExitCodes));
  return s;
}

}  // namespace tile::tools

#include "tools/cli/diagnostic_json.h"

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "ir/escape.h"
#include "tools/data/json.h"

namespace tile::tools {
namespace {

// Takes ":123" off the end.
bool TakeNumber(absl::string_view* text, int* number) {
  const size_t colon = text->rfind(':');
  if (colon == absl::string_view::npos || colon == 0) return false;
  const absl::string_view digits = text->substr(colon + 1);
  if (digits.empty() || !absl::ascii_isdigit(static_cast<unsigned char>(digits[0])) ||
      !absl::SimpleAtoi(digits, number))
    return false;
  *text = text->substr(0, colon);
  return true;
}

// "file:line:col: error[code]: message". The first word of that form counts: the message may hold another.
bool ParseFirstLine(absl::string_view line, PrintedDiagnostic* d) {
  size_t at = absl::string_view::npos;  // of "error[" or "warning["
  for (absl::string_view severity : {"error", "warning"}) {
    const std::string opening = absl::StrCat(severity, "[");
    size_t found = absl::StartsWith(line, opening) ? 0 : line.find(absl::StrCat(": ", opening));
    if (found == absl::string_view::npos) continue;
    if (found > 0) found += 2;
    if (at != absl::string_view::npos && at < found) continue;
    at = found;
    d->severity = std::string(severity);
  }
  if (at == absl::string_view::npos) return false;
  absl::string_view rest = line.substr(at + d->severity.size() + 1), where = line.substr(0, at);
  absl::ConsumeSuffix(&where, ": ");
  const size_t end = rest.find(']');
  if (end == absl::string_view::npos) return false;
  d->code = std::string(rest.substr(0, end));
  rest.remove_prefix(end + 1);
  absl::ConsumePrefix(&rest, ":");
  d->message = std::string(absl::StripLeadingAsciiWhitespace(rest));
  int last = 0;
  if (TakeNumber(&where, &last)) {
    if (TakeNumber(&where, &d->line)) {
      d->col = last;
    } else {
      d->line = last;
    }
  }
  d->file = std::string(where);
  return true;
}

std::string Text(absl::string_view text) { return text.empty() ? "null" : JsonQuote(ir::Escaped(text)); }
std::string Number(int n) { return n == 0 ? "null" : absl::StrCat(n); }

}  // namespace

std::vector<PrintedDiagnostic> ParseDiagnostics(absl::string_view text) {
  std::vector<PrintedDiagnostic> all;
  std::string* open = nullptr;  // what a line without a heading of its own goes on with
  for (absl::string_view line : absl::StrSplit(absl::StripSuffix(text, "\n"), '\n')) {
    PrintedDiagnostic d;
    absl::string_view fix = line;
    if (!absl::StartsWith(line, " ") && ParseFirstLine(line, &d)) {
      all.push_back(std::move(d));
      open = &all.back().details;
    } else if (open != nullptr && absl::ConsumePrefix(&fix, "  fix: ")) {
      all.back().fix = std::string(fix);
      open = &all.back().fix;
    } else if (open != nullptr) {
      absl::StrAppend(open, open->empty() ? "" : "\n", line);
    }
  }
  return all;
}

std::string DiagnosticMembers(const PrintedDiagnostic& d) {
  return absl::StrCat("\"severity\":", Text(d.severity), ",\"code\":", Text(d.code), ",\"file\":", Text(d.file),
                      ",\"line\":", Number(d.line), ",\"col\":", Number(d.col),
                      ",\"message\":", JsonQuote(ir::Escaped(d.message)), ",\"fix\":", Text(d.fix),
                      ",\"details\":", Text(d.details));
}

std::string DiagnosticsJson(const std::vector<PrintedDiagnostic>& diagnostics) {
  return absl::StrCat("[",
                      absl::StrJoin(diagnostics, ",",
                                    [](std::string* out, const PrintedDiagnostic& d) {
                                      absl::StrAppend(out, "{", DiagnosticMembers(d), "}");
                                    }),
                      "]");
}

}  // namespace tile::tools

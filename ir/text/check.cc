#include "ir/text/check.h"

#include <algorithm>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"
#include "ir/excerpt.h"
#include "ir/reading.h"
#include "ir/text/parser.h"
#include "ir/text/parser_internal.h"

namespace tile::ir {
namespace {

// A diagnostic and its place in this text; line 0 if it speaks of another file.
struct Placed {
  SourcePos pos;
  Diagnostic said;
};

Placed Place(const Diagnostic& d, absl::string_view file) {
  Placed p{{}, d};
  if (!absl::StartsWith(d.where, file)) return p;
  const std::vector<absl::string_view> parts = absl::StrSplit(absl::string_view(d.where).substr(file.size()), ':');
  if (parts.size() != 3 || !parts[0].empty() || !absl::SimpleAtoi(parts[1], &p.pos.line) ||
      !absl::SimpleAtoi(parts[2], &p.pos.column))
    p.pos = {};
  return p;
}

// Lines and carets of diagnostics in ascending order, in one pass over the text.
void AddExcerpts(absl::string_view text, std::vector<Placed>* list) {
  size_t begin = 0;
  uint32_t line = 1;
  for (Placed& p : *list) {
    if (p.pos.line == 0 || !p.said.excerpt.empty()) continue;
    while (line < p.pos.line) {
      const size_t end = text.find('\n', begin);
      if (end == absl::string_view::npos) return;
      begin = end + 1;
      ++line;
    }
    // Columns count from the byte behind a byte order mark.
    const size_t skip = line == 1 && absl::StartsWith(text, "\xEF\xBB\xBF") ? 3 : 0;
    const size_t at = begin + skip + p.pos.column - 1;
    if (at <= text.size()) p.said.excerpt = Excerpt(text, begin + skip, at);
  }
}

}  // namespace

std::unique_ptr<Module> ParseAndVerify(absl::string_view text, absl::string_view file_name, Diagnostics* diags) {
  Diagnostics found;
  Reading reading;
  std::unique_ptr<Module> module = ParsePartly(text, file_name, &found, &reading);
  if (module != nullptr) {
    Verify(*module, reading, &found);
    LeaveOut(reading, module.get());
  }
  const absl::string_view file = file_name.empty() ? absl::string_view("<input>") : file_name;
  std::vector<Placed> list;
  for (const Diagnostic& d : found.list()) list.push_back(Place(d, file));
  std::stable_sort(list.begin(), list.end(), [](const Placed& a, const Placed& b) {
    return a.pos.line != b.pos.line ? a.pos.line < b.pos.line : a.pos.column < b.pos.column;
  });
  AddExcerpts(text, &list);
  for (const Placed& p : list) {
    if (p.said.severity == Severity::kError) {
      diags->Error(p.said.code, p.said.where, p.said.message, p.said.fix, p.said.excerpt);
    } else {
      diags->Warning(p.said.code, p.said.where, p.said.message, p.said.fix);
    }
  }
  return found.ok() && !diags->full() ? std::move(module) : nullptr;
}

}  // namespace tile::ir

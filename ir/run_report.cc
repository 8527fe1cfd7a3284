#include "ir/run_report.h"

#include <algorithm>
#include <tuple>

#include "absl/strings/str_cat.h"
#include "ir/cpp_name.h"
#include "ir/debug_lines.h"

namespace tile::ir {
namespace {

std::string BlockText(const int64_t (&b)[3]) { return absl::StrCat("(", b[0], ", ", b[1], ", ", b[2], ")"); }

bool IsBefore(const int64_t (&a)[3], const int64_t (&b)[3]) {
  return std::tie(a[2], a[1], a[0]) < std::tie(b[2], b[1], b[0]);
}

}  // namespace

std::string RunReport::ToString() const {
  std::string s = absl::StrCat(where, warning ? ": warning[" : ": error[", code, "]: ", message, elements,
                               "\n  in kernel `", ReadableName(kernel), "`");
  if (block[0] >= 0) absl::StrAppend(&s, ", block ", BlockText(block));
  if (!op.empty()) absl::StrAppend(&s, ", at ", op);
  if (others == 1) absl::StrAppend(&s, ", and in block ", BlockText(first_other));
  if (others > 1) {
    absl::StrAppend(&s, ", and in ", others, " other blocks: first ", BlockText(first_other), ", last ",
                    BlockText(last_other));
  }
  if (!order.empty())
    absl::StrAppend(&s, "\n  when blocks start in the order ", order, "; repeat it with --order=", order);
  absl::StrAppend(&s, NoteOnLines(where));
  if (!fix.empty()) absl::StrAppend(&s, "\n  fix: ", fix);
  return s;
}

bool RunReport::SaysSame(const RunReport& other) const {
  const auto said = [](const RunReport& r) {
    return std::tie(r.warning, r.code, r.where, r.kernel, r.op, r.message, r.fix, r.order);
  };
  return said(*this) == said(other) && (block[0] >= 0) == (other.block[0] >= 0);
}

void RunReport::AddBlock(const RunReport& other) {
  const auto set = [](int64_t(&to)[3], const int64_t(&from)[3]) { std::copy(from, from + 3, to); };
  const int64_t before[3] = {block[0], block[1], block[2]};
  const bool first = IsBefore(other.block, before);
  if (first) {
    set(block, other.block);
    elements = other.elements;
  }
  const auto& added = first ? before : other.block;
  if (others == 0 || IsBefore(added, first_other)) set(first_other, added);
  if (others == 0 || IsBefore(last_other, added)) set(last_other, added);
  ++others;
}

}  // namespace tile::ir

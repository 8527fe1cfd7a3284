#include "ir/run_report.h"

#include "absl/strings/str_cat.h"
#include "ir/cpp_name.h"
#include "ir/debug_lines.h"

namespace tile::ir {

std::string RunReport::ToString() const {
  std::string s = absl::StrCat(where, warning ? ": warning[" : ": error[", code, "]: ", message, "\n  in kernel `",
                               ReadableName(kernel), "`");
  if (block[0] >= 0) absl::StrAppend(&s, ", block (", block[0], ", ", block[1], ", ", block[2], ")");
  if (!op.empty()) absl::StrAppend(&s, ", at ", op);
  if (!order.empty())
    absl::StrAppend(&s, "\n  when blocks start in the order ", order, "; repeat it with --order=", order);
  absl::StrAppend(&s, NoteOnLines(where));
  if (!fix.empty()) absl::StrAppend(&s, "\n  fix: ", fix);
  return s;
}

}  // namespace tile::ir

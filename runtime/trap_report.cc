#include "runtime/trap_report.h"

#include <vector>

#include "absl/strings/cord.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "ir/cpp_name.h"
#include "ir/debug_lines.h"

namespace tile::runtime {
namespace {

constexpr char kPayload[] = "tilevm/trap";

}  // namespace

std::string TrapReport::ToString() const {
  return absl::StrCat(where, ": error[", code, "]: ", message, "\n  in kernel `", ir::ReadableName(kernel), "`, block (",
                      absl::StrJoin(block, ", "), ")", op.empty() ? "" : absl::StrCat(", at ", op),
                      ir::NoteOnLines(where));
}

// Fields with a zero byte between; text has none.
absl::Status TrapStatus(const TrapReport& r) {
  absl::Status status = absl::AbortedError(r.ToString());
  const std::vector<std::string> fields = {r.code, r.where, r.kernel, absl::StrCat(r.block[0]), absl::StrCat(r.block[1]),
                                           absl::StrCat(r.block[2]), r.op, r.message};
  status.SetPayload(kPayload, absl::Cord(absl::StrJoin(fields, absl::string_view("\0", 1))));
  return status;
}

std::optional<TrapReport> FindTrapReport(const absl::Status& status) {
  const absl::optional<absl::Cord> payload = status.GetPayload(kPayload);
  if (!payload.has_value()) return std::nullopt;
  const std::vector<std::string> f = absl::StrSplit(std::string(*payload), absl::ByChar('\0'));
  TrapReport r;
  if (f.size() != 8) return std::nullopt;
  for (size_t d = 0; d < 3; ++d) {
    if (!absl::SimpleAtoi(f[3 + d], &r.block[d])) return std::nullopt;
  }
  r.code = f[0];
  r.where = f[1];
  r.kernel = f[2];
  r.op = f[6];
  r.message = f[7];
  return r;
}

}  // namespace tile::runtime

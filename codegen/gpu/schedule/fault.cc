#include "codegen/gpu/schedule/fault.h"

#include "absl/strings/str_cat.h"

namespace tile::codegen::schedule {
namespace {

struct Row {
  const char *code, *fix;
};
constexpr Row kRows[] = {
    {"", ""},
#define TILE_SCHEDULE_FAULT(Name, code, fix) {code, fix},
#include "codegen/gpu/schedule/faults.def"
};

const Row& RowOf(FaultKind kind) { return kRows[static_cast<size_t>(kind)]; }

}  // namespace

absl::string_view CodeOf(FaultKind kind) { return RowOf(kind).code; }

std::string ToString(const Fault& fault) {
  const ir::Op& op = *fault.op;
  return absl::StrCat(op.block()->function()->module()->Where(op.loc, op.pos), ": error[", RowOf(fault.kind).code,
                      "]: ", op.info()->mnemonic, " ", fault.what, "\n  fix: ", RowOf(fault.kind).fix);
}

std::string NameOf(const ir::Op& op) {
  return op.pos.line == 0 ? op.info()->mnemonic : absl::StrCat(op.info()->mnemonic, " of line ", op.pos.line);
}

}  // namespace tile::codegen::schedule

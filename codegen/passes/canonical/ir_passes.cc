#include "codegen/passes/canonical/ir_passes.h"

#include "absl/strings/str_cat.h"
#include "ir/passes/common.h"
#include "ir/passes/counters.h"
#include "ir/passes/hoist.h"
#include "ir/passes/raise_loops.h"
#include "ir/passes/remove_unused.h"
#include "ir/passes/simplify.h"

namespace tile::codegen {
namespace {

// Tiles stay where they are: what is shared or hoisted lives in registers until its last use.
constexpr ir::Share kShare = ir::Share::kScalars;

}  // namespace

absl::Status Simplify(Program& p) {
  ir::Simplify(p.module.get(), p.function);
  return absl::OkStatus();
}

absl::Status HoistInvariants(Program& p) {
  ir::HoistInvariants(p.module.get(), p.function, kShare);
  return absl::OkStatus();
}

absl::Status RaiseLoops(Program& p) {
  for (const ir::StaysLoop& stays : ir::RaiseLoops(p.module.get(), p.function).stay) {
    if (!p.trace().on_remark) continue;
    p.trace().on_remark(absl::StrCat(p.module->Where(stays.loop->loc, stays.loop->pos),
                                     ": remark[raise-loops]: this loop is not counted: ", stays.why));
  }
  return absl::OkStatus();
}

absl::Status ComputeCounters(Program& p) {
  ir::ComputeCounters(p.module.get(), p.function);
  return absl::OkStatus();
}

absl::Status ShareCommon(Program& p) {
  ir::ShareCommon(p.function, kShare);
  return absl::OkStatus();
}

absl::Status RemoveUnused(Program& p) {
  ir::RemoveUnused(p.module.get(), p.function);
  return absl::OkStatus();
}

}  // namespace tile::codegen

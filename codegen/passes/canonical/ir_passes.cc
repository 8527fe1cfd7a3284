#include "codegen/passes/canonical/ir_passes.h"

#include <memory>

#include "absl/functional/function_ref.h"
#include "absl/strings/str_cat.h"
#include "ir/clone.h"
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

// A step is counted where it changes something, which a copy tells while steps are counted.
bool TakesStep(Program& p, absl::string_view step, absl::FunctionRef<bool(ir::Module*, ir::Function*)> changes) {
  if (!p.trace().step_limit.has_value()) return true;
  const std::unique_ptr<ir::Module> copy = ir::CloneModule(*p.module);
  return changes(copy.get(), copy->functions[0].get()) &&
         p.trace().TakesStep(step, absl::StrCat("@", p.function->name));
}

}  // namespace

absl::Status Simplify(Program& p) {
  if (TakesStep(p, "simplify", ir::Simplify)) ir::Simplify(p.module.get(), p.function);
  return absl::OkStatus();
}

absl::Status HoistInvariants(Program& p) {
  const auto hoist = [](ir::Module* m, ir::Function* f) { return ir::HoistInvariants(m, f, kShare); };
  if (TakesStep(p, "hoist-invariants", hoist)) hoist(p.module.get(), p.function);
  return absl::OkStatus();
}

absl::Status RaiseLoops(Program& p) {
  const auto raises = [](ir::Module* m, ir::Function* f) { return ir::RaiseLoops(m, f).changed; };
  if (TakesStep(p, "raise-loops", raises)) {
    for (const ir::StaysLoop& stays : ir::RaiseLoops(p.module.get(), p.function).stay) {
      if (!p.trace().on_remark) continue;
      p.trace().on_remark(absl::StrCat(p.module->Where(stays.loop->loc, stays.loop->pos),
                                       ": remark[raise-loops]: this loop is not counted: ", stays.why));
    }
  }
  if (TakesStep(p, "compute-counters", ir::ComputeCounters)) ir::ComputeCounters(p.module.get(), p.function);
  return absl::OkStatus();
}

absl::Status ShareCommon(Program& p) {
  const auto share = [](ir::Module*, ir::Function* f) { return ir::ShareCommon(f, kShare); };
  if (TakesStep(p, "share-common", share)) share(p.module.get(), p.function);
  return absl::OkStatus();
}

absl::Status RemoveUnused(Program& p) {
  if (TakesStep(p, "remove-unused", ir::RemoveUnused)) ir::RemoveUnused(p.module.get(), p.function);
  return absl::OkStatus();
}

}  // namespace tile::codegen

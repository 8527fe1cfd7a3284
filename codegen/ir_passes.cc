// The passes over tile code that know no target (ir/passes), as steps of code generation: which values may stay in registers
// longer is decided here.
#include <memory>

#include "absl/functional/function_ref.h"
#include "absl/strings/str_cat.h"
#include "codegen/compilation.h"
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
bool TakesStep(Compilation& c, absl::string_view step, absl::FunctionRef<bool(ir::Module*, ir::Function*)> changes) {
  if (!c.trace().step_limit.has_value()) return true;
  const std::unique_ptr<ir::Module> copy = ir::CloneModule(*c.module);
  return changes(copy.get(), copy->functions[0].get()) &&
         c.trace().TakesStep(step, absl::StrCat("@", c.function->name));
}

}  // namespace

absl::Status SimplifyPass(Compilation& c) {
  if (TakesStep(c, "simplify", ir::Simplify)) ir::Simplify(c.module.get(), c.function);
  return absl::OkStatus();
}

absl::Status HoistPass(Compilation& c) {
  const auto hoist = [](ir::Module* m, ir::Function* f) { return ir::HoistInvariants(m, f, kShare); };
  if (TakesStep(c, "hoist", hoist)) hoist(c.module.get(), c.function);
  return absl::OkStatus();
}

absl::Status RaisePass(Compilation& c) {
  const auto raises = [](ir::Module* m, ir::Function* f) { return ir::RaiseLoops(m, f).changed; };
  if (TakesStep(c, "raise", raises)) {
    for (const ir::StaysLoop& stays : ir::RaiseLoops(c.module.get(), c.function).stay) {
      if (!c.trace().on_remark) continue;
      c.trace().on_remark(absl::StrCat(c.module->Where(stays.loop->loc, stays.loop->pos),
                                       ": remark[raise]: this loop is not counted: ", stays.why));
    }
  }
  if (TakesStep(c, "counters", ir::ComputeCounters)) ir::ComputeCounters(c.module.get(), c.function);
  return absl::OkStatus();
}

absl::Status SharePass(Compilation& c) {
  const auto share = [](ir::Module*, ir::Function* f) { return ir::ShareCommon(f, kShare); };
  if (TakesStep(c, "share", share)) share(c.module.get(), c.function);
  return absl::OkStatus();
}

absl::Status UnusedPass(Compilation& c) {
  if (TakesStep(c, "unused", ir::RemoveUnused)) ir::RemoveUnused(c.module.get(), c.function);
  return absl::OkStatus();
}

}  // namespace tile::codegen

#include "codegen/passes/mma/choose_late.h"

#include "codegen/analysis/product_chain.h"
#include "codegen/passes/move_loads.h"
#include "codegen/plan/mma/cross_iteration_mma.h"
#include "codegen/plan/mma/integer_max.h"
#include "codegen/plan/mma/lazy_rescale.h"
#include "codegen/plan/mma/lhs_in_registers.h"
#include "codegen/plan/mma/mma_layout.h"
#include "codegen/plan/mma/wgmma_plan.h"
#include "codegen/plan/tma/tensor_maps.h"
#include "codegen/target/decisions.h"
#include "codegen/target/tuning.h"

namespace tile::codegen {
namespace {

// Its left operand is computed in the iteration, and it is one instruction at each step along K. Where threads copy themselves, they need registers for
// addresses.
bool GainsInSteps(const ir::Op& product) {
  if (DecisionOf<Decision::kCrossIteration>(product) || DecisionOf<Decision::kOverlaps>(product)) return false;
  const WgmmaPlan plan = *WgmmaPlanOf(product);
  const ir::Op* copy = CopyOf(product, 1 - plan.first());
  if (copy == nullptr || !CopiesByTma(*copy) || CopyOf(product, plan.first()) != nullptr ||
      DecisionOf<Decision::kStagesLhs>(product) || plan.held || plan.promotes)
    return false;
  const WgmmaTile& tile = plan.tile;
  return tile.m / tile.groups_m == 64 && tile.n / tile.groups_n == tile.instruction_n &&
         tile.instruction_n <= tuning::kColumnsInSteps && tile.k > plan.k;
}

}  // namespace

void ChooseLate(const Target& target, const Schedule& schedule, ir::Module* module, ir::Function* function,
                Trace* trace) {
  ir::Walk(function->body(), [&](ir::Op* op) {
    if (!IsProduct(*op) || InstructionOf(*op) != kByWgmma || !WhyNotLate(*op).empty()) return;
    const StepTexts texts = {"cross-iteration-mma", "runs beside the next iteration",
                             "does not run beside the next iteration"};
    if (TakesStep(*module, *op, texts, WhyBetterNotLate(schedule, *op), trace))
      Decide<Decision::kCrossIteration>(module, op, true);
  });
  ir::Walk(function->body(), [&](ir::Op* op) {
    if (IsProduct(*op) && DecisionOf<Decision::kCrossIteration>(*op) && ShouldTakeTurns(schedule, *op->parent()))
      Decide<Decision::kTakesTurns>(module, const_cast<ir::Op*>(LeaderOf(*op->parent())), true);
    if (op->info()->has(ir::kLoop)) {
      for (const LhsInRegisters& kept : LhsInRegistersIn(schedule, *op))
        Decide<Decision::kLhsInRegisters>(module, kept.mma, kept.steps);
    }
    if (target.has(kMaxOfThree) && TakesIntegers(*op)) Decide<Decision::kIntegerMax>(module, op, true);
    if (!CanRescaleLazily(*op)) return;
    ir::Op* product = op->result(0)->uses()->owner;
    if (InstructionOf(*product) != kByWgmma ||
        (!DecisionOf<Decision::kCrossIteration>(*product) && schedule.num_warps != 4))
      return;
    Decide<Decision::kLazyRescale>(module, op, true);
    if (GainsInSteps(*product)) Decide<Decision::kInSteps>(module, product, true);
  });
}

}  // namespace tile::codegen

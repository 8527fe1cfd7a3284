#include "codegen/passes/choose_late.h"

#include "codegen/analysis/product_chain.h"
#include "codegen/passes/move_loads.h"
#include "codegen/plan/kept_lhs.h"
#include "codegen/plan/late_products.h"
#include "codegen/plan/mma_layout.h"
#include "codegen/plan/row_factors.h"
#include "codegen/target/decisions.h"

namespace tile::codegen {

void ChooseLate(const Schedule& schedule, ir::Module* module, ir::Function* function, Trace* trace) {
  ir::Walk(function->body(), [&](ir::Op* op) {
    if (!IsProduct(*op) || InstructionOf(*op) != kByWgmma || !WhyNotLate(*op).empty()) return;
    const StepTexts texts = {"late-product", "runs beside the next iteration",
                             "does not run beside the next iteration"};
    if (TakesStep(*module, *op, texts, WhyBetterNotLate(schedule, *op), trace))
      Decide<Decision::kLate>(module, op, true);
  });
  ir::Walk(function->body(), [&](ir::Op* op) {
    if (IsProduct(*op) && DecisionOf<Decision::kLate>(*op) && ShouldTakeTurns(schedule, *op->parent()))
      Decide<Decision::kTakesTurns>(module, const_cast<ir::Op*>(LeaderOf(*op->parent())), true);
    if (op->info()->has(ir::kLoop)) {
      for (const KeptLhs& kept : KeptLhsIn(schedule, *op)) Decide<Decision::kKeepsLhs>(module, kept.mma, kept.steps);
    }
    if (!HasFactorsOfOne(*op)) return;
    const ir::Op& product = *op->result(0)->uses()->owner;
    if (InstructionOf(product) == kByWgmma && (DecisionOf<Decision::kLate>(product) || schedule.num_warps == 4))
      Decide<Decision::kSkipsOnes>(module, op, true);
  });
}

}  // namespace tile::codegen

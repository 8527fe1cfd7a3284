#include "codegen/passes/mma/step_products.h"

#include "codegen/analysis/product_chain.h"
#include "codegen/plan/mma/staged_mma.h"
#include "codegen/plan/tma/tensor_maps.h"
#include "codegen/target/decisions.h"
#include "codegen/target/tuning.h"

namespace tile::codegen {

namespace {

// Its left operand is computed in the iteration, and it is one instruction at each step along K. Where threads copy themselves, they need registers for
// addresses.
bool GainsInSteps(const ir::Op& product) {
  if (DecisionOf<Decision::kCrossIteration>(product) || DecisionOf<Decision::kOverlaps>(product)) return false;
  const StagedMmaPlan plan = *StagedMmaPlanOf(product);
  const ir::Op* copy = CopyOf(product, 1 - plan.first());
  if (copy == nullptr || !CopiesByTma(*copy) || CopyOf(product, plan.first()) != nullptr ||
      DecisionOf<Decision::kStagesLhs>(product) || plan.held || plan.promotes)
    return false;
  return plan.group_rows() == plan.instruction_m && plan.group_columns() == plan.instruction_n &&
         plan.instruction_n <= tuning::kColumnsInSteps && plan.steps() > 1;
}

}  // namespace

absl::Status StepProducts(Program& p) {
  ir::Walk(p.function->body(), [&](ir::Op* op) {
    if (!DecisionOf<Decision::kLazyRescale>(*op)) return;
    ir::Op* product = op->result(0)->uses()->owner;
    if (GainsInSteps(*product)) Decide<Decision::kInSteps>(p.module.get(), product, true);
  });
  return absl::OkStatus();
}

}  // namespace tile::codegen

#include "codegen/passes/mma/choose_mma.h"

#include "codegen/analysis/all_iterations.h"
#include "codegen/analysis/product_chain.h"
#include "codegen/passes/pipeline/copy_by_tma.h"
#include "codegen/plan/mma/mma_layout.h"
#include "codegen/plan/mma/overlapped_products.h"
#include "codegen/plan/mma/wgmma_plan.h"
#include "codegen/plan/tma/tensor_maps.h"
#include "codegen/target/decisions.h"
#include "ir/check.h"
#include "ir/op_views.h"

namespace tile::codegen {

void ChooseMma(const Target& target, const Schedule& schedule, ir::Module* module, ir::Function* function) {
  const int num_warps = schedule.num_warps;
  ir::Walk(function->body(), [&](ir::Op* op) {
    if (!ir::MmaOp::Is(op)) return;
    if (FetchOf(*op) != nullptr) {
      const auto wgmma = PlanWgmma(target, num_warps, *op, *StagedOperandOf(*op, 0), *StagedOperandOf(*op, 1));
      TILE_CHECK(wgmma.has_value(), "operands are fetched ahead for a product that wgmma does not do");
      Decide(module, op, *wgmma);
    } else if (const auto copied = PlanWgmmaOfCopies(target, num_warps, *op)) {
      Decide(module, op, *copied);
      if (StagesLhs(target, num_warps, *op)) Decide<Decision::kStagesLhs>(module, op, true);
    } else if (const auto mma = PlanMma(target, num_warps, *op)) {
      Decide(module, op, *mma);
    } else {
      Decide<Decision::kInstruction>(module, op, kByFma);
    }
  });
}

absl::Status ChooseMma(Program& p) {
  const Schedule schedule = *ScheduleOf(*p.function);
  ChooseMma(p.target, schedule, p.module.get(), p.function);
  if (p.candidate.ahead == Ahead::kTma) CopyByTma(p.target, schedule, p.module.get(), p.function, &p.trace());
  return absl::OkStatus();
}

namespace {

// A product whose operands lie in stages, and that may still run when the next iteration begins. What is added to its sums, and fragments
// that are read again, wait for it.
bool CanRunOn(const ir::Op& op) {
  if (!IsProduct(op)) return false;
  const ir::Op* copy = CopyOf(op, 0);
  const bool copied = copy != nullptr && CopyOf(op, 1) == copy && InstructionOf(op) == kByWgmma && !CopiesByTma(*copy);
  if (!copied && FetchOf(op) == nullptr) return false;
  if (copied && DecisionOf<Decision::kPieceBytes>(*copy)) return false;
  // An iteration that ends early begins none for which the one before could be waited for.
  if (!AllIterationsEnd(*op.parent())) return false;
  return GoesAround(op) && !DecisionOf<Decision::kPromotes>(op) && !DecisionOf<Decision::kHeld>(op);
}

// All that reads the stages can: nobody else says when they are free.
bool AllCanRunOn(const ir::Op& copy) {
  for (int i = 0; i < copy.num_results(); ++i) {
    for (const ir::Use* use = copy.result(i)->uses(); use != nullptr; use = use->next) {
      if (!CanRunOn(*use->owner)) return false;
    }
  }
  return true;
}

}  // namespace

void ChooseAsync(ir::Module* module, ir::Function* function) {
  ir::Walk(function->body(), [&](ir::Op* op) {
    if (!CanRunOn(*op)) return;
    const ir::Op* copy = CopyOf(*op, 0);
    if (copy == nullptr || AllCanRunOn(*copy)) Decide<Decision::kAsync>(module, op, true);
  });
}

}  // namespace tile::codegen

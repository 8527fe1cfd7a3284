#include "codegen/passes/mma/choose_mma.h"

#include "codegen/analysis/product_chain.h"
#include "codegen/plan/mma/mma_layout.h"
#include "codegen/plan/mma/wgmma_plan.h"
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
  ChooseMma(p.target, *ScheduleOf(*p.function), p.module.get(), p.function);
  return absl::OkStatus();
}

}  // namespace tile::codegen

#include "codegen/passes/mma/take_turns.h"

#include "codegen/analysis/product_chain.h"
#include "codegen/plan/mma/cross_iteration_mma.h"
#include "codegen/plan/schedule.h"
#include "codegen/target/decisions.h"

namespace tile::codegen {

absl::Status TakeTurns(Program& p) {
  const Schedule schedule = *ScheduleOf(*p.function);
  ir::Walk(p.function->body(), [&](ir::Op* op) {
    if (IsProduct(*op) && DecisionOf<Decision::kCrossIteration>(*op) &&
        ShouldTakeTurns(p.target, schedule, *op->parent()))
      Decide<Decision::kTakesTurns>(p.module.get(), const_cast<ir::Op*>(LeaderOf(*op->parent())), true);
  });
  return absl::OkStatus();
}

}  // namespace tile::codegen

#include "codegen/passes/mma/lazy_rescale.h"

#include "codegen/plan/mma/lazy_rescale.h"
#include "codegen/plan/mma/mma_kind.h"
#include "codegen/plan/schedule.h"
#include "codegen/target/decisions.h"

namespace tile::codegen {

absl::Status LazyRescale(Program& p) {
  const Schedule schedule = *ScheduleOf(*p.function);
  ir::Walk(p.function->body(), [&](ir::Op* op) {
    if (!CanRescaleLazily(*op)) return;
    const ir::Op& product = *op->result(0)->uses()->owner;
    if (!KindOf(product).asynchronous()) return;
    if (DecisionOf<Decision::kCrossIteration>(product) || schedule.num_warps == 4)
      Decide<Decision::kLazyRescale>(p.module.get(), op, true);
  });
  return absl::OkStatus();
}

}  // namespace tile::codegen

#include "codegen/passes/mma/defer_products.h"

#include "codegen/analysis/product_chain.h"
#include "codegen/passes/move_loads.h"
#include "codegen/plan/mma/cross_iteration_mma.h"
#include "codegen/plan/mma/mma_kind.h"
#include "codegen/plan/schedule.h"
#include "codegen/target/decisions.h"

namespace tile::codegen {

absl::Status DeferProducts(Program& p) {
  const Schedule schedule = *ScheduleOf(*p.function);
  ir::Walk(p.function->body(), [&](ir::Op* op) {
    if (!IsProduct(*op) || !KindOf(*op).asynchronous() || !WhyNotLate(*op).empty()) return;
    const StepTexts texts = {"defer-products", "runs beside the next iteration",
                             "does not run beside the next iteration"};
    if (TakesStep(*p.module, *op, texts, WhyBetterNotLate(schedule, *op), &p.trace()))
      Decide<Decision::kCrossIteration>(p.module.get(), op, true);
  });
  return absl::OkStatus();
}

}  // namespace tile::codegen

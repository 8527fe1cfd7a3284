#include "codegen/passes/mma/keep_lhs_in_registers.h"

#include "codegen/plan/mma/lhs_in_registers.h"
#include "codegen/plan/schedule.h"
#include "codegen/target/decisions.h"

namespace tile::codegen {

absl::Status KeepLhsInRegisters(Program& p) {
  const Schedule schedule = *ScheduleOf(*p.function);
  ir::Walk(p.function->body(), [&](ir::Op* op) {
    if (!op->info()->has(ir::kLoop)) return;
    for (const LhsInRegisters& kept : LhsInRegistersIn(schedule, *op))
      Decide<Decision::kLhsInRegisters>(p.module.get(), kept.mma, kept.steps);
  });
  return absl::OkStatus();
}

}  // namespace tile::codegen

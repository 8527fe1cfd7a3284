#include "codegen/passes/resources/account_memory.h"

#include "codegen/plan/resources/shared_use.h"
#include "codegen/plan/schedule.h"
#include "codegen/target/decisions.h"
#include "codegen/target/gpu_ops.h"

namespace tile::codegen {

absl::Status AccountMemory(Program& p) {
  const SharedAccount account = AccountOf(p.target, *ScheduleOf(*p.function), p.module.get(), p.function);
  Decide<Decision::kSharedBytes>(p.module.get(), KernelOp(p.module.get(), p.function),
                                 static_cast<int64_t>(account.bytes()));
  const absl::Status s = account.Check(*p.function);
  if (!s.ok()) p.fit = Fit::kTooMuchShared;
  return s;
}

}  // namespace tile::codegen

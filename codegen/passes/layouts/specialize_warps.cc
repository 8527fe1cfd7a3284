#include "codegen/passes/layouts/specialize_warps.h"

#include "codegen/plan/schedule.h"
#include "codegen/plan/staging/producer_slice.h"

namespace tile::codegen {

absl::Status SpecializeWarps(Program& p) {
  if (ScheduleOf(*p.function)->producer) DecideProducerOps(p.module.get(), p.function);
  return absl::OkStatus();
}

}  // namespace tile::codegen

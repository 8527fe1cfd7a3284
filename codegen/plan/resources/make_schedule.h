// Makes the schedule of a kernel (plan/schedule.h) for one candidate.
//
//   std::optional<Schedule> s = MakeSchedule(target, function, {.aligned = true});   // nullopt: rings don't fit
//
// A block gets as many warps as its tiles need to fit the registers of its threads, and no more than it has work for.
// What counts is the largest tile, and all that live at once: more of these for kernels with matrix products than for
// those that wait for memory. Loops that fetch ahead get as many stages as shared memory holds, for two blocks on a
// multiprocessor where that helps. Not thread-safe with changes of the function.
#ifndef TILE_CODEGEN_PLAN_RESOURCES_MAKE_SCHEDULE_H_
#define TILE_CODEGEN_PLAN_RESOURCES_MAKE_SCHEDULE_H_

#include <optional>

#include "codegen/plan/schedule.h"
#include "codegen/target/target.h"
#include "codegen/target/tuning.h"
#include "ir/module.h"

namespace tile::codegen {

struct ScheduleOptions {
  bool aligned = false;  // arrays are (passes/canonical/assume_aligned.h)
  int num_warps = 0;     // of the candidate; 0: the fewest that hold the tiles
  int most_stages = tuning::kMostStages;
  bool by_tma = false;  // it brings what is copied ahead, where it can and should
};

// Nothing if shared memory holds no ring of what is copied ahead, not even of pieces.
std::optional<Schedule> MakeSchedule(const Target& target, const ir::Function& function,
                                     const ScheduleOptions& options);

}  // namespace tile::codegen

#endif  // TILE_CODEGEN_PLAN_RESOURCES_MAKE_SCHEDULE_H_

// Decides how the kernel uses the GPU (plan/schedule.h): warps, stages of what is loaded ahead, blocks on a multiprocessor, order of
// the blocks; whether TMA brings what is copied ahead (copy_by_tma.h). Refuses a program with a tile that no thread can hold a part of.
//
//   absl::Status s = ChooseSchedule(program);
//   ScheduleOf(*program.function)->num_warps
#ifndef TILE_CODEGEN_PASSES_RESOURCES_CHOOSE_SCHEDULE_H_
#define TILE_CODEGEN_PASSES_RESOURCES_CHOOSE_SCHEDULE_H_

#include "absl/status/status.h"
#include "codegen/passes/program.h"

namespace tile::codegen {

absl::Status ChooseSchedule(Program& p);

}  // namespace tile::codegen

#endif  // TILE_CODEGEN_PASSES_RESOURCES_CHOOSE_SCHEDULE_H_

// Runs the synchronisation of a program at the GPU level (codegen/gpu/ops.def), without data and without a GPU: the schedule interpreter.
//
//   std::string fault = ScheduleFaults(function, before, 200);   // "" if 200 seeds found none
//   Outcome o = RunSchedule(function, before, seed);             // one of them
//
// Agents are the warps of a block, and of the other blocks of its cluster. A run lets one of them after the other execute one operation;
// asynchronous copies and products end at some time later. The seed decides the order, how slow each of them is, and every number that the
// program does not know. What is wrong in any order that a GPU may take is a fault (faults.def), at the operation where it shows.
//
// `before` is the same kernel before its copies were expanded, or null. Then whatever the blocks do that others see must be what they do in
// that program: each store the same tile, each product the same operands. That needs no data, either: equal computations have equal names
// (terms.h). Without it, all warps of a block must agree.
//
// Pure: same function, same seed, same outcome. Takes milliseconds a seed.
#ifndef TILE_CODEGEN_GPU_SCHEDULE_RUN_H_
#define TILE_CODEGEN_GPU_SCHEDULE_RUN_H_

#include <cstdint>
#include <string>

#include "codegen/gpu/schedule/fault.h"
#include "ir/module.h"

namespace tile::codegen::schedule {

struct Outcome {
  Fault fault;
  bool ended = false;  // else the run was cut off: its numbers made loops too long
  int64_t steps = 0;
  int64_t products = 0;  // that warps began
};

Outcome RunSchedule(const ir::Function& function, const ir::Function* before, uint64_t seed);

// The first fault of seeds 1, 2, … as a complete message, which names the seed.
std::string ScheduleFaults(const ir::Function& function, const ir::Function* before, int seeds);

}  // namespace tile::codegen::schedule

#endif  // TILE_CODEGEN_GPU_SCHEDULE_RUN_H_

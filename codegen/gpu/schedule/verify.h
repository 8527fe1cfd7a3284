// The rules of the GPU level (codegen/gpu/ops.def) that can be seen without running it.
//
//   std::string fault = GpuLevelFaults(function);   // "" if there is none; else a complete message
//
// * Allocations stand in front of the roles, then fence_barriers and a barrier of all threads. Each role is there once, the producer first.
// * Barriers are those of an alloc_barriers, addresses are in an alloc_stages; numbers that are constant are below the counts.
// * alloc_barriers counts as many arrivals as there are: a thread for an expect, the warps of the role for an arrive.
// * An expect says how many bytes the copies of its elect bring to the same barrier.
// * What one thread does stands in an elect, and what warps do together does not. Barriers of all threads stand in no role.
// * An asynchronous product is one of warpgroups; its sums are handed on and waited for, and not read. No more products are pending than there are.
// * Columns of tensor memory are allocated once, a power of two. One thread of the first worker begins products that add to them, and tells of their
//   end; all workers load sums from there, and the first one frees the columns.
// * Registers are as many as there are.
//
// Whether the schedule is right is what a run finds out (run.h).
#ifndef TILE_CODEGEN_GPU_SCHEDULE_VERIFY_H_
#define TILE_CODEGEN_GPU_SCHEDULE_VERIFY_H_

#include <string>

#include "ir/module.h"

namespace tile::codegen::schedule {

std::string GpuLevelFaults(const ir::Function& function);

}  // namespace tile::codegen::schedule

#endif  // TILE_CODEGEN_GPU_SCHEDULE_VERIFY_H_

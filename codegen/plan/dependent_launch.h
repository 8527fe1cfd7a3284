// Kernels that may start before the preceding one of their stream has ended (programmatic dependent launch, from sm_90
// on). Their blocks come to the multiprocessors while that one ends, and set up barriers. Before their first access to
// global memory they wait until it has ended and all its stores are visible.
//
// Blocks of a small grid call the next kernel as soon as they have passed that point themselves, so that it may begin
// on free multiprocessors. It starts when all have called, so no block that has not begun loses its place to a waiting
// one. In larger grids the end of a block is its call: an instruction in each costs more than it gains. A bf16 kernel
// of 1024 elements a block, back to back on an H200, us (alone; waits; waits and calls): 32 blocks 1.41, 1.18, 0.94;
// 264 blocks 1.56, 1.34, 1.44; 1056 blocks 2.41, 2.17, 2.50; 4096 blocks 5.21, 4.93, 5.23.
//
//   if (HasDependentLaunch(target, function)) …   // the code waits (emit/lower/kernel.cc), and the image says so (kProgrammaticLaunch)
#ifndef TILE_CODEGEN_PLAN_DEPENDENT_LAUNCH_H_
#define TILE_CODEGEN_PLAN_DEPENDENT_LAUNCH_H_

#include "codegen/target/target.h"
#include "ir/module.h"

namespace tile::codegen {

inline constexpr int kMostBlocksThatCall = 160;

// False on chips that cannot, and of programs that say themselves where to wait (gdc_wait_tko, gdc_launch_dependents_tko): they may
// mean to read what the kernel in front does not write before they do.
bool HasDependentLaunch(const Target& target, const ir::Function& function);

}  // namespace tile::codegen

#endif  // TILE_CODEGEN_PLAN_DEPENDENT_LAUNCH_H_

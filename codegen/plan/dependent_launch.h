// Kernels that may start before the one in front of them in their stream has ended (programmatic dependent launch, from sm_90 on): their
// blocks come to the multiprocessors while that one ends, set up barriers, and only then wait for it, as a whole and with all it
// stored, ahead of their first access to global memory.
//
// Blocks of a small grid call the kernel behind as soon as they have passed that point themselves, so that it may begin on
// multiprocessors that are free; it comes when all have called, so no block that has not begun loses its place to one that waits. In larger
// grids the end of a block is its call: an instruction in each costs more than it gains. A bf16 kernel of 1024 elements a block, back to back
// on an H200, us (alone; waits; waits and calls): 32 blocks 1.41, 1.18, 0.94; 264 blocks 1.56, 1.34, 1.44; 1056 blocks 2.41, 2.17, 2.50;
// 4096 blocks 5.21, 4.93, 5.23.
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

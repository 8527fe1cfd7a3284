// Runs the blocks of a grid on threads.
//
// How many threads begin, and when the others do, says thread_plan.h: they may start in the middle of a block, too.
//
// Blocks start in linear order. A block that goes round a loop looking at memory without changing anything is parked
// (eval_control.cc) and looks again when memory has changed; meanwhile its thread runs others, so that blocks may wait for
// blocks that start later. When every block that is left is parked, has looked since the last change, and goes round with
// the same values, nothing can happen any more: that is reported as a deadlock.
//
// A checked launch in another order than the linear one also interrupts blocks after accesses that are more than weak
// (LaunchState::interrupts): others run before they go on, so that a lock is found taken and a counter changed.
#ifndef TILE_VM_SCHEDULE_SCHEDULER_H_
#define TILE_VM_SCHEDULE_SCHEDULER_H_

#include "vm/machine/launch_state.h"

namespace tile::vm {

// Runs all blocks; what goes wrong is in state.outcome. `checker` may be null; with one, `threads` must be 1.
void RunGrid(LaunchState& state, int threads, Checker* checker);

}  // namespace tile::vm

#endif  // TILE_VM_SCHEDULE_SCHEDULER_H_

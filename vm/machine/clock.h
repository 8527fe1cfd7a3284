// The clocks by which a launch chooses what depends on how long something takes. Both are given to it (Launch), so that tests
// choose by clocks of their own.
#ifndef TILE_VM_MACHINE_CLOCK_H_
#define TILE_VM_MACHINE_CLOCK_H_

#include <cstdint>

namespace tile::vm {

// Shows nanoseconds since some moment, and never goes back.
using ClockNs = int64_t (*)();

// Time as it passes.
int64_t SteadyNs();

// What this thread has worked. Other processes on the machine don't change what a program takes by it; to ask costs ten times as
// much.
int64_t ThreadNs();

}  // namespace tile::vm

#endif  // TILE_VM_MACHINE_CLOCK_H_

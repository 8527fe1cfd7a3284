// Instructions that the threads of a warp execute together, and barriers: what their files and the scheduler share.
#ifndef TILE_TESTS_GPU_SIM_MACHINE_TOGETHER_H_
#define TILE_TESTS_GPU_SIM_MACHINE_TOGETHER_H_

#include "tests/gpu_sim/machine/state.h"

namespace tile::gpu_sim {

// Waits for the lanes whose mask is in slot a; those have to be at the same instruction.
Step AwaitMask(Thread& t, const Instr& i);
// Waits for all lanes of the warp that have not ended.
Step AwaitWarp(Thread& t, const Instr& i);

inline constexpr uint32_t kEverybody = ~0u;  // NamedBarrier::expected

// End the phase if nobody is missing; also asked when a thread ends.
bool EndPhase(const Block& block, NamedBarrier& barrier);
bool EndPhase(Cluster& cluster);

// For each of the lanes.
template <class F>
void ForLanes(uint32_t lanes, F f) {
  for (; lanes != 0; lanes &= lanes - 1) f(static_cast<uint32_t>(__builtin_ctz(lanes)));
}

}  // namespace tile::gpu_sim

#endif  // TILE_TESTS_GPU_SIM_MACHINE_TOGETHER_H_

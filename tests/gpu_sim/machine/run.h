// Runs a launch from its first block to its last.
//
//   Launch launch;
//   launch.program = &program; launch.memory = &memory; launch.grid = {4, 1, 1}; launch.block = {128, 1, 1};
//   launch.params.resize(program.param_bytes); …; launch.random.state = seed;
//   absl::Status s = RunLaunch(&launch);    // what went wrong, with the line of the PTX and the thread
//
// Threads run one at a time, each until it has to wait; who goes first is up to the seed.
#ifndef TILE_TESTS_GPU_SIM_MACHINE_RUN_H_
#define TILE_TESTS_GPU_SIM_MACHINE_RUN_H_

#include "tests/gpu_sim/machine/state.h"

namespace tile::gpu_sim {

// So many clusters have blocks on the device at a time; the others wait for one of them to end.
inline constexpr uint32_t kMultiprocessors = 4, kBlocksOfMultiprocessor = 2;

absl::Status RunLaunch(Launch* launch);

}  // namespace tile::gpu_sim

#endif  // TILE_TESTS_GPU_SIM_MACHINE_RUN_H_

// One block: made, run for a while, described.
#ifndef TILE_TESTS_GPU_SIM_MACHINE_BLOCK_H_
#define TILE_TESTS_GPU_SIM_MACHINE_BLOCK_H_

#include <array>
#include <memory>
#include <string>

#include "tests/gpu_sim/machine/state.h"

namespace tile::gpu_sim {

std::unique_ptr<Block> MakeBlock(Launch* launch, Cluster* cluster, uint32_t rank);

// The coordinates of a block in the grid, by its cluster and its rank there: dimension x comes first in both.
std::array<uint32_t, 3> BlockOfCluster(const Launch& launch, uint64_t cluster, uint32_t rank);

// Lets every thread run until it waits. True if something came of it; false if all only wait. Sets Launch::fault.
bool RunBlock(Block& block);

// Where its threads wait: "thread 0 to 31: line 120; …".
std::string DescribeBlock(const Block& block);

}  // namespace tile::gpu_sim

#endif  // TILE_TESTS_GPU_SIM_MACHINE_BLOCK_H_

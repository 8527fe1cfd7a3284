// Copies that an mbarrier counts.
#ifndef TILE_TESTS_GPU_SIM_MACHINE_BULK_H_
#define TILE_TESTS_GPU_SIM_MACHINE_BULK_H_

#include "tests/gpu_sim/machine/state.h"

namespace tile::gpu_sim {

// Those that report to the barrier at this shared address end.
absl::Status FinishCopiesOf(Cluster& cluster, uint32_t barrier);

}  // namespace tile::gpu_sim

#endif  // TILE_TESTS_GPU_SIM_MACHINE_BULK_H_

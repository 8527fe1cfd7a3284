// Copies that an mbarrier counts.
#ifndef TILE_TESTS_GPU_SIM_MACHINE_BULK_H_
#define TILE_TESTS_GPU_SIM_MACHINE_BULK_H_

#include "tests/gpu_sim/machine/state.h"

namespace tile::gpu_sim {

// Those that report to the barrier at this shared address end.
absl::Status FinishCopiesOf(Cluster& cluster, uint32_t barrier);
// Where the dice decide how late copies are, now and then one ends though nobody waits for it.
absl::Status FinishSomeCopy(Cluster& cluster);
// At once or later, by the lateness of the launch.
absl::Status StartCopy(Cluster& cluster, uint32_t barrier, Deferred run);

}  // namespace tile::gpu_sim

#endif  // TILE_TESTS_GPU_SIM_MACHINE_BULK_H_

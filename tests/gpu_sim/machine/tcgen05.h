// Instructions of tcgen05, by the word behind the first dot: what the files ops_tcgen05*.cc decode, and what they share.
#ifndef TILE_TESTS_GPU_SIM_MACHINE_TCGEN05_H_
#define TILE_TESTS_GPU_SIM_MACHINE_TCGEN05_H_

#include <functional>
#include <vector>

#include "tests/gpu_sim/machine/form.h"
#include "tests/gpu_sim/machine/state.h"
#include "tests/gpu_sim/tensor/tcgen05_mma.h"

namespace tile::gpu_sim {

absl::Status DecodeTcgen05Mma(Form& f, Instr* i);
absl::Status DecodeTcgen05Copy(Form& f, Instr* i);
absl::Status DecodeTcgen05Shift(Form& f, Instr* i);
absl::Status DecodeTcgen05Commit(Form& f, Instr* i);
absl::Status DecodeTcgen05Access(Form& f, Instr* i, bool load);

// 1 or 2, of the word cta_group::1 or ::2.
int TakeGroup(Form& f);

// The block alone, or both blocks of its pair, the one of even rank first; an error if the cluster has no other.
absl::StatusOr<std::vector<Block*>> BlocksOfGroup(Block& block, int group);

// Reads of a block's shared memory by an instruction of this thread, by the async proxy.
using SharedReader = std::function<absl::StatusOr<const uint8_t*>(uint32_t address, uint32_t bytes)>;
SharedReader ReaderOf(Block& block, const Thread& starter);

}  // namespace tile::gpu_sim

#endif  // TILE_TESTS_GPU_SIM_MACHINE_TCGEN05_H_

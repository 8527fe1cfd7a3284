// tcgen05.mma: D = A * B or D + A * B by the tensor cores of one multiprocessor, or of two whose blocks are a pair (cta_group::2).
//
//   Tcgen05Input in;
//   in.blocks = {{&read_shared, &tensor_memory}}; in.d = …; in.a_descriptor = …; in.b_descriptor = …;
//   absl::Status s = RunTcgen05Mma(kind, product, in);
//
// D lies in tensor memory, by the layouts of the PTX ISA (9.7.16.10.5); A there or in shared memory, B in shared memory, scales of blocks
// in tensor memory. Of a pair, each block has its half of the rows of A and its half of the columns of B. Sums are as those of mma.sync
// (mma.h). This computes at once; when is the caller's matter. Errors: cells that are not allocated, shared memory that `read` refuses.
#ifndef TILE_TESTS_GPU_SIM_TENSOR_TCGEN05_MMA_H_
#define TILE_TESTS_GPU_SIM_TENSOR_TCGEN05_MMA_H_

#include <array>
#include <cstdint>
#include <functional>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "tests/gpu_sim/tensor/tcgen05_kind.h"
#include "tests/gpu_sim/tensor/tensor_memory.h"

namespace tile::gpu_sim {

// One lane of D: which row it holds, and which columns.
struct SumLane {
  uint32_t block = 0, lane = 0;  // relative to D's address
  int row = 0, first = 0, columns = 0;
};
std::vector<SumLane> SumLanes(const Tcgen05Kind& kind, int m, int n);

struct Tcgen05Input {
  struct OneBlock {
    std::function<absl::StatusOr<const uint8_t*>(uint32_t address, uint32_t bytes)> read;
    TensorMemory* memory = nullptr;
  };
  std::vector<OneBlock> blocks;  // as many as the kind's group
  uint32_t d = 0;                // address in tensor memory
  bool a_in_tensor_memory = false;
  uint64_t a = 0, b = 0;  // descriptors; of A in tensor memory the address
  uint32_t scale_a = 0, scale_b = 0;
  bool accumulate = true;                 // false: D = A * B
  int shift_d = 0;                        // D * 2^-shift is added
  std::array<uint32_t, 8> disabled = {};  // lanes of D that keep what they have, of both blocks
};

absl::Status RunTcgen05Mma(const Tcgen05Kind& kind, const Tcgen05Product& product, const Tcgen05Input& in);

}  // namespace tile::gpu_sim

#endif  // TILE_TESTS_GPU_SIM_TENSOR_TCGEN05_MMA_H_

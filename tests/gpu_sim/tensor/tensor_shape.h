// Which cell of tensor memory each register of each thread has in tcgen05.ld and tcgen05.st, by the PTX ISA's figures (9.7.16.2.3).
//
//   absl::StatusOr<TensorShape> shape = ParseTensorShape(opcode);     // {"tcgen05", "ld", "sync", "aligned", "16x256b", "x4", "b32"}
//   TensorCell cell = CellOf(*shape, thread, register);               // relative to the instruction's address
//
// With .pack::16b, and .unpack::16b of stores, a register has the low halves of two columns side by side: `half` tells which.
#ifndef TILE_TESTS_GPU_SIM_TENSOR_TENSOR_SHAPE_H_
#define TILE_TESTS_GPU_SIM_TENSOR_TENSOR_SHAPE_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "tests/gpu_sim/tensor/opcode.h"

namespace tile::gpu_sim {

enum class TensorPattern : uint8_t { k32x32b, k16x64b, k16x128b, k16x256b, k16x32bx2 };

struct TensorShape {
  TensorPattern pattern = TensorPattern::k32x32b;
  uint32_t registers = 1;      // of a thread
  bool packed = false;         // two columns of 16 bits a register
  uint32_t second_column = 0;  // 16x32bx2: where threads 16 to 31 are, relative to the address

  uint32_t lanes() const { return pattern == TensorPattern::k32x32b ? 32 : 16; }
};

struct TensorCell {
  uint32_t lane = 0, column = 0;
};

absl::StatusOr<TensorShape> ParseTensorShape(Opcode opcode);
TensorCell CellOf(const TensorShape& shape, uint32_t thread, uint32_t reg, uint32_t half = 0);

}  // namespace tile::gpu_sim

#endif  // TILE_TESTS_GPU_SIM_TENSOR_TENSOR_SHAPE_H_

// tcgen05.cp: rows of shared memory to lanes of tensor memory.
//
//   absl::StatusOr<Tcgen05Copy> copy = ParseTcgen05Copy(opcode);             // {"tcgen05", "cp", "cta_group::1", "32x128b", "warpx4"}
//   absl::Status s = RunTcgen05Copy(*copy, address, descriptor, read, memory);
//
// With .warpx2 and .warpx4 the rows are copied to several quarters of the lanes. This copies at once; when is the caller's matter.
#ifndef TILE_TESTS_GPU_SIM_TENSOR_TCGEN05_COPY_H_
#define TILE_TESTS_GPU_SIM_TENSOR_TCGEN05_COPY_H_

#include "tests/gpu_sim/tensor/opcode.h"
#include "tests/gpu_sim/tensor/tcgen05_operand.h"
#include "tests/gpu_sim/tensor/tensor_memory.h"

namespace tile::gpu_sim {

enum class CopyLanes : uint8_t { kEach, kAllQuarters, kQuarters02And13, kQuarters01And23 };

struct Tcgen05Copy {
  int group = 1;
  uint32_t rows = 128, bytes = 16;  // of a row
  CopyLanes lanes = CopyLanes::kEach;
};

absl::StatusOr<Tcgen05Copy> ParseTcgen05Copy(Opcode opcode);
absl::Status RunTcgen05Copy(const Tcgen05Copy& copy, uint32_t address, uint64_t descriptor, SharedRead read,
                            TensorMemory& memory);

// tcgen05.shift.down: from the address on, each lane but the last of 32 gets the 32 bytes of the next one.
absl::Status RunTcgen05Shift(uint32_t address, TensorMemory& memory);

}  // namespace tile::gpu_sim

#endif  // TILE_TESTS_GPU_SIM_TENSOR_TCGEN05_COPY_H_

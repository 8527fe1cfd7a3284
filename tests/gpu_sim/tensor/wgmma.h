// wgmma.mma_async: D = A * B + D by a warpgroup, B (and A, if it is not in registers) in shared memory as a matrix descriptor says.
//
//   absl::StatusOr<WgmmaKind> kind = ParseWgmma(opcode);
//   WgmmaInput in;
//   in.shared = …; in.a_descriptor = …; in.b_descriptor = …; in.scale_d = …;
//   absl::Status s = RunWgmma(*kind, in, &d);           // d[thread of the group][register], read and written
//
// Sums are as those of mma.sync (mma.h), but of 8-bit floats they have 13 bits of mantissa, as on Hopper. This computes at once; when results may be seen, and when shared memory is read, is the caller's matter. Errors: a descriptor that
// no instruction takes, memory outside of the block's. Thread-safe.
#ifndef TILE_TESTS_GPU_SIM_TENSOR_WGMMA_H_
#define TILE_TESTS_GPU_SIM_TENSOR_WGMMA_H_

#include <array>
#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "tests/gpu_sim/tensor/opcode.h"
#include "tests/gpu_sim/tensor/operand_type.h"

namespace tile::gpu_sim {

// Registers of a warpgroup: words[thread][i].
using GroupWords = std::array<std::vector<uint32_t>, 128>;

struct WgmmaKind {
  OperandType a, b;
  int n = 0, k = 0;  // M is 64
  // Immediate operands behind the predicate scale-d: imm-scale-a, imm-scale-b for floats; then imm-trans-b, and before it
  // imm-trans-a if A is in shared memory, for 16-bit types.
  bool has_scales = false, has_transposes = false;

  int words_d() const { return n / 2; }
  static constexpr int kWordsA = 4;  // if A is in registers
};

struct WgmmaInput {
  absl::Span<const uint8_t> shared;  // the block's
  const GroupWords* a = nullptr;     // null: A is in shared memory
  uint64_t a_descriptor = 0, b_descriptor = 0;
  bool scale_d = true;           // false: D = A * B
  int scale_a = 1, scale_b = 1;  // 1 or -1
  int trans_a = 0, trans_b = 0;  // 1: M, N is contiguous
};

absl::StatusOr<WgmmaKind> ParseWgmma(Opcode opcode);
absl::Status RunWgmma(const WgmmaKind& kind, const WgmmaInput& in, GroupWords* d);

// How an operand lies: the descriptor's fields in bytes.
struct MatrixDescriptor {
  uint32_t start = 0, leading = 0, stride = 0;
  int base_offset = 0;
  int swizzle = 16;  // bytes: 16 (none), 32, 64, 128
};
MatrixDescriptor DecodeMatrixDescriptor(uint64_t bits);

}  // namespace tile::gpu_sim

#endif  // TILE_TESTS_GPU_SIM_TENSOR_WGMMA_H_

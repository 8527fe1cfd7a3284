// ldmatrix, stmatrix: a warp loads 8x8 matrices of 16-bit elements from shared memory, one row of 16 bytes from each lane's address, or stores
// them there.
//
//   absl::StatusOr<LdMatrixKind> kind = ParseLdMatrix(opcode);
//   absl::Status s = RunLdMatrix(*kind, shared, addresses, &d);   // d[lane][matrix]
//   StMatrixRow(*kind, words, matrix, row, bytes);                // 16 bytes, of words[lane][matrix]
//
// Addresses are offsets in the block's shared memory. Errors: an address that is used and misaligned or outside. Thread-safe.
#ifndef TILE_TESTS_GPU_SIM_TENSOR_LDMATRIX_H_
#define TILE_TESTS_GPU_SIM_TENSOR_LDMATRIX_H_

#include <array>
#include <cstdint>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "tests/gpu_sim/tensor/mma.h"
#include "tests/gpu_sim/tensor/opcode.h"

namespace tile::gpu_sim {

struct LdMatrixKind {
  int matrices = 1;  // 1, 2, 4: registers of a lane
  bool trans = false;
};

absl::StatusOr<LdMatrixKind> ParseLdMatrix(Opcode opcode);
absl::StatusOr<LdMatrixKind> ParseStMatrix(Opcode opcode);
absl::Status RunLdMatrix(const LdMatrixKind& kind, absl::Span<const uint8_t> shared,
                         const std::array<uint32_t, 32>& addresses, WarpWords* d);
void StMatrixRow(const LdMatrixKind& kind, const WarpWords& words, size_t matrix, size_t row, uint8_t* bytes);

}  // namespace tile::gpu_sim

#endif  // TILE_TESTS_GPU_SIM_TENSOR_LDMATRIX_H_

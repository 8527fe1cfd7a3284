// An operand of tcgen05.mma or tcgen05.cp in shared memory: the 64-bit descriptor (PTX ISA 9.7.16.4, which is not wgmma's), and the place of
// each 16 bytes that it describes.
//
//   absl::StatusOr<OperandLayout> layout = DecodeOperand(bits, /*mn_major=*/false);
//   uint32_t at = AddressOf(*layout, mn, byte);      // K-major: row mn, byte of K; a multiple of 16
//
// The address is one in the block's shared memory; the swizzle is part of it.
#ifndef TILE_TESTS_GPU_SIM_TENSOR_TCGEN05_OPERAND_H_
#define TILE_TESTS_GPU_SIM_TENSOR_TCGEN05_OPERAND_H_

#include <cstdint>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"

namespace tile::gpu_sim {

struct OperandLayout {
  uint32_t start = 0, leading = 0, stride = 0;  // bytes
  uint32_t span = 16;                           // of the swizzle: 16 (none), 32, 64, 128 bytes
  bool wide_pieces = false;                     // swizzled by pieces of 32 bytes instead of 16
  bool mn_major = false;                        // M or N is contiguous, not K
};

absl::StatusOr<OperandLayout> DecodeOperand(uint64_t bits, bool mn_major);

// Of the 16 bytes that begin `along` bytes from the begin of a row (along K if that is contiguous, else along M or N), in row `across`.
uint32_t PieceAddress(const OperandLayout& layout, uint32_t across, uint32_t along);

// Bytes of the block's shared memory, after whatever check the machine makes of an access by tensor cores.
using SharedRead = absl::FunctionRef<absl::StatusOr<const uint8_t*>(uint32_t address, uint32_t bytes)>;

struct OperandFormat {
  int bits = 16;  // of an element
  bool unpacked =
      false;  // 4 or 6 bits of which 16 elements lie in 16 bytes, behind each other, and nothing in the rest
  double (*value)(uint32_t code) = nullptr;
};

// values[mn * depth + k], for `rows` of M or N.
absl::Status ReadOperand(const OperandLayout& layout, const OperandFormat& format, int rows, int depth, SharedRead read,
                         absl::Span<double> values);

}  // namespace tile::gpu_sim

#endif  // TILE_TESTS_GPU_SIM_TENSOR_TCGEN05_OPERAND_H_

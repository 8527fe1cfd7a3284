// mma.sync: D = A * B + C by a warp, operands in registers.
//
//   absl::StatusOr<MmaKind> kind = ParseMma(opcode);    // once, when the program is decoded
//   RunMma(*kind, a, b, c, &d);
//
// A sum is exact in double and rounded once to float, where GPUs round differently from each other; integers wrap. Thread-safe.
#ifndef TILE_TESTS_GPU_SIM_TENSOR_MMA_H_
#define TILE_TESTS_GPU_SIM_TENSOR_MMA_H_

#include <array>
#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "tests/gpu_sim/tensor/opcode.h"
#include "tests/gpu_sim/tensor/operand_type.h"

namespace tile::gpu_sim {

// Registers of a warp: words[lane][i] are 32 bits, in the order of the instruction's operands.
using WarpWords = std::array<std::vector<uint32_t>, 32>;

struct MmaKind {
  OperandType a, b;
  int scales = 0;                             // .block_scale: of a row, 1, 2 or 4
  bool power_of_two_scales = false;           // ue8m0, else ue4m3
  int k = 0;                                  // M is 16, N is 8
  int words_a = 0, words_b = 0, words_c = 4;  // registers of a lane; D has as many as C
};

// Registers with scales of .block_scale: rows g and g + 8 of A have theirs in the threads 2 * thread_a and the next of each four, the column g
// of B in thread_b; from this byte on.
struct MmaScales {
  const WarpWords *a = nullptr, *b = nullptr;
  uint32_t byte_a = 0, thread_a = 0, byte_b = 0, thread_b = 0;
};

absl::StatusOr<MmaKind> ParseMma(Opcode opcode);
void RunMma(const MmaKind& kind, const WarpWords& a, const WarpWords& b, const WarpWords& c, WarpWords* d,
            const MmaScales& scales = {});

}  // namespace tile::gpu_sim

#endif  // TILE_TESTS_GPU_SIM_TENSOR_MMA_H_

// What tcgen05.mma multiplies: the kind in the opcode, and the 32-bit instruction descriptor (PTX ISA 9.7.16.4.2, tables 42 to 45).
//
//   absl::StatusOr<Tcgen05Kind> kind = ParseTcgen05Mma(opcode);              // once, when the program is decoded
//   absl::StatusOr<Tcgen05Product> p = DecodeProduct(*kind, bits);           // types, shape, which operand has K contiguous
//
// ptxas does not look into descriptors: what no instruction takes is an error here.
#ifndef TILE_TESTS_GPU_SIM_TENSOR_TCGEN05_KIND_H_
#define TILE_TESTS_GPU_SIM_TENSOR_TCGEN05_KIND_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "tests/gpu_sim/tensor/opcode.h"
#include "tests/gpu_sim/tensor/tcgen05_operand.h"

namespace tile::gpu_sim {

enum class Tcgen05Types : uint8_t { kF16, kTF32, kF8F6F4, kI8, kMxF8F6F4, kMxF4, kMxF4NvF4 };

struct Tcgen05Kind {
  Tcgen05Types types = Tcgen05Types::kF16;
  int group = 1;                   // .cta_group
  int scales = 0;                  // of block scales: how many a row of an instruction has
  bool weight_stationary = false;  // .ws
  bool has_scales() const { return scales != 0; }
};

enum class SumType : uint8_t { kF16, kF32, kS32 };

struct Tcgen05Product {
  int m = 0, n = 0, k = 0;  // M of both blocks of a pair
  OperandFormat a, b;
  bool a_mn_major = false, b_mn_major = false, negate_a = false, negate_b = false;
  SumType sum = SumType::kF32;
  bool saturate = false;
  int scale_byte_a = 0, scale_byte_b = 0;  // where the first scale is in its word
  bool power_of_two_scales = false;        // ue8m0, else ue4m3
};

absl::StatusOr<Tcgen05Kind> ParseTcgen05Mma(Opcode opcode);
absl::StatusOr<Tcgen05Product> DecodeProduct(const Tcgen05Kind& kind, uint32_t bits);

}  // namespace tile::gpu_sim

#endif  // TILE_TESTS_GPU_SIM_TENSOR_TCGEN05_KIND_H_

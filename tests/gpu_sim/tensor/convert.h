// The cvt instruction: between integers, floats, and pairs of small floats.
//
//   absl::StatusOr<CvtKind> kind = ParseCvt({"cvt", "rn", "bf16x2", "f32"});   // once, when the program is decoded
//   uint64_t d = RunCvt(*kind, a, b);                                          // a becomes the upper half
//
// Operands are registers of which the low bits of the source's type count. The result is extended to 64 bits by its type's sign (what
// PTX puts into a wider register); a register takes its low bits. Thread-safe.
#ifndef TILE_TESTS_GPU_SIM_TENSOR_CONVERT_H_
#define TILE_TESTS_GPU_SIM_TENSOR_CONVERT_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "tests/gpu_sim/tensor/formats.h"
#include "tests/gpu_sim/tensor/opcode.h"

namespace tile::gpu_sim {

// An integer, a float, or two floats in a register.
struct CvtType {
  bool is_float = false;
  bool is_signed = false;        // of integers
  bool pair = false;             // of floats
  int bits = 0;                  // of the register's part that counts
  Format format = Format::kF32;  // of floats
};

struct CvtKind {
  CvtType to, from;
  Rounding rounding = Rounding::kNearestEven;
  bool to_integral = false;  // floats to floats by .rni .rzi .rmi .rpi
  bool ftz = false, sat = false, satfinite = false, relu = false;
  int sources = 1;  // operands
};

absl::StatusOr<CvtKind> ParseCvt(Opcode opcode);
uint64_t RunCvt(const CvtKind& kind, uint64_t a, uint64_t b = 0);

}  // namespace tile::gpu_sim

#endif  // TILE_TESTS_GPU_SIM_TENSOR_CONVERT_H_

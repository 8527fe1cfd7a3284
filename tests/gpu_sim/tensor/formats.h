// Floating-point formats of the PTX ISA: codes to values and back, with PTX's rounding.
//
//   Decode(Format::kE4M3, 0x7E)                                      // 448
//   Encode(Format::kF16, 65520.0, Rounding::kNearestEven)            // 0x7C00, infinity
//   Encode(Format::kE4M3, 1e9, Rounding::kNearestEven, Overflow::kSatfinite)  // 0x7E, the largest finite
//
// A double holds every value of the other formats. Results that are NaN are the format's canonical one. Thread-safe.
#ifndef TILE_TESTS_GPU_SIM_TENSOR_FORMATS_H_
#define TILE_TESTS_GPU_SIM_TENSOR_FORMATS_H_

#include <cstdint>

namespace tile::gpu_sim {

enum class Format : uint8_t { kF64, kF32, kTF32, kF16, kBF16, kE4M3, kE5M2, kE2M1, kE2M3, kE3M2 };

enum class Rounding : uint8_t {
  kNearestEven,  // .rn, .rni
  kZero,         // .rz, .rzi
  kDown,         // .rm, .rmi
  kUp,           // .rp, .rpi
  kNearestAway,  // .rna: ties away from zero
};

// What becomes of values beyond the largest finite one: infinity (NaN where there is none), or with `kSatfinite` the largest
// finite one of that sign, of infinities too.
enum class Overflow : uint8_t { kInfinity, kSatfinite };

struct FormatInfo {
  int bits;           // of a code
  int exponent_bits;  // behind the sign
  int mantissa_bits;
  int unused_bits;  // behind the mantissa: tf32 has those of f32
  int bias;
  uint64_t largest;   // code of the largest finite value
  uint64_t infinity;  // code, if there is one: else `nan`
  uint64_t nan;       // the canonical NaN; of formats without one what NaN becomes
};
const FormatInfo& InfoOf(Format f);

// Of the low bits; tf32 ignores its low 13.
double Decode(Format f, uint64_t code);
uint64_t Encode(Format f, double value, Rounding rounding, Overflow overflow = Overflow::kInfinity);
// The same of ±significand * 2^exponent, which need not fit a double.
uint64_t EncodeScaled(Format f, bool negative, uint64_t significand, int exponent, Rounding rounding,
                      Overflow overflow = Overflow::kInfinity);

// The value of a code of 16 bits and less, from a table.
const float* DecodeTable(Format f);

// A scale of type ue8m0: a power of two; 255 is NaN.
double DecodeUE8M0(uint8_t code);

// To an integral value; -0 stays.
double RoundToIntegral(double value, Rounding rounding);

}  // namespace tile::gpu_sim

#endif  // TILE_TESTS_GPU_SIM_TENSOR_FORMATS_H_

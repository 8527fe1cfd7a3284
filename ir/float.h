// Bits of every float element type, and their values.
//
// ToDouble is exact; FromDouble rounds once. They say what `ftof` means (semantics 4.1, 4.2); the VM's kernels do the
// same faster. A value stands in the low bits of a uint64_t; tf32 is a 32-bit word whose low 13 bits are zero. All
// functions want a float element (IsFloat), and are pure and thread-safe. Example:
//
//   FromDouble(Elem::kF16, 1.0);                         // 0x3C00
//   FromDouble(Elem::kF16, 1e6);                         // 0x7C00, infinity
//   FromDouble(Elem::kF8E4M3FN, 1e6);                    // 0x7E, the largest finite value, 448
//   ToDouble(Elem::kF4E2M1FN, 0x7);                      // 6.0
#ifndef TILE_IR_FLOAT_H_
#define TILE_IR_FLOAT_H_

#include <cstdint>

#include "ir/element.h"

namespace tile::ir {

// How a float type uses its bits: sign (if any), exponent, mantissa from the top, then `unused` zero bits. The value is
// 1.mantissa * 2^(exponent - bias), and 0.mantissa * 2^(1 - bias) for exponent 0.
struct FloatFormat {
  int exponent_bits;
  int mantissa_bits;
  int bias;
  bool has_sign;
  bool has_zero;      // and subnormals; otherwise exponent 0 is like any other
  bool has_infinity;  // and then NaN is everything above it
  bool has_nan;       // without infinity, NaN is the largest code only
  bool saturates;     // a finite value out of range becomes the largest finite one
  int unused;

  constexpr int magnitude_bits() const { return exponent_bits + mantissa_bits; }
  constexpr uint64_t magnitude_mask() const { return (uint64_t{1} << magnitude_bits()) - 1; }
  constexpr uint64_t infinity() const { return magnitude_mask() >> mantissa_bits << mantissa_bits; }
  // Code of the largest finite value.
  constexpr uint64_t largest() const { return has_infinity ? infinity() - 1 : magnitude_mask() - (has_nan ? 1 : 0); }
};

const FloatFormat& FloatFormatOf(Elem e);

// The value of a code. Signalling NaNs may become quiet; bits outside of the type are ignored.
double ToDouble(Elem e, uint64_t bits);

// The nearest code in the direction of `rounding` (nearest_even, zero, negative_inf, positive_inf, nearest_away; any
// other mode means nearest_even). Out of range:
//   f16 bf16 f32 tf32 f64   as IEEE: infinity, or the largest finite value if the rounding points toward zero
//   f8 and f4 types         a finite value saturates; an infinity stays in f8E5M2, saturates in f4E2M1FN, else is NaN
//   unsigned types          a negative value is NaN; -0 is 0
//   f8E8M0FNU               zero and what is below 2^-127 give 2^-127
// NaN gives CanonicalNan.
uint64_t FromDouble(Elem e, double value, Rounding rounding = Rounding::kNearestEven);

// The positive quiet NaN with no payload; f8E4M3FN 0x7F; +6 in f4E2M1FN, which has no NaN.
uint64_t CanonicalNan(Elem e);
bool IsNanBits(Elem e, uint64_t bits);

// The bits that a view's padding value stands for: FromDouble of it in a float type. Integers know zero only and get 0.
uint64_t PaddingBits(Elem e, Padding padding);

}  // namespace tile::ir

#endif  // TILE_IR_FLOAT_H_

#include "ir/float.h"

#include <algorithm>
#include <bit>
#include <cassert>
#include <cmath>
#include <limits>

namespace tile::ir {
namespace {

constexpr FloatFormat kF16Format = {5, 10, 15, true, true, true, true, false, 0};
constexpr FloatFormat kBF16Format = {8, 7, 127, true, true, true, true, false, 0};
constexpr FloatFormat kF32Format = {8, 23, 127, true, true, true, true, false, 0};
constexpr FloatFormat kTF32Format = {8, 10, 127, true, true, true, true, false, 13};
constexpr FloatFormat kF64Format = {11, 52, 1023, true, true, true, true, false, 0};
constexpr FloatFormat kF8E4M3FNFormat = {4, 3, 7, true, true, false, true, true, 0};
constexpr FloatFormat kF8E5M2Format = {5, 2, 15, true, true, true, true, true, 0};
constexpr FloatFormat kF8E8M0FNUFormat = {8, 0, 127, false, false, false, true, true, 0};
constexpr FloatFormat kF8E5M3FNUFormat = {5, 3, 15, false, true, false, true, true, 0};
constexpr FloatFormat kF4E2M1FNFormat = {2, 1, 1, true, true, false, false, true, 0};

// Exponent of the last bit of the smallest values.
constexpr int MinLsb(const FloatFormat& f) { return (f.has_zero ? 1 : 0) - f.bias - f.mantissa_bits; }

// significand * 2^exponent (not zero) as a code of f, with no regard to the largest one.
uint64_t RoundToCode(const FloatFormat& f, uint64_t significand, int exponent, bool negative, Rounding rounding) {
  const int top = exponent + std::bit_width(significand) - 1;
  const int lsb = std::max(top - f.mantissa_bits, MinLsb(f));
  // Keep the bits from 2^lsb on. 62 stands for everything that leaves nothing of 53 bits.
  const int drop = std::min(lsb - exponent, 62);
  uint64_t kept, rest, half;
  if (drop <= 0) {
    kept = significand << -drop;
    rest = 0;
    half = 1;
  } else {
    kept = significand >> drop;
    rest = significand & ((uint64_t{1} << drop) - 1);
    half = uint64_t{1} << (drop - 1);
  }
  // Consecutive values have consecutive codes, also from one exponent to the next.
  uint64_t code = (static_cast<uint64_t>(lsb - MinLsb(f)) << f.mantissa_bits) + kept;
  if (!f.has_zero) {
    if (kept == 0) return 0;
    code -= 1;
  }
  bool up = false;
  switch (rounding) {
    case Rounding::kZero: break;
    case Rounding::kNegativeInf: up = negative && rest != 0; break;
    case Rounding::kPositiveInf: up = !negative && rest != 0; break;
    case Rounding::kNearestAway: up = rest >= half; break;
    default: up = rest > half || (rest == half && (code & 1) != 0); break;
  }
  return code + (up ? 1 : 0);
}

}  // namespace

const FloatFormat& FloatFormatOf(Elem e) {
  switch (e) {
    case Elem::kF16: return kF16Format;
    case Elem::kBF16: return kBF16Format;
    case Elem::kTF32: return kTF32Format;
    case Elem::kF64: return kF64Format;
    case Elem::kF8E4M3FN: return kF8E4M3FNFormat;
    case Elem::kF8E5M2: return kF8E5M2Format;
    case Elem::kF8E8M0FNU: return kF8E8M0FNUFormat;
    case Elem::kF8E5M3FNU: return kF8E5M3FNUFormat;
    case Elem::kF4E2M1FN: return kF4E2M1FNFormat;
    default: assert(e == Elem::kF32); return kF32Format;
  }
}

double ToDouble(Elem e, uint64_t bits) {
  if (e == Elem::kF64) return std::bit_cast<double>(bits);
  const FloatFormat& f = FloatFormatOf(e);
  bits >>= f.unused;
  const uint64_t magnitude = bits & f.magnitude_mask();
  const bool negative = f.has_sign && (bits >> f.magnitude_bits() & 1);
  double value;
  if (IsNanBits(e, bits << f.unused)) {
    value = std::numeric_limits<double>::quiet_NaN();
  } else if (f.has_infinity && magnitude == f.infinity()) {
    value = std::numeric_limits<double>::infinity();
  } else {
    const int exponent = static_cast<int>(magnitude >> f.mantissa_bits);
    uint64_t significand = magnitude & ((uint64_t{1} << f.mantissa_bits) - 1);
    if (exponent > 0 || !f.has_zero) significand |= uint64_t{1} << f.mantissa_bits;
    const int steps = f.has_zero ? std::max(exponent - 1, 0) : exponent;
    value = std::ldexp(static_cast<double>(significand), MinLsb(f) + steps);
  }
  return negative ? -value : value;
}

uint64_t FromDouble(Elem e, double value, Rounding rounding) {
  const FloatFormat& f = FloatFormatOf(e);
  const bool negative = std::signbit(value);
  if (std::isnan(value) || (!f.has_sign && value < 0)) return CanonicalNan(e);
  const uint64_t sign = f.has_sign && negative ? uint64_t{1} << f.magnitude_bits() : 0;
  uint64_t code;
  if (std::isinf(value)) {
    if (!f.has_infinity && f.has_nan) return CanonicalNan(e);
    code = f.has_infinity ? f.infinity() : f.largest();
  } else if (value == 0) {
    code = 0;
  } else {
    int exponent;
    const double fraction = std::frexp(std::fabs(value), &exponent);
    code = RoundToCode(f, static_cast<uint64_t>(std::ldexp(fraction, 53)), exponent - 53, negative, rounding);
    const bool to_zero =
        rounding == Rounding::kZero || rounding == (negative ? Rounding::kPositiveInf : Rounding::kNegativeInf);
    if (code > f.largest()) code = f.saturates || to_zero ? f.largest() : f.infinity();
  }
  return (sign | code) << f.unused;
}

uint64_t CanonicalNan(Elem e) {
  const FloatFormat& f = FloatFormatOf(e);
  if (!f.has_infinity) return f.magnitude_mask();
  return (f.infinity() | uint64_t{1} << (f.mantissa_bits - 1)) << f.unused;
}

bool IsNanBits(Elem e, uint64_t bits) {
  const FloatFormat& f = FloatFormatOf(e);
  return f.has_nan && (bits >> f.unused & f.magnitude_mask()) > (f.has_infinity ? f.infinity() : f.largest());
}

uint64_t PaddingBits(Elem e, Padding padding) {
  if (!IsFloat(e)) return 0;
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  switch (padding) {
    case Padding::kZero: return FromDouble(e, 0.0);
    case Padding::kNegZero: return FromDouble(e, -0.0);
    case Padding::kNan: return CanonicalNan(e);
    case Padding::kPosInf: return FromDouble(e, kInfinity);
    case Padding::kNegInf: return FromDouble(e, -kInfinity);
  }
  return 0;
}

}  // namespace tile::ir

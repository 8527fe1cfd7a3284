// Every conversion goes by significand * 2^exponent in integers, so that it does not depend on the machine's rounding mode.
#include "tests/gpu_sim/tensor/formats.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <iterator>
#include <limits>
#include <vector>

namespace tile::gpu_sim {
namespace {

constexpr FormatInfo kFormats[] = {
    {64, 11, 52, 0, 1023, 0x7FEFFFFFFFFFFFFF, 0x7FF0000000000000, 0x7FF8000000000000},  // f64
    {32, 8, 23, 0, 127, 0x7F7FFFFF, 0x7F800000, 0x7FFFFFFF},                            // f32
    {32, 8, 10, 13, 127, 0x7F7FE000, 0x7F800000, 0x7FFFFFFF},                           // tf32
    {16, 5, 10, 0, 15, 0x7BFF, 0x7C00, 0x7FFF},                                         // f16
    {16, 8, 7, 0, 127, 0x7F7F, 0x7F80, 0x7FFF},                                         // bf16
    {8, 4, 3, 0, 7, 0x7E, 0x7F, 0x7F},                                                  // e4m3
    {8, 5, 2, 0, 15, 0x7B, 0x7C, 0x7F},                                                 // e5m2
    {4, 2, 1, 0, 1, 0x7, 0x7, 0x7},                                                     // e2m1
    {6, 2, 3, 0, 1, 0x1F, 0x1F, 0x1F},                                                  // e2m3
    {6, 3, 2, 0, 3, 0x1F, 0x1F, 0x1F},                                                  // e3m2
};

uint64_t Bits(double v) {
  uint64_t bits;
  std::memcpy(&bits, &v, sizeof bits);
  return bits;
}

uint64_t WithSign(const FormatInfo& f, uint64_t code, bool negative) {
  return negative ? code | uint64_t{1} << (f.bits - 1) : code;
}

// Whether units + rest is rounded to units + 1. `half`: the rest compared with a half, -1 0 1.
bool RoundsAwayFromZero(Rounding rounding, bool negative, uint64_t units, bool inexact, int half) {
  switch (rounding) {
    case Rounding::kNearestEven: return half > 0 || (half == 0 && (units & 1) != 0);
    case Rounding::kNearestAway: return half >= 0;
    case Rounding::kZero: return false;
    case Rounding::kDown: return inexact && negative;
    case Rounding::kUp: return inexact && !negative;
  }
  return false;
}

// significand / 2^shift, rounded.
uint64_t ShiftRight(uint64_t significand, int shift, Rounding rounding, bool negative) {
  if (shift <= 0) return significand << -shift;
  uint64_t units = 0;
  int half = -1;
  bool inexact = significand != 0;
  if (shift <= 64) {
    units = shift == 64 ? 0 : significand >> shift;
    const uint64_t rest = shift == 64 ? significand : significand & ((uint64_t{1} << shift) - 1);
    const uint64_t middle = uint64_t{1} << (shift - 1);
    half = rest > middle ? 1 : rest == middle ? 0 : -1;
    inexact = rest != 0;
  }
  return units + (RoundsAwayFromZero(rounding, negative, units, inexact, half) ? 1 : 0);
}

uint64_t Overflowed(const FormatInfo& f, bool negative, Rounding rounding, Overflow overflow) {
  const bool towards_zero = rounding == Rounding::kZero || (rounding == Rounding::kDown && !negative) ||
                            (rounding == Rounding::kUp && negative);
  if (overflow == Overflow::kSatfinite || towards_zero) return WithSign(f, f.largest, negative);
  return f.infinity == f.nan ? f.nan : WithSign(f, f.infinity, negative);
}

}  // namespace

const FormatInfo& InfoOf(Format f) { return kFormats[static_cast<size_t>(f)]; }

double Decode(Format format, uint64_t code) {
  if (format == Format::kF64) {
    double v;
    std::memcpy(&v, &code, sizeof v);
    return v;
  }
  const FormatInfo& f = InfoOf(format);
  code = (code & ((uint64_t{1} << f.bits) - 1)) >> f.unused_bits << f.unused_bits;
  const bool negative = (code >> (f.bits - 1)) != 0;
  const uint64_t magnitude = code & ((uint64_t{1} << (f.bits - 1)) - 1);
  double v;
  if (magnitude > f.largest) {
    v = magnitude == f.infinity && f.infinity != f.nan ? std::numeric_limits<double>::infinity()
                                                       : std::numeric_limits<double>::quiet_NaN();
  } else {
    const uint64_t units = magnitude >> f.unused_bits, one = uint64_t{1} << f.mantissa_bits;
    const int exponent = static_cast<int>(units >> f.mantissa_bits);
    const uint64_t significand = (units & (one - 1)) | (exponent > 0 ? one : 0);
    v = std::ldexp(static_cast<double>(significand), std::max(exponent, 1) - f.bias - f.mantissa_bits);
  }
  return negative ? -v : v;
}

uint64_t EncodeScaled(Format format, bool negative, uint64_t significand, int exponent, Rounding rounding,
                      Overflow overflow) {
  const FormatInfo& f = InfoOf(format);
  if (significand == 0) return WithSign(f, 0, negative);
  // Subnormal numbers share the exponent of the smallest normal ones.
  const int highest = std::max(exponent + 63 - __builtin_clzll(significand), 1 - f.bias);
  const uint64_t units = ShiftRight(significand, highest - f.mantissa_bits - exponent, rounding, negative);
  // A carry out of the mantissa goes into the exponent, as it should; so does a subnormal's into the first normal number.
  const uint64_t before = static_cast<uint64_t>(highest + f.bias - 1) << f.mantissa_bits;
  const uint64_t code = (before + units) << f.unused_bits;
  if (highest > f.bias + 1 || code > f.largest) return Overflowed(f, negative, rounding, overflow);
  return WithSign(f, code, negative);
}

uint64_t Encode(Format format, double value, Rounding rounding, Overflow overflow) {
  const FormatInfo& f = InfoOf(format);
  if (std::isnan(value)) return f.nan;
  const bool negative = std::signbit(value);
  if (std::isinf(value)) return Overflowed(f, negative, Rounding::kNearestEven, overflow);
  if (format == Format::kF64) return Bits(value);
  const uint64_t bits = Bits(value), fraction = bits & 0xFFFFFFFFFFFFF;
  const int exponent = static_cast<int>(bits >> 52 & 0x7FF);
  const uint64_t significand = exponent > 0 ? fraction | uint64_t{1} << 52 : fraction;
  return EncodeScaled(format, negative, significand, std::max(exponent, 1) - 1075, rounding, overflow);
}

const float* DecodeTable(Format format) {
  static const auto* const kTables = [] {
    auto* tables = new std::array<std::vector<float>, std::size(kFormats)>;
    for (size_t i = 0; i < tables->size(); ++i) {
      if (kFormats[i].bits > 16) continue;
      for (uint64_t code = 0; code >> kFormats[i].bits == 0; ++code) {
        (*tables)[i].push_back(static_cast<float>(Decode(static_cast<Format>(i), code)));
      }
    }
    return tables;
  }();
  return (*kTables)[static_cast<size_t>(format)].data();
}

double DecodeUE8M0(uint8_t code) {
  return code == 0xFF ? std::numeric_limits<double>::quiet_NaN() : std::ldexp(1.0, code - 127);
}

double RoundToIntegral(double value, Rounding rounding) {
  if (!std::isfinite(value)) return value;
  const double below = std::floor(value), rest = value - below;
  bool up = false;
  switch (rounding) {
    case Rounding::kNearestEven: up = rest > 0.5 || (rest == 0.5 && std::fmod(below, 2) != 0); break;
    case Rounding::kNearestAway: up = rest > 0.5 || (rest == 0.5 && value > 0); break;
    case Rounding::kZero: up = rest > 0 && value < 0; break;
    case Rounding::kDown: break;
    case Rounding::kUp: up = rest > 0; break;
  }
  return std::copysign(up ? below + 1 : below, value);
}

}  // namespace tile::gpu_sim

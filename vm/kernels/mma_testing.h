// Numbers for the tests of kernels: bits of float elements to and from double, slowly and in plain arithmetic, so that
// they share nothing with the code under test.
#ifndef TILE_VM_KERNELS_MMA_TESTING_H_
#define TILE_VM_KERNELS_MMA_TESTING_H_

#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "vm/kernels/isa.h"

namespace tile::vm {

// A float format of `exponent` and `mantissa` bits; 15 = 5 + 10 is f16, 8 + 7 bf16, 8 + 23 f32.
struct FloatFormat {
  int exponent, mantissa;
  int bias() const { return (1 << (exponent - 1)) - 1; }
};
inline constexpr FloatFormat kF16Format{5, 10}, kBF16Format{8, 7}, kF32Format{8, 23}, kF64Format{11, 52};

inline double Decode(FloatFormat f, uint64_t bits) {
  const uint64_t mantissa = bits & ((uint64_t{1} << f.mantissa) - 1);
  const int exponent = static_cast<int>(bits >> f.mantissa) & ((1 << f.exponent) - 1);
  const double sign = bits >> (f.exponent + f.mantissa) & 1 ? -1 : 1;
  if (exponent == (1 << f.exponent) - 1) {
    return mantissa ? std::numeric_limits<double>::quiet_NaN() : sign * std::numeric_limits<double>::infinity();
  }
  const double significand = static_cast<double>(mantissa) + (exponent ? std::ldexp(1.0, f.mantissa) : 0.0);
  return sign * std::ldexp(significand, (exponent ? exponent : 1) - f.bias() - f.mantissa);
}

// Rounded to nearest even; a NaN is the canonical one.
inline uint64_t Encode(FloatFormat f, double x) {
  const uint64_t special = ((uint64_t{1} << f.exponent) - 1) << f.mantissa;
  if (std::isnan(x)) return special | uint64_t{1} << (f.mantissa - 1);
  const uint64_t sign = uint64_t{std::signbit(x)} << (f.exponent + f.mantissa);
  x = std::fabs(x);
  if (x == 0) return sign;
  if (std::isinf(x)) return sign | special;
  int e;
  std::frexp(x, &e);  // x < 2^e
  const int unit = (e - 1 < 1 - f.bias() ? 1 - f.bias() : e - 1) - f.mantissa;
  const double steps = std::nearbyint(std::ldexp(x, -unit));  // exact but for the rounding wanted
  // Steps count on over the border of exponents, and into infinity.
  const uint64_t magnitude =
      static_cast<uint64_t>(steps) + (static_cast<uint64_t>(unit + f.mantissa + f.bias() - 1) << f.mantissa);
  return sign | (magnitude > special ? special : magnitude);
}

// Every instruction set that this CPU can run.
inline std::vector<Isa> SupportedIsas() {
  std::vector<Isa> isas;
  for (const Isa isa : {Isa::kGeneric, Isa::kV2, Isa::kV3, Isa::kV4}) {
    if (IsaSupported(isa)) isas.push_back(isa);
  }
  return isas;
}

// A small fast generator with the same numbers on every machine.
class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed * 2 + 1) {}
  uint64_t Bits() {
    state_ = state_ * 6364136223846793005u + 1442695040888963407u;
    const uint64_t x = (state_ >> 29 ^ state_) * 0x9e3779b97f4a7c15u;
    return x >> 32 ^ x;
  }
  int64_t Below(int64_t n) { return static_cast<int64_t>(Bits() % static_cast<uint64_t>(n)); }

 private:
  uint64_t state_;
};

}  // namespace tile::vm

#endif  // TILE_VM_KERNELS_MMA_TESTING_H_

// What suffixes of a floating-point instruction ask for, and helpers that do it.
#ifndef TILE_TESTS_GPU_SIM_MACHINE_FLOAT_MODE_H_
#define TILE_TESTS_GPU_SIM_MACHINE_FLOAT_MODE_H_

#include <bit>
#include <cfenv>
#include <cmath>
#include <cstdint>
#include <limits>

#include "tests/gpu_sim/machine/form.h"

namespace tile::gpu_sim {

// In Instr::imm: bits 0 to 1 the rounding (0: to nearest even), then flags.
enum FloatFlags : int64_t {
  kRoundZero = 1,
  kRoundDown = 2,
  kRoundUp = 3,
  kRoundMask = 3,
  kFtz = 4,
  kSat = 8,
  kNanWins = 16,  // min.NaN
  kXorSign = 32,  // min.xorsign.abs
  kRelu = 64,
};

inline int64_t TakeFloatFlags(Form& f) {
  int64_t flags = f.TakeOf<int64_t>({{"rz", kRoundZero}, {"rm", kRoundDown}, {"rp", kRoundUp}, {"rn", 0}}, 0);
  if (f.Take("ftz")) flags |= kFtz;
  if (f.Take("sat")) flags |= kSat;
  if (f.Take("NaN")) flags |= kNanWins;
  if (f.Take("relu")) flags |= kRelu;
  if (f.Take("xorsign")) {
    flags |= kXorSign;
    if (!f.Take("abs")) f.Fail("`.xorsign` without `.abs`");
  }
  return flags;
}

template <class T>
T Flush(T v, int64_t flags) {
  return (flags & kFtz) != 0 && std::fpclassify(v) == FP_SUBNORMAL ? std::copysign(T{0}, v) : v;
}

// NVIDIA's NaN of f32 is always the same; that of f64 is the operand's, or positive.
inline float CanonicalNan(float v) { return std::isnan(v) ? std::bit_cast<float>(0x7FFFFFFFu) : v; }
inline double CanonicalNan(double v) { return std::isnan(v) ? std::bit_cast<double>(0x7FF8000000000000ull) : v; }

template <class T>
T Finish(T v, int64_t flags) {
  v = Flush(v, flags);
  if ((flags & kSat) != 0) v = v > 0 ? (v < 1 ? v : T{1}) : T{0};
  return CanonicalNan(v);
}

// The host's rounding while it lives.
class RoundingMode {
 public:
  explicit RoundingMode(int64_t flags) {
    constexpr int kModes[] = {FE_TONEAREST, FE_TOWARDZERO, FE_DOWNWARD, FE_UPWARD};
    std::fesetround(kModes[flags & kRoundMask]);
  }
  ~RoundingMode() { std::fesetround(FE_TONEAREST); }
};

// Of PTX: a NaN loses against a number, -0 is less than 0.
template <class T>
T MinMax(T a, T b, bool is_min, int64_t flags) {
  T d;
  if (std::isnan(a) || std::isnan(b)) {
    d = (flags & kNanWins) != 0 || (std::isnan(a) && std::isnan(b)) ? std::numeric_limits<T>::quiet_NaN()
        : std::isnan(a)                                             ? b
                                                                    : a;
  } else if ((flags & kXorSign) != 0) {
    const T x = std::abs(a), y = std::abs(b);
    d = std::copysign(is_min == (x < y) ? x : y, std::signbit(a) != std::signbit(b) ? T{-1} : T{1});
  } else if (a == b) {
    d = std::signbit(a) == is_min ? a : b;
  } else {
    d = is_min == (a < b) ? a : b;
  }
  return d;
}

}  // namespace tile::gpu_sim

#endif  // TILE_TESTS_GPU_SIM_MACHINE_FLOAT_MODE_H_

// f32 functions, one element each, without branches so that loops over them vectorise.
//
// Written for this project, because they are called for every element of softmax, GELU and the like. All but exp and
// exp2 compute in double, where a polynomial good to 2^-33 and a few roundings leave an error of 0.51 ulp in float; exp
// and exp2 stay in float for speed. They use + - * / only, no fma, so that results are equal on all CPUs. MATH.md has
// the bounds. Polynomials are near-minimax (Chebyshev) fits.
#ifndef TILE_VM_KERNELS_MATH_F32_H_
#define TILE_VM_KERNELS_MATH_F32_H_

#include "vm/kernels/scalar.h"

namespace tile::vm::TILE_VM_ISA {

// --- tools ----------------------------------------------------------------------------------------------------------

// |a|, at most `limit`; NaN gives the limit. Integers, because a comparison of floats may be compiled into branches
// that repeat what follows.
TILE_VM_INLINE float Magnitude(float a, float limit) {
  const uint32_t bits = ToBits(a) & ~FloatBits<float>::kSign;
  return FromBits<float>(bits < ToBits(limit) ? bits : ToBits(limit));
}
// a with a magnitude of at most `limit`.
TILE_VM_INLINE float Limit(float a, float limit) {
  return FromBits<float>(ToBits(Magnitude(a, limit)) | (ToBits(a) & FloatBits<float>::kSign));
}
TILE_VM_INLINE float NanIfNan(float a, float result) { return a == a ? result : Nan<float>(); }
// c[0] + c[1] x + …, by Horner's rule.
template <class T, int kTerms>
TILE_VM_INLINE T Polynomial(T x, const T (&c)[kTerms]) {
  T sum = c[kTerms - 1];
#pragma GCC unroll 16
  for (int i = kTerms - 2; i >= 0; --i) sum = sum * x + c[i];
  return sum;
}
TILE_VM_INLINE float CopySign(float magnitude, float sign) { return __builtin_copysignf(magnitude, sign); }

// The nearest integer to x, |x| < 2^51 (2^22 in float), and it again in the low bits of `bits`.
struct Rounded64 {
  double value;
  uint64_t bits;
};
TILE_VM_INLINE Rounded64 RoundToInt(double x) {
  constexpr double kShift = 0x1.8p52;
  const double shifted = x + kShift;
  return {shifted - kShift, ToBits(shifted)};
}
// 2^k, k in the low bits, -1022 to 1023.
TILE_VM_INLINE double PowerOfTwo(uint64_t k) { return FromBits<double>((k + 1023) << 52); }

constexpr double kLn2 = 0x1.62e42fefa39efp-1;
constexpr double kLog2E = 0x1.71547652b82fep+0;
constexpr double kPi = 0x1.921fb54442d18p+1;

// e^x - 1, relative error 2^-36; x finite, |x| < 700.
TILE_VM_INLINE double Expm1InDouble(double x) {
  constexpr double kQ[] = {0x1.0p-1,
                           0x1.55555567a3ef9p-3,
                           0x1.5555555ca75fbp-5,
                           0x1.1110c55328e8ap-7,
                           0x1.6c1684d8c70cfp-10,
                           0x1.a153499304855p-13,
                           0x1.a11492e663309p-16};
  const Rounded64 k = RoundToInt(x * kLog2E);
  const double r = x - k.value * kLn2;
  const double scale = PowerOfTwo(k.bits);
  return scale * (r + r * r * Polynomial(r, kQ)) + (scale - 1);
}
// 2^x, relative error 2^-43; |x| < 1000.
TILE_VM_INLINE double Exp2InDouble(double x) {
  constexpr double kP[] = {0x1.62e42fefa39efp-1,  0x1.ebfbdff823bd4p-3,  0x1.c6b08d7047e0bp-5,
                           0x1.3b2ab7184750ep-7,  0x1.5d87fe8714a28p-10, 0x1.4308ac1c81dc6p-13,
                           0x1.ffcb94abad672p-17, 0x1.63d1c24a346d6p-20, 0x1.b6390dce32a95p-24};
  const Rounded64 k = RoundToInt(x);
  const double f = x - k.value;
  return PowerOfTwo(k.bits) * (1 + f * Polynomial(f, kP));
}

// x = 2^exponent * (1 + f) / (1 - f) with 1/sqrt(2) <= x / 2^exponent < sqrt(2), for finite positive x.
struct Logarithm {
  double exponent, f;
};
TILE_VM_INLINE Logarithm SplitLog(float x) {
  const bool tiny = x < 0x1p-126f;
  const uint32_t bits = ToBits(tiny ? x * 0x1p25f : x);
  const int32_t k = static_cast<int32_t>(bits - 0x3F3504F3) >> 23;
  const double m = FromBits<float>(bits - (static_cast<uint32_t>(k) << 23));
  return {static_cast<double>(k - (tiny ? 25 : 0)), (m - 1) / (m + 1)};
}

// --- functions ------------------------------------------------------------------------------------------------------

// p * 2^k rounded once, for 0.7 < p < 1.42, |k| < 190 in the low bits of `bits` and of the sign of `sign`: by 2^(k -+
// 64), which is exact, and 2^(+-64).
TILE_VM_INLINE float Scale(float p, uint32_t bits, float sign) {
  const uint32_t negative = (ToBits(sign) & FloatBits<float>::kSign) >> 1;  // 128 as an exponent
  const uint32_t exact = ToBits(p) + (bits << 23) + (0xE0000000 + negative);
  return FromBits<float>(exact) * FromBits<float>(0x5F800000 ^ negative);
}

TILE_VM_INLINE float ExpOf(float a) {
  constexpr float kQ[] = {0x1.0p-1f, 0x1.5554dcp-3f, 0x1.555518p-5f, 0x1.120ce4p-7f, 0x1.6d127ep-10f};
  const float x = Limit(a, 104.0f);
  const float shifted = x * 0x1.715476p+0f + 0x1.8p23f;
  const float k = shifted - 0x1.8p23f;
  // ln 2 in two parts, the product with the first exact.
  const float high = x - k * 0.693359375f;
  const float low = k * -0x1.bd0106p-13f;
  const float r = high - low;
  const float r2 = r * r;
  const float q = (kQ[0] + kQ[1] * r) + r2 * ((kQ[2] + kQ[3] * r) + r2 * kQ[4]);
  const float p = 1 + (high + (r2 * q - low));
  return NanIfNan(a, Scale(p, ToBits(shifted), x));
}

TILE_VM_INLINE float Exp2Of(float a) {
  constexpr float kP[] = {0x1.62e430p-1f, 0x1.ebfbe0p-3f,  0x1.c6af6cp-5f,
                          0x1.3b2a52p-7f, 0x1.5f0956p-10f, 0x1.441412p-13f};
  const float x = Limit(a, 151.0f);
  const float shifted = x + 0x1.8p23f;
  const float f = x - (shifted - 0x1.8p23f);
  const float f2 = f * f;
  const float tail = (kP[1] + kP[2] * f) + f2 * ((kP[3] + kP[4] * f) + f2 * kP[5]);
  const float p = 1 + (kP[0] * f + f2 * tail);
  return NanIfNan(a, Scale(p, ToBits(shifted), x));
}

// ln and log2 of the general case; zero, negative, infinite and NaN arguments.
TILE_VM_INLINE float LogSpecial(float a, double log) {
  float r = static_cast<float>(log);
  r = a == 0 ? -__builtin_inff() : r;
  return a >= 0 ? (a == __builtin_inff() ? a : r) : Nan<float>();
}
TILE_VM_INLINE double AtanhSeries(double f) {  // ln((1 + f) / (1 - f))
  constexpr double kL[] = {0x1.5555555564fdap-1, 0x1.999998ca249fbp-2, 0x1.249324907dae3p-2, 0x1.c67a84e8a4ba0p-3,
                           0x1.8c92867b49a01p-3};
  const double z = f * f;
  return f * (2 + z * Polynomial(z, kL));
}
TILE_VM_INLINE float LogOf(float a) {
  const Logarithm s = SplitLog(a);
  return LogSpecial(a, s.exponent * kLn2 + AtanhSeries(s.f));
}
TILE_VM_INLINE float Log2Of(float a) {
  const Logarithm s = SplitLog(a);
  return LogSpecial(a, s.exponent + AtanhSeries(s.f) * kLog2E);
}

TILE_VM_INLINE float TanhOf(float a) {
  const double m = Expm1InDouble(2.0 * Magnitude(a, 16.0f));
  return NanIfNan(a, CopySign(static_cast<float>(m / (m + 2)), a));
}
TILE_VM_INLINE float SinhOf(float a) {
  const double m = Expm1InDouble(Magnitude(a, 100.0f));
  return NanIfNan(a, CopySign(static_cast<float>(0.5 * (m + m / (m + 1))), a));
}
TILE_VM_INLINE float CoshOf(float a) {
  const double e = Expm1InDouble(Magnitude(a, 100.0f)) + 1;
  return NanIfNan(a, static_cast<float>(0.5 * (e + 1 / e)));
}

// 1 - e^(-x p(x)) with x p(x) = -ln(1 - erf(x)); from 4 on it is 1.
TILE_VM_INLINE float ErfOf(float a) {
  constexpr double kP[] = {0x1.20dd75040ddccp+0,   0x1.45f3070012e82p-1,   0x1.a4f4c58203cb3p-4,
                           -0x1.3961f27f3a183p-6,  -0x1.c25603fadf08cp-13, 0x1.c0e9d33411d02p-10,
                           -0x1.44dcb39107e74p-11, 0x1.f54b1e1cca898p-15,  0x1.559011abe7acap-15,
                           -0x1.6d00d1d804d50p-16, 0x1.5f1c3823afeb8p-18,  -0x1.6640b83293080p-21,
                           0x1.3850e2a823900p-25};
  const double x = Magnitude(a, 4.0f);
  return NanIfNan(a, CopySign(static_cast<float>(-Expm1InDouble(-(x * Polynomial(x, kP)))), a));
}

// Sine and cosine of x - quadrant * pi/2 for |x| <= kLargestReduced: there every product with the first part of pi/2,
// of 33 bits, is exact.
constexpr float kLargestReduced = 0x1p20f;
struct Angle {
  double sin, cos;
  uint64_t quadrant;
};
TILE_VM_INLINE Angle Reduce(float a) {
  constexpr double kS[] = {-0x1.5555555454057p-3, 0x1.11110dd6f24b2p-7, -0x1.a0138702ef739p-13, 0x1.6db3872f5e48bp-19};
  constexpr double kC[] = {-0x1.fffffffffe54cp-2, 0x1.5555555125bd4p-5, -0x1.6c16bab377683p-10, 0x1.a01272dc490ecp-16,
                           -0x1.246c211e6edf8p-22};
  const double x = a;
  const Rounded64 k = RoundToInt(x * 0x1.45f306dc9c883p-1);
  const double r = (x - k.value * 0x1.921fb544p+0) - k.value * 0x1.0b4611a626331p-34;
  const double z = r * r;
  return {r + r * z * Polynomial(z, kS), 1 + z * Polynomial(z, kC), k.bits};
}
TILE_VM_INLINE float SinOf(float a) {
  const Angle t = Reduce(a);
  const double s = t.quadrant & 1 ? t.cos : t.sin;
  // -0 stays: the sum above makes +0 of it.
  return a == 0 ? a : Canonical(static_cast<float>(t.quadrant & 2 ? -s : s));
}
TILE_VM_INLINE float CosOf(float a) {
  const Angle t = Reduce(a);
  const double c = t.quadrant & 1 ? t.sin : t.cos;
  return Canonical(static_cast<float>((t.quadrant + 1) & 2 ? -c : c));
}
TILE_VM_INLINE float TanOf(float a) {
  const Angle t = Reduce(a);
  const double s = t.quadrant & 1 ? -t.cos : t.sin;
  const double c = t.quadrant & 1 ? t.sin : t.cos;
  return a == 0 ? a : Canonical(static_cast<float>(s / c));
}

// Angle of the point (x, y).
TILE_VM_INLINE float Atan2Of(float y, float x) {
  constexpr double kA[] = {-0x1.55555555525bdp-2, 0x1.9999998842440p-3, -0x1.249240cf239b5p-3, 0x1.c7196012bf2ccp-4,
                           -0x1.741576953d93cp-4, 0x1.377bcb9f568d8p-4, -0x1.edaca326c7380p-5, 0x1.0dd59508b62c7p-5};
  const float ax = __builtin_fabsf(x), ay = __builtin_fabsf(y);
  const bool steep = ay > ax;
  const float smaller = steep ? ax : ay, larger = steep ? ay : ax;
  // 0/0 stands for 0, infinity/infinity for 1.
  const bool both_infinite = smaller == __builtin_inff();
  const double low = both_infinite ? 1.0 : static_cast<double>(smaller);
  const double high = both_infinite || larger == 0 ? 1.0 : static_cast<double>(larger);
  // Beyond tan(pi/8) from pi/4 on.
  const bool wide = low > 0x1.a8279ap-2 * high;
  const double f = (wide ? low - high : low) / (wide ? low + high : high);
  const double z = f * f;
  double t = f + f * z * Polynomial(z, kA);
  t = wide ? t + kPi / 4 : t;
  t = steep ? kPi / 2 - t : t;
  t = ToBits(x) >> 31 ? kPi - t : t;
  return x == x && y == y ? CopySign(static_cast<float>(t), y) : Nan<float>();
}

TILE_VM_INLINE float FpowfOf(float a, float b) {
  constexpr double kL[] = {0x1.5555555555555p-1, 0x1.9999999999a39p-2, 0x1.2492492476a1ap-2, 0x1.c71c7201a55d7p-3,
                           0x1.745cf8e4bba1bp-3, 0x1.3b1c3c1c81c8fp-3, 0x1.0fbde0f4ad17bp-3, 0x1.0c0aff044a970p-3};
  const float magnitude = __builtin_fabsf(a);
  const Logarithm s = SplitLog(magnitude);
  const double z = s.f * s.f;
  double log2 = s.exponent + s.f * (2 + z * Polynomial(z, kL)) * kLog2E;
  log2 = magnitude == 0 ? -__builtin_inf() : magnitude == __builtin_inff() ? __builtin_inf() : log2;
  log2 = a == a ? log2 : Nan<double>();
  // Beyond float's range is all the same.
  const double power = b * log2;
  float r = static_cast<float>(Exp2InDouble(power < -200 ? -200.0 : power > 200 ? 200.0 : power));
  // A negative base: NaN unless the power is an integer, negative if that is odd.
  const bool integer = __builtin_floorf(b) == b;
  const bool odd = integer && __builtin_floorf(b * 0.5f) != b * 0.5f;
  const bool negative = ToBits(a) >> 31;
  r = negative && odd ? -r : r;
  r = a < 0 && magnitude != __builtin_inff() && !integer ? Nan<float>() : r;
  // 1 to any power, anything to the power 0, and -1 to an infinite one.
  const bool one = a == 1 || b == 0 || (a == -1 && __builtin_fabsf(b) == __builtin_inff());
  return one ? 1.0f : a == a && b == b ? Canonical(r) : Nan<float>();
}

// Through double: two roundings there are far below one of float.
TILE_VM_INLINE float RsqrtOf(float a) { return Canonical(static_cast<float>(1.0 / __builtin_sqrt(a))); }

}  // namespace tile::vm::TILE_VM_ISA

#endif  // TILE_VM_KERNELS_MATH_F32_H_

// Mathematical functions as kernels: ExpF32, ExpF64 and so on for each MATH row of elementwise.def.
//
//   SinF32(result, operands, n)               an ElementwiseFn
//
// f32 is in math_f32.h. f64 comes from SLEEF's deterministic functions without fma ("cinz"), which give the same bits
// in every vector length and on every CPU. NaN results are canonical. Included by kernel sources only. MATH.md has the
// error bounds, elementwise_math_test.cc checks them.
#ifndef TILE_VM_KERNELS_MATH_H_
#define TILE_VM_KERNELS_MATH_H_

#include <sleef.h>

#include "vm/kernels/elementwise_loops.h"
#include "vm/kernels/math_f32.h"

namespace tile::vm::TILE_VM_ISA {

// The vectors of this instruction set and SLEEF's names for its functions on them.
#if defined(__AVX512F__)
using VectorF64 = __m512d;
#define TILE_SLEEF_F64(name) Sleef_cinz_##name##d8_u10avx512fnofma
#elif defined(__AVX__)
using VectorF64 = __m256d;
#define TILE_SLEEF_F64(name) Sleef_cinz_##name##d4_u10avx
#elif defined(__SSE4_1__)
using VectorF64 = __m128d;
#define TILE_SLEEF_F64(name) Sleef_cinz_##name##d2_u10sse4
#else
using VectorF64 = double;
#define TILE_SLEEF_F64(name) Sleef_cinz_##name##d1_u10purec
#endif

// `count` elements at a + i, the rest of the vector 1.
template <class V, class T>
TILE_VM_INLINE V LoadPart(const T* a, int64_t count) {
  T part[sizeof(V) / sizeof(T)];
  for (int64_t i = 0; i < static_cast<int64_t>(sizeof(V) / sizeof(T)); ++i) part[i] = i < count ? a[i] : T{1};
  return __builtin_bit_cast(V, part);
}
template <class V, class T>
TILE_VM_INLINE V Load(const T* a) {
  V v;
  __builtin_memcpy(&v, a, sizeof(V));
  return v;
}
// Stores with canonical NaNs.
template <class V, class T>
TILE_VM_INLINE void StorePart(V v, T* r, int64_t count) {
  T part[sizeof(V) / sizeof(T)];
  __builtin_memcpy(part, &v, sizeof(V));
  for (int64_t i = 0; i < count; ++i) r[i] = Canonical(part[i]);
}

// f(V) or f(V, V) over all elements. F is a type with a static Do, as templates drop the attributes of vector types.
template <class T, class V, class F, int kOperands>
TILE_VM_LOOP VectorLoop(void* result, const void* const* operands, int64_t n) {
  constexpr int64_t kWidth = sizeof(V) / sizeof(T);
  T* r = static_cast<T*>(result);
  const T* a = static_cast<const T*>(operands[0]);
  const T* b = static_cast<const T*>(operands[kOperands - 1]);
  int64_t i = 0;
  for (; i + kWidth <= n; i += kWidth) {
    if constexpr (kOperands == 1) StorePart<V, T>(F::Do(Load<V>(a + i)), r + i, kWidth);
    if constexpr (kOperands == 2) StorePart<V, T>(F::Do(Load<V>(a + i), Load<V>(b + i)), r + i, kWidth);
  }
  if (i == n) return;
  if constexpr (kOperands == 1) StorePart<V, T>(F::Do(LoadPart<V>(a + i, n - i)), r + i, n - i);
  if constexpr (kOperands == 2) {
    StorePart<V, T>(F::Do(LoadPart<V>(a + i, n - i), LoadPart<V>(b + i, n - i)), r + i, n - i);
  }
}

#define TILE_SLEEF1(Name, name, F, T)                                                   \
  struct Sleef##Name##F {                                                               \
    TILE_VM_INLINE static Vector##F Do(Vector##F a) { return TILE_SLEEF_##F(name)(a); } \
  };                                                                                    \
  constexpr ElementwiseFn Name##F = VectorLoop<T, Vector##F, Sleef##Name##F, 1>;
#define TILE_SLEEF2(Name, name, F, T)                                                                   \
  struct Sleef##Name##F {                                                                               \
    TILE_VM_INLINE static Vector##F Do(Vector##F a, Vector##F b) { return TILE_SLEEF_##F(name)(a, b); } \
  };                                                                                                    \
  constexpr ElementwiseFn Name##F = VectorLoop<T, Vector##F, Sleef##Name##F, 2>;

TILE_SLEEF1(Exp, exp, F64, double)
TILE_SLEEF1(Exp2, exp2, F64, double)
TILE_SLEEF1(Log, log, F64, double)
TILE_SLEEF1(Log2, log2, F64, double)
TILE_SLEEF1(Sin, sin, F64, double)
TILE_SLEEF1(Cos, cos, F64, double)
TILE_SLEEF1(TanSleef, tan, F64, double)
TILE_SLEEF1(SinhSleef, sinh, F64, double)
TILE_SLEEF1(CoshSleef, cosh, F64, double)
TILE_SLEEF1(Tanh, tanh, F64, double)
TILE_SLEEF1(Erf, erf, F64, double)
TILE_SLEEF2(Atan2, atan2, F64, double)
TILE_SLEEF2(PowSleef, pow, F64, double)

// kSleef, then Repair::Do(its result, operands) for each element: SLEEF's own slips. In chunks, as r may be an operand.
template <ElementwiseFn kSleef, class Repair, int kOperands>
[[maybe_unused]] TILE_VM_LOOP Repaired(void* result, const void* const* operands, int64_t n) {
  double* r = static_cast<double*>(result);
  double a[kOperands][kChunk];
  const void* chunk[kOperands];
  for (int k = 0; k < kOperands; ++k) chunk[k] = a[k];
  for (int64_t i = 0; i < n; i += kChunk) {
    const int64_t m = n - i < kChunk ? n - i : kChunk;
    for (int k = 0; k < kOperands; ++k) {
      __builtin_memcpy(a[k], static_cast<const double*>(operands[k]) + i, static_cast<uint64_t>(m) * sizeof(double));
    }
    kSleef(r + i, chunk, m);
    for (int64_t j = 0; j < m; ++j) r[i + j] = Repair::Do(r[i + j], a[0][j], a[kOperands - 1][j]);
  }
}

// tan loses the smallest subnormals.
struct RepairTan {
  TILE_VM_INLINE static double Do(double r, double a, double) { return __builtin_fabs(a) < 0x1p-30 ? a : r; }
};
constexpr ElementwiseFn TanF64 = Repaired<TanSleefF64, RepairTan, 1>;

// sinh and cosh are infinite from 710 on; e^|a| / 2, which they are there, is finite a little longer.
template <bool kOdd>
struct RepairHyperbolic {
  TILE_VM_INLINE static double Do(double r, double a, double) {
    constexpr double kHalfE = 0x1.5bf0a8b145769p+0, kHalfELow = 0x1.4d57ee2b1013ap-54;
    const double size = __builtin_fabs(a);
    if (!(size > 709.5) || size > 711) return r;
    const double power = Sleef_cinz_expd1_u10purec(size - 1);
    const double value = power * kHalfE + power * kHalfELow;
    return kOdd ? __builtin_copysign(value, a) : value;
  }
};
constexpr ElementwiseFn SinhF64 = Repaired<SinhSleefF64, RepairHyperbolic<true>, 1>;
constexpr ElementwiseFn CoshF64 = Repaired<CoshSleefF64, RepairHyperbolic<false>, 1>;

// pow overflows by a millionth too early. There it is the square of the root, but the largest number itself to the
// power 1.
struct RepairPow {
  TILE_VM_INLINE static double Do(double r, double a, double b) {
    const bool finite = __builtin_fabs(a) < __builtin_inf() && __builtin_fabs(b) < __builtin_inf() && a != 0;
    if (__builtin_fabs(r) != __builtin_inf() || !finite) return r;
    const double root = Sleef_cinz_powd1_u10purec(__builtin_fabs(a), 0.5 * b);
    return b == 1 ? a : __builtin_copysign(root * root, r);
  }
};
constexpr ElementwiseFn FpowfF64 = Repaired<PowSleefF64, RepairPow, 2>;

TILE_VM_INLINE double RsqrtOf64(double a) { return Canonical(1.0 / __builtin_sqrt(a)); }
constexpr ElementwiseFn RsqrtF64 = Unary<double, double, RsqrtOf64>;

constexpr ElementwiseFn ExpF32 = Unary<float, float, ExpOf>;
constexpr ElementwiseFn Exp2F32 = Unary<float, float, Exp2Of>;
constexpr ElementwiseFn LogF32 = Unary<float, float, LogOf>;
constexpr ElementwiseFn Log2F32 = Unary<float, float, Log2Of>;
constexpr ElementwiseFn SinhF32 = Unary<float, float, SinhOf>;
constexpr ElementwiseFn CoshF32 = Unary<float, float, CoshOf>;
constexpr ElementwiseFn TanhF32 = Unary<float, float, TanhOf>;
constexpr ElementwiseFn ErfF32 = Unary<float, float, ErfOf>;
constexpr ElementwiseFn RsqrtF32 = Unary<float, float, RsqrtOf>;
constexpr ElementwiseFn Atan2F32 = Binary<float, float, float, Atan2Of, 0>;
constexpr ElementwiseFn FpowfF32 = Binary<float, float, float, FpowfOf, 0>;

// The loop over kOf, then again by kLarge, in double, what is beyond the range of its reduction.
template <float (*kOf)(float), double (*kLarge)(double)>
TILE_VM_LOOP Trigonometric(void* result, const void* const* operands, int64_t n) {
  float* r = static_cast<float*>(result);
  const float* operand = static_cast<const float*>(operands[0]);
  float a[kChunk];
  for (int64_t i = 0; i < n; i += kChunk) {
    const int64_t m = n - i < kChunk ? n - i : kChunk;
    __builtin_memcpy(a, operand + i, static_cast<uint64_t>(m) * sizeof(float));  // r may be the operand
    int large = 0;
    TILE_VM_VECTOR_LOOP
    for (int64_t j = 0; j < m; ++j) {
      r[i + j] = kOf(a[j]);
      large |= __builtin_fabsf(a[j]) > kLargestReduced;
    }
    for (int64_t j = 0; large != 0 && j < m; ++j) {
      if (__builtin_fabsf(a[j]) > kLargestReduced) r[i + j] = Canonical(static_cast<float>(kLarge(a[j])));
    }
  }
}
TILE_VM_INLINE double LargeSin(double a) { return Sleef_cinz_sind1_u10purec(a); }
TILE_VM_INLINE double LargeCos(double a) { return Sleef_cinz_cosd1_u10purec(a); }
TILE_VM_INLINE double LargeTan(double a) { return Sleef_cinz_tand1_u10purec(a); }
constexpr ElementwiseFn SinF32 = Trigonometric<SinOf, LargeSin>;
constexpr ElementwiseFn CosF32 = Trigonometric<CosOf, LargeCos>;
constexpr ElementwiseFn TanF32 = Trigonometric<TanOf, LargeTan>;

}  // namespace tile::vm::TILE_VM_ISA

#endif  // TILE_VM_KERNELS_MATH_H_

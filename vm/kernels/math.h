// Mathematical functions as kernels: ExpF32, ExpF64 and so on for each MATH row of elementwise.def, by the ways that the row names.
//
//   SinF32(result, operands, n)               an ElementwiseFn
//
// f32 is in math_f32.h. f64 comes from SLEEF's deterministic functions without fma ("cinz"), which give the same bits
// in every vector length and on every CPU; special functions are in special.h. NaN results are canonical. Included by kernel sources only. MATH.md has the
// error bounds, elementwise_math_test.cc checks them.
#ifndef TILE_VM_KERNELS_MATH_H_
#define TILE_VM_KERNELS_MATH_H_

#include <sleef.h>

#include "vm/kernels/elementwise_loops.h"
#include "vm/kernels/math_f32.h"
#include "vm/kernels/special.h"

namespace tile::vm::TILE_VM_ISA {

// The vectors of this instruction set and SLEEF's names for its functions on them.
#if defined(__AVX512F__)
using VectorF64 = __m512d;
#define TILE_SLEEF(name) Sleef_cinz_##name##d8_u10avx512fnofma
#elif defined(__AVX__)
using VectorF64 = __m256d;
#define TILE_SLEEF(name) Sleef_cinz_##name##d4_u10avx
#elif defined(__SSE4_1__)
using VectorF64 = __m128d;
#define TILE_SLEEF(name) Sleef_cinz_##name##d2_u10sse4
#else
using VectorF64 = double;
#define TILE_SLEEF(name) Sleef_cinz_##name##d1_u10purec
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

// SLEEF's functions of the rows that take them, as SleefExp and so on.
#define TILE_SLEEF1_Plain(Name, function)
#define TILE_SLEEF1_Special(Name, function)
#define TILE_SLEEF1_Sleef(Name, function)                                               \
  struct Sleef##Name {                                                                  \
    TILE_VM_INLINE static VectorF64 Do(VectorF64 a) { return TILE_SLEEF(function)(a); } \
  };
#define TILE_SLEEF1_Repaired TILE_SLEEF1_Sleef
#define TILE_SLEEF2_Sleef(Name, function)                                                               \
  struct Sleef##Name {                                                                                  \
    TILE_VM_INLINE static VectorF64 Do(VectorF64 a, VectorF64 b) { return TILE_SLEEF(function)(a, b); } \
  };
#define TILE_SLEEF2_Repaired TILE_SLEEF2_Sleef
#define TILE_MATH1(Name, function, f32, f64, ...) TILE_SLEEF1_##f64(Name, function)
#define TILE_MATH1_FTZ TILE_MATH1
#define TILE_MATH2(Name, function, f32, f64, ...) TILE_SLEEF2_##f64(Name, function)
#include "vm/kernels/elementwise.def"

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
using RepairSinh = RepairHyperbolic<true>;
using RepairCosh = RepairHyperbolic<false>;

// pow overflows by a millionth too early. There it is the square of the root, but the largest number itself to the
// power 1.
struct RepairFpowf {
  TILE_VM_INLINE static double Do(double r, double a, double b) {
    const bool finite = __builtin_fabs(a) < __builtin_inf() && __builtin_fabs(b) < __builtin_inf() && a != 0;
    if (__builtin_fabs(r) != __builtin_inf() || !finite) return r;
    const double root = Sleef_cinz_powd1_u10purec(__builtin_fabs(a), 0.5 * b);
    return b == 1 ? a : __builtin_copysign(root * root, r);
  }
};

TILE_VM_INLINE double RsqrtOf64(double a) { return Canonical(1.0 / __builtin_sqrt(a)); }

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

// A function of special.h, and in f32 the same.
template <double (*kOf)(double), class T>
TILE_VM_INLINE T InDouble(T a) {
  return Canonical(static_cast<T>(kOf(a)));
}

// --- kernels --------------------------------------------------------------------------------------------------------

#define TILE_F32_1_Plain(Name) Unary<float, float, Name##Of>
#define TILE_F32_1_Reduced(Name) Trigonometric<Name##Of, Large##Name>
#define TILE_F32_1_Special(Name) Unary<float, float, InDouble<special::Name, float>>
#define TILE_F32_2_Plain(Name) Binary<float, float, float, Name##Of, 0>
#define TILE_F64_1_Plain(Name) Unary<double, double, Name##Of64>
#define TILE_F64_1_Special(Name) Unary<double, double, InDouble<special::Name, double>>
#define TILE_F64_1_Sleef(Name) VectorLoop<double, VectorF64, Sleef##Name, 1>
#define TILE_F64_1_Repaired(Name) Repaired<TILE_F64_1_Sleef(Name), Repair##Name, 1>
#define TILE_F64_2_Sleef(Name) VectorLoop<double, VectorF64, Sleef##Name, 2>
#define TILE_F64_2_Repaired(Name) Repaired<TILE_F64_2_Sleef(Name), Repair##Name, 2>
#define TILE_MATH1(Name, function, f32, f64, ...)             \
  constexpr ElementwiseFn Name##F32 = TILE_F32_1_##f32(Name); \
  constexpr ElementwiseFn Name##F64 = TILE_F64_1_##f64(Name);
#define TILE_MATH1_FTZ TILE_MATH1
#define TILE_MATH2(Name, function, f32, f64, ...)             \
  constexpr ElementwiseFn Name##F32 = TILE_F32_2_##f32(Name); \
  constexpr ElementwiseFn Name##F64 = TILE_F64_2_##f64(Name);
#include "vm/kernels/elementwise.def"

}  // namespace tile::vm::TILE_VM_ISA

#endif  // TILE_VM_KERNELS_MATH_H_

// Mathematical functions as kernels: ExpF32, ExpF64 and so on for each MATH row of elementwise.def.
//
//   SinF32(result, operands, n)               an ElementwiseFn
//
// f64 and what is rare in f32 come from SLEEF's deterministic functions without fma ("cinz"), which give the same bits in
// every vector length and on every CPU. NaN results are canonical. Included by kernel sources only. MATH.md has the error
// bounds, elementwise_math_test.cc checks them.
#ifndef TILE_VM_KERNELS_MATH_H_
#define TILE_VM_KERNELS_MATH_H_

#include <sleef.h>

#include "vm/kernels/elementwise_loops.h"

namespace tile::vm::TILE_VM_ISA {

// The vectors of this instruction set and SLEEF's names for its functions on them.
#if defined(__AVX512F__)
using VectorF32 = __m512;
using VectorF64 = __m512d;
#define TILE_SLEEF_F32(name) Sleef_cinz_##name##f16_u10avx512fnofma
#define TILE_SLEEF_F64(name) Sleef_cinz_##name##d8_u10avx512fnofma
#elif defined(__AVX__)
using VectorF32 = __m256;
using VectorF64 = __m256d;
#define TILE_SLEEF_F32(name) Sleef_cinz_##name##f8_u10avx
#define TILE_SLEEF_F64(name) Sleef_cinz_##name##d4_u10avx
#elif defined(__SSE4_1__)
using VectorF32 = __m128;
using VectorF64 = __m128d;
#define TILE_SLEEF_F32(name) Sleef_cinz_##name##f4_u10sse4
#define TILE_SLEEF_F64(name) Sleef_cinz_##name##d2_u10sse4
#else
using VectorF32 = float;
using VectorF64 = double;
#define TILE_SLEEF_F32(name) Sleef_cinz_##name##f1_u10purec
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

#define TILE_SLEEF1(Name, name, F, T)                                            \
  struct Sleef##Name##F {                                                        \
    TILE_VM_INLINE static Vector##F Do(Vector##F a) { return TILE_SLEEF_##F(name)(a); } \
  };                                                                             \
  constexpr ElementwiseFn Name##F = VectorLoop<T, Vector##F, Sleef##Name##F, 1>;
#define TILE_SLEEF2(Name, name, F, T)                                            \
  struct Sleef##Name##F {                                                        \
    TILE_VM_INLINE static Vector##F Do(Vector##F a, Vector##F b) { return TILE_SLEEF_##F(name)(a, b); } \
  };                                                                             \
  constexpr ElementwiseFn Name##F = VectorLoop<T, Vector##F, Sleef##Name##F, 2>;

TILE_SLEEF1(Exp, exp, F64, double)
TILE_SLEEF1(Exp2, exp2, F64, double)
TILE_SLEEF1(Log, log, F64, double)
TILE_SLEEF1(Log2, log2, F64, double)
TILE_SLEEF1(Sin, sin, F64, double)
TILE_SLEEF1(Cos, cos, F64, double)
TILE_SLEEF1(Tan, tan, F64, double)
TILE_SLEEF1(Sinh, sinh, F64, double)
TILE_SLEEF1(Cosh, cosh, F64, double)
TILE_SLEEF1(Tanh, tanh, F64, double)
TILE_SLEEF2(Atan2, atan2, F64, double)
TILE_SLEEF2(Fpowf, pow, F64, double)

TILE_SLEEF1(Exp, exp, F32, float)
TILE_SLEEF1(Exp2, exp2, F32, float)
TILE_SLEEF1(Log, log, F32, float)
TILE_SLEEF1(Log2, log2, F32, float)
TILE_SLEEF1(Sin, sin, F32, float)
TILE_SLEEF1(Cos, cos, F32, float)
TILE_SLEEF1(Tan, tan, F32, float)
TILE_SLEEF1(Sinh, sinh, F32, float)
TILE_SLEEF1(Cosh, cosh, F32, float)
TILE_SLEEF1(Tanh, tanh, F32, float)
TILE_SLEEF2(Atan2, atan2, F32, float)
TILE_SLEEF2(Fpowf, pow, F32, float)

// Through double: two roundings there are far below one of float.
TILE_VM_INLINE float RsqrtOf(float a) { return Canonical(static_cast<float>(1.0 / __builtin_sqrt(a))); }
TILE_VM_INLINE double RsqrtOf64(double a) { return Canonical(1.0 / __builtin_sqrt(a)); }
constexpr ElementwiseFn RsqrtF32 = Unary<float, float, RsqrtOf>;
constexpr ElementwiseFn RsqrtF64 = Unary<double, double, RsqrtOf64>;

}  // namespace tile::vm::TILE_VM_ISA

#endif  // TILE_VM_KERNELS_MATH_H_

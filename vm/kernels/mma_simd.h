// Vectors of the instruction set a kernel file is compiled for: 16 bytes (x86-64-v2 and other CPUs), 32 (v3) or
// 64 (v4). Written with the compilers' vector extensions, so that one source serves every instruction set; intrinsics
// only where the extensions have no word for an instruction.
//
// For kernel files only (see isa.h): everything is in its namespace and inlined. What is computed agrees with
// vm/kernels/scalar.h bit for bit.
//
//   Vec<float> x = Load<float>(p);                 // kLanes<float> elements, any alignment
//   Store(q, Fma(x, Splat<float>(2), x));
#ifndef TILE_VM_KERNELS_MMA_SIMD_H_
#define TILE_VM_KERNELS_MMA_SIMD_H_

#include <cstdint>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include "vm/kernels/isa.h"

namespace tile::vm::TILE_VM_ISA::simd {

#if defined(__AVX512BW__)
inline constexpr int kVecBytes = 64;
#elif defined(__AVX2__)
inline constexpr int kVecBytes = 32;
#else
inline constexpr int kVecBytes = 16;
#endif

// A vector of `bytes` in all; and the same with no alignment, to read and write memory.
template <class T, int bytes>
struct VecType {
  typedef T type __attribute__((vector_size(bytes)));
  typedef T loose __attribute__((vector_size(bytes), aligned(1), may_alias));
};
template <class T, int bytes = kVecBytes>
using Vec = typename VecType<T, bytes>::type;
// A vector with one T for each lane of the widest vector of Lane: the half vector of f16 beside one of f32.
template <class T, class Lane>
using VecBeside = typename VecType<T, kVecBytes / static_cast<int>(sizeof(Lane)) * static_cast<int>(sizeof(T))>::type;

template <class T>
inline constexpr int kLanes = kVecBytes / static_cast<int>(sizeof(T));

template <class T, int bytes = kVecBytes>
TILE_VM_INLINE Vec<T, bytes> Load(const void* p) {
  return *static_cast<const typename VecType<T, bytes>::loose*>(p);
}
template <class T, int bytes = kVecBytes>
TILE_VM_INLINE void StoreAs(void* p, Vec<T, bytes> v) {
  *static_cast<typename VecType<T, bytes>::loose*>(p) = v;
}
// x - 0 is x, also where x is -0; so this is a broadcast and nothing else.
template <class T, int bytes = kVecBytes>
TILE_VM_INLINE Vec<T, bytes> Splat(T x) {
  return x - Vec<T, bytes>{};
}

// --- lanes changing places; the last argument is Lanes<T>{} ---------------------------------------------------------

template <int... i>
struct Indices {};
template <int n, int... i>
struct MakeIndices : MakeIndices<n - 1, n - 1, i...> {};
template <int... i>
struct MakeIndices<0, i...> {
  using Type = Indices<i...>;
};
template <class T>
using Lanes = typename MakeIndices<kLanes<T>>::Type;

// Lanes from, from + 1, … of the two vectors one after the other.
template <int from, class V, int... i>
TILE_VM_INLINE V Window(V low, V high, Indices<i...>) {
  return __builtin_shufflevector(low, high, (from + i)...);
}
// One lane everywhere.
template <int lane, class V, int... i>
TILE_VM_INLINE V Repeat(V v, Indices<i...>) {
  return __builtin_shufflevector(v, v, (i * 0 + lane)...);
}
// Lanes i and i ^ distance change places.
template <int distance, class V, int... i>
TILE_VM_INLINE V Swap(V v, Indices<i...>) {
  return __builtin_shufflevector(v, v, (i ^ distance)...);
}

// --- NaN ------------------------------------------------------------------------------------------------------------

// A NaN becomes the positive quiet one without payload.
TILE_VM_INLINE Vec<float> Canonical(Vec<float> x) { return x == x ? x : Vec<float>(Splat<uint32_t>(0x7fc00000)); }
TILE_VM_INLINE Vec<double> Canonical(Vec<double> x) {
  return x == x ? x : Vec<double>(Splat<uint64_t>(uint64_t{0x7ff8} << 48));
}

// --- fma: one rounding, on every machine ----------------------------------------------------------------------------

#if defined(__AVX512BW__)
TILE_VM_INLINE Vec<float> Fma(Vec<float> a, Vec<float> b, Vec<float> c) { return Vec<float>(_mm512_fmadd_ps(a, b, c)); }
TILE_VM_INLINE Vec<double> Fma(Vec<double> a, Vec<double> b, Vec<double> c) {
  return Vec<double>(_mm512_fmadd_pd(a, b, c));
}
#elif defined(__FMA__)
TILE_VM_INLINE Vec<float> Fma(Vec<float> a, Vec<float> b, Vec<float> c) { return Vec<float>(_mm256_fmadd_ps(a, b, c)); }
TILE_VM_INLINE Vec<double> Fma(Vec<double> a, Vec<double> b, Vec<double> c) {
  return Vec<double>(_mm256_fmadd_pd(a, b, c));
}
#else
#if defined(__x86_64__)
// Without the instruction: the product of two floats is exact as a double, and their sum is rounded to odd. That is, if
// it is inexact and its last bit is 0, it moves one step towards the exact value. The second rounding, to float, then
// gives what a single one would.
TILE_VM_INLINE Vec<float, 8> FmaHalf(Vec<float, 8> a, Vec<float, 8> b, Vec<float, 8> c) {
  using D = Vec<double>;
  using I = Vec<int64_t>;
  const D p = __builtin_convertvector(a, D) * __builtin_convertvector(b, D);
  const D x = __builtin_convertvector(c, D);
  const D s = p + x;
  const D back = s - p;
  const D error = (p - (s - back)) + (x - back);  // exact; NaN where s is not finite
  const I away = I(error > 0) ^ (I(s) < 0);       // the exact value is farther from zero than s
  const I inexact = I(error > 0) | I(error < 0);
  const I even = (I(s) & 1) - 1;
  const I odd = I(s) + (((away & 2) - 1) & inexact & even);
  return __builtin_convertvector(D(odd), Vec<float, 8>);
}
TILE_VM_INLINE Vec<float> Fma(Vec<float> a, Vec<float> b, Vec<float> c) {
  const auto low = [](Vec<float> v) { return __builtin_shufflevector(v, v, 0, 1); };
  const auto high = [](Vec<float> v) { return __builtin_shufflevector(v, v, 2, 3); };
  return __builtin_shufflevector(FmaHalf(low(a), low(b), low(c)), FmaHalf(high(a), high(b), high(c)), 0, 1, 2, 3);
}
#else
TILE_VM_INLINE Vec<float> Fma(Vec<float> a, Vec<float> b, Vec<float> c) {
  return Vec<float>{__builtin_fmaf(a[0], b[0], c[0]), __builtin_fmaf(a[1], b[1], c[1]),
                    __builtin_fmaf(a[2], b[2], c[2]), __builtin_fmaf(a[3], b[3], c[3])};
}
#endif
TILE_VM_INLINE Vec<double> Fma(Vec<double> a, Vec<double> b, Vec<double> c) {
  return Vec<double>{__builtin_fma(a[0], b[0], c[0]), __builtin_fma(a[1], b[1], c[1])};
}
#endif

// --- f16 and bf16, kLanes<float> at a time --------------------------------------------------------------------------

using HalfVec = VecBeside<uint16_t, float>;

TILE_VM_INLINE Vec<float> F32FromBF16(HalfVec h) { return Vec<float>(__builtin_convertvector(h, Vec<uint32_t>) << 16); }
// Nearest even; a NaN stays one, quiet.
TILE_VM_INLINE HalfVec BF16FromF32(Vec<float> f) {
  const Vec<uint32_t> u = Vec<uint32_t>(f);
  const Vec<uint32_t> rounded = (u + 0x7fff + ((u >> 16) & 1)) >> 16;
  const Vec<uint32_t> nan = (u >> 16) | 0x40;
  return __builtin_convertvector((u & 0x7fffffff) > 0x7f800000 ? nan : rounded, HalfVec);
}

#if defined(__AVX512BW__)
// The forms without a mask make gcc 12 warn about its own header.
TILE_VM_INLINE Vec<float> F32FromF16(HalfVec h) { return Vec<float>(_mm512_maskz_cvtph_ps(0xffff, __m256i(h))); }
TILE_VM_INLINE HalfVec F16FromF32(Vec<float> f) {
  return HalfVec(_mm512_maskz_cvtps_ph(0xffff, f, _MM_FROUND_TO_NEAREST_INT));
}
#elif defined(__F16C__)
TILE_VM_INLINE Vec<float> F32FromF16(HalfVec h) { return Vec<float>(_mm256_cvtph_ps(__m128i(h))); }
TILE_VM_INLINE HalfVec F16FromF32(Vec<float> f) { return HalfVec(_mm256_cvtps_ph(f, _MM_FROUND_TO_NEAREST_INT)); }
#else
// What the instructions above do, bit for bit.
TILE_VM_INLINE Vec<float> F32FromF16(HalfVec h) {
  using U = Vec<uint32_t>;
  const U u = __builtin_convertvector(h, U);
  const U magnitude = u & 0x7fff;
  // Multiplying by 2^112 moves the exponent from f16's bias to f32's, and normalises subnormals.
  const U finite = U(Vec<float>(magnitude << 13) * 0x1p112f);
  const U special = (magnitude << 13) | 0x7f800000 | (magnitude > 0x7c00 ? U{} + 0x400000 : U{});
  return Vec<float>((magnitude >= 0x7c00 ? special : finite) | ((u & 0x8000) << 16));
}
TILE_VM_INLINE HalfVec F16FromF32(Vec<float> f) {
  using U = Vec<uint32_t>;
  const U u = U(f);
  const U magnitude = u & 0x7fffffff;
  const U normal = (magnitude - 0x38000000 + 0xfff + ((magnitude >> 13) & 1)) >> 13;
  // The last bit of 0.5 weighs 2^-24, as the last bit of a subnormal f16.
  const U subnormal = U(Vec<float>(magnitude) + 0.5f) - 0x3f000000;
  U r = magnitude < 0x38800000 ? subnormal : normal;
  r = magnitude >= 0x477ff000 ? U{} + 0x7c00 : r;
  r = magnitude > 0x7f800000 ? 0x7e00 | ((magnitude >> 13) & 0x3ff) : r;
  return __builtin_convertvector(r | ((u >> 16) & 0x8000), HalfVec);
}
#endif

// An element type whose lanes are computed in Acc: `Vec<Acc>` from kLanes<Acc> stored elements and back, rounded.
template <class T>
struct PlainElem {
  using Stored = T;
  using Acc = T;
  static constexpr bool kDirect = true;  // stored elements are Acc already
  static TILE_VM_INLINE Vec<T> LoadVec(const void* p) { return Load<T>(p); }
  static TILE_VM_INLINE void StoreVec(void* p, Vec<T> v) { StoreAs<T>(p, v); }
};
using F32Elem = PlainElem<float>;
using F64Elem = PlainElem<double>;
struct F16Elem {
  using Stored = uint16_t;
  using Acc = float;
  static constexpr bool kDirect = false;
  static TILE_VM_INLINE Vec<float> LoadVec(const void* p) { return F32FromF16(Load<uint16_t, kVecBytes / 2>(p)); }
  static TILE_VM_INLINE void StoreVec(void* p, Vec<float> v) { StoreAs<uint16_t, kVecBytes / 2>(p, F16FromF32(v)); }
};
struct BF16Elem {
  using Stored = uint16_t;
  using Acc = float;
  static constexpr bool kDirect = false;
  static TILE_VM_INLINE Vec<float> LoadVec(const void* p) { return F32FromBF16(Load<uint16_t, kVecBytes / 2>(p)); }
  static TILE_VM_INLINE void StoreVec(void* p, Vec<float> v) { StoreAs<uint16_t, kVecBytes / 2>(p, BF16FromF32(v)); }
};

// The first `count` < kLanes elements: the others read as zeros and are not written.
template <class E>
TILE_VM_INLINE Vec<typename E::Acc> LoadPart(const void* p, int64_t count) {
  alignas(kVecBytes) typename E::Stored t[kLanes<typename E::Acc>] = {};
  __builtin_memcpy(t, p, count * sizeof(t[0]));
  return E::LoadVec(t);
}
template <class E>
TILE_VM_INLINE void StorePart(void* p, Vec<typename E::Acc> v, int64_t count) {
  alignas(kVecBytes) typename E::Stored t[kLanes<typename E::Acc>];
  E::StoreVec(t, v);
  __builtin_memcpy(p, t, count * sizeof(t[0]));
}

}  // namespace tile::vm::TILE_VM_ISA::simd

#endif  // TILE_VM_KERNELS_MMA_SIMD_H_

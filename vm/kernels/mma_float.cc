// mmaf and mmaf_scaled. See mma.h for what they compute and mma_driver.h for how.
#include "vm/kernels/mma_driver.h"

namespace tile::vm::TILE_VM_ISA {
namespace simd {

// --- elements that are only operands --------------------------------------------------------------------------------

struct TF32Elem {
  using Stored = uint32_t;
  using Acc = float;
  static TILE_VM_INLINE Vec<float> LoadVec(const void* p) { return Vec<float>(Load<uint32_t>(p) & 0xffffe000); }
};

// Small floats: shifting the exponent and mantissa to their places in an f32 gives the value times a power of two,
// subnormals included. A code at or above `special` in magnitude is NaN, or infinity where its mantissa is 0.
template <bool is_signed, int mantissa_bits, int bias, uint32_t special>
struct SmallElem {
  using Stored = uint8_t;
  using Acc = float;
  static TILE_VM_INLINE Vec<float> LoadVec(const void* p) {
    using U = Vec<uint32_t>;
    const U u = __builtin_convertvector((Load<uint8_t, kLanes<float>>(p)), U);
    const U magnitude = is_signed ? u & 0x7f : u;
    const float scale = __builtin_bit_cast(float, uint32_t{127 + 127 - bias} << 23);
    U r = U(Vec<float>(magnitude << (23 - mantissa_bits)) * scale);
    r = magnitude >= special ? (magnitude << (23 - mantissa_bits)) | 0x7f800000 : r;
    return Vec<float>(is_signed ? r | ((u & 0x80) << 24) : r);
  }
};
using F8E4M3FNElem = SmallElem<true, 3, 7, 0x7f>;
using F8E5M2Elem = SmallElem<true, 2, 15, 0x7c>;
using F8E5M3FNUElem = SmallElem<false, 3, 15, 0xff>;
struct F4E2M1FNElem {  // 1-2-1 with bias 1; the high half of the byte is ignored
  using Stored = uint8_t;
  using Acc = float;
  static TILE_VM_INLINE Vec<float> LoadVec(const void* p) {
    using U = Vec<uint32_t>;
    const U u = __builtin_convertvector((Load<uint8_t, kLanes<float>>(p)), U);
    return Vec<float>(U(Vec<float>((u & 7) << 22) * 0x1p126f) | ((u & 8) << 28));
  }
};
struct F8E8M0FNUElem {
  using Stored = uint8_t;
  using Acc = float;
  static TILE_VM_INLINE Vec<float> LoadVec(const void* p) {
    using U = Vec<uint32_t>;
    const U u = __builtin_convertvector((Load<uint8_t, kLanes<float>>(p)), U);
    U r = u == 0 ? U{} + 0x00400000 : u << 23;
    r = u == 0xff ? U{} + 0x7fc00000 : r;
    return Vec<float>(r);
  }
};

// --- sources --------------------------------------------------------------------------------------------------------

// Products of f16 and f8 are exact in f32, so that a machine without fma may multiply and add.
template <class E>
inline constexpr bool kExactProduct = false;
template <>
inline constexpr bool kExactProduct<F16Elem> = true;
template <>
inline constexpr bool kExactProduct<F8E4M3FNElem> = true;
template <>
inline constexpr bool kExactProduct<F8E5M2Elem> = true;

template <class E>
inline constexpr bool kIsLane = false;
template <class T>
inline constexpr bool kIsLane<PlainElem<T>> = true;

template <class T, bool exact_product>
struct FloatSource {
  using Acc = T;
  static TILE_VM_INLINE int64_t Steps(int64_t k) { return k; }
  static TILE_VM_INLINE Vec<T> MulAdd(Vec<T> a, Vec<T> b, Vec<T> acc) {
#if !defined(__FMA__)
    if constexpr (exact_product) return acc + a * b;
#endif
    return Fma(a, b, acc);
  }
  static TILE_VM_INLINE Vec<T> Finish(Vec<T> acc) { return Canonical(acc); }
};

template <class E>
struct PlainSource : FloatSource<typename E::Acc, kExactProduct<E>> {
  using T = typename E::Acc;
  using Kernel = FloatSource<T, kExactProduct<E>>;
  static constexpr bool kDirect = kIsLane<E>;
  static TILE_VM_INLINE void PackA(const MmaParams& p, int64_t row, int64_t rows, T* to) {
    ToLanes<E>(static_cast<const typename E::Stored*>(p.a) + row * p.lda, p.lda, rows, p.k, to, p.k);
  }
  static TILE_VM_INLINE void PackB(const MmaParams& p, int64_t column, int64_t columns, int64_t panel, T* to) {
    ToLanes<E>(static_cast<const typename E::Stored*>(p.b) + column, p.ldb, p.k, columns, to, panel);
  }
};

// Elements times their scales, rounded to f32.
template <class E, class S>
struct ScaledSource : FloatSource<float, false> {
  using Kernel = FloatSource<float, false>;
  static constexpr bool kDirect = false;
  static TILE_VM_INLINE void PackA(const MmaParams& p, int64_t row, int64_t rows, float* to) {
    PlainSource<E>::PackA(p, row, rows, to);
    for (int64_t i = 0; i < rows; ++i) {
      const uint8_t* scales = static_cast<const uint8_t*>(p.scale_a) + (row + i) * p.ld_scale_a;
      for (int64_t k = 0; k < p.k; k += p.scale_block) {
        const float scale = LoadPart<S>(scales++, 1)[0];
        for (int64_t end = k + p.scale_block, s = k; s < end; ++s) to[i * p.k + s] *= scale;
      }
    }
  }
  static TILE_VM_INLINE void PackB(const MmaParams& p, int64_t column, int64_t columns, int64_t panel, float* to) {
    PlainSource<E>::PackB(p, column, columns, panel, to);
    constexpr int W = kLanes<float>;
    for (int64_t j = 0; j < columns; j += W) {
      const uint8_t* scales = static_cast<const uint8_t*>(p.scale_b) + column + j;
      for (int64_t k = 0; k < p.k; k += p.scale_block, scales += p.ld_scale_b) {
        const Vec<float> scale = columns - j >= W ? S::LoadVec(scales) : LoadPart<S>(scales, columns - j);
        for (int64_t s = k; s < k + p.scale_block; ++s) {
          float* lanes = to + s * panel + j;
          StoreAs<float>(lanes, Load<float>(lanes) * scale);
        }
      }
    }
  }
};

}  // namespace simd

#define TILE_VM_DEFINE(AB, C) \
  void Mma##AB##C(const MmaParams& p) { simd::Multiply<simd::PlainSource<simd::AB##Elem>, simd::C##Elem>(p); }
TILE_VM_MMA_FLOAT(TILE_VM_DEFINE)
#undef TILE_VM_DEFINE

#define TILE_VM_DEFINE(AB, S)                                                            \
  void MmaScaled##AB##S(const MmaParams& p) {                                            \
    simd::Multiply<simd::ScaledSource<simd::AB##Elem, simd::S##Elem>, simd::F32Elem>(p); \
  }
TILE_VM_MMA_SCALED(TILE_VM_DEFINE)
#undef TILE_VM_DEFINE

}  // namespace tile::vm::TILE_VM_ISA

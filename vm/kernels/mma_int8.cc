// mmai: i8 by i8 to i32. Elements are widened to i16 and taken two steps of k at a time: a lane holds the pair
// (k, k + 1), and one instruction multiplies two pairs and adds the two products, exactly.
#include "vm/kernels/mma_driver.h"

namespace tile::vm::TILE_VM_ISA {
namespace simd {

// Sum of the products of the signed 16-bit halves of each lane.
TILE_VM_INLINE Vec<uint32_t> MultiplyPairs(Vec<uint32_t> a, Vec<uint32_t> b) {
#if defined(__AVX512BW__)
  return Vec<uint32_t>(_mm512_madd_epi16(__m512i(a), __m512i(b)));
#elif defined(__AVX2__)
  return Vec<uint32_t>(_mm256_madd_epi16(__m256i(a), __m256i(b)));
#elif defined(__x86_64__)
  return Vec<uint32_t>(_mm_madd_epi16(__m128i(a), __m128i(b)));
#else
  using I = Vec<int32_t>;
  return Vec<uint32_t>((I(a << 16) >> 16) * (I(b << 16) >> 16) + (I(a) >> 16) * (I(b) >> 16));
#endif
}

// kLanes<uint32_t> elements, widened; Byte is int8_t or uint8_t.
template <class Byte>
TILE_VM_INLINE Vec<uint32_t> Widen(const Byte* p) {
  return Vec<uint32_t>(__builtin_convertvector((Load<Byte, kLanes<uint32_t>>(p)), Vec<int32_t>));
}
TILE_VM_INLINE Vec<uint32_t> Pair(Vec<uint32_t> low, Vec<uint32_t> high) { return (low & 0xffff) | (high << 16); }
template <class Byte>
TILE_VM_INLINE uint32_t PairOf(Byte low, Byte high) {
  return (static_cast<uint32_t>(low) & 0xffff) | (static_cast<uint32_t>(high) << 16);
}

struct Int8Kernel {
  using Acc = uint32_t;
  static TILE_VM_INLINE Vec<uint32_t> MulAdd(Vec<uint32_t> a, Vec<uint32_t> b, Vec<uint32_t> acc) {
    return acc + MultiplyPairs(a, b);
  }
  static TILE_VM_INLINE Vec<uint32_t> Finish(Vec<uint32_t> acc) { return acc; }
};

template <class A, class B>
struct Int8Source : Int8Kernel {
  using Kernel = Int8Kernel;
  static constexpr bool kDirect = false;
  static TILE_VM_INLINE int64_t Steps(int64_t k) { return (k + 1) / 2; }

  static TILE_VM_INLINE void PackA(const MmaParams& p, int64_t row, int64_t rows, uint32_t* to) {
    const A* a = static_cast<const A*>(p.a) + row * p.lda;
    for (int64_t i = 0; i < rows; ++i, a += p.lda, to += Steps(p.k)) {
      int64_t k = 0;
      // Lanes of pairs are elements in a row (on a little-endian machine, as everything here).
      for (; k + kLanes<int16_t> <= p.k; k += kLanes<int16_t>) {
        const auto bytes = Load<A, kVecBytes / 2>(a + k);
        StoreAs<int16_t>(to + k / 2, __builtin_convertvector(bytes, Vec<int16_t>));
      }
      for (; k < p.k; k += 2) to[k / 2] = PairOf(a[k], k + 1 < p.k ? a[k + 1] : A{0});
    }
  }

  static TILE_VM_INLINE void PackB(const MmaParams& p, int64_t column, int64_t columns, int64_t panel, uint32_t* to) {
    constexpr int W = kLanes<uint32_t>;
    const B* b = static_cast<const B*>(p.b) + column;
    for (int64_t k = 0; k < p.k; k += 2, b += 2 * p.ldb, to += panel) {
      const B* const next = k + 1 < p.k ? b + p.ldb : nullptr;
      int64_t j = 0;
      for (; j + W <= columns; j += W) {
        StoreAs<uint32_t>(to + j, Pair(Widen(b + j), next ? Widen(next + j) : Vec<uint32_t>{}));
      }
      for (; j < columns; ++j) {
        to[j] = PairOf(b[j], next ? next[j] : B{0});
      }
      for (; j < panel; ++j) to[j] = 0;
    }
  }
};

}  // namespace simd

using Signed = int8_t;
using Unsigned = uint8_t;
#define TILE_VM_DEFINE(A, B) \
  void MmaI8##A##B(const MmaParams& p) { simd::Multiply<simd::Int8Source<A, B>, simd::PlainElem<uint32_t>>(p); }
TILE_VM_MMA_INT8(TILE_VM_DEFINE)
#undef TILE_VM_DEFINE

}  // namespace tile::vm::TILE_VM_ISA

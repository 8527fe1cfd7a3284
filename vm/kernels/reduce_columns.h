// Reductions and scans whose lanes are independent: inner > 1. Included by the kernel files only.
//
// A *body* says what a lane is and does:
//   Stored, Lane             element in memory, lane of a vector
//   In(p), Out(p, v)         kLanes<Lane> elements to lanes and back
//   Start(bits)              all lanes the identity
//   Apply(x, acc)
#ifndef TILE_VM_KERNELS_REDUCE_COLUMNS_H_
#define TILE_VM_KERNELS_REDUCE_COLUMNS_H_

#include "vm/kernels/mma_simd.h"
#include "vm/kernels/reduce_kernels.h"

namespace tile::vm::TILE_VM_ISA::simd {

// The first `count` elements; what other lanes hold does not matter.
template <class Body>
TILE_VM_INLINE Vec<typename Body::Lane> InPart(const typename Body::Stored* p, int64_t count) {
  alignas(kVecBytes) typename Body::Stored t[kLanes<typename Body::Lane>] = {};
  __builtin_memcpy(t, p, count * sizeof(t[0]));
  return Body::In(t);
}
template <class Body>
TILE_VM_INLINE void OutPart(typename Body::Stored* p, Vec<typename Body::Lane> v, int64_t count) {
  alignas(kVecBytes) typename Body::Stored t[kLanes<typename Body::Lane>];
  Body::Out(t, v);
  __builtin_memcpy(p, t, count * sizeof(t[0]));
}

// `width` vectors of neighbouring columns, or the first `part` elements of one. The steps go through n rows, `step`
// elements (negative: reverse) apart.
template <class Body, int width, bool is_scan>
TILE_VM_INLINE void ColumnStrip(typename Body::Stored* out, const typename Body::Stored* in, int64_t n, int64_t step,
                                uint64_t identity, int64_t part = 0) {
  using V = Vec<typename Body::Lane>;
  constexpr int W = kLanes<typename Body::Lane>;
  V acc[width];
#pragma GCC unroll 4
  for (int v = 0; v < width; ++v) acc[v] = Body::Start(identity);
  for (int64_t i = 0; i < n; ++i, in += step) {
#pragma GCC unroll 4
    for (int v = 0; v < width; ++v) {
      acc[v] = Body::Apply(part ? InPart<Body>(in, part) : Body::In(in + v * W), acc[v]);
      if constexpr (is_scan) part ? OutPart<Body>(out, acc[v], part) : Body::Out(out + v * W, acc[v]);
    }
    if constexpr (is_scan) out += step;
  }
  if constexpr (!is_scan) {
#pragma GCC unroll 4
    for (int v = 0; v < width; ++v) part ? OutPart<Body>(out, acc[v], part) : Body::Out(out + v * W, acc[v]);
  }
}

template <class Body, bool is_scan>
TILE_VM_INLINE void Columns(void* out_bytes, const void* in_bytes, int64_t outer, int64_t n, int64_t inner,
                            bool reverse, uint64_t identity) {
  constexpr int W = kLanes<typename Body::Lane>;
  auto* out = static_cast<typename Body::Stored*>(out_bytes);
  const auto* in = static_cast<const typename Body::Stored*>(in_bytes);
  const int64_t step = reverse ? -inner : inner;
  const int64_t first = reverse ? (n - 1) * inner : 0;
  for (int64_t o = 0; o < outer; ++o, in += n * inner, out += is_scan ? n * inner : inner) {
    auto* const to = is_scan ? out + first : out;
    int64_t j = 0;
    for (; j + 4 * W <= inner; j += 4 * W) ColumnStrip<Body, 4, is_scan>(to + j, in + first + j, n, step, identity);
    for (; j + W <= inner; j += W) ColumnStrip<Body, 1, is_scan>(to + j, in + first + j, n, step, identity);
    if (j < inner) ColumnStrip<Body, 1, is_scan>(to + j, in + first + j, n, step, identity, inner - j);
  }
}

}  // namespace tile::vm::TILE_VM_ISA::simd

#endif  // TILE_VM_KERNELS_REDUCE_COLUMNS_H_

// Sums and products of floats, in the order that reduce.h promises.
#include "vm/kernels/reduce_columns.h"

namespace tile::vm::TILE_VM_ISA {
namespace simd {

// A lane as the element type would hold it.
TILE_VM_INLINE Vec<float> RoundTo(F16Elem, Vec<float> x) { return F32FromF16(F16FromF32(x)); }
TILE_VM_INLINE Vec<float> RoundTo(BF16Elem, Vec<float> x) {
  const Vec<uint32_t> u = Vec<uint32_t>(x);
  const Vec<uint32_t> rounded = (u + 0x7fff + ((u >> 16) & 1)) & 0xffff0000;
  return x == x ? Vec<float>(rounded) : x;
}
TILE_VM_INLINE Vec<float> RoundTo(F32Elem, Vec<float> x) { return x; }
TILE_VM_INLINE Vec<double> RoundTo(F64Elem, Vec<double> x) { return x; }

// Subnormals as zeros of the same sign.
template <class V>
TILE_VM_INLINE V Flush(V x) {
  using U = Vec<uint32_t>;
  return V((U(x) & 0x7fffffff) < 0x00800000 ? U(x) & 0x80000000 : U(x));
}

template <class E, Fold fold, bool flush>
struct FloatBody {
  using Elem = E;
  using Stored = typename E::Stored;
  using Lane = typename E::Acc;
  using V = Vec<Lane>;
  static TILE_VM_INLINE V In(const void* p) {
    const V x = E::LoadVec(p);
    if constexpr (flush) return Flush(x);
    return x;
  }
  static TILE_VM_INLINE void Out(void* p, V v) { E::StoreVec(p, Canonical(v)); }
  static TILE_VM_INLINE V Start(uint64_t identity) {
    alignas(kVecBytes) Stored t[kLanes<Lane>];
    for (Stored& s : t) __builtin_memcpy(&s, &identity, sizeof(Stored));
    return In(t);
  }
  static TILE_VM_INLINE V Apply(V x, V acc) {
    const V r = RoundTo(E{}, fold == Fold::kAdd ? acc + x : acc * x);
    if constexpr (flush) return Flush(r);
    return r;
  }
  static constexpr Lane kNeutral = fold == Fold::kAdd ? Lane(-0.0) : Lane(1);
};

// --- a reduction of rows: 16 partial results ------------------------------------------------------------------------

constexpr int kPartials = 16;

// p[i] = p[i] op p[i + distance] for i < distance, down to p[0].
template <class Body, int distance, class V>
TILE_VM_INLINE void Tree(V* p) {
  constexpr int W = kLanes<typename Body::Lane>;
  if constexpr (distance >= W) {
#pragma GCC unroll 8
    for (int v = 0; v < distance / W; ++v) p[v] = Body::Apply(p[v + distance / W], p[v]);
  } else {
    p[0] = Body::Apply(Swap<distance>(p[0], Lanes<typename Body::Lane>{}), p[0]);
  }
  if constexpr (distance > 1) Tree<Body, distance / 2>(p);
}

// `start`: the partial results before the first element.
template <class Body>
TILE_VM_INLINE void ReduceRow(typename Body::Stored* out, const typename Body::Stored* in, int64_t n,
                              const typename Body::V* start) {
  using T = typename Body::Lane;
  constexpr int W = kLanes<T>, kVectors = kPartials / W;
  Vec<T> p[kVectors];
#pragma GCC unroll 8
  for (int v = 0; v < kVectors; ++v) p[v] = start[v];
  int64_t i = 0;
  for (; i + kPartials <= n; i += kPartials) {
#pragma GCC unroll 8
    for (int v = 0; v < kVectors; ++v) p[v] = Body::Apply(Body::In(in + i + v * W), p[v]);
  }
  if (i < n) {
    // Beyond the end stands what changes nothing.
    alignas(kVecBytes) T rest[kPartials];
    for (T& x : rest) x = Body::kNeutral;
    for (int k = 0; k < n - i; ++k) rest[k] = InPart<Body>(in + i + k, 1)[0];
#pragma GCC unroll 8
    for (int v = 0; v < kVectors; ++v) p[v] = Body::Apply(Load<T>(rest + v * W), p[v]);
  }
  Tree<Body, kPartials / 2>(p);
  OutPart<Body>(out, p[0], 1);
}

template <class Body>
void Reduce(void* out, const void* in, int64_t outer, int64_t n, int64_t inner, uint64_t identity) {
  if (inner > 1) return Columns<Body, false>(out, in, outer, n, inner, false, identity);
  using T = typename Body::Lane;
  constexpr int W = kLanes<T>, kVectors = kPartials / W;
  alignas(kVecBytes) T first[kPartials];
  for (T& x : first) x = Body::kNeutral;
  first[0] = Body::Start(identity)[0];
  Vec<T> start[kVectors];
  for (int v = 0; v < kVectors; ++v) start[v] = Load<T>(first + v * W);
  for (int64_t o = 0; o < outer; ++o) {
    ReduceRow<Body>(static_cast<typename Body::Stored*>(out) + o, static_cast<const typename Body::Stored*>(in) + o * n,
                    n, start);
  }
}

// --- a scan of rows -------------------------------------------------------------------------------------------------

// One element after the other; `rows` at once, since each waits for the one before it in its row.
template <class Body, int rows>
TILE_VM_INLINE void ScanRows(typename Body::Stored* out, const typename Body::Stored* in, int64_t n, bool reverse,
                             uint64_t identity) {
  using T = typename Body::Lane;
  constexpr int W = kLanes<T>, kBlock = 64;
  alignas(kVecBytes) T block[rows][kBlock];
  Vec<T> acc[rows];
#pragma GCC unroll 4
  for (int r = 0; r < rows; ++r) acc[r] = Body::Start(identity);
  for (int64_t done = 0; done < n; done += kBlock) {
    const int64_t count = n - done < kBlock ? n - done : kBlock;
    const int64_t at = reverse ? n - done - count : done;
    const int64_t whole = count / W * W;
    for (int r = 0; r < rows; ++r) {
      const auto* from = in + r * n + at;
      for (int64_t i = 0; i < whole; i += W) StoreAs<T>(block[r] + i, Body::In(from + i));
      if (whole < count) StoreAs<T>(block[r] + whole, InPart<Body>(from + whole, count - whole));
    }
    const int64_t last = reverse ? 0 : count - 1, step = reverse ? -1 : 1;
    for (int64_t i = reverse ? count - 1 : 0;; i += step) {
#pragma GCC unroll 4
      for (int r = 0; r < rows; ++r) {
        acc[r] = Body::Apply(Splat<T>(block[r][i]), acc[r]);
        block[r][i] = acc[r][0];
      }
      if (i == last) break;
    }
    for (int r = 0; r < rows; ++r) {
      auto* to = out + r * n + at;
      for (int64_t i = 0; i < whole; i += W) Body::Out(to + i, Load<T>(block[r] + i));
      if (whole < count) OutPart<Body>(to + whole, Load<T>(block[r] + whole), count - whole);
    }
  }
}

template <class Body>
void Scan(void* out_bytes, const void* in_bytes, int64_t outer, int64_t n, int64_t inner, bool reverse,
          uint64_t identity) {
  if (inner > 1) return Columns<Body, true>(out_bytes, in_bytes, outer, n, inner, reverse, identity);
  auto* out = static_cast<typename Body::Stored*>(out_bytes);
  const auto* in = static_cast<const typename Body::Stored*>(in_bytes);
  int64_t o = 0;
  for (; o + 4 <= outer; o += 4) ScanRows<Body, 4>(out + o * n, in + o * n, n, reverse, identity);
  for (; o < outer; ++o) ScanRows<Body, 1>(out + o * n, in + o * n, n, reverse, identity);
}

template <class E, bool flush = false>
TILE_VM_INLINE ReduceKernels OfElem(Fold fold) {
  using Sum = FloatBody<E, Fold::kAdd, flush>;
  using Product = FloatBody<E, Fold::kMul, flush>;
  return fold == Fold::kAdd ? ReduceKernels{Reduce<Sum>, Scan<Sum>} : ReduceKernels{Reduce<Product>, Scan<Product>};
}

}  // namespace simd

ReduceKernels FindFloatKernels(Fold fold, FloatKind kind, bool flush_to_zero) {
  if (kind == FloatKind::kF16) return simd::OfElem<simd::F16Elem>(fold);
  if (kind == FloatKind::kBF16) return simd::OfElem<simd::BF16Elem>(fold);
  if (kind == FloatKind::kF64) return simd::OfElem<simd::F64Elem>(fold);
  return flush_to_zero ? simd::OfElem<simd::F32Elem, true>(fold) : simd::OfElem<simd::F32Elem>(fold);
}

}  // namespace tile::vm::TILE_VM_ISA

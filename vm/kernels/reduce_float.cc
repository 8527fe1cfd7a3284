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
    // Elements beyond the end change nothing.
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

// --- narrow elements: balanced trees --------------------------------------------------------------------------------

// Adds items one by one and combines neighbours of equal size, as a binary counter carries: an item is `vectors`
// vectors.
template <class Body, int vectors>
class PairwiseFold {
 public:
  using V = typename Body::V;
  TILE_VM_INLINE void Add(const V* item) {
    V p[vectors];
    for (int v = 0; v < vectors; ++v) p[v] = item[v];
    int level = 0;
    for (int64_t carries = count_++; (carries & 1) != 0; carries >>= 1, ++level) {
      for (int v = 0; v < vectors; ++v) p[v] = Body::Apply(p[v], sums_[level][v]);
    }
    for (int v = 0; v < vectors; ++v) sums_[level][v] = p[v];
  }
  TILE_VM_INLINE void Total(V* total) const {
    for (int v = 0; v < vectors; ++v) total[v] = Splat<typename Body::Lane>(Body::kNeutral);
    for (int level = 0; count_ >> level != 0; ++level) {
      if ((count_ >> level & 1) == 0) continue;
      for (int v = 0; v < vectors; ++v) total[v] = Body::Apply(total[v], sums_[level][v]);
    }
  }

 private:
  static constexpr int kLevels = 26;  // more elements than a tile has
  int64_t count_ = 0;
  V sums_[kLevels][vectors];
};

// Rows as 16 interleaved partial results, each a tree over its elements, at the end a tree over them.
template <class Body>
TILE_VM_INLINE void ReduceRowAsTree(typename Body::Stored* out, const typename Body::Stored* in, int64_t n) {
  using T = typename Body::Lane;
  constexpr int W = kLanes<T>, kVectors = kPartials / W;
  PairwiseFold<Body, kVectors> tree;
  Vec<T> p[kVectors];
  int64_t i = 0;
  for (; i + kPartials <= n; i += kPartials) {
    for (int v = 0; v < kVectors; ++v) p[v] = Body::In(in + i + v * W);
    tree.Add(p);
  }
  if (i < n) {
    alignas(kVecBytes) T rest[kPartials];
    for (T& x : rest) x = Body::kNeutral;
    for (int k = 0; k < n - i; ++k) rest[k] = InPart<Body>(in + i + k, 1)[0];
    for (int v = 0; v < kVectors; ++v) p[v] = Load<T>(rest + v * W);
    tree.Add(p);
  }
  tree.Total(p);
  Tree<Body, kPartials / 2>(p);
  OutPart<Body>(out, p[0], 1);
}

template <class Body>
void ReduceAsTree(void* out_bytes, const void* in_bytes, int64_t outer, int64_t n, int64_t inner, uint64_t) {
  constexpr int W = kLanes<typename Body::Lane>;
  auto* out = static_cast<typename Body::Stored*>(out_bytes);
  const auto* in = static_cast<const typename Body::Stored*>(in_bytes);
  for (int64_t o = 0; o < outer; ++o, in += n * inner, out += inner) {
    if (inner == 1) {
      ReduceRowAsTree<Body>(out, in, n);
      continue;
    }
    for (int64_t j = 0; j < inner; j += W) {
      const int64_t part = inner - j < W ? inner - j : 0;
      PairwiseFold<Body, 1> tree;
      for (int64_t i = 0; i < n; ++i) {
        const auto* from = in + i * inner + j;
        const typename Body::V x = part ? InPart<Body>(from, part) : Body::In(from);
        tree.Add(&x);
      }
      typename Body::V total;
      tree.Total(&total);
      part ? OutPart<Body>(out + j, total, part) : Body::Out(out + j, total);
    }
  }
}

// out[to + j] = out[to + j] op out[from + j] for j < count, or op out[from] for all.
template <class Body, bool splat>
TILE_VM_INLINE void ApplyRow(typename Body::Stored* to, const typename Body::Stored* from, int64_t count) {
  using V = typename Body::V;
  constexpr int W = kLanes<typename Body::Lane>;
  V all{};
  if constexpr (splat) all = Splat<typename Body::Lane>(InPart<Body>(from, 1)[0]);
  int64_t j = 0;
  for (; j + W <= count; j += W) Body::Out(to + j, Body::Apply(Body::In(to + j), splat ? all : Body::In(from + j)));
  if (j < count) {
    const V before = splat ? all : InPart<Body>(from + j, count - j);
    OutPart<Body>(to + j, Body::Apply(InPart<Body>(to + j, count - j), before), count - j);
  }
}

// The lane, or its mirror image.
template <int W, bool reverse>
constexpr int Place(int lane) {
  return reverse ? W - 1 - lane : lane;
}
// Each lane of the upper half of a block of 2 * half lanes takes the last of the lower half.
template <class Body, bool reverse, int half, class V, int... i>
TILE_VM_INLINE V JoinHalves(V v, Indices<i...>) {
  constexpr int W = kLanes<typename Body::Lane>;
  const V before =
      __builtin_shufflevector(v, v, Place<W, reverse>((Place<W, reverse>(i) & ~(2 * half - 1)) + half - 1)...);
  const V joined = Body::Apply(v, before);
  return __builtin_shufflevector(v, joined, ((Place<W, reverse>(i) & half) != 0 ? W + i : i)...);
}
template <class Body, bool reverse, int half = 1, class V>
TILE_VM_INLINE V PrefixTree(V v) {
  if constexpr (half < kLanes<typename Body::Lane>) {
    return PrefixTree<Body, reverse, half * 2>(JoinHalves<Body, reverse, half>(v, Lanes<typename Body::Lane>{}));
  }
  return v;
}

// Prefixes of blocks of 2, 4, 8 … elements: the upper half takes the total of the lower one. Elements are in the result
// meanwhile, rounded as they must be.
template <class Body>
void ScanAsTree(void* out_bytes, const void* in_bytes, int64_t outer, int64_t n, int64_t inner, bool reverse,
                uint64_t) {
  using Stored = typename Body::Stored;
  constexpr int W = kLanes<typename Body::Lane>;
  auto* out = static_cast<Stored*>(out_bytes);
  // With NaN made canonical, of the first element too.
  const auto* in = static_cast<const Stored*>(in_bytes);
  const int64_t all = outer * n * inner;
  int64_t copied = 0;
  for (; copied + W <= all; copied += W) Body::Out(out + copied, Body::In(in + copied));
  if (copied < all) OutPart<Body>(out + copied, InPart<Body>(in + copied, all - copied), all - copied);
  const bool in_vectors = inner == 1 && n % W == 0;
  for (int64_t o = 0; o < outer; ++o, out += n * inner) {
    for (int64_t i = 0; in_vectors && i < n; i += W) {
      const typename Body::V v = Body::In(out + i);
      Body::Out(out + i, reverse ? PrefixTree<Body, true>(v) : PrefixTree<Body, false>(v));
    }
    for (int64_t half = in_vectors ? W : 1; half < n; half *= 2) {
      for (int64_t block = 0; block + half < n; block += 2 * half) {
        const int64_t begin = block + half, end = begin + half < n ? begin + half : n;
        // Places count from the end where the scan is in reverse.
        const auto place = [&](int64_t i) { return (reverse ? n - 1 - i : i) * inner; };
        const Stored* total = out + place(begin - 1);
        if (inner == 1) {
          ApplyRow<Body, true>(out + (reverse ? place(end - 1) : begin), total, end - begin);
        } else {
          for (int64_t i = begin; i < end; ++i) ApplyRow<Body, false>(out + place(i), total, inner);
        }
      }
    }
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
  if constexpr (sizeof(typename E::Stored) == 2) {
    return fold == Fold::kAdd ? ReduceKernels{ReduceAsTree<Sum>, ScanAsTree<Sum>}
                              : ReduceKernels{ReduceAsTree<Product>, ScanAsTree<Product>};
  } else {
    return fold == Fold::kAdd ? ReduceKernels{Reduce<Sum>, Scan<Sum>} : ReduceKernels{Reduce<Product>, Scan<Product>};
  }
}

}  // namespace simd

ReduceKernels FindFloatKernels(Fold fold, FloatKind kind, bool flush_to_zero) {
  if (kind == FloatKind::kF16) return simd::OfElem<simd::F16Elem>(fold);
  if (kind == FloatKind::kBF16) return simd::OfElem<simd::BF16Elem>(fold);
  if (kind == FloatKind::kF64) return simd::OfElem<simd::F64Elem>(fold);
  return flush_to_zero ? simd::OfElem<simd::F32Elem, true>(fold) : simd::OfElem<simd::F32Elem>(fold);
}

}  // namespace tile::vm::TILE_VM_ISA

// Reductions and scans whose order does not matter: those of integers, and maxf and minf, which become integer maxima.
//
// The bits of a float, read as a signed integer after flipping the other bits of negative ones, are ordered as the
// floats are, with -0 below +0. A NaN becomes the smallest or the largest of them, so that it loses or wins as it
// should.
#include "vm/kernels/reduce_columns.h"

namespace tile::vm::TILE_VM_ISA {
namespace simd {

template <class T, Fold fold>
struct IntOp {
  using Lane = T;
  template <class X>  // T or Vec<T>
  static TILE_VM_INLINE X Apply(X x, X acc) {
    if constexpr (fold == Fold::kAdd) return static_cast<X>(x + acc);
    if constexpr (fold == Fold::kMul) return static_cast<X>(x * acc);
    if constexpr (fold == Fold::kAnd) return static_cast<X>(x & acc);
    if constexpr (fold == Fold::kOr) return static_cast<X>(x | acc);
    if constexpr (fold == Fold::kXor) return static_cast<X>(x ^ acc);
    if constexpr (fold == Fold::kMax) return x > acc ? x : acc;
    if constexpr (fold == Fold::kMin) return x < acc ? x : acc;
  }
  static constexpr T kLowest = T(-1) < T(0) ? static_cast<T>(uint64_t{1} << (8 * sizeof(T) - 1)) : T(0);
  static constexpr T kNeutral = fold == Fold::kMul   ? T(1)
                                : fold == Fold::kAnd ? T(-1)
                                : fold == Fold::kMax ? kLowest
                                : fold == Fold::kMin ? static_cast<T>(~kLowest)
                                                     : T(0);
};

// Integers as they are; of i1 only the lowest bit counts.
template <class T, Fold fold, bool is_i1 = false>
struct IntBody : IntOp<T, fold> {
  using Stored = T;
  static TILE_VM_INLINE Vec<T> In(const void* p) { return Load<T>(p); }
  static TILE_VM_INLINE void Out(void* p, Vec<T> v) { StoreAs<T>(p, is_i1 ? v & T(1) : v); }
  static TILE_VM_INLINE Vec<T> Start(uint64_t identity) { return Splat<T>(static_cast<T>(identity)); }
};

// Floats as ordered integers T.
template <class T, Fold fold, bool propagate_nan, T infinity, bool flush = false>
struct OrderBody : IntOp<T, fold> {
  using Stored = T;
  static constexpr T kMagnitude = static_cast<T>(~IntOp<T, Fold::kMax>::kLowest);
  static constexpr T kNan = (fold == Fold::kMax) == propagate_nan ? kMagnitude : static_cast<T>(~kMagnitude);
  // The same function in both directions, but for NaN.
  static TILE_VM_INLINE Vec<T> Turn(Vec<T> v) { return v ^ ((v >> (8 * sizeof(T) - 1)) & kMagnitude); }
  static TILE_VM_INLINE Vec<T> Order(Vec<T> v) {
    const Vec<T> magnitude = v & kMagnitude;
    if constexpr (flush) v = magnitude < 0x00800000 ? v & ~kMagnitude : v;
    return magnitude > infinity ? Splat<T>(kNan) : Turn(v);
  }
  static TILE_VM_INLINE Vec<T> In(const void* p) { return Order(Load<T>(p)); }
  static TILE_VM_INLINE void Out(void* p, Vec<T> v) {
    const Vec<T> bits = Turn(v);
    constexpr T kQuiet = static_cast<T>((infinity & -infinity) >> 1);
    StoreAs<T>(p, (bits & kMagnitude) > infinity ? Splat<T>(infinity | kQuiet) : bits);
  }
  static TILE_VM_INLINE Vec<T> Start(uint64_t identity) { return Order(Splat<T>(static_cast<T>(identity))); }
};

template <class T>
using VecArray = T[kLanes<T>];

// v[0] op … op v[W - 1] in every lane.
template <class Body, int distance = 1, class V>
TILE_VM_INLINE V AllLanes(V v) {
  using T = typename Body::Lane;
  if constexpr (distance < kLanes<T>) {
    return AllLanes<Body, distance * 2>(Body::Apply(Swap<distance>(v, Lanes<T>{}), v));
  }
  return v;
}

// inner = 1: four vectors of partial results. `start`: the identity, and beside it what changes nothing.
template <class Body>
TILE_VM_INLINE void ReduceRow(typename Body::Stored* out, const typename Body::Stored* in, int64_t n,
                              Vec<typename Body::Lane> start) {
  using T = typename Body::Lane;
  constexpr int W = kLanes<T>;
  Vec<T> acc = start;
  int64_t i = 0;
  if (n >= W) {
    if (n >= 4 * W) {
      Vec<T> b = Splat<T>(Body::kNeutral), c = b, d = b;
      for (; i + 4 * W <= n; i += 4 * W) {
        acc = Body::Apply(Body::In(in + i), acc);
        b = Body::Apply(Body::In(in + i + W), b);
        c = Body::Apply(Body::In(in + i + 2 * W), c);
        d = Body::Apply(Body::In(in + i + 3 * W), d);
      }
      acc = Body::Apply(Body::Apply(acc, b), Body::Apply(c, d));
    }
    for (; i + W <= n; i += W) acc = Body::Apply(Body::In(in + i), acc);
    acc = AllLanes<Body>(acc);
  }
  if (i < n) {
    alignas(kVecBytes) VecArray<T> lanes;
    StoreAs<T>(lanes, InPart<Body>(in + i, n - i));
    T all = acc[0];
    for (int64_t k = 0; k < n - i; ++k) all = Body::template Apply<T>(lanes[k], all);
    acc = Splat<T>(all);
  }
  OutPart<Body>(out, acc, 1);
}

template <class Body>
void Reduce(void* out, const void* in, int64_t outer, int64_t n, int64_t inner, uint64_t identity) {
  if (inner > 1) return Columns<Body, false>(out, in, outer, n, inner, false, identity);
  using T = typename Body::Lane;
  alignas(kVecBytes) VecArray<T> first;
  StoreAs<T>(first, Body::Start(identity));
  for (int k = 1; k < kLanes<T>; ++k) first[k] = Body::kNeutral;
  const Vec<T> start = Load<T>(first);
  for (int64_t o = 0; o < outer; ++o) {
    ReduceRow<Body>(static_cast<typename Body::Stored*>(out) + o, static_cast<const typename Body::Stored*>(in) + o * n,
                    n, start);
  }
}

// v[i] = v[0] op … op v[i], or from the other end, in log steps.
template <class Body, bool reverse, int distance = 1, class V>
TILE_VM_INLINE V Prefix(V v) {
  using T = typename Body::Lane;
  constexpr int W = kLanes<T>;
  if constexpr (distance < W) {
    const V neutral = Splat<T>(Body::kNeutral);
    const V moved = reverse ? Window<distance>(v, neutral, Lanes<T>{}) : Window<W - distance>(neutral, v, Lanes<T>{});
    return Prefix<Body, reverse, distance * 2>(Body::Apply(moved, v));
  }
  return v;
}

template <class Body, bool reverse>
TILE_VM_INLINE void ScanRow(typename Body::Stored* out, const typename Body::Stored* in, int64_t n, uint64_t identity) {
  using T = typename Body::Lane;
  using V = Vec<T>;
  constexpr int W = kLanes<T>;
  V carry = Body::Start(identity);
  const int64_t whole = n / W * W;
  int64_t done = 0;
  for (; done < whole; done += W) {
    const int64_t at = reverse ? n - done - W : done;
    const V sum = Prefix<Body, reverse>(Body::In(in + at));
    Body::Out(out + at, Body::Apply(sum, carry));
    // Not from what was just stored, so that only one step depends on the one before.
    carry = Body::Apply(Repeat<(reverse ? 0 : W - 1)>(sum, Lanes<T>{}), carry);
  }
  if (done < n) {
    const int64_t rest = n - done, at = reverse ? 0 : done;
    alignas(kVecBytes) VecArray<T> lanes;
    StoreAs<T>(lanes, InPart<Body>(in + at, rest));
    T all = carry[0];
    for (int64_t k = 0; k < rest; ++k) {
      T& lane = lanes[reverse ? rest - 1 - k : k];
      lane = all = Body::template Apply<T>(lane, all);
    }
    OutPart<Body>(out + at, Load<T>(lanes), rest);
  }
}

template <class Body>
void Scan(void* out, const void* in, int64_t outer, int64_t n, int64_t inner, bool reverse, uint64_t identity) {
  if (inner > 1) return Columns<Body, true>(out, in, outer, n, inner, reverse, identity);
  for (int64_t o = 0; o < outer * n; o += n) {
    auto* const to = static_cast<typename Body::Stored*>(out) + o;
    const auto* const from = static_cast<const typename Body::Stored*>(in) + o;
    reverse ? ScanRow<Body, true>(to, from, n, identity) : ScanRow<Body, false>(to, from, n, identity);
  }
}

template <class Body>
constexpr ReduceKernels kKernels = {Reduce<Body>, Scan<Body>};

template <class Signed, class Unsigned>
TILE_VM_INLINE ReduceKernels OfWidth(Fold fold) {
  switch (fold) {
    case Fold::kAdd: return kKernels<IntBody<Unsigned, Fold::kAdd>>;
    case Fold::kMul: return kKernels<IntBody<Unsigned, Fold::kMul>>;
    case Fold::kAnd: return kKernels<IntBody<Unsigned, Fold::kAnd>>;
    case Fold::kOr: return kKernels<IntBody<Unsigned, Fold::kOr>>;
    case Fold::kXor: return kKernels<IntBody<Unsigned, Fold::kXor>>;
    case Fold::kMax: return kKernels<IntBody<Signed, Fold::kMax>>;
    case Fold::kMin: return kKernels<IntBody<Signed, Fold::kMin>>;
    case Fold::kMaxUnsigned: return kKernels<IntBody<Unsigned, Fold::kMax>>;
    case Fold::kMinUnsigned: return kKernels<IntBody<Unsigned, Fold::kMin>>;
  }
  return {};
}

template <class T, T infinity, bool flush = false>
TILE_VM_INLINE ReduceKernels OfFloat(Fold fold, bool propagate_nan) {
  if (fold == Fold::kMax) {
    return propagate_nan ? kKernels<OrderBody<T, Fold::kMax, true, infinity, flush>>
                         : kKernels<OrderBody<T, Fold::kMax, false, infinity, flush>>;
  }
  return propagate_nan ? kKernels<OrderBody<T, Fold::kMin, true, infinity, flush>>
                       : kKernels<OrderBody<T, Fold::kMin, false, infinity, flush>>;
}

}  // namespace simd

ReduceKernels FindIntKernels(Fold fold, int bits) {
  if (bits == 1) {
    if (fold == Fold::kAnd) return simd::kKernels<simd::IntBody<uint8_t, Fold::kAnd, true>>;
    if (fold == Fold::kOr) return simd::kKernels<simd::IntBody<uint8_t, Fold::kOr, true>>;
    return simd::kKernels<simd::IntBody<uint8_t, Fold::kXor, true>>;
  }
  if (bits == 8) return simd::OfWidth<int8_t, uint8_t>(fold);
  if (bits == 16) return simd::OfWidth<int16_t, uint16_t>(fold);
  if (bits == 32) return simd::OfWidth<int32_t, uint32_t>(fold);
  return simd::OfWidth<int64_t, uint64_t>(fold);
}

ReduceKernels FindFloatOrderKernels(Fold fold, FloatKind kind, bool propagate_nan, bool flush_to_zero) {
  if (kind == FloatKind::kF16) return simd::OfFloat<int16_t, 0x7c00>(fold, propagate_nan);
  if (kind == FloatKind::kBF16) return simd::OfFloat<int16_t, 0x7f80>(fold, propagate_nan);
  if (kind == FloatKind::kF64) return simd::OfFloat<int64_t, int64_t{0x7ff} << 52>(fold, propagate_nan);
  return flush_to_zero ? simd::OfFloat<int32_t, 0x7f800000, true>(fold, propagate_nan)
                       : simd::OfFloat<int32_t, 0x7f800000>(fold, propagate_nan);
}

}  // namespace tile::vm::TILE_VM_ISA

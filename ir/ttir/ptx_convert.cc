// cvt: between numbers of one register each, and pairs of small floats.
#include "ir/ttir/libdevice_floats.h"
#include "ir/ttir/ptx_instructions.h"

namespace tile::ir::ttir {
namespace {

using W = const PtxWork&;

constexpr auto kU = Signedness::kUnsigned;

Value* Bits(W w, Value* v, int bits) {
  return IsInt(v->type().elem()) ? v : ops::Bitcast(w.b, w.TileOf(PtxIntOf(bits)), v);
}
Value* Relu(W w, Value* v) {
  return w.has("relu") ? ops::Maxf(w.b, v, ops::Splat(w.b, v->type(), 0), /*propagate_nan=*/true) : v;
}

// The code of |x| in f4E2M1FN: steps of 1/2 below 2, of 1 below 4, of 2 above; NaN is 6.
Value* CodeOfE2M1(W w, Value* x) {
  const Floats f(w.b, x);
  Value* a = ops::Minf(w.b, f.Abs(x), f.Number(6));  // the number of two, if one is NaN
  Value* code = f.Pick(f.Less(a, 2), f.Rint(f.Mul(a, 2)),
                       f.Pick(f.Less(a, 4), f.Add(f.Rint(a), 2), f.Add(f.Rint(f.Mul(a, 0.5)), 4)));
  Value* sign = ops::Shri(w.b, f.Bits(x), f.Int(28), kU);
  sign = ops::Select(w.b, f.IsNan(x), f.Int(0), ops::Andi(w.b, sign, f.Int(8)));
  return ops::Ori(w.b, ops::FToI(w.b, f.Word(), code, kU, /*saturating=*/true), sign);
}
// A code of four bits in the low bits of an i16 as f16: 2^-14 times the number with its bits in f16's places.
Value* F16OfE2M1(W w, Value* code) {
  const Type i16 = code->type();
  const auto number = [&](int64_t n) { return ops::Integer(w.b, i16, n); };
  Value* sign = ops::Shli(w.b, ops::Andi(w.b, code, number(8)), number(12));
  Value* magnitude = ops::Shli(w.b, ops::Andi(w.b, code, number(7)), number(9));
  Value* small = ops::Bitcast(w.b, w.TileOf(Elem::kF16), ops::Ori(w.b, sign, magnitude));
  return ops::Mulf(w.b, small, ops::Splat(w.b, small->type(), 0x1p14));
}

// A float of 16 or 32 bits as the half of a pair: an integer of its bits.
Value* ToSmall(W w, Value* v, const PtxType& to) {
  v = Relu(w, v);
  if (to.elem == Elem::kF4E2M1FN)
    return CodeOfE2M1(w, v->type().elem() == Elem::kF32 ? v : ops::FToF(w.b, w.TileOf(Elem::kF32), v));
  if (to.kind == 'f') return Bits(w, ops::FToF(w.b, w.TileOf(to.elem), v, w.rounding()), 16);
  // .satfinite: infinities become the largest number, too.
  const double most = to.elem == Elem::kF8E4M3FN ? 448 : 57344;
  v = ops::Maxf(w.b, v, ops::Splat(w.b, v->type(), -most), /*propagate_nan=*/true);
  v = ops::Minf(w.b, v, ops::Splat(w.b, v->type(), most), /*propagate_nan=*/true);
  return Bits(w, ops::FToF(w.b, w.TileOf(to.elem), v), 8);
}

// Two integers of `bits` bits in one of twice as many; the 4 bits of each are in an i32.
Value* PairOf(W w, Value* low, Value* high, int bits) {
  const Type t = w.TileOf(PtxIntOf(2 * bits));
  const auto fit = [&](Value* v) {
    const int have = ElemInfoOf(v->type().elem()).bits;
    return have == 2 * bits ? v : have > 2 * bits ? ops::Trunci(w.b, t, v) : ops::Exti(w.b, t, v, kU);
  };
  return ops::Ori(w.b, fit(low), ops::Shli(w.b, fit(high), ops::Integer(w.b, t, bits)));
}

// Half k of a register of 2 n bits.
Value* HalfOf(W w, Value* word, int k, int n) {
  if (k == 1) word = ops::Shri(w.b, word, ops::Integer(w.b, word->type(), n), kU);
  return n == 4 ? ops::Exti(w.b, w.TileOf(Elem::kI16), word, kU) : ops::Trunci(w.b, w.TileOf(PtxIntOf(n)), word);
}

// cvt.rn.f16x2.f32 d, high, low; cvt.rn.satfinite.e4m3x2.f16x2 d, pair; cvt.rn.f16x2.e4m3x2 d, pair.
Value* ConvertPairs(W w, const PtxType& from) {
  const PtxType& to = w.type;
  const bool small = to.kind == 'm';
  if (small != w.has("satfinite") || !w.has("rn")) return nullptr;
  if (!from.pair) {
    if (from.elem != Elem::kF32 || w.x.size() != 2) return nullptr;
    return PairOf(w, ToSmall(w, w.x[1], to), ToSmall(w, w.x[0], to), to.bits);
  }
  if (w.x.size() != 1 || small == (from.kind == 'm') || (small ? from.elem : to.elem) != Elem::kF16) return nullptr;
  Value* halves[2];
  for (int k = 0; k < 2; ++k) {
    Value* half = HalfOf(w, w.x[0], k, from.bits);
    if (small) {
      halves[k] = ToSmall(w, ops::Bitcast(w.b, w.TileOf(Elem::kF16), half), to);
    } else if (from.elem == Elem::kF4E2M1FN) {
      halves[k] = Bits(w, Relu(w, F16OfE2M1(w, half)), 16);
    } else {
      Value* number = ops::Bitcast(w.b, w.TileOf(from.elem), half);
      halves[k] = Bits(w, Relu(w, ops::FToF(w.b, w.TileOf(Elem::kF16), number)), 16);
    }
  }
  return PairOf(w, halves[0], halves[1], to.bits);
}

// A float's nearest whole number in the direction of .rni, .rzi, .rmi, .rpi; null: none is named.
Value* Whole(W w, Value* v) {
  const bool narrow = v->type().elem() != Elem::kF32 && v->type().elem() != Elem::kF64;
  Value* x = narrow ? ops::FToF(w.b, w.TileOf(Elem::kF32), v) : v;
  const Floats f(w.b, x);
  Value* whole = w.has("rni")   ? f.Rint(x)
                 : w.has("rzi") ? f.Trunc(x)
                 : w.has("rmi") ? ops::Floor(w.b, x)
                 : w.has("rpi") ? ops::Ceil(w.b, x)
                                : nullptr;
  return whole == nullptr || !narrow ? whole : ops::FToF(w.b, v->type(), whole);
}

Value* FloatToFloat(W w, const PtxType& from) {
  Value* v = w.x[0];
  const PtxType& to = w.type;
  if (to.elem == Elem::kTF32) {  // its bits are those of an f32
    if (from.elem != Elem::kF32 || w.has("satfinite")) return nullptr;
    const Rounding r = w.has("rna") ? Rounding::kNearestAway : w.rounding();
    return Relu(w, ops::FToF(w.b, w.TileOf(Elem::kF32), ops::FToF(w.b, w.TileOf(Elem::kTF32), v, r)));
  }
  if (w.has("satfinite") || w.has("rna")) return nullptr;
  if (Value* whole = Whole(w, v)) {
    if (to.elem != from.elem) return nullptr;
    v = whole;
  } else if (to.elem != from.elem) {
    v = ops::FToF(w.b, w.TileOf(to.elem), v, w.rounding());
  }
  if (w.has("sat")) {
    v = ops::Minf(w.b, ops::Maxf(w.b, v, ops::Splat(w.b, v->type(), 0)), ops::Splat(w.b, v->type(), 1));
  }
  return Relu(w, v);
}

}  // namespace

Value* MakeConvert(const PtxWork& w, const PtxType& from) {
  const PtxType& to = w.type;
  for (size_t i = 1; i + 2 < w.words.size(); ++i) {
    const std::string& word = w.words[i];
    bool known = false;
    for (absl::string_view k :
         {"rn", "rz", "rm", "rp", "rna", "rni", "rzi", "rmi", "rpi", "ftz", "sat", "satfinite", "relu"}) {
      known |= word == k;
    }
    if (!known) return nullptr;
  }
  if (to.pair) return to.bits == 32 || from.bits == 64 ? nullptr : ConvertPairs(w, from);
  if (from.pair || w.x.size() != 1 || from.kind == 'm') return nullptr;
  Value* v = w.x[0];
  const auto sign = [](const PtxType& t) { return t.kind == 's' ? Signedness::kSigned : Signedness::kUnsigned; };
  if (from.kind == 'f' && (to.kind == 'f' || to.kind == 'm')) return FloatToFloat(w, from);
  if (w.has("satfinite") || w.has("relu") || to.kind == 'm') return nullptr;
  if (to.kind == 'f') {
    return w.has("rn") && !w.has("sat") ? ops::IToF(w.b, w.TileOf(to.elem), v, sign(from)) : nullptr;
  }
  if (from.kind == 'f') {  // numbers out of range become the nearest one
    Value* whole = Whole(w, v);
    return whole == nullptr ? nullptr : ops::FToI(w.b, w.TileOf(to.elem), whole, sign(to), /*saturating=*/true);
  }
  if (w.has("sat")) return nullptr;
  if (to.bits == from.bits) return v;
  if (to.bits < from.bits) return ops::Trunci(w.b, w.TileOf(to.elem), v);
  return ops::Exti(w.b, w.TileOf(to.elem), v, sign(from));
}

}  // namespace tile::ir::ttir

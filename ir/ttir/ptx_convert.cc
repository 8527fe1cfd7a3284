// cvt: between numbers of one register each. Pairs are in ptx_pairs.cc.
#include "ir/ttir/libdevice_floats.h"
#include "ir/ttir/ptx_instructions.h"

namespace tile::ir::ttir {
namespace {

using W = const PtxWork&;

constexpr auto kU = Signedness::kUnsigned;

// .ftz of a number of f32: a subnormal one is zero.
Value* Flushed(W w, Value* v) {
  PtxWork of_f32 = w;
  of_f32.type = PtxTypeOf("f32");
  return v->type().elem() == Elem::kF32 ? PtxFlushed(of_f32, v) : v;
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

Value* FloatToFloat(W w, Value* v, const PtxType& from) {
  const PtxType& to = w.type;
  if (to.elem == Elem::kTF32) {  // its bits are those of an f32
    const bool away = w.has("rna");
    if (from.elem != Elem::kF32 || away + w.has("rn") + w.has("rz") != 1 || (away && w.has("relu"))) return nullptr;
    if (w.has("satfinite")) v = PtxClamped(w, v, to.elem);
    const Rounding r = away ? Rounding::kNearestAway : w.rounding();
    return PtxRelu(w, ops::FToF(w.b, w.TileOf(Elem::kF32), ops::FToF(w.b, w.TileOf(Elem::kTF32), v, r)));
  }
  if (w.has("rna")) return nullptr;
  if (w.has("satfinite")) {
    if (from.elem != Elem::kF32 || to.bits != 16) return nullptr;
    v = PtxClamped(w, v, to.elem);
  }
  if (Value* whole = Whole(w, v)) {
    if (to.elem != from.elem) return nullptr;
    v = whole;
  } else if (to.elem != from.elem) {
    v = ops::FToF(w.b, w.TileOf(to.elem), v, w.rounding());
  }
  v = Flushed(w, v);
  if (w.has("sat")) {
    v = ops::Minf(w.b, ops::Maxf(w.b, v, ops::Splat(w.b, v->type(), 0)), ops::Splat(w.b, v->type(), 1));
  }
  return PtxRelu(w, v);
}

// .sat of integers: what the other type doesn't have becomes the nearest number that it has.
Value* InRange(W w, Value* v, const PtxType& from) {
  const PtxType& to = w.type;
  const bool from_signed = from.kind == 's', to_signed = to.kind == 's';
  const auto number = [&](int64_t n) { return ops::Integer(w.b, v->type(), n); };
  const int bits = to.bits - to_signed;  // of the largest number
  if (bits < from.bits - from_signed) {
    const auto most = static_cast<int64_t>((uint64_t{1} << bits) - 1);
    v = ops::Mini(w.b, v, number(most), from_signed ? Signedness::kSigned : kU);
  }
  if (!from_signed) return v;
  if (!to_signed) return ops::Maxi(w.b, v, number(0), Signedness::kSigned);
  return to.bits < from.bits ? ops::Maxi(w.b, v, number(-(int64_t{1} << bits)), Signedness::kSigned) : v;
}

}  // namespace

Value* MakeConvert(const PtxWork& w, const PtxType& from) {
  const PtxType& to = w.type;
  const auto is_float = [](const PtxType& t) { return t.kind == 'f' || t.kind == 'm'; };
  if ((to.pair && !is_float(to)) || (from.pair && !is_float(from))) return nullptr;
  if (to.pair) return to.bits == 32 || from.bits == 64 ? nullptr : MakePtxPair(w, from);
  if (!w.has_only("rn rz rm rp rna rni rzi rmi rpi ftz sat satfinite relu", 2)) return nullptr;
  if (from.pair || w.x.size() != 1 || from.kind == 'm') return nullptr;
  Value* v = Flushed(w, w.x[0]);
  const auto sign = [](const PtxType& t) { return t.kind == 's' ? Signedness::kSigned : Signedness::kUnsigned; };
  if (from.kind == 'f' && (to.kind == 'f' || to.kind == 'm')) return FloatToFloat(w, v, from);
  if (w.has("satfinite") || w.has("relu") || to.kind == 'm') return nullptr;
  if (to.kind == 'f') {
    if (w.has("sat") || w.has("rn") + w.has("rz") + w.has("rm") + w.has("rp") != 1) return nullptr;
    if (w.has("rn")) return ops::IToF(w.b, w.TileOf(to.elem), v, sign(from));
    if (from.bits > 32 || to.bits == 64) return nullptr;
    // f64 has all integers of 32 bits.
    return ops::FToF(w.b, w.TileOf(to.elem), ops::IToF(w.b, w.TileOf(Elem::kF64), v, sign(from)), w.rounding());
  }
  if (from.kind == 'f') {  // numbers out of range become the nearest one
    Value* whole = Whole(w, v);
    return whole == nullptr ? nullptr : ops::FToI(w.b, w.TileOf(to.elem), whole, sign(to), /*saturating=*/true);
  }
  if (w.has("sat")) v = InRange(w, v, from);
  if (to.bits == from.bits) return v;
  if (to.bits < from.bits) return ops::Trunci(w.b, w.TileOf(to.elem), v);
  return ops::Exti(w.b, w.TileOf(to.elem), v, sign(from));
}

}  // namespace tile::ir::ttir

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

// .satfinite: what is above the largest number of a type, infinities too, becomes that number; NaN stays.
Value* Clamped(W w, Value* v, Elem to) {
  const double most = to == Elem::kF8E4M3FN ? 448
                      : to == Elem::kF8E5M2 ? 57344
                      : to == Elem::kF16    ? 65504
                      : to == Elem::kBF16   ? 0x1.FEp127
                                            : 0x1.FFCp127;  // of tf32
  v = ops::Maxf(w.b, v, ops::Splat(w.b, v->type(), -most), /*propagate_nan=*/true);
  return ops::Minf(w.b, v, ops::Splat(w.b, v->type(), most), /*propagate_nan=*/true);
}

// A float of 16 or 32 bits as the half of a pair: an integer of its bits.
Value* ToSmall(W w, Value* v, const PtxType& to) {
  v = Relu(w, v);
  if (to.elem == Elem::kF4E2M1FN)
    return CodeOfE2M1(w, v->type().elem() == Elem::kF32 ? v : ops::FToF(w.b, w.TileOf(Elem::kF32), v));
  if (w.has("satfinite")) v = Clamped(w, v, to.elem);
  return Bits(w, ops::FToF(w.b, w.TileOf(to.elem), v, w.rounding()), to.bits);
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
  // Towards zero only f32 goes, to 16 bits, which need not be .satfinite.
  if (small && !w.has("satfinite")) return nullptr;
  if (from.pair && !small && w.has("satfinite")) return nullptr;
  if (w.has("rn") == w.has("rz") || (w.has("rz") && (small || from.pair))) return nullptr;
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
    if (w.has("satfinite")) v = Clamped(w, v, to.elem);
    const Rounding r = away ? Rounding::kNearestAway : w.rounding();
    return Relu(w, ops::FToF(w.b, w.TileOf(Elem::kF32), ops::FToF(w.b, w.TileOf(Elem::kTF32), v, r)));
  }
  if (w.has("rna")) return nullptr;
  if (w.has("satfinite")) {
    if (from.elem != Elem::kF32 || to.bits != 16) return nullptr;
    v = Clamped(w, v, to.elem);
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
  return Relu(w, v);
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
  for (size_t i = 1; i + 2 < w.words.size(); ++i) {
    const std::string& word = w.words[i];
    bool known = false;
    for (absl::string_view k :
         {"rn", "rz", "rm", "rp", "rna", "rni", "rzi", "rmi", "rpi", "ftz", "sat", "satfinite", "relu"}) {
      known |= word == k;
    }
    if (!known) return nullptr;
  }
  const auto is_float = [](const PtxType& t) { return t.kind == 'f' || t.kind == 'm'; };
  if ((to.pair && !is_float(to)) || (from.pair && !is_float(from))) return nullptr;
  if (to.pair) return to.bits == 32 || from.bits == 64 ? nullptr : ConvertPairs(w, from);
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

// cvt of pairs: floats of 16 bits, and those of 8, 6 and 4 bits that only cvt knows.
//
//   cvt.rn.satfinite.e2m3x2.f32 d, high, low;       // each in a byte, with two zeros above its six bits
//   cvt.rn.relu.f16x2.e2m1x2 d, pair;
//   cvt.rp.satfinite.ue8m0x2.bf16x2 d, pair;        // powers of two
//   cvt.rs.bf16x2.f32 d, high, low, random;
//
// e2m3, e3m2 and e2m1 have neither infinity nor NaN: NaN becomes their largest number.
#include <cmath>

#include "ir/ttir/libdevice_floats.h"
#include "ir/ttir/ptx_instructions.h"

namespace tile::ir::ttir {
namespace {

using W = const PtxWork&;

constexpr auto kU = Signedness::kUnsigned;

Value* Bits(W w, Value* v, int bits) {
  return IsInt(v->type().elem()) ? v : ops::Bitcast(w.b, w.TileOf(PtxIntOf(bits)), v);
}
Value* AsF32(W w, Value* v) { return v->type().elem() == Elem::kF32 ? v : ops::FToF(w.b, w.TileOf(Elem::kF32), v); }

int BiasOf(const PtxType& t) { return (1 << (t.exponent - 1)) - 1; }

// The code of an f32 in a float without infinity and NaN, by the nearest number, the even one of two.
Value* CodeOf(W w, Value* x, const PtxType& to) {
  const Floats f(w.b, x);
  const int m = to.mantissa, bias = BiasOf(to);
  const double most = std::ldexp(2 - std::ldexp(1.0, -m), (1 << to.exponent) - 1 - bias);
  Value* a = ops::Minf(w.b, f.Abs(x), f.Number(most));  // the number of two, if one is NaN
  // Below the normal numbers codes count steps of one size.
  Value* steps = f.Rint(f.Mul(a, std::ldexp(1.0, m + bias - 1)));
  Value* small = ops::FToI(w.b, f.Word(), steps, kU, /*saturating=*/true);
  // Above, they are the upper bits of f32, rounded, with another bias of the exponent.
  const auto right = [&](Value* v, int n) { return ops::Shri(w.b, v, f.Int(n), kU); };
  Value *bits = f.Bits(a), *odd = ops::Andi(w.b, right(bits, 23 - m), f.Int(1));
  Value* up = ops::Addi(w.b, bits, ops::Addi(w.b, odd, f.Int((1 << (22 - m)) - 1)));
  Value* normal = ops::Subi(w.b, right(up, 23 - m), f.Int((127 - bias) << m));
  Value* code = ops::Select(w.b, f.Less(a, std::ldexp(1.0, 1 - bias)), small, normal);
  const int places = to.exponent + m;
  Value* sign = ops::Andi(w.b, right(f.Bits(x), 31 - places), f.Int(1 << places));
  return ops::Ori(w.b, code, ops::Select(w.b, f.IsNan(x), f.Int(0), sign));
}

// The other way, to f16. Such a code's bits at f16's places are the number times a power of two.
Value* F16OfCode(W w, Value* code, const PtxType& from) {
  const Type i16 = w.TileOf(Elem::kI16);
  if (code->type() != i16) code = ops::Exti(w.b, i16, code, kU);
  const auto number = [&](int64_t n) { return ops::Integer(w.b, i16, n); };
  const int places = from.exponent + from.mantissa;
  Value* sign = ops::Shli(w.b, ops::Andi(w.b, code, number(1 << places)), number(15 - places));
  Value* magnitude = ops::Andi(w.b, code, number((1 << places) - 1));
  magnitude = ops::Shli(w.b, magnitude, number(10 - from.mantissa));
  Value* scaled = ops::Bitcast(w.b, w.TileOf(Elem::kF16), ops::Ori(w.b, sign, magnitude));
  return ops::Mulf(w.b, scaled, ops::Splat(w.b, scaled->type(), std::ldexp(1.0, 15 - BiasOf(from))));
}

// The code of |x| in ue8m0, a power of two's exponent: the next one below, or above with .rp. Below 2^-127 it is that; NaN is 255,
// as infinity and what is rounded to it are without .satfinite.
Value* CodeOfScale(W w, Value* x) {
  const Floats f(w.b, x);
  Value* bits = f.Bits(f.Abs(x));
  Value* code = ops::Shri(w.b, bits, f.Int(23), kU);
  if (w.has("rp")) {
    const auto above = [&](Value* v, int64_t n) {
      return ops::CmpI(w.b, ComparisonPredicate::kGreaterThan, v, f.Int(n), kU);
    };
    Value* between = ops::Andi(w.b, above(ops::Andi(w.b, bits, f.Int(0x7FFFFF)), 0), above(bits, 0x400000));
    code = ops::Addi(w.b, code, ops::Exti(w.b, f.Word(), between, kU));
  }
  code = ops::Mini(w.b, code, f.Int(w.has("satfinite") ? 254 : 255), kU);
  return ops::Select(w.b, f.IsNan(x), f.Int(255), code);
}

Value* BF16OfScale(W w, Value* code) {
  const Type i16 = w.TileOf(Elem::kI16);
  code = ops::Exti(w.b, i16, code, kU);
  const auto number = [&](int64_t n) { return ops::Integer(w.b, i16, n); };
  const auto is = [&](int64_t n) { return ops::CmpI(w.b, ComparisonPredicate::kEqual, code, number(n), kU); };
  Value* bits = ops::Select(w.b, is(255), number(0x7FFF), ops::Shli(w.b, code, number(7)));
  return ops::Select(w.b, is(0), number(0x40), bits);  // 2^-127 is no normal number
}

// .rs: 16 random bits are added to the bits that are cut off, and what they carry rounds away from zero.
Value* StochasticBF16(W w, Value* x, Value* random) {
  x = PtxRelu(w, x);
  if (w.has("satfinite")) x = PtxClamped(w, x, Elem::kBF16);
  const Floats f(w.b, x);
  Value* sum = ops::Shri(w.b, ops::Addi(w.b, f.Bits(x), random), f.Int(16), kU);
  return ops::Select(w.b, f.IsNan(x), f.Int(0x7FFF), sum);
}

// A float of 16 or 32 bits as the half of a pair: an integer of its bits.
Value* ToSmall(W w, Value* v, const PtxType& to) {
  if (to.elem == Elem::kF8E8M0FNU) return CodeOfScale(w, AsF32(w, v));
  v = PtxRelu(w, v);
  if (to.exponent > 0) return CodeOf(w, AsF32(w, v), to);
  if (w.has("satfinite")) v = PtxClamped(w, v, to.elem);
  return Bits(w, ops::FToF(w.b, w.TileOf(to.elem), v, w.rounding()), to.bits);
}
Value* FromSmall(W w, Value* half, const PtxType& from) {
  if (from.elem == Elem::kF8E8M0FNU) return BF16OfScale(w, half);
  if (from.exponent > 0) return Bits(w, PtxRelu(w, F16OfCode(w, half, from)), 16);
  Value* number = ops::Bitcast(w.b, w.TileOf(from.elem), half);
  return Bits(w, PtxRelu(w, ops::FToF(w.b, w.TileOf(Elem::kF16), number)), 16);
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

// The PTX ISA does not say where .rs adds random bits to a subnormal f16. So f16x2 is refused.
Value* MakeStochastic(W w, const PtxType& from) {
  if (!w.has_only("rs relu satfinite", 2) || w.type.elem != Elem::kBF16 || from.elem != Elem::kF32 || from.pair ||
      w.x.size() != 3)
    return nullptr;
  Value* random = Bits(w, w.x[2], 32);
  Value* low = ops::Andi(w.b, random, ops::Integer(w.b, random->type(), 0xFFFF));
  Value* high = ops::Shri(w.b, random, ops::Integer(w.b, random->type(), 16), kU);
  const Type half = w.TileOf(Elem::kI16);
  const auto cut = [&](Value* v) { return ops::Trunci(w.b, half, v); };
  return PairOf(w, cut(StochasticBF16(w, w.x[1], low)), cut(StochasticBF16(w, w.x[0], high)), 16);
}

// Whether there is such an instruction.
bool IsPair(W w, const PtxType& from) {
  const PtxType& to = w.type;
  const bool small = to.kind == 'm', of_words = !from.pair && from.elem == Elem::kF32;
  if (w.x.size() != (from.pair ? 1u : 2u) || (!from.pair && !of_words)) return false;
  if (to.elem == Elem::kF8E8M0FNU)
    return w.has_only("rz rp satfinite", 2) && w.has("rz") != w.has("rp") && (of_words || from.elem == Elem::kBF16);
  if (from.elem == Elem::kF8E8M0FNU) return w.has_only("rn", 2) && w.has("rn") && to.elem == Elem::kBF16;
  if (small) return w.has_only("rn relu satfinite", 2) && w.has("rn") && w.has("satfinite") && from.kind == 'f';
  if (!of_words) return w.has_only("rn relu", 2) && w.has("rn") && from.kind == 'm' && to.elem == Elem::kF16;
  // Towards zero only f32 goes, to 16 bits, which need not be .satfinite.
  return w.has_only("rn rz relu satfinite", 2) && w.has("rn") != w.has("rz");
}

}  // namespace

Value* PtxRelu(const PtxWork& w, Value* v) {
  return w.has("relu") ? ops::Maxf(w.b, v, ops::Splat(w.b, v->type(), 0), /*propagate_nan=*/true) : v;
}

Value* PtxClamped(const PtxWork& w, Value* v, Elem to) {
  const double most = to == Elem::kF8E4M3FN ? 448
                      : to == Elem::kF8E5M2 ? 57344
                      : to == Elem::kF16    ? 65504
                      : to == Elem::kBF16   ? 0x1.FEp127
                                            : 0x1.FFCp127;  // of tf32
  v = ops::Maxf(w.b, v, ops::Splat(w.b, v->type(), -most), /*propagate_nan=*/true);
  return ops::Minf(w.b, v, ops::Splat(w.b, v->type(), most), /*propagate_nan=*/true);
}

Value* MakePtxPair(const PtxWork& w, const PtxType& from) {
  const PtxType& to = w.type;
  if (w.has("rs")) return MakeStochastic(w, from);
  if (!IsPair(w, from)) return nullptr;
  Value* halves[2];
  for (int k = 0; k < 2; ++k) {
    size_t operand = from.pair ? 0 : static_cast<size_t>(1 - k);
    Value* half = from.pair ? HalfOf(w, w.x[operand], k, from.bits) : w.x[operand];
    if (from.kind == 'm') {
      halves[k] = FromSmall(w, half, from);
    } else {
      halves[k] = ToSmall(w, from.pair ? ops::Bitcast(w.b, w.TileOf(from.elem), half) : half, to);
    }
  }
  return PairOf(w, halves[0], halves[1], to.bits);
}

std::string PtxPairForms() {
  return "of pairs, cvt takes .rn.satfinite to e4m3x2, e5m2x2, e2m3x2, e3m2x2 and e2m1x2 from two f32, f16x2 or bf16x2, and .rn from these "
         "to f16x2; .rz or .rp to ue8m0x2 from two f32 or bf16x2, and .rn from it to bf16x2; .rn or .rz to f16x2 and bf16x2 from two f32; "
         "with .relu where there is a sign; .rs from two f32 and random bits to bf16x2 only";
}

}  // namespace tile::ir::ttir

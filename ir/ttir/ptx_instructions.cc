#include "ir/ttir/ptx_instructions.h"

#include <algorithm>
#include <limits>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "ir/ttir/bits.h"

namespace tile::ir::ttir {

Elem PtxIntOf(int bits) {
  return bits == 1 ? Elem::kI1 : bits == 8 ? Elem::kI8 : bits == 16 ? Elem::kI16 : bits == 32 ? Elem::kI32 : Elem::kI64;
}

bool PtxWork::has_only(absl::string_view known, size_t types) const {
  const std::vector<absl::string_view> list = absl::StrSplit(known, ' ');
  for (size_t i = 1; i + types < words.size(); ++i) {
    if (std::find(list.begin(), list.end(), words[i]) == list.end()) return false;
  }
  return true;
}

PtxType PtxTypeOf(absl::string_view word) {
  PtxType t;
  if (word == "pred") return {'p', 1, Elem::kI1, false};
  t.pair = absl::ConsumeSuffix(&word, "x2");
  if (word == "bf16") return {'f', 16, Elem::kBF16, t.pair};
  if (word == "tf32" && !t.pair) return {'m', 32, Elem::kTF32, false};
  if (t.pair && word == "e4m3") return {'m', 8, Elem::kF8E4M3FN, true};
  if (t.pair && word == "e5m2") return {'m', 8, Elem::kF8E5M2, true};
  if (t.pair && word == "ue8m0") return {'m', 8, Elem::kF8E8M0FNU, true};
  if (t.pair && word == "e2m1") return {'m', 4, Elem::kI8, true, 2, 1};
  if (t.pair && word == "e2m3") return {'m', 8, Elem::kI8, true, 2, 3};
  if (t.pair && word == "e3m2") return {'m', 8, Elem::kI8, true, 3, 2};
  const char kind = word.empty() ? '\0' : word[0];
  int bits = 0;
  if (kind == '\0' || !absl::SimpleAtoi(word.substr(1), &bits)) return {};
  if (bits != 8 && bits != 16 && bits != 32 && bits != 64) return {};
  if (kind == 'f' && bits != 8 && (!t.pair || bits < 64)) {
    return {'f', bits, bits == 16 ? Elem::kF16 : bits == 32 ? Elem::kF32 : Elem::kF64, t.pair};
  }
  if ((kind == 's' || kind == 'u') && t.pair && bits == 16) return {kind, bits, Elem::kI16, true};
  if ((kind == 's' || kind == 'u' || kind == 'b') && !t.pair) return {kind, bits, PtxIntOf(bits), false};
  return {};
}

namespace {

constexpr auto kU = Signedness::kUnsigned;
constexpr auto kS = Signedness::kSigned;

using W = const PtxWork&;

// --- floats -----------------------------------------------------------------------------------------------------------

// .sat: into 0 … 1, NaN is 0. .relu: not below 0, NaN stays.
Value* Finish(W w, Value* v) {
  const auto number = [&](double n) { return ops::Splat(w.b, v->type(), n); };
  if (w.has("sat")) return ops::Minf(w.b, ops::Maxf(w.b, v, number(0)), number(1));
  return w.has("relu") ? ops::Maxf(w.b, v, number(0), /*propagate_nan=*/true) : v;
}

// The GPU's approximations are of f32; of f64 they are of a few bits only.
bool IsCoarse(W w) { return w.has("approx") && w.type.elem == Elem::kF64; }

Value* SatInt(W w, Value* wide);
Value* SignOf(W w, Value* v);

Value* MakeAdd(W w) {
  if (w.is_float()) return Finish(w, ops::Addf(w.b, w.x[0], w.x[1], w.rounding(), w.ftz()));
  if (w.has("sat")) return w.type.bits != 32 ? nullptr : SatInt(w, ops::Addi(w.b, w.Wide(w.x[0]), w.Wide(w.x[1])));
  return ops::Addi(w.b, w.x[0], w.x[1]);
}
Value* MakeSub(W w) {
  if (w.is_float()) return Finish(w, ops::Subf(w.b, w.x[0], w.x[1], w.rounding(), w.ftz()));
  if (w.has("sat")) return w.type.bits != 32 ? nullptr : SatInt(w, ops::Subi(w.b, w.Wide(w.x[0]), w.Wide(w.x[1])));
  return ops::Subi(w.b, w.x[0], w.x[1]);
}
Value* MakeFma(W w) { return Finish(w, ops::Fma(w.b, w.x[0], w.x[1], w.x[2], w.rounding(), w.ftz())); }
Value* MakeIntDiv(W w);
Value* MakeDiv(W w) {
  if (!w.is_float()) return w.words.size() == 2 ? MakeIntDiv(w) : nullptr;
  if (IsCoarse(w)) return nullptr;
  const Rounding r = w.has("approx") ? Rounding::kApprox : w.has("full") ? Rounding::kFull : w.rounding();
  return ops::Divf(w.b, w.x[0], w.x[1], r, w.ftz());
}
// Of f64 the upper 32 bits count, and are all that is given; subnormal numbers are zero.
Value* MakeCoarseRcp(W w) {
  const auto upper = [&](Value* v) {
    Value* word = ops::Bitcast(w.b, w.TileOf(Elem::kI64), v);
    Value* mask = ops::Integer(w.b, word->type(), -(int64_t{1} << 32));
    return ops::Bitcast(w.b, w.x[0]->type(), ops::Andi(w.b, word, mask));
  };
  const auto flushed = [&](Value* v) {
    Value* least = ops::Splat(w.b, v->type(), 0x1p-1022);
    Value* small = ops::CmpF(w.b, ComparisonPredicate::kLessThan, ops::Absf(w.b, v), least);
    return ops::Select(w.b, small, ops::Bitcast(w.b, v->type(), SignOf(w, v)), v);
  };
  Value* one = ops::Splat(w.b, w.x[0]->type(), 1);
  return upper(flushed(ops::Divf(w.b, one, flushed(upper(w.x[0])))));
}
Value* MakeRcp(W w) {
  if (IsCoarse(w)) return w.has("ftz") ? MakeCoarseRcp(w) : nullptr;
  const Rounding r = w.has("approx") ? Rounding::kApprox : w.rounding();
  return ops::Divf(w.b, ops::Splat(w.b, w.x[0]->type(), 1), w.x[0], r, w.ftz());
}
Value* MakeSqrt(W w) {
  return IsCoarse(w) ? nullptr : ops::Sqrt(w.b, w.x[0], w.has("approx") ? Rounding::kApprox : w.rounding(), w.ftz());
}
Value* MakeRsqrt(W w) { return IsCoarse(w) ? nullptr : ops::Rsqrt(w.b, w.x[0], w.ftz()); }
Value* MakeEx2(W w) { return ops::Exp2(w.b, w.x[0], w.ftz()); }
Value* MakeLg2(W w) { return ops::Log2(w.b, PtxFlushed(w, w.x[0])); }
Value* MakeSin(W w) { return ops::Sin(w.b, PtxFlushed(w, w.x[0])); }
Value* MakeCos(W w) { return ops::Cos(w.b, PtxFlushed(w, w.x[0])); }
Value* MakeTanh(W w) { return ops::Tanh(w.b, w.x[0], w.type.elem == Elem::kF32 ? Rounding::kApprox : Rounding::kFull); }
Value* BitsOf(W w, Value* v) { return ops::Bitcast(w.b, w.TileOf(PtxIntOf(w.type.bits)), v); }
// As an integer.
Value* SignOf(W w, Value* v) {
  Value* bits = BitsOf(w, v);
  Value* one = ops::Integer(w.b, bits->type(), 1);
  return ops::Andi(w.b, bits, ops::Shli(w.b, one, ops::Integer(w.b, bits->type(), w.type.bits - 1)));
}
Value* MakeCopysign(W w) {  // of the second operand the magnitude, of the first one the sign
  Value* magnitude = BitsOf(w, ops::Absf(w.b, w.x[1]));
  return ops::Bitcast(w.b, w.x[0]->type(), ops::Ori(w.b, SignOf(w, w.x[0]), magnitude));
}

// --- integers ---------------------------------------------------------------------------------------------------------

// Of 64 bits to 32, the nearest number.
Value* SatInt(W w, Value* wide) {
  const Type t = wide->type();
  Value* most = ops::Integer(w.b, t, std::numeric_limits<int32_t>::max());
  Value* least = ops::Integer(w.b, t, std::numeric_limits<int32_t>::min());
  return ops::Trunci(w.b, w.x[0]->type(), ops::Maxi(w.b, ops::Mini(w.b, wide, most, kS), least, kS));
}

Value* HighOf(W w, Value* x, Value* y) {
  if (w.type.bits < 32) {
    Value* product = ops::Muli(w.b, w.Wide(x), w.Wide(y));
    return ops::Trunci(w.b, x->type(), ops::Shri(w.b, product, ops::Integer(w.b, product->type(), w.type.bits), kU));
  }
  return w.type.kind == 'u' ? ops::Mulhii(w.b, x, y) : MultiplyHigh(w.b, x, y);
}
Value* Multiplied(W w) {
  if (w.has("wide")) return w.type.bits > 32 ? nullptr : ops::Muli(w.b, w.Wide(w.x[0]), w.Wide(w.x[1]));
  if (w.has("lo")) return ops::Muli(w.b, w.x[0], w.x[1]);
  return w.has("hi") ? HighOf(w, w.x[0], w.x[1]) : nullptr;
}
Value* MakeMul(W w) {
  return w.is_float() ? Finish(w, ops::Mulf(w.b, w.x[0], w.x[1], w.rounding(), w.ftz())) : Multiplied(w);
}
Value* MakeMad(W w) {
  if (w.is_float()) return MakeFma(w);
  Value* product = Multiplied(w);
  if (product == nullptr || product->type() != w.x[2]->type()) return nullptr;
  if (!w.has("sat")) return ops::Addi(w.b, product, w.x[2]);
  if (!w.has("hi") || w.type.bits != 32) return nullptr;
  return SatInt(w, ops::Addi(w.b, w.Wide(product), w.Wide(w.x[2])));
}
// .hi: the upper 32 of the 48 bits.
Value* Make24(W w, Value* plus) {
  if (w.type.bits != 32 || w.has("lo") == w.has("hi") || (w.has("sat") && !w.has("hi"))) return nullptr;
  Value *x = Low24(w.b, w.x[0], w.sign()), *y = Low24(w.b, w.x[1], w.sign());
  Value* product = ops::Muli(w.b, x, y);
  if (w.has("hi")) {
    Value* wide = ops::Muli(w.b, w.Wide(x), w.Wide(y));
    product = ops::Trunci(w.b, x->type(), ops::Shri(w.b, wide, ops::Integer(w.b, wide->type(), 16), kU));
  }
  if (plus == nullptr) return product;
  return w.has("sat") ? SatInt(w, ops::Addi(w.b, w.Wide(product), w.Wide(plus))) : ops::Addi(w.b, product, plus);
}
Value* MakeMul24(W w) { return Make24(w, nullptr); }
Value* MakeMad24(W w) { return Make24(w, w.x[2]); }
Value* MakeSad(W w) { return ops::Addi(w.b, Distance(w.b, w.x[0], w.x[1], w.sign()), w.x[2]); }
Value* IntRelu(W w, Value* v) {
  if (!w.has("relu")) return v;
  return w.type.kind == 's' ? ops::Maxi(w.b, v, w.Int(0), kS) : nullptr;
}
Value* Extreme(W w, Value* x, Value* y) {
  const bool max = w.words[0] == "max", nan = w.has("NaN");
  if (!w.is_float()) return max ? ops::Maxi(w.b, x, y, w.sign()) : ops::Mini(w.b, x, y, w.sign());
  return max ? ops::Maxf(w.b, x, y, nan, w.ftz()) : ops::Minf(w.b, x, y, nan, w.ftz());
}
// .xorsign.abs: of the magnitudes, with the sign that the product would have; NaN stays.
Value* MakeExtreme(W w) {
  if (w.is_float() && w.has("relu")) return nullptr;
  if (w.has("xorsign") != w.has("abs") || (w.has("abs") && (!w.is_float() || w.type.bits == 64))) return nullptr;
  if (!w.has("abs")) return IntRelu(w, Extreme(w, w.x[0], w.x[1]));
  Value* v = Extreme(w, ops::Absf(w.b, w.x[0]), ops::Absf(w.b, w.x[1]));
  Value* is_nan = ops::CmpF(w.b, ComparisonPredicate::kNotEqual, v, v, ComparisonOrdering::kUnordered);
  Value* sign = ops::Xori(w.b, SignOf(w, w.x[0]), SignOf(w, w.x[1]));
  return ops::Select(w.b, is_nan, v, ops::Bitcast(w.b, v->type(), ops::Ori(w.b, BitsOf(w, v), sign)));
}
Value* MakeExtreme3(W w) {
  if (w.type.elem != Elem::kF32) return nullptr;
  const auto operand = [&](size_t k) { return w.has("abs") ? ops::Absf(w.b, w.x[k]) : w.x[k]; };
  return Extreme(w, Extreme(w, operand(0), operand(1)), operand(2));
}
// By zero the GPU gives some number: it is a division by one here.
Value* MakeIntDiv(W w) {
  const auto is = [&](int64_t n) { return ops::CmpI(w.b, ComparisonPredicate::kEqual, w.x[1], w.Int(n), kU); };
  const bool rem = w.words[0] == "rem";
  Value* by = ops::Select(w.b, is(0), w.Int(1), w.x[1]);
  if (w.type.kind == 'u') return rem ? ops::Remi(w.b, w.x[0], by, kU) : ops::Divi(w.b, w.x[0], by, kU);
  // The lowest number by -1 wraps around.
  by = ops::Select(w.b, is(-1), w.Int(1), by);
  if (rem) return ops::Remi(w.b, w.x[0], by, kS);
  return ops::Select(w.b, is(-1), ops::Subi(w.b, w.Int(0), w.x[0]), ops::Divi(w.b, w.x[0], by, kS));
}
Value* FlushedF32(W w, Value* v) { return w.ftz() ? PtxFlushed(w, v) : v; }
Value* MakeNeg(W w) { return w.is_float() ? ops::Negf(w.b, FlushedF32(w, w.x[0])) : ops::Subi(w.b, w.Int(0), w.x[0]); }
Value* MakeAbs(W w) { return w.is_float() ? ops::Absf(w.b, FlushedF32(w, w.x[0])) : ops::Absi(w.b, w.x[0]); }
Value* MakeAnd(W w) { return ops::Andi(w.b, w.x[0], w.x[1]); }
Value* MakeOr(W w) { return ops::Ori(w.b, w.x[0], w.x[1]); }
Value* MakeXor(W w) { return ops::Xori(w.b, w.x[0], w.x[1]); }
Value* MakeNot(W w) { return ops::Xori(w.b, w.x[0], w.Int(-1)); }
Value* MakeCnot(W w) {
  Value* is_zero = ops::CmpI(w.b, ComparisonPredicate::kEqual, w.x[0], w.Int(0), kU);
  return ops::Select(w.b, is_zero, w.Int(1), w.Int(0));
}
Value* MakeShl(W w) { return ops::Shli(w.b, w.x[0], w.x[1]); }
Value* MakeShr(W w) { return ops::Shri(w.b, w.x[0], w.x[1], w.sign()); }
// The second and the first operand in a row, shifted: 32 bits of them.
Value* MakeShf(W w) {
  if (w.type.bits != 32 || w.has("l") == w.has("r") || w.has("wrap") == w.has("clamp")) return nullptr;
  Value* by = w.has("wrap") ? ops::Andi(w.b, w.x[2], w.Int(31)) : ops::Mini(w.b, w.x[2], w.Int(32), kU);
  Value* rest = ops::Subi(w.b, w.Int(32), by);
  if (w.has("l")) return ops::Ori(w.b, ops::Shli(w.b, w.x[1], by), ops::Shri(w.b, w.x[0], rest, kU));
  return ops::Ori(w.b, ops::Shri(w.b, w.x[0], by, kU), ops::Shli(w.b, w.x[1], rest));
}

// The result is of 32 bits.
Value* As32(W w, Value* v) { return w.type.bits == 32 ? v : ops::Trunci(w.b, w.TileOf(Elem::kI32), v); }
Value* MakePopc(W w) { return w.type.bits < 32 ? nullptr : As32(w, PopCount(w.b, w.x[0])); }
Value* MakeClz(W w) { return w.type.bits < 32 ? nullptr : As32(w, LeadingZeros(w.b, w.x[0])); }
Value* MakeBrev(W w) { return w.type.bits < 32 ? nullptr : ReverseBits(w.b, w.x[0]); }
// The highest bit that is not the sign; .shiftamt: how far it is from the top.
Value* MakeBfind(W w) {
  if (w.type.bits < 32) return nullptr;
  Value* x = w.x[0];
  if (w.type.kind == 's') x = ops::Xori(w.b, x, ops::Shri(w.b, x, w.Int(w.type.bits - 1), kS));
  Value* at = HighestBit(w.b, x);
  if (w.has("shiftamt")) {
    Value* none = ops::CmpI(w.b, ComparisonPredicate::kLessThan, at, w.Int(0), kS);
    at = ops::Select(w.b, none, at, ops::Subi(w.b, w.Int(w.type.bits - 1), at));
  }
  return As32(w, at);
}

// Position and length count modulo 256.
Value* Byte(W w, Value* v) {
  v = ops::Andi(w.b, v, ops::Integer(w.b, v->type(), 255));
  return w.type.bits == 32 ? v : ops::Exti(w.b, w.x[0]->type(), v, kU);
}
// `length` low bits set; the shift gives 0 from the width on, so that all are.
Value* LowMask(W w, Value* length) { return ops::Subi(w.b, ops::Shli(w.b, w.Int(1), length), w.Int(1)); }
// Bits of a number from a position on. Signed: with the sign of the highest one that is there.
Value* MakeBfe(W w) {
  if (w.type.bits < 32) return nullptr;
  Value *x = w.x[0], *from = Byte(w, w.x[1]), *length = Byte(w, w.x[2]), *mask = LowMask(w, length);
  Value* field = ops::Andi(w.b, ops::Shri(w.b, x, from, kU), mask);
  if (w.type.kind == 'u') return field;
  Value* last = ops::Mini(w.b, ops::Subi(w.b, ops::Addi(w.b, from, length), w.Int(1)), w.Int(w.type.bits - 1), kU);
  Value* sign = ops::Subi(w.b, w.Int(0), ops::Andi(w.b, ops::Shri(w.b, x, last, kU), w.Int(1)));
  // Above the number's end the field has its sign, too.
  Value* beyond = ops::Xori(w.b, ops::Shri(w.b, w.Int(-1), from, kU), w.Int(-1));
  Value* outside = ops::Ori(w.b, ops::Xori(w.b, mask, w.Int(-1)), beyond);
  Value* extended =
      ops::Ori(w.b, ops::Andi(w.b, field, ops::Xori(w.b, outside, w.Int(-1))), ops::Andi(w.b, sign, outside));
  return ops::Select(w.b, ops::CmpI(w.b, ComparisonPredicate::kEqual, length, w.Int(0), kU), w.Int(0), extended);
}
// The second operand with bits of the first one in it.
Value* MakeBfi(W w) {
  if (w.type.bits < 32) return nullptr;
  Value *from = Byte(w, w.x[2]), *mask = ops::Shli(w.b, LowMask(w, Byte(w, w.x[3])), from);
  Value* kept = ops::Andi(w.b, w.x[1], ops::Xori(w.b, mask, w.Int(-1)));
  return ops::Ori(w.b, kept, ops::Andi(w.b, ops::Shli(w.b, w.x[0], from), mask));
}

// `width` ones from a position on, to the top at most: .clamp; .wrap takes both modulo 32.
Value* MakeBmsk(W w) {
  if (w.type.bits != 32 || w.has("wrap") == w.has("clamp")) return nullptr;
  Value *from = w.x[0], *width = w.x[1];
  if (w.has("wrap")) {
    from = ops::Andi(w.b, from, w.Int(31));
    width = ops::Andi(w.b, width, w.Int(31));
  }
  return ops::Shli(w.b, LowMask(w, width), from);
}
// The low bits as a number, whose sign .s32 extends: none is 0; 32 and more are all with .clamp, taken modulo 32 with .wrap.
Value* MakeSzext(W w) {
  if (w.type.bits != 32 || w.has("wrap") == w.has("clamp")) return nullptr;
  Value* n = w.has("wrap") ? ops::Andi(w.b, w.x[1], w.Int(31)) : ops::Mini(w.b, w.x[1], w.Int(32), kU);
  Value* places = ops::Subi(w.b, w.Int(32), n);
  return ops::Shri(w.b, ops::Shli(w.b, w.x[0], places), places, w.sign());
}
// The position of the n-th set bit from a position on: upwards, downwards if n is negative, there if it is 0. -1 is none, as of
// a position above 31.
Value* MakeFns(W w) {
  if (w.type.bits != 32 || w.words.size() != 2) return nullptr;
  Value *x = w.x[0], *base = w.x[1], *n = w.x[2];
  const auto less = [&](Value* y, Value* z, Signedness s) {
    return ops::CmpI(w.b, ComparisonPredicate::kLessThan, y, z, s);
  };
  Value* down = less(n, w.Int(0), kS);
  Value* here = ops::CmpI(w.b, ComparisonPredicate::kEqual, n, w.Int(0), kU);
  Value* at_and_above = ops::Shli(w.b, w.Int(-1), base);
  Value* at = ops::Shli(w.b, w.Int(1), base);
  Value* at_and_below = ops::Ori(w.b, ops::Xori(w.b, at_and_above, w.Int(-1)), at);
  Value* upwards = ops::Andi(w.b, x, ops::Select(w.b, here, at, at_and_above));
  Value* bits = ops::Select(w.b, down, ReverseBits(w.b, ops::Andi(w.b, x, at_and_below)), upwards);
  Value* count = ops::Select(w.b, down, ops::Subi(w.b, w.Int(0), n), n);
  Value* before = ops::Select(w.b, here, w.Int(0), ops::Subi(w.b, count, w.Int(1)));
  Value* found = NthSetBit(w.b, bits, before);
  Value* none = ops::Ori(w.b, less(found, w.Int(0), kS), less(w.Int(31), base, kU));
  return ops::Select(w.b, none, w.Int(-1), ops::Select(w.b, down, ops::Subi(w.b, w.Int(31), found), found));
}

// The sum of the products of four bytes, and the third operand: dp4a.s32.u32, where each type says how bytes are meant.
Value* MakeDp4a(W w) {
  if (w.words.size() != 3 || w.type.bits != 32) return nullptr;
  const auto byte = [&](Value* v, int k, bool is_signed) {
    return ops::Shri(w.b, ops::Shli(w.b, v, w.Int(24 - 8 * k)), w.Int(24), is_signed ? kS : kU);
  };
  Value* sum = w.x[2];
  for (int k = 0; k < 4; ++k) {
    sum =
        ops::Addi(w.b, sum, ops::Muli(w.b, byte(w.x[0], k, w.words[1] == "s32"), byte(w.x[1], k, w.words[2] == "s32")));
  }
  return sum;
}

// The same of two numbers of 16 bits and the low or the high bytes: dp2a.lo.s32.u32.
Value* MakeDp2a(W w) {
  if (w.words.size() != 4 || w.type.bits != 32 || (w.words[1] != "lo" && w.words[1] != "hi")) return nullptr;
  const auto part = [&](Value* v, int from, int bits, bool is_signed) {
    Value* top = ops::Shli(w.b, v, w.Int(32 - bits - from));
    return ops::Shri(w.b, top, w.Int(32 - bits), is_signed ? kS : kU);
  };
  Value* sum = w.x[2];
  for (int k = 0; k < 2; ++k) {
    Value* number = part(w.x[0], 16 * k, 16, w.words[2] == "s32");
    Value* byte = part(w.x[1], 8 * k + (w.words[1] == "hi" ? 16 : 0), 8, w.words[3] == "s32");
    sum = ops::Addi(w.b, sum, ops::Muli(w.b, number, byte));
  }
  return sum;
}

// --- the table --------------------------------------------------------------------------------------------------------

struct Instruction {
  absl::string_view name;
  size_t operands;
  absl::string_view kinds;  // of its type
  absl::string_view words;  // that it may have besides its type
  Value* (*make)(W w);
};
constexpr Instruction kInstructions[] = {
    {"abs", 1, "fs", "ftz", MakeAbs},
    {"add", 2, "fsu", "rn rz rm rp ftz sat", MakeAdd},
    {"and", 2, "bp", "", MakeAnd},
    {"bfe", 3, "su", "", MakeBfe},
    {"bfi", 4, "b", "", MakeBfi},
    {"bfind", 1, "su", "shiftamt", MakeBfind},
    {"bmsk", 2, "b", "clamp wrap", MakeBmsk},
    {"brev", 1, "b", "", MakeBrev},
    {"clz", 1, "b", "", MakeClz},
    {"cnot", 1, "b", "", MakeCnot},
    {"copysign", 2, "f", "", MakeCopysign},
    {"cos", 1, "f", "approx ftz", MakeCos},
    {"div", 2, "fsu", "approx full rn rz rm rp ftz", MakeDiv},
    {"dp2a", 3, "su", "lo hi s32 u32", MakeDp2a},
    {"dp4a", 3, "su", "s32 u32", MakeDp4a},
    {"ex2", 1, "f", "approx ftz", MakeEx2},
    {"fma", 3, "f", "rn rz rm rp ftz sat relu", MakeFma},
    {"fns", 3, "b", "", MakeFns},
    {"lg2", 1, "f", "approx ftz", MakeLg2},
    {"mad", 3, "fsu", "lo hi wide rn rz rm rp ftz sat", MakeMad},
    {"mad24", 3, "su", "lo hi sat", MakeMad24},
    {"max", 2, "fsu", "ftz NaN relu xorsign abs", MakeExtreme},
    {"max", 3, "f", "ftz NaN abs", MakeExtreme3},
    {"min", 2, "fsu", "ftz NaN relu xorsign abs", MakeExtreme},
    {"min", 3, "f", "ftz NaN abs", MakeExtreme3},
    {"mul", 2, "fsu", "lo hi wide rn rz rm rp ftz sat", MakeMul},
    {"mul24", 2, "su", "lo hi", MakeMul24},
    {"neg", 1, "fs", "ftz", MakeNeg},
    {"not", 1, "bp", "", MakeNot},
    {"or", 2, "bp", "", MakeOr},
    {"popc", 1, "b", "", MakePopc},
    {"rcp", 1, "f", "approx rn rz rm rp ftz", MakeRcp},
    {"rem", 2, "su", "", MakeIntDiv},
    {"rsqrt", 1, "f", "approx ftz", MakeRsqrt},
    {"sad", 3, "su", "", MakeSad},
    {"shf", 3, "b", "l r wrap clamp", MakeShf},
    {"shl", 2, "b", "", MakeShl},
    {"shr", 2, "bsu", "", MakeShr},
    {"sin", 1, "f", "approx ftz", MakeSin},
    {"sqrt", 1, "f", "approx rn rz rm rp ftz", MakeSqrt},
    {"sub", 2, "fsu", "rn rz rm rp ftz sat", MakeSub},
    {"szext", 2, "su", "clamp wrap", MakeSzext},
    {"tanh", 1, "f", "approx", MakeTanh},
    {"xor", 2, "bp", "", MakeXor},
};

Value* MakeFromTable(W w) {
  for (const Instruction& i : kInstructions) {
    if (w.words[0] != i.name) continue;
    const bool fits = w.x.size() == i.operands && absl::StrContains(i.kinds, absl::string_view(&w.type.kind, 1)) &&
                      w.has_only(i.words, 1) && !(w.has("sat") && !w.is_float() && w.type.kind != 's');
    if (fits) return i.make(w);
  }
  return nullptr;
}

}  // namespace

Value* MakePtx(const PtxWork& w) {
  // Operations have a flag for .ftz of f32 only.
  if (!w.is_float() || w.type.bits != 16 || !w.has("ftz")) return MakeFromTable(w);
  PtxWork flushed = w;
  for (Value*& v : flushed.x) v = PtxFlushed(w, v);
  Value* result = MakeFromTable(flushed);
  return result == nullptr ? nullptr : PtxFlushed(w, result);
}

std::string PtxForms(absl::string_view name) {
  std::string out = name == "cvt" ? PtxPairForms() : PtxVideoForms(name);
  for (const Instruction& i : kInstructions) {
    if (name != i.name) continue;
    std::vector<std::string> types;
    const std::pair<char, absl::string_view> kinds[] = {
        {'f', "floats"}, {'s', "signed integers"}, {'u', "unsigned integers"}, {'b', "bits"}, {'p', "predicates"}};
    for (const auto& [kind, text] : kinds) {
      if (absl::StrContains(i.kinds, absl::string_view(&kind, 1))) types.emplace_back(text);
    }
    absl::StrAppend(&out, out.empty() ? "" : "; ", name, " takes ", i.operands,
                    i.operands == 1 ? " operand, " : " operands, ", absl::StrJoin(types, " or "));
    if (!i.words.empty()) absl::StrAppend(&out, ", with .", absl::StrReplaceAll(i.words, {{" ", " ."}}));
  }
  return out;
}

Value* PtxFlushed(const PtxWork& w, Value* v) {
  if (!w.has("ftz") || w.type.elem == Elem::kF64) return v;
  const double least = w.type.elem == Elem::kF16 ? 0x1p-14 : 0x1p-126;
  Value* small = ops::CmpF(w.b, ComparisonPredicate::kLessThan, ops::Absf(w.b, v), ops::Splat(w.b, v->type(), least));
  return ops::Select(w.b, small, ops::Bitcast(w.b, v->type(), SignOf(w, v)), v);
}

// As sums of products.
Value* MakeLop3(const PtxWork& w, uint64_t table) {
  Value* sum = w.Int(0);
  for (uint64_t row = 0; row < 8; ++row) {
    if ((table >> row & 1) == 0) continue;
    Value* product = nullptr;
    for (uint64_t k = 0; k < 3; ++k) {
      Value* v = (row >> (2 - k) & 1) != 0 ? w.x[k] : ops::Xori(w.b, w.x[k], w.Int(-1));
      product = product == nullptr ? v : ops::Andi(w.b, product, v);
    }
    sum = ops::Ori(w.b, sum, product);
  }
  return sum;
}

Value* MakePrmt(const PtxWork& w, Value* selector, const int64_t* constant) {
  if (w.words.size() == 2) return PermuteBytes(w.b, w.x[0], w.x[1], selector, /*with_sign=*/true);
  if (constant == nullptr || w.words.size() != 3) return nullptr;
  const int n = static_cast<int>(*constant & 3);
  const std::string& mode = w.words[2];
  int64_t digits = 0;
  for (int k = 0; k < 4; ++k) {
    const int digit = mode == "f4e"    ? n + k
                      : mode == "b4e"  ? (n - k) & 7
                      : mode == "rc8"  ? n
                      : mode == "ecl"  ? std::max(k, n)
                      : mode == "ecr"  ? std::min(k, n)
                      : mode == "rc16" ? k % 2 + 2 * (n % 2)
                                       : -1;
    if (digit < 0) return nullptr;
    digits |= static_cast<int64_t>(digit) << (4 * k);
  }
  return PermuteBytes(w.b, w.x[0], w.x[1], w.Int(digits), /*with_sign=*/false);
}

}  // namespace tile::ir::ttir

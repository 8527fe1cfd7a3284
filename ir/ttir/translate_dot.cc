// Matrix products. tt.dot_scaled is a product of 16-bit floats, as Triton itself has it where the GPU has no instruction:
//
//   tt.dot_scaled %a scale %sa, %b scale %sb, %c lhs = e2m1 rhs = e4m3 {fastMath = false} : …
//   // c + (a * 2^(sa-127)) · (b * 2^(sb-127)); a scale holds for 32 (16) neighbours along K; 0xFF makes them NaN
//
// The scaled operands are exact but where they leave the range of bf16, or of f16 if an operand is f16.

#include <cmath>

#include "absl/strings/str_cat.h"
#include "ir/ttir/translator.h"

namespace tile::ir::ttir {

bool Translator::Dot(const Node& n, const OpRow&) {
  Value *a = tile(0), *b = tile(1), *acc = tile(2);
  const Elem ea = a->type().elem(), eb = b->type().elem();
  if (ea == Elem::kI8 && eb == Elem::kI8) {
    return Define(n, ops::MmaI(b_, a, b, acc, Signedness::kSigned, Signedness::kSigned));
  }
  if (!IsFloat(ea) || !IsFloat(eb)) return Unsupported(n, "multiplies integers other than i8", "convert them to int8");
  const absl::string_view precision = n.word("inputPrecision", "ieee");
  bool fast = false;
  if (ea == Elem::kF32 && eb == Elem::kF32 && precision == "tf32") {
    // What other words ask for is less than f32, which is what they get.
    a = ops::FToF(b_, WithElem(Elem::kTF32, a), a);
    b = ops::FToF(b_, WithElem(Elem::kTF32, b), b);
  } else if (ea != eb && ElemInfoOf(ea).bits == 8 && ElemInfoOf(eb).bits == 8) {
    a = ops::FToF(b_, WithElem(Elem::kF16, a), a);  // exact
    b = ops::FToF(b_, WithElem(Elem::kF16, b), b);
  } else if (ElemInfoOf(ea).bits == 8 && a->type().rank() >= 2) {
    fast = n.number("maxNumImpreciseAcc", 0) >= a->type().shape().back();
  }
  return Define(n, ops::MmaF(b_, a, b, acc, fast));
}

// --- scaled -----------------------------------------------------------------------------------------------------------

// Two e2m1 in each byte, the first in its low half, which are neighbours along `dim`. Sign, exponent and mantissa are put in
// the places of a bf16 or f16; what is missing in the bias is a factor.
Value* Translator::UnpackF4(Value* bytes, int dim, Elem e) {
  const int mantissa = e == Elem::kBF16 ? 7 : 10, bias = e == Elem::kBF16 ? 127 : 15;
  std::vector<int64_t> shape(bytes->type().shape().begin(), bytes->type().shape().end());
  const Type words = WithElem(Elem::kI16, bytes);
  Value* wide = ops::Exti(b_, words, bytes, Signedness::kUnsigned);
  std::vector<int64_t> one = shape;
  one.insert(one.begin() + dim + 1, 1);
  const auto constant = [&](int64_t v) { return ops::Integer(b_, words, v); };
  const auto half = [&](int low) {
    Value* code = low == 0 ? wide : ops::Shri(b_, wide, constant(low), Signedness::kUnsigned);
    Value* magnitude = ops::Shli(b_, ops::Andi(b_, code, constant(7)), constant(mantissa - 1));
    Value* sign = ops::Shli(b_, ops::Andi(b_, code, constant(8)), constant(12));
    return Reshape(ops::Bitcast(b_, WithElem(e, bytes), ops::Ori(b_, magnitude, sign)), one);
  };
  Value* both = ops::Cat(b_, half(0), half(4), dim + 1);
  shape[static_cast<size_t>(dim)] *= 2;
  both = Reshape(both, shape);
  return ops::Mulf(b_, both, ops::Splat(b_, both->type(), std::ldexp(1.0, bias - 1)));
}

Value* Translator::ScaleOperand(const Node& n, const Scaled& s, Elem e) {
  const bool f4 = s.format == "e2m1";
  const int other = s.data->type().rank() * 2 - 3 - s.k;
  Value* v = f4                           ? UnpackF4(s.data, s.packed_k ? s.k : other, e)
             : s.data->type().elem() == e ? s.data
                                          : ops::FToF(b_, WithElem(e, s.data), s.data);
  if (s.scale == nullptr) return v;
  // The scales of both operands are rows of K: those of the second one are turned.
  Value* scale = s.scale;
  const int rank = v->type().rank();
  if (s.k == rank - 2) {
    std::vector<int64_t> turn;
    for (int d = 0; d < rank; ++d) turn.push_back(d < rank - 2 ? d : 2 * rank - 3 - d);
    scale = ops::Permute(b_, scale, turn);
  }
  const absl::Span<const int64_t> shape = v->type().shape(), blocks = scale->type().shape();
  bool good = true;
  for (int d = 0; d < rank; ++d) good &= d == s.k ? shape[d] % blocks[d] == 0 : shape[d] == blocks[d];
  const Elem se = scale->type().elem();
  if (!good || (se != Elem::kI8 && ElemInfoOf(se).bits != 8)) {
    WrongType(n, "has scales of another shape or type than its operands");
    return nullptr;
  }
  // Each is spread over its neighbours along K.
  const auto spread = [&](Value* x) {
    std::vector<int64_t> one(blocks.begin(), blocks.end()), many = one;
    one.insert(one.begin() + s.k + 1, 1);
    many.insert(many.begin() + s.k + 1, shape[s.k] / blocks[s.k]);
    return Reshape(BroadcastTo(Reshape(x, one), many), shape);
  };
  if (se != Elem::kI8) return ops::Mulf(b_, v, spread(ops::FToF(b_, WithElem(e, scale), scale)));
  // The exponent of a bf16, or of an f32 that f16 rounds; 0 is 2^-127, which no exponent says.
  const bool is_f16 = e == Elem::kF16;
  const Type words = WithElem(is_f16 ? Elem::kI32 : Elem::kI16, scale);
  Value* code = ops::Exti(b_, words, scale, Signedness::kUnsigned);
  Value* bits = ops::Shli(b_, code, ops::Integer(b_, words, is_f16 ? 23 : 7));
  Value* least = ops::CmpI(b_, ComparisonPredicate::kEqual, code, ops::Integer(b_, words, 0), Signedness::kSigned);
  bits = ops::Select(b_, least, ops::Integer(b_, words, is_f16 ? 1 << 22 : 1 << 6), bits);
  Value* factor = ops::Bitcast(b_, WithElem(is_f16 ? Elem::kF32 : e, scale), bits);
  if (is_f16) factor = ops::FToF(b_, WithElem(e, scale), factor);
  if (!s.fast) {
    Value* none = ops::CmpI(b_, ComparisonPredicate::kEqual, code, ops::Integer(b_, words, 255), Signedness::kSigned);
    factor = ops::Select(b_, none, ops::Splat(b_, factor->type(), std::nan("")), factor);
  }
  return ops::Mulf(b_, v, spread(factor));
}

bool Translator::DotScaled(const Node& n, const OpRow&) {
  // `%a scale %sa`: the word stands before its operand.
  size_t scales = 0;
  bool a_scaled = false;
  for (size_t i = 0; i < n.words.size() && i < n.word_places.size(); ++i) {
    if (n.words[i] != "scale") continue;
    ++scales;
    a_scaled |= n.word_places[i] == 1;
  }
  const absl::string_view lhs = n.word("lhs"), rhs = n.word("rhs");
  if (in_.size() != 3 + scales || scales > 2 || lhs.empty() || rhs.empty()) {
    return Fail(n, "ttir.syntax", "takes two operands with or without scales, and what they are added to");
  }
  for (const Val& v : in_) {
    if (!v.is_tile() || v.type.tile.rank() < 2 || v.type.tile.rank() != in(0).type.tile.rank()) {
      return WrongType(n, "takes matrices");
    }
  }
  const int rank = in(0).type.tile.rank();
  const bool fast = n.number("fastMath", 0) != 0;
  size_t next = 0;
  Scaled a = {lhs, tile(next++), nullptr, rank - 1, n.number("lhs_k_pack", 1) != 0, fast};
  if (a_scaled) a.scale = tile(next++);
  Scaled b = {rhs, tile(next++), nullptr, rank - 2, n.number("rhs_k_pack", 1) != 0, fast};
  if (scales == 2 || (scales == 1 && !a_scaled)) b.scale = tile(next++);
  Value* acc = tile(next);
  for (const Scaled& s : {a, b}) {
    const Elem e = s.data->type().elem();
    const bool right = s.format == "e2m1"   ? e == Elem::kI8
                       : s.format == "e4m3" ? e == Elem::kF8E4M3FN
                       : s.format == "e5m2" ? e == Elem::kF8E5M2
                       : s.format == "bf16" ? e == Elem::kBF16
                                            : s.format == "fp16" && e == Elem::kF16;
    if (!right) {
      return Unsupported(n, absl::StrCat("multiplies ", s.format, " given as ", s.data->type().ToString()),
                         "use e2m1, e4m3, e5m2, bf16 or fp16");
    }
  }
  const Elem e = lhs == "fp16" || rhs == "fp16" ? Elem::kF16 : Elem::kBF16;
  Value* x = ScaleOperand(n, a, e);
  Value* y = x == nullptr ? nullptr : ScaleOperand(n, b, e);
  return y != nullptr && Define(n, ops::MmaF(b_, x, y, acc));
}

}  // namespace tile::ir::ttir

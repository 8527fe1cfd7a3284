// Arithmetic of floats and integers, mathematical functions, selection: which modes they have (semantics 3).

#include "ir/verify/verify_internal.h"

namespace tile::ir::verify {
namespace {

constexpr uint32_t kIeee =
    Bits(Rounding::kNearestEven, Rounding::kZero, Rounding::kNegativeInf, Rounding::kPositiveInf);
constexpr uint32_t kApprox = Bits(Rounding::kApprox), kFull = Bits(Rounding::kFull);

std::string Modes(uint32_t modes) {
  std::string s;
  for (const EnumValueInfo& v : kEnumValues) {
    if (v.id == EnumId::kRounding && (modes >> v.number & 1)) absl::StrAppend(&s, s.empty() ? "" : ", ", v.keyword);
  }
  return s;
}

// `modes` the operation has; `f32_only` those that need f32.
void CheckRounding(OpCheck& c, uint32_t modes, uint32_t f32_only) {
  const Rounding r = c.get<Rounding>(Field::kRounding);
  if (!c.Require(modes & Bits(r), Rule::kRoundingMode,
                 [&] { return absl::StrCat("has no rounding ", Keyword(r), ", only ", Modes(modes)); })) {
    return;
  }
  const Type t = c.op.result(0)->type();
  c.Require(
      !(f32_only & Bits(r)) || t.elem() == Elem::kF32, Rule::kRoundingF32,
      [&] { return absl::StrCat("rounding ", Keyword(r), " needs f32, the result is ", t.ToString()); },
      "leave the rounding out, or convert to f32");
}

void CheckFlush(OpCheck& c) {
  const Type t = c.op.result(0)->type();
  c.Require(
      t.elem() == Elem::kF32 || !c.attr(Field::kFlushToZero).as_bool(), Rule::kFlushToZero,
      [&] { return absl::StrCat("flush_to_zero needs f32, the result is ", t.ToString()); }, "remove flush_to_zero");
}

void CheckIeee(OpCheck& c) {
  CheckRounding(c, kIeee, 0);
  CheckFlush(c);
}
void CheckDivf(OpCheck& c) {
  CheckRounding(c, kIeee | kApprox | kFull, kApprox | kFull);
  CheckFlush(c);
}
void CheckSqrt(OpCheck& c) {
  CheckRounding(c, kIeee | kApprox, kApprox);
  CheckFlush(c);
}
void CheckExp(OpCheck& c) { CheckRounding(c, kFull | kApprox, kApprox); }

void CheckFpowi(OpCheck& c) {
  c.Require(
      c.in(Field::kRhs).elem() != Elem::kI64, Rule::kFpowiExponent,
      [&] { return absl::StrCat("the exponent is ", c.in(Field::kRhs).ToString()); }, "truncate it to i32");
}

void CheckNegi(OpCheck& c) {
  c.Require(
      c.get<Overflow>(Field::kOverflow) != Overflow::kNoUnsignedWrap, Rule::kNegiOverflow,
      [] { return "has no overflow no_unsigned_wrap"; }, "use no_signed_wrap or no_wrap");
}

void CheckDivi(OpCheck& c) {
  CheckRounding(c, Bits(Rounding::kZero, Rounding::kNegativeInf, Rounding::kPositiveInf), 0);
  c.Require(
      c.get<Rounding>(Field::kRounding) != Rounding::kNegativeInf ||
          c.get<Signedness>(Field::kSignedness) == Signedness::kSigned,
      Rule::kDiviDown, [] { return "rounds to negative_inf, but is unsigned"; },
      "unsigned quotients round down with rounding<zero>");
}

void CheckSelect(OpCheck& c) {
  c.Require(
      c.out(Field::kResult).elem() != Elem::kF4E2M1FN, Rule::kSelectF4,
      [&] { return absl::StrCat("cannot select ", c.out(Field::kResult).ToString()); },
      "pack the tiles and select between i8, or convert them");
}

}  // namespace

absl::Span<const OpRules> FloatRules() {
  static constexpr OpRules kRules[] = {
      {Opcode::kAddf, CheckIeee}, {Opcode::kSubf, CheckIeee},  {Opcode::kMulf, CheckIeee},  {Opcode::kFma, CheckIeee},
      {Opcode::kDivf, CheckDivf}, {Opcode::kMaxf, CheckFlush}, {Opcode::kMinf, CheckFlush},
  };
  return kRules;
}

absl::Span<const OpRules> MathRules() {
  static constexpr OpRules kRules[] = {
      {Opcode::kExp, CheckExp},     {Opcode::kTanh, CheckExp},    {Opcode::kExp2, CheckFlush},
      {Opcode::kFpowi, CheckFpowi}, {Opcode::kRsqrt, CheckFlush}, {Opcode::kSqrt, CheckSqrt},
  };
  return kRules;
}

absl::Span<const OpRules> IntegerRules() {
  static constexpr OpRules kRules[] = {{Opcode::kNegi, CheckNegi}, {Opcode::kDivi, CheckDivi}};
  return kRules;
}

absl::Span<const OpRules> CompareRules() {
  static constexpr OpRules kRules[] = {{Opcode::kSelect, CheckSelect}};
  return kRules;
}

}  // namespace tile::ir::verify

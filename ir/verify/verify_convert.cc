// Conversions (semantics 4).

#include "ir/float.h"
#include "ir/verify/verify_internal.h"

namespace tile::ir::verify {
namespace {

int Width(Type t) { return ElemInfoOf(t.elem()).bits; }

std::string FromTo(OpCheck& c) {
  return absl::StrCat(c.in(Field::kFrom).ToString(), " to ", c.out(Field::kResult).ToString());
}

void CheckBitcast(OpCheck& c) {
  const Type from = c.in(Field::kSource), to = c.out(Field::kResult);
  c.Require(Width(from) == Width(to), Rule::kBitcastWidth, [&] {
    return absl::StrCat(from.ToString(), " has ", Width(from), " bits an element, ", to.ToString(), " has ", Width(to));
  });
}

void CheckExti(OpCheck& c) {
  c.Require(
      Width(c.out(Field::kResult)) > Width(c.in(Field::kFrom)), Rule::kExtiWider,
      [&] { return "extends " + FromTo(c); }, "the result must be wider; trunci narrows");
}

void CheckTrunci(OpCheck& c) {
  c.Require(
      Width(c.out(Field::kResult)) < Width(c.in(Field::kFrom)), Rule::kTrunciNarrower,
      [&] { return "truncates " + FromTo(c); }, "the result must be narrower; exti widens");
}

// Does every value of `a` exist in `b`?
bool Exact(Elem a, Elem b) {
  const FloatFormat& x = FloatFormatOf(a);
  const FloatFormat& y = FloatFormatOf(b);
  // Exponents of the largest and of the smallest (subnormal) value.
  const auto largest = [](const FloatFormat& f) { return static_cast<int>(f.largest() >> f.mantissa_bits) - f.bias; };
  const auto smallest = [](const FloatFormat& f) { return (f.has_zero ? 1 - f.mantissa_bits : 0) - f.bias; };
  return x.mantissa_bits <= y.mantissa_bits && largest(x) <= largest(y) && smallest(x) >= smallest(y) &&
         (!x.has_sign || y.has_sign) && (!x.has_zero || y.has_zero);
}

constexpr uint32_t kEven = Bits(Rounding::kNearestEven), kZero = Bits(Rounding::kZero),
                   kDown = Bits(Rounding::kNegativeInf), kUp = Bits(Rounding::kPositiveInf),
                   kAway = Bits(Rounding::kNearestAway);

// The rounding modes of ftof; the first line that matches holds.
uint32_t FtofModes(Elem from, Elem to) {
  if (to == Elem::kF8E8M0FNU) return kZero | kUp;
  if (ElemInfoOf(to).bits <= 8) return kEven;
  if (Exact(from, to)) return kEven | kZero | kDown | kUp | kAway;
  if (from == Elem::kF64 && to == Elem::kF32) return kEven | kZero | kDown | kUp;
  if (from == Elem::kF32 && to == Elem::kTF32) return kEven | kZero | kAway;
  return kEven | kZero;
}

void CheckFtof(OpCheck& c) {
  const Elem from = c.in(Field::kFrom).elem(), to = c.out(Field::kResult).elem();
  if (!c.Require(
          from != to, Rule::kFtofDiffer, [&] { return "converts " + FromTo(c); }, "use the operand itself"))
    return;
  const uint32_t modes = FtofModes(from, to);
  const Rounding r = c.get<Rounding>(Field::kRounding);
  c.Require(
      modes & Bits(r), Rule::kRoundingMode, [&] { return absl::StrCat(FromTo(c), " cannot round ", Keyword(r)); },
      to == Elem::kF8E8M0FNU ? "use rounding<zero> or rounding<positive_inf>" : "use rounding<nearest_even>");
}

void CheckFtoi(OpCheck& c) {
  c.Require(
      c.get<Rounding>(Field::kRounding) == Rounding::kNearestIntToZero, Rule::kRoundingMode,
      [&] { return absl::StrCat("cannot round ", Keyword(c.get<Rounding>(Field::kRounding))); },
      "leave the rounding out; floor or ceil the source first");
}

void CheckItof(OpCheck& c) {
  c.Require(
      c.out(Field::kResult).elem() != Elem::kF8E8M0FNU, Rule::kItofE8M0, [&] { return "converts " + FromTo(c); },
      "convert to f32, then with ftof");
  c.Require(
      c.get<Rounding>(Field::kRounding) == Rounding::kNearestEven, Rule::kRoundingMode,
      [&] { return absl::StrCat("cannot round ", Keyword(c.get<Rounding>(Field::kRounding))); },
      "leave the rounding out");
}

}  // namespace

absl::Span<const OpRules> ConvertRules() {
  static constexpr OpRules kRules[] = {
      {Opcode::kBitcast, CheckBitcast}, {Opcode::kExti, CheckExti}, {Opcode::kTrunci, CheckTrunci},
      {Opcode::kFToF, CheckFtof},       {Opcode::kFToI, CheckFtoi}, {Opcode::kIToF, CheckItof},
  };
  return kRules;
}

}  // namespace tile::ir::verify

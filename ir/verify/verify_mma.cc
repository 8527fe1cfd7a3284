// Matrix products (semantics 5.5).

#include "ir/verify/verify_internal.h"

namespace tile::ir::verify {
namespace {

bool CheckShapes(OpCheck& c) {
  const Type a = c.in(Field::kLhs), b = c.in(Field::kRhs), acc = c.in(Field::kAcc);
  const int rank = acc.rank(), r = rank - 2;
  const bool good = (rank == 2 || rank == 3) && a.rank() == rank && b.rank() == rank && a->shape[r] == acc->shape[r] &&
                    a->shape[r + 1] == b->shape[r] && b->shape[r + 1] == acc->shape[r + 1] &&
                    (rank == 2 || (a->shape[0] == acc->shape[0] && b->shape[0] == acc->shape[0]));
  return c.Require(
      good, Rule::kMmaShapes,
      [&] { return absl::StrCat(a.ToString(), " times ", b.ToString(), " does not give ", acc.ToString()); },
      "shapes are MxK, KxN and MxN, or BxMxK, BxKxN and BxMxN");
}

void CheckMmaf(OpCheck& c) {
  static constexpr struct {
    Elem factor, acc;
  } kPairs[] = {
      {Elem::kF8E4M3FN, Elem::kF16}, {Elem::kF8E4M3FN, Elem::kF32}, {Elem::kF8E5M2, Elem::kF16},
      {Elem::kF8E5M2, Elem::kF32},   {Elem::kF16, Elem::kF16},      {Elem::kF16, Elem::kF32},
      {Elem::kBF16, Elem::kF32},     {Elem::kTF32, Elem::kF32},     {Elem::kF32, Elem::kF32},
      {Elem::kF64, Elem::kF64},
  };
  CheckShapes(c);
  const Elem factor = c.in(Field::kLhs).elem(), acc = c.in(Field::kAcc).elem();
  bool good = false;
  for (const auto& pair : kPairs) good |= pair.factor == factor && pair.acc == acc;
  c.Require(
      good, Rule::kMmaElements,
      [&] { return absl::StrCat("cannot multiply ", ElemInfoOf(factor).spelling, " into ", ElemInfoOf(acc).spelling); },
      "f8 and f16 accumulate in f16 or f32; bf16, tf32 and f32 in f32; f64 in f64");
}

void CheckMmai(OpCheck& c) { CheckShapes(c); }

// Elements and the scale that goes with them: how many elements along k one scale serves.
struct ScaledRow {
  Elem data, scale;
  int groups[2];
};
constexpr ScaledRow kScaled[] = {
    {Elem::kF8E4M3FN, Elem::kF8E8M0FNU, {32, 32}}, {Elem::kF8E5M2, Elem::kF8E8M0FNU, {32, 32}},
    {Elem::kF4E2M1FN, Elem::kF8E8M0FNU, {16, 32}}, {Elem::kF4E2M1FN, Elem::kF8E4M3FN, {16, 16}},
    {Elem::kF4E2M1FN, Elem::kF8E5M3FNU, {16, 32}},
};

void CheckMmaScaled(OpCheck& c) {
  if (!CheckShapes(c)) return;
  const Type a = c.in(Field::kLhs), b = c.in(Field::kRhs), sa = c.in(Field::kLhsScale), sb = c.in(Field::kRhsScale);
  const ScaledRow* row = nullptr;
  for (const ScaledRow& r : kScaled) {
    if (r.data == a.elem() && r.scale == sa.elem()) row = &r;
  }
  if (!c.Require(
          row != nullptr, Rule::kMmaElements,
          [&] { return absl::StrCat("cannot scale ", a.ToString(), " by ", sa.ToString()); },
          "f8 takes f8E8M0FNU; f4E2M1FN takes f8E8M0FNU, f8E4M3FN or f8E5M3FNU")) {
    return;
  }
  const int rank = a.rank(), r = rank - 2;
  bool good = sa.rank() == rank && sb.rank() == rank && sa->shape[r] == a->shape[r] &&
              sb->shape[r + 1] == b->shape[r + 1] && sa->shape[r + 1] == sb->shape[r] &&
              (rank == 2 || (sa->shape[0] == a->shape[0] && sb->shape[0] == a->shape[0]));
  if (good) {
    const int64_t k = a->shape[r + 1], groups = sa->shape[r + 1];
    good = groups * row->groups[0] == k || groups * row->groups[1] == k;
  }
  c.Require(good, Rule::kMmaScales, [&] {
    return absl::StrCat("scales ", sa.ToString(), " and ", sb.ToString(), " do not suit ", a.ToString(), " and ",
                        b.ToString(), ": one scale serves ", row->groups[0],
                        row->groups[0] == row->groups[1] ? "" : absl::StrCat(" or ", row->groups[1]),
                        " elements along k");
  });
}

}  // namespace

absl::Span<const OpRules> MmaRules() {
  static constexpr OpRules kRules[] = {
      {Opcode::kMmaF, CheckMmaf}, {Opcode::kMmaI, CheckMmai}, {Opcode::kMmaScaled, CheckMmaScaled}};
  return kRules;
}

}  // namespace tile::ir::verify

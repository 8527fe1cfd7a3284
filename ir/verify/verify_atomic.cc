// Atomic updates, and reductions over replicas (semantics 8, 9.10).

#include "ir/verify/verify_internal.h"

namespace tile::ir::verify {
namespace {

constexpr uint32_t kI32I64 = Bits(Elem::kI32, Elem::kI64);
constexpr uint32_t kFloats = Bits(Elem::kF16, Elem::kBF16, Elem::kF32, Elem::kF64);
constexpr uint32_t kExchange = kI32I64 | Bits(Elem::kF32, Elem::kF64);

// Element types of an update function.
struct Update {
  RmwMode mode;
  uint32_t elems;
};
constexpr Update kUpdates[] = {
    {RmwMode::kAnd, kI32I64},           {RmwMode::kOr, kI32I64},
    {RmwMode::kXor, kI32I64},           {RmwMode::kAdd, kI32I64},
    {RmwMode::kAddf, kFloats},          {RmwMode::kMax, kI32I64},
    {RmwMode::kMin, kI32I64},           {RmwMode::kUmax, kI32I64},
    {RmwMode::kUmin, kI32I64},          {RmwMode::kXchg, kExchange},
    {RmwMode::kSub, kI32I64 | kFloats}, {RmwMode::kInc, Bits(Elem::kI32)},
    {RmwMode::kDec, Bits(Elem::kI32)},
};
constexpr uint32_t kAllModes = (1u << std::size(kUpdates)) - 1;
constexpr uint32_t kScatterModes =
    Bits(RmwMode::kAdd, RmwMode::kAddf, RmwMode::kSub, RmwMode::kMin, RmwMode::kMax, RmwMode::kUmin, RmwMode::kUmax);

constexpr bool InModeOrder() {
  for (size_t i = 0; i < std::size(kUpdates); ++i) {
    if (static_cast<size_t>(kUpdates[i].mode) != i) return false;
  }
  return true;
}
static_assert(InModeOrder(), "kUpdates is indexed by mode");

std::string Elements(uint32_t elems) {
  std::string s;
  for (int i = 0; i < kNumElems; ++i) {
    if (elems >> i & 1) absl::StrAppend(&s, s.empty() ? "" : ", ", kElemInfo[i].spelling);
  }
  return s;
}

void CheckUpdate(OpCheck& c, uint32_t modes, Elem elem) {
  const RmwMode mode = c.get<RmwMode>(Field::kMode);
  if (!c.Require(modes & Bits(mode), Rule::kUpdateMode, [&] { return absl::StrCat("has no mode ", Keyword(mode)); })) {
    return;
  }
  const uint32_t elems = kUpdates[static_cast<int>(mode)].elems;
  c.Require(
      elems & Bits(elem), Rule::kUpdateMode,
      [&] {
        return absl::StrCat("mode ", Keyword(mode), " takes ", Elements(elems), ", not ", ElemInfoOf(elem).spelling);
      },
      mode == RmwMode::kAdd    ? "add floats with addf"
      : mode == RmwMode::kAddf ? "add integers with add"
                               : "");
}

void CheckCasElement(OpCheck& c, Elem elem) {
  c.Require(kExchange & Bits(elem), Rule::kCasElement,
            [&] { return absl::StrCat("compares ", Elements(kExchange), ", not ", ElemInfoOf(elem).spelling); });
}

void CheckRmw(OpCheck& c) {
  const Type v = c.in(Field::kArg);
  if (CheckPointee(c, c.in(Field::kPointers), v)) CheckUpdate(c, kAllModes, v.elem());
  CheckOrdering(c, kAtomicOrderings, kAllScopes);
}

void CheckCas(OpCheck& c) {
  const Type v = c.in(Field::kVal);
  if (CheckPointee(c, c.in(Field::kPointers), v)) CheckCasElement(c, v.elem());
  CheckOrdering(c, kAtomicOrderings, kAllScopes);
}

void CheckRedView(OpCheck& c) {
  CheckViewAccess(c, c.in(Field::kValue));
  CheckUpdate(c, kAllModes & ~Bits(RmwMode::kXchg), c.in(Field::kView).elem());
  CheckOrdering(c, Bits(MemoryOrdering::kRelaxed), Bits(MemoryScope::kTlBlk, MemoryScope::kDevice));
  c.Require(
      !c.in(Field::kView)->padding, Rule::kRedPadding,
      [&] { return absl::StrCat("the view is ", c.in(Field::kView).ToString()); }, "make a view without padding");
}

void CheckRmwView(OpCheck& c) {
  CheckViewAccess(c, c.in(Field::kValue));
  CheckUpdate(c, kAllModes, c.in(Field::kView).elem());
  CheckOrdering(c, kAtomicOrderings, kAllScopes);
}

void CheckCasView(OpCheck& c) {
  CheckViewAccess(c, c.in(Field::kValue));
  CheckCasElement(c, c.in(Field::kView).elem());
  CheckOrdering(c, kAtomicOrderings, kAllScopes);
}

void CheckScatterView(OpCheck& c) {
  CheckScatter(c);
  CheckUpdate(c, kScatterModes, c.in(Field::kView).elem());
  CheckOrdering(c, kAtomicOrderings, kAllScopes);
}

// --- replicas -------------------------------------------------------------------------------------------------------

void CheckMultimem(OpCheck& c, Type tile, uint32_t orderings) {
  CheckViewAccess(c, tile);
  CheckOrdering(c, orderings, kAllScopes);
  const Type view = c.in(Field::kView);
  c.Require(view->space == MemorySpace::kGlobal, Rule::kMultimemSpace,
            [&] { return absl::StrCat("the view is ", view.ToString()); });
}

void CheckReduction(OpCheck& c) {
  const MultimemReduction r = c.get<MultimemReduction>(Field::kReduction);
  const uint32_t elems = r == MultimemReduction::kAdd ? kI32I64 | kFloats : kI32I64;
  const Elem elem = c.in(Field::kView).elem();
  c.Require(elems & Bits(elem), Rule::kMultimemElement, [&] {
    return absl::StrCat("reduction ", Keyword(r), " takes ", Elements(elems), ", not ", ElemInfoOf(elem).spelling);
  });
}

void CheckLoadReduce(OpCheck& c) {
  CheckMultimem(c, c.out(Field::kTile), kReadOrderings);
  CheckReduction(c);
}

void CheckReduce(OpCheck& c) {
  CheckMultimem(c, c.in(Field::kTile), Bits(MemoryOrdering::kRelaxed, MemoryOrdering::kRelease));
  CheckReduction(c);
}

void CheckStore(OpCheck& c) { CheckMultimem(c, c.in(Field::kTile), kWriteOrderings); }

}  // namespace

absl::Span<const OpRules> AtomicRules() {
  static constexpr OpRules kRules[] = {
      {Opcode::kAtomicRmw, CheckRmw},         {Opcode::kAtomicCas, CheckCas},
      {Opcode::kAtomicRedView, CheckRedView}, {Opcode::kAtomicRmwView, CheckRmwView},
      {Opcode::kAtomicCasView, CheckCasView}, {Opcode::kAtomicScatterView, CheckScatterView},
  };
  return kRules;
}

absl::Span<const OpRules> MultimemRules() {
  static constexpr OpRules kRules[] = {{Opcode::kMultimemLoadReduce, CheckLoadReduce},
                                       {Opcode::kMultimemReduce, CheckReduce},
                                       {Opcode::kMultimemStore, CheckStore}};
  return kRules;
}

}  // namespace tile::ir::verify

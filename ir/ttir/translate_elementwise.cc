// Operations on each element: arithmetic, comparison, conversion, mathematical functions.

#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "ir/ttir/bits.h"
#include "ir/ttir/translator.h"

namespace tile::ir::ttir {

Value* Translator::Elements(Opcode op, const std::vector<Value*>& operands, int variant) {
  Builder::NamedAttrs attrs;
  if (GetOp(op)->format->attr_index("signedness") >= 0) {
    attrs.push_back({"signedness", Attr::Enum(variant == 1 ? Signedness::kSigned : Signedness::kUnsigned)});
  }
  if (op == Opcode::kMuli && IsStartOfBlock(operands[0], operands[1])) {
    attrs.push_back({"overflow", Attr::Enum(Overflow::kNoSignedWrap)});
  }
  return Create(op, operands, operands[0]->type(), attrs);
}

bool Translator::Elementwise(const Node& n, const OpRow& row) {
  std::vector<Value*> operands;
  for (const Val& v : in_) operands.push_back(v.tile());
  Value* result = Elements(row.op, operands, row.variant);
  if (row.op == Opcode::kRemi) operands_of_[result] = n.operands[0];
  if ((row.op == Opcode::kRemi || row.op == Opcode::kDivi) && row.variant == 1) result = WithNeighbours(result);
  if (row.op == Opcode::kMulf || row.op == Opcode::kAddf || row.op == Opcode::kSubf)
    contractible_.insert(result->def());
  return Define(n, result);
}

// Also of floats of 8 bits, which have no arithmetic here.
bool Translator::SignBit(const Node& n, const OpRow& row) {
  Value* x = tile(0);
  const Elem e = x->type().elem();
  if (e != Elem::kF8E4M3FN && e != Elem::kF8E5M2) return Elementwise(n, row);
  Value* bits = ops::Bitcast(b_, WithElem(Elem::kI8, x), x);
  const bool clear = row.op == Opcode::kAbsf;
  Value* mask = ops::Integer(b_, bits->type(), clear ? 0x7F : -0x80);
  return Define(n, ops::Bitcast(b_, x->type(), clear ? ops::Andi(b_, bits, mask) : ops::Xori(b_, bits, mask)));
}

// Triton computes them by the GPU's approximate instructions in f32: division (variant 1) within 2 ulp of any size, others (variant 2)
// with zero for subnormal numbers, which saves a comparison and two multiplications of each element.
bool Translator::ElementwiseF32(const Node& n, const OpRow& row) {
  const Value* x = tile(0);
  const bool f32 = x->type().elem() == Elem::kF32;
  if (!f32) return Elementwise(n, row);
  std::vector<Value*> operands;
  for (const Val& v : in_) operands.push_back(v.tile());
  Builder::NamedAttrs attrs;
  if (GetOp(row.op)->format->attr_index("rounding") >= 0)
    attrs.push_back({"rounding", Attr::Enum(row.variant == 1 ? Rounding::kFull : Rounding::kApprox)});
  if (row.variant == 2) attrs.push_back({"flush_to_zero", Attr::Flag(true)});
  return Define(n, Create(row.op, operands, x->type(), attrs));
}

bool Translator::ElementwiseNan(const Node& n, const OpRow& row) {
  return Define(n, Create(row.op, {tile(0), tile(1)}, tile(0)->type(), {{"propagate_nan", Attr::Flag(true)}}));
}

bool Translator::DivideUp(const Node& n, const OpRow& row) {
  const Signedness s = row.variant == 1 ? Signedness::kSigned : Signedness::kUnsigned;
  return Define(n, ops::Divi(b_, tile(0), tile(1), s, Rounding::kPositiveInf));
}

bool Translator::DivideDown(const Node& n, const OpRow&) {
  return Define(n, ops::Divi(b_, tile(0), tile(1), Signedness::kSigned, Rounding::kNegativeInf));
}

// --- conversions ------------------------------------------------------------------------------------------------------

bool Translator::Convert(const Node& n, const OpRow& row) {
  Type t;
  if (!Output(n, &t)) return false;
  Builder::NamedAttrs attrs;
  if (GetOp(row.op)->format->attr_index("signedness") >= 0) {
    attrs.push_back({"signedness", Attr::Enum(row.variant == 1 ? Signedness::kSigned : Signedness::kUnsigned)});
  }
  if (row.op == Opcode::kFToI && t.elem() == Elem::kI8) {
    // GPUs convert to 16 bits, and Triton keeps the low byte: 128.0 becomes -128, which quantising kernels rely on.
    return Define(n, ops::Trunci(b_, t, Create(row.op, {tile(0)}, WithElem(Elem::kI16, tile(0)), attrs)));
  }
  Value* result = Create(row.op, {tile(0)}, t, attrs);
  if (row.op == Opcode::kPtrToInt) operands_of_[result] = n.operands[0];
  return Define(n, result);
}

bool Translator::ConvertFloat(const Node& n, const OpRow&) {
  Type t;
  if (!Output(n, &t)) return false;
  const absl::string_view rounding = n.word("rounding", "rtne");
  if (rounding != "rtne" && rounding != "rtz") {
    return Unsupported(n, absl::StrCat("rounds by ", rounding), "round by rtne or rtz");
  }
  Value* x = tile(0);
  const double most = t.elem() == Elem::kF8E4M3FN ? 448 : t.elem() == Elem::kF8E5M2 ? 57344 : 0;
  if (most != 0 && IsFp(x->type().elem()) && rounding == "rtne") {
    // As the GPU's conversion, infinities become the largest number, too.
    x = ops::Maxf(b_, x, ops::Splat(b_, x->type(), -most), /*propagate_nan=*/true);
    x = ops::Minf(b_, x, ops::Splat(b_, x->type(), most), /*propagate_nan=*/true);
  }
  return Define(n, ops::FToF(b_, t, x, rounding == "rtz" ? Rounding::kZero : Rounding::kNearestEven));
}

bool Translator::IndexCast(const Node& n, const OpRow& row) {
  Type t;
  if (!Output(n, &t)) return false;
  Value* v = tile(0);
  if (v->type() == t) return Define(n, v);
  if (!IsInt(t.elem()) || !IsInt(v->type().elem())) return WrongType(n, "converts integers only");
  const bool wider = ElemInfoOf(t.elem()).bits > ElemInfoOf(v->type().elem()).bits;
  return Define(
      n, wider ? Create(Opcode::kExti, {v}, t,
                        {{"signedness", Attr::Enum(row.variant == 1 ? Signedness::kSigned : Signedness::kUnsigned)}})
               : ops::Trunci(b_, t, v));
}

bool Translator::Bitcast(const Node& n, const OpRow&) {
  Type t;
  if (!Output(n, &t)) return false;
  Value* v = tile(0);
  if (v->type() == t) return Define(n, v);
  const bool pointers = t.element().is_pointer() && v->type().element().is_pointer();
  return Define(n, Create(pointers ? Opcode::kPtrToPtr : Opcode::kBitcast, {v}, t));
}

// --- comparison and selection -----------------------------------------------------------------------------------------

namespace {

struct PredicateName {
  absl::string_view name;
  ComparisonPredicate predicate;
};
constexpr PredicateName kPredicates[] = {
    {"eq", ComparisonPredicate::kEqual},       {"ne", ComparisonPredicate::kNotEqual},
    {"lt", ComparisonPredicate::kLessThan},    {"le", ComparisonPredicate::kLessThanOrEqual},
    {"gt", ComparisonPredicate::kGreaterThan}, {"ge", ComparisonPredicate::kGreaterThanOrEqual},
};

const PredicateName* FindPredicate(absl::string_view name) {
  for (const PredicateName& p : kPredicates) {
    if (p.name == name) return &p;
  }
  return nullptr;
}

}  // namespace

// eq, ne, slt, ult, …
bool Translator::CompareInt(const Node& n, const OpRow&) {
  absl::string_view name = n.words.empty() ? "" : n.words[0];
  const bool is_unsigned = absl::ConsumePrefix(&name, "u");
  if (!is_unsigned) absl::ConsumePrefix(&name, "s");
  const PredicateName* p = FindPredicate(name);
  if (p == nullptr) return Fail(n, "ttir.syntax", "names no comparison");
  Value* result =
      ops::CmpI(b_, p->predicate, tile(0), tile(1), is_unsigned ? Signedness::kUnsigned : Signedness::kSigned);
  operands_of_[result] = n.operands[0];
  return Define(n, result);
}

// oeq, ult, ord, uno, false, true, …
bool Translator::CompareFloat(const Node& n, const OpRow&) {
  absl::string_view name = n.words.empty() ? "" : n.words[0];
  Value *x = tile(0), *y = tile(1);
  if (name == "true" || name == "false") {
    return Define(n, ops::Integer(b_, WithElem(Elem::kI1, x), name == "true"));
  }
  if (name == "ord" || name == "uno") {
    const bool ordered = name == "ord";
    const auto number = [&](Value* v) {
      return ops::CmpF(b_, ordered ? ComparisonPredicate::kEqual : ComparisonPredicate::kNotEqual, v, v,
                       ordered ? ComparisonOrdering::kOrdered : ComparisonOrdering::kUnordered);
    };
    Value *a = number(x), *b = number(y);
    return Define(n, ordered ? ops::Andi(b_, a, b) : ops::Ori(b_, a, b));
  }
  const bool unordered = absl::ConsumePrefix(&name, "u");
  const PredicateName* p = unordered || absl::ConsumePrefix(&name, "o") ? FindPredicate(name) : nullptr;
  if (p == nullptr) return Fail(n, "ttir.syntax", "names no comparison");
  return Define(
      n, ops::CmpF(b_, p->predicate, x, y, unordered ? ComparisonOrdering::kUnordered : ComparisonOrdering::kOrdered));
}

// The condition may be a scalar.
bool Translator::SelectValue(const Node& n, const OpRow&) {
  return Define(n, ops::Select(b_, BroadcastTo(tile(0), tile(1)->type().shape()), tile(1), tile(2)));
}

// --- made of several --------------------------------------------------------------------------------------------------

// Low and high half of the product.
bool Translator::MultiplyWide(const Node& n, const OpRow& row) {
  Value *x = tile(0), *y = tile(1);
  if (!IsInt(x->type().elem()) || y->type() != x->type()) return WrongType(n, "multiplies integers of one type");
  Value* high = row.variant == 1 ? MultiplyHigh(b_, x, y) : ops::Mulhii(b_, x, y);
  return Define(n, {TileVal(ops::Muli(b_, x, y)), TileVal(high)});
}

bool Translator::CopySign(const Node& n, const OpRow&) {
  Value *x = tile(0), *y = tile(1);
  const Type t = x->type();
  if (!IsFp(t.elem()) || y->type() != t) return WrongType(n, "takes floats of one type");
  const int bits = ElemInfoOf(t.elem()).bits;
  const Elem e = bits == 64 ? Elem::kI64 : bits == 32 ? Elem::kI32 : Elem::kI16;
  const Type word = WithElem(e, x);
  Value* sign = ops::Integer(b_, word, static_cast<int64_t>(uint64_t{1} << (bits - 1)));
  Value* rest = ops::Bitcast(b_, word, ops::Absf(b_, x));
  return Define(n, ops::Bitcast(b_, t, ops::Ori(b_, rest, ops::Andi(b_, ops::Bitcast(b_, word, y), sign))));
}

bool Translator::Truncate(const Node& n, const OpRow&) {
  Value* x = tile(0);
  if (!IsFp(x->type().elem())) return WrongType(n, "takes floats");
  Value* negative = ops::CmpF(b_, ComparisonPredicate::kLessThan, x, ops::Splat(b_, x->type(), 0));
  return Define(n, ops::Select(b_, negative, ops::Ceil(b_, x), ops::Floor(b_, x)));
}

bool Translator::Clamp(const Node& n, const OpRow&) {
  const Builder::NamedAttrs nan = {{"propagate_nan", Attr::Flag(n.word("propagateNan") == "all")}};
  Value* low = Create(Opcode::kMaxf, {tile(0), tile(1)}, tile(0)->type(), nan);
  return Define(n, Create(Opcode::kMinf, {low, tile(2)}, tile(0)->type(), nan));
}

}  // namespace tile::ir::ttir

// A short function per operation on top of Builder, expanded from ops.def: one shape of function per format, one row per
// operation. Result types follow from the operands where the table says so; where they do not, the type comes first.
//
//   namespace op = tile::ir::ops;
//   Value* sum = op::Addf(b, x, y);
//   Value* wide = op::Exti(b, i64, n, Signedness::kSigned);
//   Value* less = op::CmpI(b, ComparisonPredicate::kLessThan, i, n, Signedness::kSigned);
//   auto [tile, token] = op::LoadView(b, view, {i, j}, {.token = before});
//   Value* total = op::For(b, zero, n, one, {start}, [&](Value* i, Values carried) -> Values {
//     return {op::Addf(b, carried[0], tile)};
//   })[0];
//
// Nothing is checked here but what would make no operation at all: run Verify on the finished module. Not thread-safe.
#ifndef TILE_IR_OPS_H_
#define TILE_IR_OPS_H_

#include <array>
#include <functional>
#include <optional>
#include <string_view>
#include <vector>

#include "ir/builder.h"

namespace tile::ir::ops {

using Values = std::vector<Value*>;

// What accesses to memory may say. Left out, the ordering is weak for loads and stores and relaxed for atomics, and what is
// not weak has device scope.
struct Access {
  Value* mask = nullptr;     // pointer forms
  Value* padding = nullptr;  // load_ptr_tko
  Value* token = nullptr;
  std::optional<MemoryOrdering> ordering = std::nullopt;
  std::optional<MemoryScope> scope = std::nullopt;
  std::vector<uint8_t> inbounds = {};  // view forms: one per index, or empty
  const Hints* hints = nullptr;
};

struct Loaded {
  Value* value;
  Value* token;
};

namespace internal {

// What the table says of result types, at compile time: an operation whose result does not follow needs a type.
constexpr std::string_view ConstraintsOf(Opcode op) {
  constexpr struct {
    Opcode op;
    std::string_view text;
  } kRows[] = {
#define TILE_OP(number, Name, mnemonic, Format, Family, since, traits, constraints) {Opcode::k##Name, constraints},
#include "ir/ops.def"
  };
  for (const auto& row : kRows) {
    if (row.op == op) return row.text;
  }
  return "";
}
constexpr bool Says(Opcode op, std::string_view what) { return ConstraintsOf(op).find(what) != std::string_view::npos; }
constexpr bool Follows(Opcode op) { return Says(op, "result=") || Says(op, "result:TOKEN") || Says(op, "result:I64"); }

// The shape of `like` with another element.
inline Type WithElement(Builder& b, Elem e, const Value* like) {
  return b.types().Tile(Element::Number(e), like->type().shape());
}
inline Type Following(Builder& b, Opcode op, const Value* like) {
  return Says(op, "result:I64") ? WithElement(b, Elem::kI64, like) : like->type();
}
inline Value* One(Builder& b, Opcode op, const Builder::Groups& in, Type out, const Builder::NamedAttrs& attrs = {}) {
  return b.Create(op, in, {out}, attrs)->result(0);
}
inline Attr Copy(Builder& b, absl::Span<const int64_t> ints) { return Attr::Ints(b.module()->arena().Copy(ints)); }
inline Attr Text(Builder& b, AttrKind kind, absl::string_view s) { return Attr::String(kind, b.module()->Copy(s)); }
// Ordering, scope, inbounds and hints, as far as the format has them.
Builder::NamedAttrs AccessAttrs(Builder& b, Opcode op, const Access& a, Builder::NamedAttrs attrs = {});
Type CatType(Builder& b, const Value* lhs, const Value* rhs, int64_t dim);
Type PermutedType(Builder& b, const Value* source, absl::Span<const int64_t> permutation);
Type GlobalPointer(Builder& b, absl::string_view name);

using B = Builder&;
using V = Value*;

// --- elementwise ----------------------------------------------------------------------------------------------------

template <Opcode kOp>
struct Nullary {
  V operator()(B b) const requires(Says(kOp, "TOKEN")) { return One(b, kOp, {}, b.types().Token()); }
  V operator()(B b, Type t) const requires(!Says(kOp, "TOKEN")) { return One(b, kOp, {}, t); }
};
template <Opcode kOp>
struct Unary {
  V operator()(B b, V x) const requires(Follows(kOp)) { return One(b, kOp, {{x}}, Following(b, kOp, x)); }
  V operator()(B b, Type t, V x) const requires(!Follows(kOp)) { return One(b, kOp, {{x}}, t); }
};
template <Opcode kOp>
struct UnaryFtz {
  V operator()(B b, V x, bool ftz = false) const {
    return One(b, kOp, {{x}}, x->type(), {{"flush_to_zero", Attr::Flag(ftz)}});
  }
};
template <Opcode kOp>
struct UnaryRoundFtz {
  V operator()(B b, V x, Rounding r = Rounding::kNearestEven, bool ftz = false) const {
    return One(b, kOp, {{x}}, x->type(), {{"rounding", Attr::Enum(r)}, {"flush_to_zero", Attr::Flag(ftz)}});
  }
};
template <Opcode kOp>
struct Exp {
  V operator()(B b, V x, Rounding r = Rounding::kFull) const {
    return One(b, kOp, {{x}}, x->type(), {{"rounding", Attr::Enum(r)}});
  }
};
template <Opcode kOp>
using Tanh = Exp<kOp>;
template <Opcode kOp>
struct NegI {
  V operator()(B b, V x, Overflow o = Overflow::kNone) const {
    return One(b, kOp, {{x}}, x->type(), {{"overflow", Attr::Enum(o)}});
  }
};
template <Opcode kOp>
struct Binary {
  V operator()(B b, V x, V y) const { return One(b, kOp, {{x}, {y}}, x->type()); }
};
template <Opcode kOp>
struct BinaryOverflow {
  V operator()(B b, V x, V y, Overflow o = Overflow::kNone) const {
    return One(b, kOp, {{x}, {y}}, x->type(), {{"overflow", Attr::Enum(o)}});
  }
};
template <Opcode kOp>
struct BinarySign {
  V operator()(B b, V x, V y, Signedness s) const {
    return One(b, kOp, {{x}, {y}}, x->type(), {{"signedness", Attr::Enum(s)}});
  }
};
template <Opcode kOp>
struct BinaryRoundFtz {
  V operator()(B b, V x, V y, Rounding r = Rounding::kNearestEven, bool ftz = false) const {
    return One(b, kOp, {{x}, {y}}, x->type(), {{"rounding", Attr::Enum(r)}, {"flush_to_zero", Attr::Flag(ftz)}});
  }
};
template <Opcode kOp>
struct BinaryNanFtz {
  V operator()(B b, V x, V y, bool propagate_nan = false, bool ftz = false) const {
    return One(b, kOp, {{x}, {y}}, x->type(),
               {{"propagate_nan", Attr::Flag(propagate_nan)}, {"flush_to_zero", Attr::Flag(ftz)}});
  }
};
template <Opcode kOp>
struct DivI {
  V operator()(B b, V x, V y, Signedness s, Rounding r = Rounding::kZero) const {
    return One(b, kOp, {{x}, {y}}, x->type(), {{"signedness", Attr::Enum(s)}, {"rounding", Attr::Enum(r)}});
  }
};
template <Opcode kOp>
struct Fma {
  V operator()(B b, V x, V y, V acc, Rounding r = Rounding::kNearestEven, bool ftz = false) const {
    return One(b, kOp, {{x}, {y}, {acc}}, acc->type(),
               {{"rounding", Attr::Enum(r)}, {"flush_to_zero", Attr::Flag(ftz)}});
  }
};
template <Opcode kOp>
struct CmpI {
  V operator()(B b, ComparisonPredicate p, V x, V y, Signedness s) const {
    return One(b, kOp, {{x}, {y}}, WithElement(b, Elem::kI1, x),
               {{"predicate", Attr::Enum(p)}, {"signedness", Attr::Enum(s)}});
  }
};
template <Opcode kOp>
struct CmpF {
  V operator()(B b, ComparisonPredicate p, V x, V y, ComparisonOrdering o = ComparisonOrdering::kOrdered) const {
    return One(b, kOp, {{x}, {y}}, WithElement(b, Elem::kI1, x),
               {{"predicate", Attr::Enum(p)}, {"ordering", Attr::Enum(o)}});
  }
};
template <Opcode kOp>
struct Select {
  V operator()(B b, V cond, V x, V y) const { return One(b, kOp, {{cond}, {x}, {y}}, x->type()); }
};
template <Opcode kOp>
struct ExtI {
  V operator()(B b, Type t, V x, Signedness s) const { return One(b, kOp, {{x}}, t, {{"signedness", Attr::Enum(s)}}); }
};
template <Opcode kOp>
using IToF = ExtI<kOp>;
template <Opcode kOp>
struct TruncI {
  V operator()(B b, Type t, V x, Overflow o = Overflow::kNone) const {
    return One(b, kOp, {{x}}, t, {{"overflow", Attr::Enum(o)}});
  }
};
template <Opcode kOp>
struct FToF {
  V operator()(B b, Type t, V x, Rounding r = Rounding::kNearestEven) const {
    return One(b, kOp, {{x}}, t, {{"rounding", Attr::Enum(r)}});
  }
};
template <Opcode kOp>
struct FToI {
  V operator()(B b, Type t, V x, Signedness s, bool saturating = false) const {
    return One(b, kOp, {{x}}, t, {{"signedness", Attr::Enum(s)}, {"saturating", Attr::Flag(saturating)}});
  }
};

// --- values, shapes, matrices ---------------------------------------------------------------------------------------

template <Opcode kOp>
struct Constant {
  // The elements as bits; see Splat and Elements below for numbers.
  V operator()(B b, Type t, const Dense* d) const { return One(b, kOp, {}, t, {{"value", Attr::Of(d)}}); }
};
template <Opcode kOp>
struct Assume {
  V operator()(B b, V x, Predicate p) const {
    p.groups = b.module()->arena().Copy(p.groups);
    return One(b, kOp, {{x}}, x->type(), {{"predicate", Attr::Of(b.module()->arena().New<Predicate>(p))}});
  }
};
template <Opcode kOp>
struct GetGlobal {
  V operator()(B b, absl::string_view name) const {
    return One(b, kOp, {}, GlobalPointer(b, name), {{"name", Text(b, AttrKind::kSymbol, name)}});
  }
};
template <Opcode kOp>
struct BlockIds {
  std::array<V, 3> operator()(B b) const {
    const Type i32 = b.types().Scalar(Elem::kI32);
    Op* op = b.Create(kOp, {}, {i32, i32, i32});
    return {op->result(0), op->result(1), op->result(2)};
  }
};
template <Opcode kOp>
struct Cat {
  V operator()(B b, V x, V y, int64_t dim) const {
    return One(b, kOp, {{x}, {y}}, CatType(b, x, y, dim), {{"dim", Attr::Int(AttrKind::kInt, dim)}});
  }
};
template <Opcode kOp>
struct Permute {
  V operator()(B b, V x, absl::Span<const int64_t> permutation) const {
    return One(b, kOp, {{x}}, PermutedType(b, x, permutation), {{"permutation", Copy(b, permutation)}});
  }
};
template <Opcode kOp>
struct Extract {
  V operator()(B b, Type t, V x, const Values& indices) const { return One(b, kOp, {{x}, indices}, t); }
};
template <Opcode kOp>
struct Insert {
  V operator()(B b, V x, V into, const Values& indices) const {
    return One(b, kOp, {{x}, {into}, indices}, into->type());
  }
};
template <Opcode kOp>
struct MmaF {
  V operator()(B b, V x, V y, V acc, bool fast_acc = false) const {
    return One(b, kOp, {{x}, {y}, {acc}}, acc->type(), {{"fast_acc", Attr::Flag(fast_acc)}});
  }
};
template <Opcode kOp>
struct MmaI {
  V operator()(B b, V x, V y, V acc, Signedness sx, Signedness sy) const {
    return One(b, kOp, {{x}, {y}, {acc}}, acc->type(),
               {{"signedness_lhs", Attr::Enum(sx)}, {"signedness_rhs", Attr::Enum(sy)}});
  }
};
template <Opcode kOp>
struct MmaScaled {
  V operator()(B b, V x, V y, V acc, V scale_x, V scale_y) const {
    return One(b, kOp, {{x}, {y}, {acc}, {scale_x}, {scale_y}}, acc->type());
  }
};

// --- regions and terminators ----------------------------------------------------------------------------------------

template <Opcode kOp>
struct Branch {
  Op* operator()(B b, const Values& values = {}) const { return b.Create(kOp, {values}, {}); }
};
template <Opcode kOp>
struct If {
  // Both functions give the results; `otherwise` may be null if there are none. A region that has ended itself (with
  // Continue, Break or Return) is left as it is.
  Values operator()(B b, V condition, const std::function<Values()>& then,
                    const std::function<Values()>& otherwise = {}) const;
};
template <Opcode kOp>
struct For {
  // `body` gets the induction variable and the carried values and gives the carried values of the next round.
  Values operator()(B b, V lower, V upper, V step, const Values& init,
                    const std::function<Values(V, const Values&)>& body, bool unsigned_cmp = false) const;
};
template <Opcode kOp>
struct Loop {
  // `body` ends the round itself, with Continue or Break, or gives the carried values of the next one.
  Values operator()(B b, const Values& init, absl::Span<const Type> results,
                    const std::function<Values(const Values&)>& body) const;
};
// `body` gets the elements and the accumulators, one per operand, and gives the new accumulators.
using Combine = std::function<Values(const Values& elements, const Values& accumulators)>;
template <Opcode kOp>
struct Reduce {
  Values operator()(B b, const Values& operands, int64_t dim, const std::vector<Scalar>& identities,
                    const Combine& body) const;
};
template <Opcode kOp>
struct Scan {
  Values operator()(B b, const Values& operands, int64_t dim, const std::vector<Scalar>& identities,
                    const Combine& body, bool reverse = false) const;
};
template <Opcode kOp>
struct Assert {
  Op* operator()(B b, V condition, absl::string_view message) const {
    return b.Create(kOp, {{condition}}, {}, {{"message", Text(b, AttrKind::kString, message)}});
  }
};

// --- memory ---------------------------------------------------------------------------------------------------------

// An operation with a value and a token as results.
inline Loaded Two(B b, Opcode op, const Builder::Groups& in, Type t, const Access& a, Builder::NamedAttrs attrs = {}) {
  Op* made = b.Create(op, in, {t, b.types().Token()}, AccessAttrs(b, op, a, std::move(attrs)));
  return {made->result(0), made->result(1)};
}
inline V Ordered(B b, Opcode op, const Builder::Groups& in, const Access& a, Builder::NamedAttrs attrs = {}) {
  return One(b, op, in, b.types().Token(), AccessAttrs(b, op, a, std::move(attrs)));
}
template <Opcode kOp>
struct LoadPtr {
  Loaded operator()(B b, V p, const Access& a = {}) const {
    return Two(b, kOp, {{p}, {a.mask}, {a.padding}, {a.token}}, WithElement(b, p->type().element().pointee, p), a);
  }
};
template <Opcode kOp>
struct StorePtr {
  V operator()(B b, V p, V x, const Access& a = {}) const {
    return Ordered(b, kOp, {{p}, {x}, {a.mask}, {a.token}}, a);
  }
};
template <Opcode kOp>
struct Alloca {
  V operator()(B b, Type pointer, int64_t num_elem, int64_t alignment, bool global = false) const {
    return One(b, kOp, {}, pointer,
               {{"num_elem", Attr::Int(AttrKind::kInt, num_elem)},
                {"alignment", Attr::Int(AttrKind::kInt, alignment)},
                {"global", Attr::Flag(global)}});
  }
};
template <Opcode kOp>
struct AllocShared {
  V operator()(B b, Type tensor, int64_t alignment) const {
    return One(b, kOp, {}, tensor, {{"alignment", Attr::Int(AttrKind::kInt, alignment)}});
  }
};
template <Opcode kOp>
struct MakeTensorView {
  V operator()(B b, Type tensor, V base, const Values& sizes, const Values& strides) const {
    return One(b, kOp, {{base}, sizes, strides}, tensor);
  }
};
template <Opcode kOp>
struct GetShape {
  Values operator()(B b, V source, Elem e = Elem::kI32) const {
    Op* op = b.Create(kOp, {{source}}, std::vector<Type>(source->type().rank(), b.types().Scalar(e)));
    Values sizes;
    for (int i = 0; i < op->num_results(); ++i) sizes.push_back(op->result(i));
    return sizes;
  }
};
template <Opcode kOp>
struct LoadView {
  Loaded operator()(B b, V view, const Values& index, const Access& a = {}) const {
    return Two(b, kOp, {{view}, index, {a.token}}, b.types().TileOf(view->type()), a);
  }
};
template <Opcode kOp>
struct StoreView {
  V operator()(B b, V tile, V view, const Values& index, const Access& a = {}) const {
    return Ordered(b, kOp, {{tile}, {view}, index, {a.token}}, a);
  }
};
template <Opcode kOp>
struct AtomicCas {
  Loaded operator()(B b, V p, V expected, V desired, const Access& a = {}) const {
    return Two(b, kOp, {{p}, {expected}, {desired}, {a.mask}, {a.token}}, expected->type(), a);
  }
};
template <Opcode kOp>
struct AtomicRmw {
  Loaded operator()(B b, RmwMode mode, V p, V x, const Access& a = {}) const {
    return Two(b, kOp, {{p}, {x}, {a.mask}, {a.token}}, x->type(), a, {{"mode", Attr::Enum(mode)}});
  }
};
template <Opcode kOp>
struct AtomicRedView {
  V operator()(B b, RmwMode mode, V view, const Values& index, V x, const Access& a = {}) const {
    return Ordered(b, kOp, {{view}, index, {x}, {a.token}}, a, {{"mode", Attr::Enum(mode)}});
  }
};
template <Opcode kOp>
struct AtomicRmwView {
  Loaded operator()(B b, RmwMode mode, V view, const Values& index, V x, const Access& a = {}) const {
    return Two(b, kOp, {{view}, index, {x}, {a.token}}, x->type(), a, {{"mode", Attr::Enum(mode)}});
  }
};
template <Opcode kOp>
struct AtomicCasView {
  Loaded operator()(B b, V view, const Values& index, V expected, V desired, const Access& a = {}) const {
    return Two(b, kOp, {{view}, index, {expected}, {desired}, {a.token}}, expected->type(), a);
  }
};
template <Opcode kOp>
struct AtomicScatterView {
  Loaded operator()(B b, RmwMode mode, V tensor, V indices, V x, int64_t dim, bool check_bounds = false,
                    const Access& a = {}) const {
    return Two(b, kOp, {{tensor}, {indices}, {x}, {a.token}}, x->type(), a,
               {{"mode", Attr::Enum(mode)},
                {"dim", Attr::Int(AttrKind::kInt, dim)},
                {"check_bounds", Attr::Flag(check_bounds)}});
  }
};
template <Opcode kOp>
struct StoreScatterView {
  V operator()(B b, V tensor, V indices, V x, int64_t dim, bool check_bounds = false, const Access& a = {}) const {
    return Ordered(b, kOp, {{tensor}, {indices}, {x}, {a.token}}, a,
                   {{"dim", Attr::Int(AttrKind::kInt, dim)}, {"check_bounds", Attr::Flag(check_bounds)}});
  }
};
template <Opcode kOp>
struct MultimemLoadReduce {
  Loaded operator()(B b, MultimemReduction r, V view, const Values& index, const Access& a = {}) const {
    return Two(b, kOp, {{view}, index, {a.token}}, b.types().TileOf(view->type()), a, {{"reduction", Attr::Enum(r)}});
  }
};
template <Opcode kOp>
struct MultimemReduce {
  V operator()(B b, MultimemReduction r, V tile, V view, const Values& index, const Access& a = {}) const {
    Access ordered = a;
    if (!a.ordering) ordered.ordering = MemoryOrdering::kRelaxed;
    return Ordered(b, kOp, {{view}, {tile}, index, {a.token}}, ordered, {{"reduction", Attr::Enum(r)}});
  }
};
template <Opcode kOp>
struct MultimemStore {
  V operator()(B b, V tile, V view, const Values& index, const Access& a = {}) const {
    return Ordered(b, kOp, {{view}, {tile}, index, {a.token}}, a);
  }
};

// --- tokens ---------------------------------------------------------------------------------------------------------

template <Opcode kOp>
struct JoinTokens {
  V operator()(B b, const Values& tokens) const { return One(b, kOp, {tokens}, b.types().Token()); }
};
template <Opcode kOp>
struct Gdc {
  V operator()(B b, V token = nullptr) const { return One(b, kOp, {{token}}, b.types().Token()); }
};
template <Opcode kOp>
struct Print {
  V operator()(B b, absl::string_view format, const Values& args, V token = nullptr) const {
    return One(b, kOp, {args, {token}}, b.types().Token(), {{"format", Text(b, AttrKind::kString, format)}});
  }
};

}  // namespace internal

#define TILE_OP(number, Name, mnemonic, Format, ...) inline constexpr internal::Format<Opcode::k##Name> Name{};
#include "ir/ops.def"

// A constant tile of one number (converted to the element type, floats rounded to nearest), or of all its elements.
Value* Splat(Builder& b, Type type, double value);
Value* Elements(Builder& b, Type type, absl::Span<const double> values);
// An integer scalar or tile; every int64_t is exact.
Value* Integer(Builder& b, Type type, int64_t value);
// A number as an identity of Reduce or Scan.
Scalar Identity(Elem elem, double value);

}  // namespace tile::ir::ops

#endif  // TILE_IR_OPS_H_

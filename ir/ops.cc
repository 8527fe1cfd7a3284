#include "ir/ops.h"

#include <cassert>

#include "ir/float.h"

namespace tile::ir::ops {
namespace {

// Of a float the bits that memory holds: tf32 has 19, of which the lowest is bit 13.
uint64_t IntegerBits(Elem e, int64_t value) {
  const int bits = IsFloat(e) ? 8 * StorageBytes(e) : ElemInfoOf(e).bits;
  return bits == 64 ? static_cast<uint64_t>(value) : static_cast<uint64_t>(value) & ((uint64_t{1} << bits) - 1);
}

uint64_t NumberBits(Elem e, double value) {
  return IsFloat(e) ? FromDouble(e, value) : IntegerBits(e, static_cast<int64_t>(value));
}

Value* MakeConstant(Builder& b, Type type, bool splat, absl::Span<const uint64_t> bits) {
  const int size = StorageBytes(type.elem());
  std::vector<uint8_t> bytes;
  for (uint64_t v : bits) {
    for (int i = 0; i < size; ++i) bytes.push_back(static_cast<uint8_t>(v >> (8 * i)));
  }
  Dense d;
  d.elem = type.elem();
  d.splat = splat;
  d.bytes = b.module()->arena().Copy(absl::Span<const uint8_t>(bytes));
  return Constant(b, type, b.module()->arena().New<Dense>(d));
}

Values ResultsOf(Op* op) {
  Values v;
  for (int i = 0; i < op->num_results(); ++i) v.push_back(op->result(i));
  return v;
}

std::vector<Type> TypesOf(const Values& values) {
  std::vector<Type> types;
  for (const Value* v : values) types.push_back(v->type());
  return types;
}

Values Args(const Block* block, int from = 0) { return Values(block->args().begin() + from, block->args().end()); }

// Fills a region by `body` and ends it with `end` of what body gave, unless body ended it.
template <class Body>
void Fill(Builder& b, Block* block, Opcode end, Body&& body) {
  Builder::Scope scope(b, block);
  const Values values = body();
  if (b.block()->terminator() == nullptr) b.Create(end, {values}, {});
}

Values Combined(Builder& b, Opcode opcode, const Values& operands, int64_t dim, absl::Span<const Scalar> identities,
                const internal::Combine& body, absl::Span<const Type> results, Builder::NamedAttrs attrs) {
  attrs.push_back({"dim", Attr::Int(AttrKind::kInt, dim)});
  attrs.push_back({"identities", Attr::Scalars(b.module()->arena().Copy(identities))});
  Op* op = b.Create(opcode, {operands}, results, attrs);
  std::vector<Type> args;
  for (const Value* v : operands) args.insert(args.end(), 2, b.types().Scalar(v->type().element()));
  Block* block = b.AddRegion(op, 0, args);
  Fill(b, block, Opcode::kYield, [&] {
    Values elements, accumulators;
    for (int i = 0; i < block->num_args(); ++i) (i % 2 == 0 ? elements : accumulators).push_back(block->arg(i));
    return body(elements, accumulators);
  });
  return ResultsOf(op);
}

}  // namespace

namespace internal {

Builder::NamedAttrs AccessAttrs(Builder& b, Opcode op, const Access& a, Builder::NamedAttrs attrs) {
  const FormatInfo& f = *GetOp(op)->format;
  const int ordering = f.attr_index("ordering"), scope = f.attr_index("scope");
  if (ordering >= 0) {
    const auto by_default = static_cast<MemoryOrdering>(f.attrs[ordering].default_value);
    const MemoryOrdering o = a.ordering.value_or(by_default);
    attrs.push_back({"ordering", Attr::Enum(o)});
    if (o != MemoryOrdering::kWeak || !f.attrs[scope].optional || a.scope) {
      attrs.push_back({"scope", Attr::Enum(a.scope.value_or(MemoryScope::kDevice))});
    }
  }
  if (f.attr_index("inbounds") >= 0 && !a.inbounds.empty()) {
    attrs.push_back({"inbounds", Attr::Bools(b.module()->arena().Copy(absl::Span<const uint8_t>(a.inbounds)))});
  }
  if (f.attr_index("hints") >= 0 && a.hints != nullptr) attrs.push_back({"hints", Attr::Of(a.hints)});
  return attrs;
}

Type CatType(Builder& b, const Value* lhs, const Value* rhs, int64_t dim) {
  std::vector<int64_t> shape(lhs->type().shape().begin(), lhs->type().shape().end());
  assert(dim >= 0 && dim < lhs->type().rank() && dim < rhs->type().rank());
  shape[dim] += rhs->type().shape()[dim];
  return b.types().Tile(lhs->type().element(), shape);
}

Type PermutedType(Builder& b, const Value* source, absl::Span<const int64_t> permutation) {
  std::vector<int64_t> shape;
  for (int64_t d : permutation) {
    assert(d >= 0 && d < source->type().rank());
    shape.push_back(source->type().shape()[d]);
  }
  return b.types().Tile(source->type().element(), shape);
}

Type GlobalPointer(Builder& b, absl::string_view name) {
  const Global* g = b.module()->FindGlobal(name);
  assert(g != nullptr && "add the global before its address is taken");
  return b.types().Scalar(Element::Pointer(g->value.elem));
}

template <Opcode kOp>
Values If<kOp>::operator()(B b, V condition, const std::function<Values()>& then,
                           const std::function<Values()>& otherwise) const {
  // Result types are known only after the first region: it is built apart and then given to the op.
  Block* then_block = b.module()->CreateBlock({});
  Fill(b, then_block, Opcode::kYield, then);
  Block* else_block = otherwise ? b.module()->CreateBlock({}) : nullptr;
  if (else_block != nullptr) Fill(b, else_block, Opcode::kYield, otherwise);
  // A region that leaves by another terminator says nothing about the results.
  std::vector<Type> results;
  for (const Block* block : {then_block, else_block}) {
    if (block == nullptr || block->back()->opcode() != Opcode::kYield || !results.empty()) continue;
    for (int i = 0; i < block->back()->num_operands(); ++i) results.push_back(block->back()->operand(i)->type());
  }
  Op* op = b.Create(kOp, {{condition}}, results);
  op->set_region(0, then_block);
  op->set_region(1, else_block);
  return ResultsOf(op);
}

template <Opcode kOp>
Values For<kOp>::operator()(B b, V lower, V upper, V step, const Values& init,
                            const std::function<Values(V, const Values&)>& body, bool unsigned_cmp) const {
  std::vector<Type> types = TypesOf(init);
  Op* op = b.Create(kOp, {{lower}, {upper}, {step}, init}, types, {{"unsigned_cmp", Attr::Flag(unsigned_cmp)}});
  types.insert(types.begin(), lower->type());
  Block* block = b.AddRegion(op, 0, types);
  Fill(b, block, Opcode::kContinue, [&] { return body(block->arg(0), Args(block, 1)); });
  return ResultsOf(op);
}

template <Opcode kOp>
Values Loop<kOp>::operator()(B b, const Values& init, absl::Span<const Type> results,
                             const std::function<Values(const Values&)>& body) const {
  Op* op = b.Create(kOp, {init}, results);
  Block* block = b.AddRegion(op, 0, TypesOf(init));
  Fill(b, block, Opcode::kContinue, [&] { return body(Args(block)); });
  return ResultsOf(op);
}

template <Opcode kOp>
Values Reduce<kOp>::operator()(B b, const Values& operands, int64_t dim, const std::vector<Scalar>& identities,
                               const Combine& body) const {
  std::vector<Type> results;
  for (const Value* v : operands) {
    std::vector<int64_t> shape(v->type().shape().begin(), v->type().shape().end());
    assert(dim >= 0 && dim < static_cast<int64_t>(shape.size()));
    shape.erase(shape.begin() + dim);
    results.push_back(b.types().Tile(v->type().element(), shape));
  }
  return Combined(b, kOp, operands, dim, identities, body, results, {});
}

template <Opcode kOp>
Values Scan<kOp>::operator()(B b, const Values& operands, int64_t dim, const std::vector<Scalar>& identities,
                             const Combine& body, bool reverse) const {
  return Combined(b, kOp, operands, dim, identities, body, TypesOf(operands),
                  {{"reverse", Attr::Int(AttrKind::kBool, reverse)}});
}

template struct If<Opcode::kIf>;
template struct For<Opcode::kFor>;
template struct Loop<Opcode::kLoop>;
template struct Reduce<Opcode::kReduce>;
template struct Scan<Opcode::kScan>;

}  // namespace internal

Value* Splat(Builder& b, Type type, double value) {
  return MakeConstant(b, type, true, {NumberBits(type.elem(), value)});
}

Value* Elements(Builder& b, Type type, absl::Span<const double> values) {
  std::vector<uint64_t> bits;
  for (double v : values) bits.push_back(NumberBits(type.elem(), v));
  return MakeConstant(b, type, false, bits);
}

Value* Integer(Builder& b, Type type, int64_t value) {
  return MakeConstant(b, type, true, {IntegerBits(type.elem(), value)});
}

Scalar Identity(Elem elem, double value) { return {elem, NumberBits(elem, value)}; }

}  // namespace tile::ir::ops

// Loads and stores through pointers, and barriers, in program order.

#include <cmath>

#include "absl/strings/str_cat.h"
#include "ir/op_views.h"
#include "ir/ttir/translator.h"

namespace tile::ir::ttir {

Value* Translator::UsefulMask(Value* mask) {
  const auto c = mask == nullptr ? std::nullopt : DefAs<ConstantOp>(mask);
  return c && c->value().splat && c->value().bytes[0] == 1 ? nullptr : mask;
}

bool Translator::LoadFrom(const Node& n, Value* pointers, Value* mask, Value* padding, Value** result) {
  if (!IsPointer(pointers)) return WrongType(n, "loads through pointers");
  ops::Access a;
  a.token = order_.ForRead();
  a.mask = UsefulMask(mask);
  if (a.mask != nullptr) a.padding = padding;
  if (n.number("isVolatile", 0) != 0) {
    a.ordering = MemoryOrdering::kRelaxed;  // which PTX says of ld.volatile, for all who may write
    a.scope = MemoryScope::kSys;
  }
  const ops::Loaded loaded = ops::LoadPtr(b_, pointers, a);
  order_.NoteRead(loaded.token);
  *result = loaded.value;
  return true;
}

bool Translator::StoreTo(const Node& n, Value* pointers, Value* value, Value* mask) {
  if (!IsPointer(pointers)) return WrongType(n, "stores through pointers");
  ops::Access a;
  a.token = order_.ForWrite(b_);
  a.mask = UsefulMask(mask);
  order_.NoteWrite(ops::StorePtr(b_, pointers, value, a));
  return true;
}

// tt.load %pointers[, %mask[, %other]]; of a block pointer alone.
bool Translator::Load(const Node& n, const OpRow&) {
  if (in_.empty() || in_.size() > 3) return WrongType(n, "takes pointers, a mask and other values");
  Value* result = nullptr;
  if (in(0).type.kind == TtType::Kind::kBlockPointer) {
    if (in_.size() != 1) return WrongType(n, "takes no mask with a block pointer");
    const Val block = in(0);
    const Attribute* check = n.attr("boundaryCheck");
    std::vector<Value*> offsets;
    for (int d = 0; d < block.rank(); ++d) offsets.push_back(block.offset(d));
    const BlockAccess at = Address(block, offsets, check == nullptr ? std::vector<int64_t>() : check->ints);
    // Padding 1 is zero, 2 NaN, as a number or a word.
    const bool nan = n.number("padding", 1) == 2 || n.word("padding") == "pad_nan";
    Value* padding = nan && IsFloat(block.type.tile.elem()) ? ops::Splat(b_, block.type.tile, std::nan(""))
                                                            : ops::Integer(b_, block.type.tile, 0);
    return LoadFrom(n, at.pointers, at.mask, padding, &result) && Define(n, result);
  }
  for (const Val& v : in_) {
    if (!v.is_tile()) return WrongType(n, "loads through pointers");
  }
  Value* other = in_.size() > 2 ? tile(2) : nullptr;
  if (!LoadFrom(n, tile(0), in_.size() > 1 ? tile(1) : nullptr, other == nullptr ? nullptr : AsStored(other),
                &result)) {
    return false;
  }
  if (!n.types.empty() && n.types[0].inner && result->type().elem() == Elem::kI64) {
    result = Create(Opcode::kIntToPtr, {result}, b_.types().Tile(*n.types[0].inner, result->type().shape()));
  }
  return Define(n, result);
}

// Memory holds pointers as i64.
Value* Translator::AsStored(Value* v) {
  return IsPointer(v) ? Create(Opcode::kPtrToInt, {v}, WithElem(Elem::kI64, v)) : v;
}

// tt.store %pointers, %value[, %mask]
bool Translator::Store(const Node& n, const OpRow&) {
  if (in_.size() < 2 || in_.size() > 3 || !in(1).is_tile()) return WrongType(n, "takes pointers, values and a mask");
  if (in(0).type.kind == TtType::Kind::kBlockPointer) {
    if (in_.size() != 2) return WrongType(n, "takes no mask with a block pointer");
    const Val block = in(0);
    Value* value = tile(1);
    const Attribute* check = n.attr("boundaryCheck");
    std::vector<Value*> offsets;
    for (int d = 0; d < block.rank(); ++d) offsets.push_back(block.offset(d));
    const BlockAccess at = Address(block, offsets, check == nullptr ? std::vector<int64_t>() : check->ints);
    return StoreTo(n, at.pointers, value, at.mask);
  }
  if (!in(0).is_tile() || (in_.size() == 3 && !in(2).is_tile())) return WrongType(n, "stores through pointers");
  return StoreTo(n, tile(0), AsStored(tile(1)), in_.size() > 2 ? tile(2) : nullptr);
}

// The threads of a block are no part of tile code: what the barrier orders, the chain does.
bool Translator::Barrier(const Node&, const OpRow&) {
  order_.NoteWrite(order_.ForRegion(b_));
  return true;
}

// The grid that a launch may overlap with this one.
bool Translator::GridDependency(const Node&, const OpRow& row) {
  order_.NoteWrite(b_.Create(row.op, {{order_.ForWrite(b_)}}, {b_.types().Token()})->result(0));
  return true;
}

}  // namespace tile::ir::ttir

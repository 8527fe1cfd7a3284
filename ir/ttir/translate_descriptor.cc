// Descriptors and block pointers: a tensor in memory by base, sizes and strides. An access takes a block of it at any offset,
// also one that sticks out: elements outside are not touched, and read as the padding. Every access is one through pointers.

#include <cmath>

#include "absl/strings/str_cat.h"
#include "ir/op_views.h"
#include "ir/ttir/translator.h"

namespace tile::ir::ttir {

// %base, [sizes], [strides]; a block pointer also [offsets].
bool Translator::MakeDescriptor(const Node& n, const OpRow& row) {
  const bool block = row.name == "tt.make_tensor_ptr";
  const TtType given = n.types.empty() ? TtType() : n.types.back();
  Val v;
  v.type = given;
  v.type.kind = block ? TtType::Kind::kBlockPointer : TtType::Kind::kDescriptor;
  const bool tensor = given.kind == TtType::Kind::kDescriptor || given.kind == TtType::Kind::kBlockPointer;
  if (!tensor || given.tile.rank() < 1) return WrongType(n, "names no block of a tensor");
  const std::vector<Type> parts = PartTypes(v.type);
  if (in_.size() != parts.size()) return WrongType(n, "takes sizes and strides for each dimension of the block");
  for (size_t i = 0; i < in_.size(); ++i) {
    if (!in(i).is_tile()) return WrongType(n, "takes a pointer, sizes and strides");
    Value* part = tile(i);
    const bool integer = part->type().is_scalar() && IsInt(part->type().elem());
    if (i == 0 ? part->type() != parts[0] : !integer) return WrongType(n, "takes a pointer, sizes and strides");
    v.parts.push_back(i == 0 ? part : ToI64(part));
  }
  v.nan_padding = n.number("padding", 1) == 2 || n.word("padding") == "pad_nan";
  if (v.nan_padding && !IsFloat(v.type.tile.elem())) return WrongType(n, "pads integers with NaN");
  return Define(n, {v});
}

// %p, [offsets]
bool Translator::AdvanceBlock(const Node& n, const OpRow&) {
  if (in_.empty() || in(0).type.kind != TtType::Kind::kBlockPointer ||
      in_.size() != 1 + static_cast<size_t>(in(0).rank())) {
    return WrongType(n, "takes a block pointer and an offset for each dimension");
  }
  Val v = in(0);
  for (int d = 0; d < v.rank(); ++d) {
    const Val& by = in(static_cast<size_t>(1 + d));
    if (!by.is_tile() || !by.type.tile.is_scalar() || !IsInt(by.type.tile.elem())) {
      return WrongType(n, "takes integers as offsets");
    }
    Value*& offset = v.parts[static_cast<size_t>(1 + 2 * v.rank() + d)];
    offset = ops::Addi(b_, offset, ToI64(by.tile()));
  }
  return Define(n, {v});
}

// Which places lie in [0, size): without a sign, those before 0 lie far behind.
Value* Translator::Inside(Value* place, Value* size) {
  if (const auto promise = DefAs<AssumeOp>(size); promise && promise->predicate().lower.value_or(-1) >= 0)
    return ops::CmpI(b_, ComparisonPredicate::kLessThan, place, BroadcastTo(size, place->type().shape()),
                     Signedness::kUnsigned);
  Value* zero = ops::Integer(b_, place->type(), 0);
  Value* above = ops::CmpI(b_, ComparisonPredicate::kGreaterThanOrEqual, place, zero, Signedness::kSigned);
  Value* below = ops::CmpI(b_, ComparisonPredicate::kLessThan, place, BroadcastTo(size, place->type().shape()),
                           Signedness::kSigned);
  return ops::Andi(b_, above, below);
}

// Pointers to the block at these offsets, and which of them lie inside in the checked dimensions. What is computed for each element is
// the same for all blocks.
Translator::BlockAccess Translator::Address(const Val& block, absl::Span<Value* const> offsets,
                                            absl::Span<const int64_t> checked_dims) {
  const absl::Span<const int64_t> shape = block.type.tile.shape();
  const Type i64 = b_.types().Tile(Element::Number(Elem::kI64), shape);
  BlockAccess out;
  Value *lines = nullptr, *start = nullptr;  // elements from the block's first one; of that from the tensor's
  for (int d = 0; d < block.rank(); ++d) {
    Value* line = Along(shape, d);
    const absl::Span<const int64_t> sizes = line->type().shape();
    Value* steps = BroadcastTo(ops::Muli(b_, line, BroadcastTo(block.stride(d), sizes)), i64.shape());
    lines = lines == nullptr ? steps : ops::Addi(b_, lines, steps);
    Value* first = ops::Muli(b_, offsets[static_cast<size_t>(d)], block.stride(d));
    start = start == nullptr ? first : ops::Addi(b_, start, first);
    bool checked = false;
    for (int64_t c : checked_dims) checked |= c == d;
    if (!checked) continue;
    Value* place = ops::Addi(b_, line, BroadcastTo(offsets[static_cast<size_t>(d)], sizes));
    Value* inside = BroadcastTo(Inside(place, block.size(d)), i64.shape());
    out.mask = out.mask == nullptr ? inside : ops::Andi(b_, out.mask, inside);
  }
  out.pointers = ops::Offset(b_, BroadcastTo(ops::Offset(b_, block.parts[0], start), i64.shape()), lines);
  return out;
}

// Operand `descriptor`, then an offset for each dimension: pointers and mask.
bool Translator::DescriptorAccess(const Node& n, size_t descriptor, BlockAccess* access) {
  if (in_.size() <= descriptor || in(descriptor).type.kind != TtType::Kind::kDescriptor ||
      in_.size() < descriptor + 1 + static_cast<size_t>(in(descriptor).rank())) {
    return WrongType(n, "takes a descriptor and an offset for each of its dimensions");
  }
  const Val block = in(descriptor);
  std::vector<Value*> offsets;
  std::vector<int64_t> dims;
  for (int d = 0; d < block.rank(); ++d) {
    const Val& at = in(descriptor + 1 + static_cast<size_t>(d));
    if (!at.is_tile() || !at.type.tile.is_scalar() || !IsInt(at.type.tile.elem())) {
      return WrongType(n, "takes integers as offsets");
    }
    offsets.push_back(ToI64(at.tile()));
    dims.push_back(d);
  }
  *access = Address(block, offsets, dims);
  return true;
}

// tt.descriptor_load %d[%i, %j]; the result may leave out dimensions of size 1.
bool Translator::DescriptorLoad(const Node& n, const OpRow&) {
  Type t;
  BlockAccess at;
  if (!Output(n, &t) || !DescriptorAccess(n, 0, &at)) return false;
  const Type block = in(0).type.tile;
  if (!(block.element() == t.element()) || block.num_elements() != t.num_elements()) {
    return WrongType(n, "gives another tile than the descriptor's block");
  }
  Value* padding = in(0).nan_padding ? ops::Splat(b_, block, std::nan("")) : ops::Integer(b_, block, 0);
  Value* result = nullptr;
  return LoadFrom(n, at.pointers, at.mask, padding, &result) && Define(n, Reshape(result, t.shape()));
}

// tt.descriptor_store %d[%i, %j], %value
bool Translator::DescriptorStore(const Node& n, const OpRow&) {
  BlockAccess at;
  if (!DescriptorAccess(n, 0, &at)) return false;
  const Type block = in(0).type.tile;
  const Val& value = in_.back();
  if (in_.size() != 2 + static_cast<size_t>(block.rank()) || !value.is_tile() ||
      value.type.tile.num_elements() != block.num_elements()) {
    return WrongType(n, "stores a tile of the descriptor's block");
  }
  return StoreTo(n, at.pointers, Reshape(value.tile(), block.shape()), at.mask);
}

namespace {

struct ReduceKind {
  absl::string_view name;
  RmwMode of_int, of_unsigned;
};
constexpr ReduceKind kReduceKinds[] = {
    {"add", RmwMode::kAdd, RmwMode::kAdd},  {"and", RmwMode::kAnd, RmwMode::kAnd},
    {"or", RmwMode::kOr, RmwMode::kOr},     {"xor", RmwMode::kXor, RmwMode::kXor},
    {"max", RmwMode::kMax, RmwMode::kUmax}, {"min", RmwMode::kMin, RmwMode::kUmin},
};

}  // namespace

// tt.descriptor_reduce add, %d[%i, %j], %value: relaxed updates.
bool Translator::DescriptorReduce(const Node& n, const OpRow&) {
  BlockAccess at;
  if (!DescriptorAccess(n, 0, &at)) return false;
  const TtType type = in(0).type;
  const Type block = type.tile;
  const Val& value = in_.back();
  if (in_.size() != 2 + static_cast<size_t>(block.rank()) || !value.is_tile() ||
      value.type.tile.num_elements() != block.num_elements()) {
    return WrongType(n, "takes a tile of the descriptor's block");
  }
  const absl::string_view kind = n.words.empty() ? "" : n.words[0];
  const bool is_float = IsFloat(block.elem());
  for (const ReduceKind& k : kReduceKinds) {
    if (kind != k.name || (is_float && kind != "add")) continue;
    ops::Access a;
    a.mask = at.mask;
    a.token = order_.ForWrite(b_);
    const RmwMode mode = is_float ? RmwMode::kAddf : type.is_unsigned ? k.of_unsigned : k.of_int;
    order_.NoteWrite(ops::AtomicRmw(b_, mode, at.pointers, Reshape(value.tile(), block.shape()), a).token);
    return true;
  }
  return Unsupported(n, absl::StrCat("updates ", is_float ? "floats by " : "by ", kind),
                     "use add; and, or, xor, max, min of integers; or atomics through pointers");
}

// --- rows by index ----------------------------------------------------------------------------------------------------

// Operands `descriptor`, rows, first column: pointers to rows by columns, and which lie inside.
bool Translator::RowsAccess(const Node& n, size_t descriptor, Type tile, BlockAccess* access) {
  const bool right = in_.size() >= descriptor + 3 && in(descriptor).type.kind == TtType::Kind::kDescriptor &&
                     in(descriptor).rank() == 2 && tile.is_tile() && tile.rank() == 2;
  const Val rows = right ? in(descriptor + 1) : Val(), column = right ? in(descriptor + 2) : Val();
  if (!right || !rows.is_tile() || rows.type.tile.rank() != 1 || !IsInt(rows.type.tile.elem()) || !column.is_tile() ||
      !column.type.tile.is_scalar() || !IsInt(column.type.tile.elem()) ||
      rows.type.tile.shape()[0] != tile.shape()[0]) {
    return WrongType(n, "takes a descriptor of two dimensions, a row for each line of the tile and the first column");
  }
  const Val& d = in(descriptor);
  const std::vector<int64_t> shape = {tile.shape()[0], tile.shape()[1]};
  Value* sum = nullptr;
  for (int k = 0; k < 2; ++k) {
    const std::vector<int64_t> line = {k == 0 ? shape[0] : 1, k == 0 ? 1 : shape[1]};
    Value* place = k == 0 ? Reshape(ToI64(rows.tile()), line)
                          : ops::Addi(b_, Along(shape, 1), BroadcastTo(ToI64(column.tile()), line));
    Value* steps = BroadcastTo(ops::Muli(b_, place, BroadcastTo(d.stride(k), line)), shape);
    sum = k == 0 ? steps : ops::Addi(b_, sum, steps);
    Value* inside = BroadcastTo(Inside(place, d.size(k)), shape);
    access->mask = k == 0 ? inside : ops::Andi(b_, access->mask, inside);
  }
  access->pointers = ops::Offset(b_, BroadcastTo(d.parts[0], shape), sum);
  return true;
}

// tt.descriptor_gather %d[%rows, %column] : (…) -> tensor<8x16xf32>
bool Translator::DescriptorGather(const Node& n, const OpRow&) {
  Type t;
  BlockAccess at;
  if (!Output(n, &t) || !RowsAccess(n, 0, t, &at)) return false;
  Value* padding = in(0).nan_padding ? ops::Splat(b_, t, std::nan("")) : ops::Integer(b_, t, 0);
  Value* result = nullptr;
  return LoadFrom(n, at.pointers, at.mask, padding, &result) && Define(n, result);
}

// tt.descriptor_scatter %d[%rows, %column], %value. Of rows that occur twice, either may remain.
bool Translator::DescriptorScatter(const Node& n, const OpRow&) {
  BlockAccess at;
  const Type t = in_.empty() || !in_.back().is_tile() ? Type() : in_.back().type.tile;
  if (in_.size() != 4 || !RowsAccess(n, 0, t, &at))
    return WrongType(n, "takes a descriptor, rows, a column and a tile");
  return StoreTo(n, at.pointers, tile(3), at.mask);
}

}  // namespace tile::ir::ttir

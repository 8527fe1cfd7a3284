// Operations that move elements.

#include "absl/strings/str_cat.h"
#include "ir/ttir/translator.h"

namespace tile::ir::ttir {

// tt.splat and tt.broadcast.
bool Translator::Spread(const Node& n, const OpRow&) {
  Type t;
  if (!Output(n, &t)) return false;
  Value* v = tile(0);
  if (!(t.element() == v->type().element())) return WrongType(n, "changes the element type");
  return Define(n, BroadcastTo(v, t.shape()));
}

bool Translator::Reshaped(const Node& n, const OpRow&) {
  Type t;
  if (!Output(n, &t)) return false;
  return Define(n, Create(Opcode::kReshape, {tile(0)}, t));
}

// tt.unsplat %x : tensor<1x1xf32>: the one element. The text has the operand's type only.
bool Translator::OneElement(const Node& n, const OpRow&) {
  if (tile(0)->type().num_elements() != 1) return WrongType(n, "takes a tensor of one element");
  return Define(n, Reshape(tile(0), {}));
}

bool Translator::Transpose(const Node& n, const OpRow&) {
  const Attribute* order = n.attr("order");
  const int rank = tile(0)->type().rank();
  std::vector<bool> seen(static_cast<size_t>(rank));
  const bool right_size = order != nullptr && order->ints.size() == seen.size();
  for (int64_t d : right_size ? order->ints : std::vector<int64_t>{-1}) {
    if (d < 0 || d >= rank || seen[static_cast<size_t>(d)]) return WrongType(n, "does not permute its dimensions");
    seen[static_cast<size_t>(d)] = true;
  }
  return Define(n, rank < 2 ? tile(0) : ops::Permute(b_, tile(0), order->ints));
}

// One dimension after the other, in any order if so allowed: in the plain one.
bool Translator::Concatenate(const Node& n, const OpRow&) {
  Value *a = tile(0), *b = tile(1);
  const int64_t dim = n.number("dim", 0);
  if (a->type() != b->type() || dim < 0 || dim >= a->type().rank()) return WrongType(n, "joins tensors of one type");
  return Define(n, ops::Cat(b_, a, b, dim));
}

// A new last dimension of size 2.
bool Translator::JoinTiles(const Node& n, const OpRow&) {
  Value *a = tile(0), *b = tile(1);
  if (a->type() != b->type()) return WrongType(n, "joins tensors of one type");
  std::vector<int64_t> shape(a->type().shape().begin(), a->type().shape().end());
  shape.push_back(1);
  return Define(n, ops::Cat(b_, Reshape(a, shape), Reshape(b, shape), static_cast<int64_t>(shape.size()) - 1));
}

bool Translator::SplitTile(const Node& n, const OpRow&) {
  Value* v = tile(0);
  const absl::Span<const int64_t> shape = v->type().shape();
  if (shape.empty() || shape.back() != 2) return WrongType(n, "splits a last dimension of size 2");
  std::vector<int64_t> slice(shape.begin(), shape.end());
  slice.back() = 1;
  const std::vector<int64_t> half(shape.begin(), shape.end() - 1);
  std::vector<Val> halves;
  const Type i32 = b_.types().Scalar(Elem::kI32);
  for (int k = 0; k < 2; ++k) {
    ops::Values index(shape.size(), ops::Integer(b_, i32, 0));
    index.back() = ops::Integer(b_, i32, k);
    halves.push_back(TileVal(Reshape(ops::Extract(b_, WithShape(v, slice), v, index), half)));
  }
  return Define(n, halves);
}

// Numbers that count along a dimension of `size` elements, as i64. Memory and comparisons would take others without a word, so this is
// promised of them, which the VM's checks look at.
Value* Translator::IndexAlong(Value* index, int64_t axis, int64_t size) {
  Predicate inside;
  inside.kind = Predicate::Kind::kBounded;
  inside.lower = 0;
  inside.upper = size - 1;
  inside.along = axis;
  return ops::Assume(b_, ToI64(index), inside);
}

// Through memory of the block: store the tile, load the elements. Storage stands at the kernel's begin, once for all
// iterations around.
bool Translator::GatherTile(const Node& n, const OpRow&) {
  Value *v = tile(0), *index = tile(1);
  const int rank = v->type().rank();
  const int64_t axis = n.number("axis", -1);
  bool good = rank >= 1 && index->type().rank() == rank && axis >= 0 && axis < rank && IsInt(index->type().elem()) &&
              !v->type().element().is_pointer() && !IsSubByte(v->type().elem());
  for (int d = 0; good && d < rank; ++d) good = d == axis || v->type()->shape[d] == index->type()->shape[d];
  if (!good) return WrongType(n, "gathers along one dimension by indices of the other dimensions' sizes");
  const Type scalar = b_.types().Scalar(Element::Pointer(v->type().elem()));
  Value* base = ops::Alloca(b_, scalar, v->type().num_elements(), std::max(16, StorageBytes(v->type().elem())));
  Op* storage = base->def();
  Block* body = storage->block();
  while (body->parent() != nullptr) body = body->parent()->block();
  storage->Unlink();
  module_.InsertBefore(body, body->front(), storage);
  const auto at = [&](absl::Span<const int64_t> shape, Value* along_axis) {
    int64_t stride = 1;
    Value* sum = nullptr;
    const Type t = b_.types().Tile(Element::Number(Elem::kI64), shape);
    for (int d = rank - 1; d >= 0; --d) {
      Value* place = d == axis && along_axis != nullptr ? along_axis : BroadcastTo(Along(shape, d), shape);
      Value* term = ops::Muli(b_, place, ops::Integer(b_, t, stride));
      sum = sum == nullptr ? term : ops::Addi(b_, sum, term);
      stride *= v->type()->shape[d];
    }
    return ops::Offset(b_, BroadcastTo(base, shape), sum);
  };
  index = IndexAlong(index, axis, v->type()->shape[static_cast<size_t>(axis)]);
  Value* written = ops::StorePtr(b_, at(v->type().shape(), nullptr), v, {.token = order_.ForWrite(b_)});
  order_.NoteWrite(written);
  const ops::Loaded read = ops::LoadPtr(b_, at(index->type().shape(), index), {.token = order_.ForRead()});
  order_.NoteRead(read.token);
  return Define(n, read.value);
}

}  // namespace tile::ir::ttir

// Steps that store: each to memory of its own, the blocks side by side.
#include <algorithm>

#include "tests/fuzz/generator.h"

namespace tile::fuzz {

void Generator::After(Value* token) {
  if (in_loop_) {
    token_ = token;
  } else if (r_.Percent(30)) {
    token_ = op::JoinTokens(b_, {token_, token});
  }
}

// Through any view of memory of the block.
Value* Generator::StoreCut(Val x, Value* token) {
  if (x.rank() == 0) x = Shaped(x, {1});
  Cut cut = Design(x.elem(), x.shape(), int64_t{1} << 16, true);
  const Region region = OutputRegion(x.elem(), cut.span, true, x.exact);
  MakeView(&cut, Tensor(region, cut.sizes, cut.strides), false);
  const op::Values indices = Indices(cut, true);
  return op::StoreView(b_, x.v, cut.view, indices, How(token, true, x.elem()));
}

// Through a view of memory of all blocks, each of them at its place.
Value* Generator::StoreOfAll(Val x, Value* token) {
  if (x.rank() == 0) x = Shaped(x, {1});
  const Elem e = x.elem();
  const int rank = x.rank();
  Cut cut;
  cut.tile = x.shape();
  cut.kind = r_.Percent(70) ? ViewKind::kPartition : ViewKind::kStrided;
  cut.dim_map = r_.Percent(60) ? Identity(rank) : Permutation(rank);
  // One dimension for the number of the block, or one each for its coordinates.
  const bool apart = rank >= 3 && r_.Percent(60);
  const Shape order = Permutation(rank);
  op::Values indices(cut.tile.size());
  cut.sizes.assign(cut.tile.size(), 1);
  const Elem index = Elem::kI32;
  for (int i = 0; i < rank; ++i) {
    const auto k = static_cast<size_t>(order[static_cast<size_t>(i)]);
    const int64_t t = cut.tile[k];
    const int64_t n = apart && i < 3 ? out_.grid[i] : !apart && i == 0 ? blocks_ : 1;
    const int64_t step = cut.kind == ViewKind::kPartition ? t : t + r_.Below(3);
    indices[k] = apart && i < 3 ? ids_[static_cast<size_t>(i)] : !apart && i == 0 ? block_ : Constant(index, 0);
    int64_t& size = cut.sizes[static_cast<size_t>(cut.dim_map[k])];
    size = (n - 1) * step + t - (r_.Percent(50) ? 0 : r_.Below(t));
    while (cut.steps.size() < cut.tile.size()) cut.steps.push_back(1);
    cut.steps[k] = step;
  }
  if (ir::IsSubByte(e)) {
    // A byte must not belong to two blocks.
    if (cut.sizes.back() % 2 != 0 || cut.kind == ViewKind::kStrided || cut.tile.back() < 2) return StoreCut(x, token);
    cut.dim_map = Identity(rank);
    if (cut.sizes.back() % cut.tile.back() != 0) return StoreCut(x, token);
  }
  cut.strides.assign(cut.tile.size(), 1);
  const Shape lie = ir::IsSubByte(e) || r_.Percent(60) ? Identity(rank) : Permutation(rank);
  int64_t stride = 1;
  for (size_t i = cut.tile.size(); i-- > 0;) {
    const auto d = static_cast<size_t>(lie[i]);
    cut.strides[d] = stride;
    stride *= cut.sizes[d];
    if (r_.Percent(20)) stride = (stride + 8) / 8 * 8;
  }
  Settle(&cut);
  const Region region = OutputRegion(e, stride, false, x.exact);
  MakeView(&cut, Tensor(region, cut.sizes, cut.strides), false);
  return op::StoreView(b_, x.v, cut.view, indices, How(token, true, e));
}

// Through pointers, no two of them equal.
Value* Generator::StorePointers(Val x, Value* token) {
  const Elem e = r_.Of({Elem::kI32, Elem::kI64});
  const Shape shape = x.shape();
  const int64_t n = x.count(), stride = r_.Percent(60) ? 1 : r_.In(1, 3), start = r_.Percent(60) ? 0 : r_.In(0, 20);
  Value* offsets = r_.Percent(60) ? op::Iota(b_, Tile(e, {n})) : Shuffled(e, n);
  offsets = op::Reshape(b_, Tile(e, shape), offsets);
  if (stride > 1) offsets = op::Muli(b_, offsets, Splat(e, shape, stride));
  if (start > 0) offsets = op::Addi(b_, offsets, Splat(e, shape, start));
  const int64_t size = (n - 1) * stride + start + 1;
  const Region region = OutputRegion(x.elem(), size, true, x.exact);
  op::Access a = How(token, true, x.elem());
  if (r_.Percent(50)) {
    Value* bound = Shaped({Number(e, r_.In(1, size + 4))}, shape).v;
    a.mask = op::CmpI(b_, ir::ComparisonPredicate::kLessThan, offsets, bound, ir::Signedness::kSigned);
  }
  if (r_.Percent(15)) {
    Value* random = Operand(Elem::kI1, shape).v;
    a.mask = a.mask == nullptr ? random : op::Andi(b_, a.mask, random);
  }
  return op::StorePtr(b_, Pointers(region, offsets), x.v, a);
}

// Scattered along one dimension, each element to a place of its own.
Value* Generator::StoreScatter(Val x, Value* token) {
  const auto dim = static_cast<size_t>(r_.Below(x.rank()));
  const Shape shape = x.shape();
  Shape sizes = shape, strides(shape.size(), 1), line(shape.size(), 1);
  sizes[dim] += r_.Below(4);
  for (size_t d = shape.size() - 1; d-- > 0;) strides[d] = strides[d + 1] * sizes[d + 1];
  const Region region = OutputRegion(x.elem(), strides[0] * sizes[0], true, x.exact);
  Value* tensor = Tensor(region, sizes, strides);
  line[dim] = shape[dim];
  const Elem e = IndexType(2 * sizes[dim]);
  Value* indices = op::Reshape(b_, Tile(e, line), Shuffled(e, shape[dim]));
  indices = op::Broadcast(b_, Tile(e, shape), indices);
  const bool check = r_.Percent(50);
  if (check) indices = op::Addi(b_, indices, Splat(e, shape, r_.Below(3)));  // some behind the end
  op::Access a;
  a.token = token;
  return op::StoreScatterView(b_, tensor, indices, x.v, static_cast<int64_t>(dim), check, a);
}

void Generator::Store(Val x) {
  if (x.exact && std::find(elems_.begin(), elems_.end(), x.elem()) == elems_.end()) {
    x = Converted(x, x.elem() == Elem::kI64 ? Elem::kI32 : IntElement());
    if (std::find(elems_.begin(), elems_.end(), x.elem()) == elems_.end()) x = Converted(x, IntElement());
  }
  Value* token = Before();
  const int64_t how = r_.Below(10);
  Value* done = nullptr;
  if (how < 3) {
    done = StoreCut(x, token);
  } else if (how < 6) {
    done = StoreOfAll(x, token);
  } else if (how < 9 && !ir::IsSubByte(x.elem())) {
    done = x.rank() > 0 && r_.Percent(30) ? StoreBlock(x, token) : StorePointers(x, token);
  } else if (x.rank() > 0 && !ir::IsSubByte(x.elem())) {
    done = StoreScatter(x, token);
  } else {
    done = StoreCut(x, token);
  }
  After(done);
}

}  // namespace tile::fuzz

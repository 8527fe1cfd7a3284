// Blocks of tensors as Triton's descriptors are in tile code: pointers and a mask. They begin anywhere, in front of the tensor and behind it.
#include <algorithm>

#include "tests/fuzz/generator.h"

namespace tile::fuzz {

// Sizes and strides (of i64) for blocks in memory of at most `room` elements.
Block Generator::DesignBlock(const Shape& tile, int64_t room) {
  Block block;
  block.tile = tile;
  // Or every other column, as of a strided convolution; what surrounds products goes through descriptors, which have no such.
  int64_t stride = !OfProducts() && !OfLoops() && r_.Percent(25) ? r_.In(2, 3) : 1;
  block.strides.assign(tile.size(), 1);
  for (const int64_t t : tile) block.sizes.push_back(r_.In(1, 2 * t));
  for (size_t d = tile.size(); d-- > 0;) {
    if (stride * block.sizes[d] > room) block.sizes[d] = std::max<int64_t>(1, room / stride);
    block.strides[d] = stride;
    stride *= block.sizes[d];
    if (d > 0 && r_.Percent(30)) stride = r_.Percent(50) ? (stride + 8) / 8 * 8 : stride + r_.In(1, 3);
  }
  block.span = 1;
  for (size_t d = 0; d < tile.size(); ++d) block.span += (block.sizes[d] - 1) * block.strides[d];
  // A tensor of nothing.
  if (r_.Percent(5)) block.sizes[static_cast<size_t>(r_.Below(static_cast<int64_t>(tile.size())))] = -r_.In(0, 3);
  return block;
}

// Where the block begins in dimension d: at a multiple of its size, at a number, behind what the program computes.
Value* Generator::BlockOffset(const Block& block, size_t d) {
  const int64_t t = block.tile[d];
  const Elem e = Elem::kI32;
  if (r_.Percent(30)) return op::Muli(b_, op::Addi(b_, Index(4, e), Constant(e, -1)), Constant(e, t));
  if (r_.Percent(50)) return Number(e, r_.In(-2 * t, 3 * t));
  if (r_.Percent(10)) return Number(e, r_.Of({int64_t{INT32_MIN}, int64_t{INT32_MAX}, int64_t{INT32_MIN} + t}));
  return op::Addi(b_, Index(3 * t, e), Constant(e, r_.In(-2 * t, 0)));
}

// Pointers to the block at these offsets (i32), and which of its elements lie inside of the tensor.
Value* Generator::BlockPointers(const Region& region, const Block& block, const op::Values& offsets, Value** mask) {
  const Shape& tile = block.tile;
  const Elem e = Elem::kI64;
  const auto spread = [&](Value* scalar, const Shape& shape) {
    Value* one = op::Reshape(b_, Tile(e, Shape(tile.size(), 1)), scalar);
    return shape == Shape(tile.size(), 1) ? one : op::Broadcast(b_, Tile(e, shape), one);
  };
  Value *lines = nullptr, *start = nullptr;
  *mask = nullptr;
  for (size_t d = 0; d < tile.size(); ++d) {
    Shape line(tile.size(), 1);
    line[d] = tile[d];
    const auto over = [&](Value* v, Elem of) { return line == tile ? v : op::Broadcast(b_, Tile(of, tile), v); };
    Value* size = Number(e, block.sizes[d]);
    const bool positive = block.sizes[d] > 0 && r_.Percent(50);
    if (positive) {
      ir::Predicate p;
      p.kind = ir::Predicate::Kind::kBounded;
      p.lower = 1;
      size = op::Assume(b_, size, p);
    }
    Value* stride = Number(e, block.strides[d]);
    Value* at = op::Exti(b_, b_.types().Scalar(e), offsets[d], ir::Signedness::kSigned);
    Value* numbers = op::Reshape(b_, Tile(Elem::kI32, line), op::Iota(b_, Tile(Elem::kI32, {tile[d]})));
    numbers = op::Exti(b_, Tile(e, line), numbers, ir::Signedness::kSigned);
    Value* steps = over(op::Muli(b_, numbers, spread(stride, line)), e);
    lines = lines == nullptr ? steps : op::Addi(b_, lines, steps);
    Value* first = op::Muli(b_, at, stride);
    start = start == nullptr ? first : op::Addi(b_, start, first);
    Value* place = op::Addi(b_, numbers, spread(at, line));
    const auto compare = [&](ir::ComparisonPredicate how, Value* with, ir::Signedness sign) {
      return op::CmpI(b_, how, place, with, sign);
    };
    Value* inside = compare(ir::ComparisonPredicate::kLessThan, spread(size, line),
                            positive ? ir::Signedness::kUnsigned : ir::Signedness::kSigned);
    if (!positive) {
      Value* above = compare(ir::ComparisonPredicate::kGreaterThanOrEqual, op::Integer(b_, Tile(e, line), 0),
                             ir::Signedness::kSigned);
      inside = op::Andi(b_, above, inside);
    }
    inside = over(inside, Elem::kI1);
    *mask = *mask == nullptr ? inside : op::Andi(b_, *mask, inside);
  }
  Region moved = region;
  moved.pointer = op::Offset(b_, region.pointer, start);
  return Pointers(moved, lines);
}

Val Generator::LoadBlock(const Region& region, const Block& block, const op::Values& offsets, op::Access how,
                         Value** done) {
  Value* pointers = BlockPointers(region, block, offsets, &how.mask);
  how.padding = op::Splat(b_, Tile(region.elem, block.tile), 0);
  const op::Loaded loaded = op::LoadPtr(b_, pointers, how);
  if (done != nullptr) *done = loaded.token;
  return {loaded.value, region.bound};
}

Val Generator::LoadBlock(const Region& region, const Shape& tile, Value* token, Value** done) {
  const Block block = DesignBlock(tile, region.size);
  op::Values offsets;
  for (size_t d = 0; d < tile.size(); ++d) offsets.push_back(BlockOffset(block, d));
  return LoadBlock(region, block, offsets, How(token, false, region.elem), done);
}

Value* Generator::StoreBlock(const Val& x, Value* token) {
  const Block block = DesignBlock(x.shape(), int64_t{1} << 16);
  const Region region = OutputRegion(x.elem(), block.span, true, x.exact);
  op::Values offsets;
  for (size_t d = 0; d < block.tile.size(); ++d) offsets.push_back(BlockOffset(block, d));
  op::Access how = How(token, true, x.elem());
  Value* pointers = BlockPointers(region, block, offsets, &how.mask);
  return op::StorePtr(b_, pointers, x.v, how);
}

}  // namespace tile::fuzz

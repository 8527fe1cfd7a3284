// Steps that load, and that go through memory and back.
#include <algorithm>

#include "ir/float.h"
#include "tests/fuzz/generator.h"

namespace tile::fuzz {
namespace {

int64_t RoundUp(int64_t n, int64_t to) { return (n + to - 1) / to * to; }

int64_t Span(const Shape& sizes, const Shape& strides) {
  int64_t last = 0;
  for (size_t d = 0; d < sizes.size(); ++d) last += (sizes[d] - 1) * strides[d];
  return last + 1;
}

}  // namespace

// --- memory
// -----------------------------------------------------------------------------------------------------------

int Generator::FindArray(Role role, Elem e) const {
  for (size_t i = 0; i < roles_.size(); ++i) {
    if (roles_[i] == role && out_.arrays[i].elem == e) return static_cast<int>(i);
  }
  return -1;
}

Region Generator::Part(int array, Value* first, int64_t size, bool aligned) {
  const RandomArray& a = out_.arrays[static_cast<size_t>(array)];
  Region region{arrays_[static_cast<size_t>(array)], a.elem, size, a.fill == Fill::kSmall ? 4.0 : -1.0, aligned};
  if (first != nullptr) region.pointer = op::Offset(b_, region.pointer, first);
  if (aligned && r_.Percent(60)) {
    ir::Predicate p;
    p.divisor = 16;
    region.pointer = op::Assume(b_, region.pointer, p);
  }
  return region;
}

Region Generator::InputRegion() {
  int array = 0;
  do {
    array = static_cast<int>(r_.Below(static_cast<int64_t>(arrays_.size())));
  } while (roles_[static_cast<size_t>(array)] != Role::kInput);
  const RandomArray& a = out_.arrays[static_cast<size_t>(array)];
  // Elements of half a byte are counted in bytes.
  const int64_t unit = ir::IsSubByte(a.elem) ? 2 : 1;
  const int64_t bytes = std::max<int64_t>(1, ir::MemoryBits(a.elem) / 8);
  const int64_t most = a.count / 4 / unit;
  switch (r_.Below(4)) {
    case 0: return Part(array, nullptr, a.count, true);
    case 1: {
      const int64_t first = r_.Below(most / 16) * 16;
      return Part(array, Number(Elem::kI64, first), a.count - first * unit, first * bytes % 16 == 0);
    }
    case 2: {
      const int64_t first = r_.Below(most);
      return Part(array, Number(Elem::kI32, first), a.count - first * unit, first * bytes % 16 == 0);
    }
    default: {
      const int64_t each = std::max<int64_t>(1, most / blocks_);
      const int64_t step = r_.Percent(50) && each >= 16 ? each / 16 * 16 : each;
      Value* first = op::Muli(b_, block_, Constant(Elem::kI32, step));
      return Part(array, first, a.count - step * (blocks_ - 1) * unit, step * bytes % 16 == 0);
    }
  }
}

Region Generator::OutputRegion(Elem e, int64_t size, bool of_block, bool exact) {
  const int array = FindArray(exact ? Role::kOutput : Role::kInexact, e);
  if (array < 0) return {};
  const int64_t unit = ir::IsSubByte(e) ? 2 : 1;
  const int64_t bytes = std::max<int64_t>(1, ir::MemoryBits(e) / 8);
  int64_t& used = used_[static_cast<size_t>(array)];
  used = RoundUp(used, r_.Percent(70) ? 16 * unit : unit);
  const int64_t each = RoundUp(size, r_.Percent(70) ? 16 * unit : unit);
  const int64_t first = used / unit, step = each / unit;
  used += each * (of_block ? blocks_ : 1);
  Value* at = Constant(Elem::kI32, first);
  if (of_block) at = op::Addi(b_, at, op::Muli(b_, block_, Constant(Elem::kI32, step)));
  const bool aligned = first * bytes % 16 == 0 && (!of_block || step * bytes % 16 == 0);
  return Part(array, at, size, aligned);
}

Value* Generator::Tensor(const Region& region, const Shape& sizes, const Shape& strides) {
  const Elem e = r_.Of({Elem::kI32, Elem::kI64});
  Shape size_type = sizes, stride_type = strides;
  op::Values size_values, stride_values;
  for (int64_t& n : size_type) {
    if (!r_.Percent(30)) continue;
    size_values.push_back(Number(e, n));
    n = ir::kDynamic;
  }
  for (int64_t& n : stride_type) {
    if (n == 1 ? !r_.Percent(5) : !r_.Percent(30)) continue;
    if (ir::IsSubByte(region.elem) && n == 1) continue;
    stride_values.push_back(Number(e, n));
    n = ir::kDynamic;
  }
  const ir::Type type = b_.types().TensorView(ir::Element::Number(region.elem), size_type, stride_type);
  return op::MakeTensorView(b_, type, region.pointer, size_values, stride_values);
}

// --- views
// ------------------------------------------------------------------------------------------------------------

// A tensor that a view with this tile cuts, in memory of at most `room` elements.
Cut Generator::Design(Elem e, const Shape& tile, int64_t room, bool store) {
  const int rank = static_cast<int>(tile.size());
  Cut cut;
  cut.tile = tile;
  const int64_t kind = r_.Below(10);
  cut.kind = kind < 6 ? ViewKind::kPartition : kind < 8 ? ViewKind::kStrided : ViewKind::kGather;
  cut.dim_map = cut.kind == ViewKind::kGather || r_.Percent(60) ? Identity(rank) : Permutation(rank);
  cut.sparse = static_cast<int>(r_.Below(rank));
  cut.sizes.assign(tile.size(), 1);
  for (size_t k = 0; k < tile.size(); ++k) {
    const int64_t t = tile[k];
    int64_t& n = cut.sizes[static_cast<size_t>(cut.dim_map[k])];
    const int64_t step = r_.In(1, 2 * t);
    cut.steps.push_back(step);
    switch (cut.kind) {
      case ViewKind::kPartition: n = t * r_.In(1, 2) - (r_.Percent(50) ? 0 : r_.Below(t)); break;
      case ViewKind::kStrided: n = step * r_.In(0, 2) + r_.In(1, t); break;
      case ViewKind::kGather: n = std::min<int64_t>(100, r_.In(1, 2 * t)); break;
    }
  }
  const bool half = ir::IsSubByte(e);
  const Shape order = half || r_.Percent(60) ? Identity(rank) : Permutation(rank);
  for (int attempt = 0;; ++attempt) {
    if (half) cut.sizes[tile.size() - 1] = RoundUp(cut.sizes[tile.size() - 1], 2);
    cut.strides.assign(tile.size(), 1);
    int64_t stride = 1;
    for (int i = rank - 1; i >= 0; --i) {
      const auto d = static_cast<size_t>(order[static_cast<size_t>(i)]);
      cut.strides[d] = stride;
      stride *= cut.sizes[d];
      if (attempt == 0 && r_.Percent(20))
        stride = half || r_.Percent(50) ? RoundUp(stride + 1, 8) : stride + r_.In(1, 3);
      // Rows that overlap.
      if (attempt == 0 && !store && !half && r_.Percent(4)) stride = r_.In(1, stride);
    }
    cut.span = Span(cut.sizes, cut.strides);
    if (cut.span <= room) break;
    int64_t& largest = *std::max_element(cut.sizes.begin(), cut.sizes.end());
    largest = (largest + 1) / 2;
  }
  Settle(&cut);
  return cut;
}

Cut Generator::DesignOver(const Shape& sizes, const Shape& strides, const Shape& tile) {
  Cut cut;
  cut.tile = tile;
  const int rank = static_cast<int>(tile.size());
  const int64_t kind = r_.Below(10);
  cut.kind = kind < 6 ? ViewKind::kPartition : kind < 8 ? ViewKind::kStrided : ViewKind::kGather;
  cut.dim_map = cut.kind == ViewKind::kGather || r_.Percent(50) ? Identity(rank) : Permutation(rank);
  cut.sparse = static_cast<int>(r_.Below(rank));
  cut.sizes = sizes;
  cut.strides = strides;
  cut.span = Span(sizes, strides);
  for (const int64_t t : tile) cut.steps.push_back(r_.In(1, 2 * t));
  Settle(&cut);
  return cut;
}

void Generator::Settle(Cut* cut) {
  const size_t rank = cut->tile.size();
  if (cut->dim_map.empty()) cut->dim_map = Identity(static_cast<int>(rank));
  cut->inside = cut->kind == ViewKind::kPartition;
  for (size_t k = 0; k < rank; ++k) cut->inside &= cut->sizes[static_cast<size_t>(cut->dim_map[k])] % cut->tile[k] == 0;
}

void Generator::MakeView(Cut* cut, Value* tensor, bool load) {
  const ir::Type t = tensor->type();
  const Elem e = t.elem();
  std::optional<ir::Padding> padding;
  if (load && (!cut->inside || r_.Percent(50))) {
    using ir::Padding;
    padding = Padding::kZero;
    if (ir::IsFp(e) || e == Elem::kTF32 || e == Elem::kF8E5M2) {
      padding =
          r_.Of({Padding::kZero, Padding::kZero, Padding::kNegZero, Padding::kNan, Padding::kPosInf, Padding::kNegInf});
    } else if (e == Elem::kF8E4M3FN) {
      padding = r_.Of({Padding::kZero, Padding::kNegZero, Padding::kNan});
    } else if (e == Elem::kF8E8M0FNU) {
      padding = Padding::kNan;
    }
  }
  const Shape map = r_.Percent(50) ? cut->dim_map : Shape();
  const bool identity = std::is_sorted(cut->dim_map.begin(), cut->dim_map.end());
  const Shape& dims = identity ? map : cut->dim_map;
  switch (cut->kind) {
    case ViewKind::kPartition:
      cut->view = op::MakePartitionView(b_, b_.types().PartitionView(cut->tile, t, dims, padding), tensor);
      break;
    case ViewKind::kStrided:
      cut->view = op::MakeStridedView(b_, b_.types().StridedView(cut->tile, cut->steps, t, dims, padding), tensor);
      break;
    case ViewKind::kGather:
      cut->view =
          op::MakeGatherScatterView(b_, b_.types().GatherScatterView(cut->tile, t, cut->sparse, padding), tensor);
      break;
  }
}

// 0 … n-1 in another order, n a power of two.
Value* Generator::Shuffled(Elem e, int64_t n) {
  const ir::Type t = Tile(e, {n});
  Value* v = op::Iota(b_, t);
  if (r_.Percent(60)) v = op::Xori(b_, v, op::Integer(b_, t, r_.Below(n)));
  if (r_.Percent(40))
    v = op::Andi(b_, op::Muli(b_, v, op::Integer(b_, t, 2 * r_.Below(n) + 1)), op::Integer(b_, t, n - 1));
  return v;
}

op::Values Generator::Indices(const Cut& cut, bool store) {
  int64_t largest = 1;
  for (const int64_t n : cut.sizes) largest = std::max(largest, n);
  const Elem e = IndexType(std::max(largest, 2 * *std::max_element(cut.tile.begin(), cut.tile.end())));
  op::Values indices;
  for (size_t k = 0; k < cut.tile.size(); ++k) {
    const int64_t n = cut.sizes[static_cast<size_t>(cut.dim_map[k])];
    const int64_t step = cut.kind == ViewKind::kPartition ? cut.tile[k]
                         : cut.kind == ViewKind::kStrided ? cut.steps[k]
                                                          : 1;
    if (cut.kind != ViewKind::kGather || static_cast<int>(k) != cut.sparse) {
      indices.push_back(Index((n + step - 1) / step, e));
    } else if (store) {
      indices.push_back(Shuffled(e, cut.tile[k]));
    } else {
      const Val any = Operand(e, {cut.tile[k]});
      Value* near = op::Remi(b_, any.v, Splat(e, {cut.tile[k]}, n + r_.Below(3)), ir::Signedness::kUnsigned);
      indices.push_back(r_.Percent(80) ? near : any.v);
    }
  }
  return indices;
}

op::Access Generator::How(Value* token, bool store, Elem e) {
  op::Access a;
  a.token = token;
  if (!ir::IsSubByte(e) && r_.Percent(10)) {
    using ir::MemoryOrdering;
    a.ordering = r_.Of({MemoryOrdering::kRelaxed, store ? MemoryOrdering::kRelease : MemoryOrdering::kAcquire});
    a.scope = r_.Of({ir::MemoryScope::kTlBlk, ir::MemoryScope::kDevice, ir::MemoryScope::kSys});
  }
  return a;
}

// --- loads
// ------------------------------------------------------------------------------------------------------------

Val Generator::LoadCut(const Region& region, Cut cut, Value* token, Value** done) {
  Value* tensor = region.pointer->type().is_tensor_view() ? region.pointer : Tensor(region, cut.sizes, cut.strides);
  MakeView(&cut, tensor, true);
  const op::Values indices = Indices(cut, false);
  op::Access a = How(token, false, region.elem);
  if (cut.inside && r_.Percent(40)) a.inbounds.assign(cut.tile.size(), 1);
  const op::Loaded loaded = op::LoadView(b_, cut.view, indices, a);
  *done = loaded.token;
  const auto padding = cut.view->type()->padding;
  Val v{loaded.value, region.bound};
  if (padding && *padding != ir::Padding::kZero) v.bound = -1;
  if (padding && *padding == ir::Padding::kNan) v.plain = false;
  return v;
}

Value* Generator::Pointers(const Region& region, Value* offsets) {
  const Shape shape(offsets->type().shape().begin(), offsets->type().shape().end());
  Value* p = region.pointer;
  const auto type = [&](const Shape& s) { return b_.types().Tile(p->type().element(), s); };
  if (!shape.empty()) {
    p = op::Reshape(b_, type(Shape(shape.size(), 1)), p);
    p = op::Broadcast(b_, type(shape), p);
  }
  return op::Offset(b_, p, offsets);
}

// Numbers of elements in memory order, but that groups of neighbours along one dimension have the number of their first.
Value* Generator::Repeated(Elem e, const Shape& shape) {
  const int rank = static_cast<int>(shape.size()), dim = static_cast<int>(r_.Below(rank));
  Value* sum = Splat(e, shape, 0);
  int64_t stride = 1;
  for (int d = rank - 1; d >= 0; --d) {
    const auto at = static_cast<size_t>(d);
    Shape line(shape.size(), 1);
    line[at] = shape[at];
    Value* number = op::Reshape(b_, Tile(e, line), op::Iota(b_, Tile(e, {shape[at]})));
    if (d == dim) number = op::Divi(b_, number, Splat(e, line, r_.Of({2, 4, 8})), ir::Signedness::kUnsigned);
    number = op::Muli(b_, number, Splat(e, line, stride));
    sum = op::Addi(b_, sum, op::Broadcast(b_, Tile(e, shape), number));
    stride *= shape[at];
  }
  return sum;
}

Val Generator::LoadPointers(const Region& region, const Shape& shape, Value* token, Value** done) {
  const Elem e = r_.Of({Elem::kI32, Elem::kI64});
  const int64_t n = Count(shape);
  Value *offsets = nullptr, *mask = nullptr;
  if (r_.Percent(60) && n <= region.size) {
    offsets = Repeats() && !shape.empty() && r_.Percent(80)
                  ? Repeated(e, shape)
                  : op::Reshape(b_, Tile(e, shape), op::Iota(b_, Tile(e, {n})));
    const int64_t stride = r_.Percent(60) ? 1 : r_.In(1, 3);
    if (stride > 1) offsets = op::Muli(b_, offsets, Splat(e, shape, stride));
    const int64_t room = std::max<int64_t>(1, (region.size - n) / 16);
    if (r_.Percent(60)) {
      const int64_t unit = r_.Of({1, 4, 16});
      Value* start = op::Muli(b_, Index(room, e), Constant(e, unit));
      offsets = op::Addi(b_, offsets, Shaped({start}, shape).v);
    }
    // Behind the end, or in the middle of a row.
    const int64_t end = r_.Percent(50) ? region.size : r_.In(1, region.size);
    Value* bound = Shaped({Number(e, end)}, shape).v;
    mask = op::CmpI(b_, ir::ComparisonPredicate::kLessThan, offsets, bound, Sign());
  } else {
    const Val any = Operand(e, shape);
    offsets = op::Remi(b_, any.v, Splat(e, shape, region.size), ir::Signedness::kUnsigned);
  }
  Value* p = Pointers(region, offsets);
  if (mask == nullptr ? r_.Percent(30) : r_.Percent(15)) {
    Value* random = Operand(Elem::kI1, shape).v;
    mask = mask == nullptr ? random : op::Andi(b_, mask, random);
  }
  Val padding;
  const bool plain = Repeats() && r_.Percent(70);
  if (mask != nullptr) padding = plain ? Shaped(RandomConstant(region.elem, {}), shape) : Operand(region.elem, shape);
  op::Access a = How(token, false, region.elem);
  a.mask = mask;
  a.padding = padding.v;
  const op::Loaded loaded = op::LoadPtr(b_, p, a);
  *done = loaded.token;
  const bool small = region.bound >= 0 && (mask == nullptr || padding.bound >= 0);
  return {loaded.value, small ? std::max(region.bound, padding.bound) : -1, true, padding.plain};
}

Val Generator::Load(const Region& region, const Shape& tile, Value* token, Value** done) {
  if (tile.empty() || (r_.Percent(Repeats() ? 80 : 30) && !ir::IsSubByte(region.elem))) {
    if (!ir::IsSubByte(region.elem)) return LoadPointers(region, tile, token, done);
  }
  if (!tile.empty() && !ir::IsSubByte(region.elem) && r_.Percent(20)) return LoadBlock(region, tile, token, done);
  const Shape shape = tile.empty() ? Shape{2} : tile;
  return LoadCut(region, Design(region.elem, shape, region.size, false), token, done);
}

void Generator::StepLoad() {
  const Region region = InputRegion();
  Shape tile = RandomShape(RandomCount(), 4);
  if (!Legal(region.elem, tile)) tile = {2};
  Value* done = nullptr;
  Add(Load(region, tile, r_.Percent(20) ? token_ : nullptr, &done));
}

// A tile, or two, into memory that is the block's own, and another out of it.
void Generator::StepMemory() {
  Val x = Exact();
  if (x.elem() == Elem::kI4) x = Converted(x, Elem::kI8);
  if (x.rank() == 0) x = Shaped(x, {1});
  Elem e = x.elem();
  Shape tile = x.shape();
  Region region;
  Cut into;
  Value* tensor = nullptr;
  const int64_t where = r_.Below(10);
  if (where < 5 && !shared_.empty()) {
    const Region& s = r_.Of(shared_);
    region = s;
    tensor = s.pointer;
    e = s.elem;
    into.sizes.assign(tensor->type().shape().begin(), tensor->type().shape().end());
    into.strides.assign(tensor->type()->strides.begin(), tensor->type()->strides.end());
    tile = into.sizes;
    for (int64_t& n : tile) {
      int64_t t = 1;
      while (t < n) t *= 2;
      n = t;
    }
    if (!Legal(e, tile)) return;
    x = Operand(e, tile);
  } else {
    into.sizes = tile;
    if (r_.Percent(30) && x.count() * 2 <= kMaxElements) into.sizes[static_cast<size_t>(r_.Below(x.rank()))] *= 2;
    into.strides.assign(tile.size(), 1);
    const Shape order = ir::IsSubByte(e) ? Identity(x.rank()) : Permutation(x.rank());
    int64_t stride = 1;
    for (size_t i = tile.size(); i-- > 0;) {
      const auto d = static_cast<size_t>(order[i]);
      into.strides[d] = stride;
      stride *= into.sizes[d];
    }
    if (ir::IsSubByte(e) && into.sizes.back() % 2 != 0) return;
    if (where < 8 || in_loop_) {
      region = OutputRegion(e, stride, true);
      if (region.pointer == nullptr) return;
    } else {
      const ir::Type pointer = b_.types().Scalar(ir::Element::Pointer(e));
      region = {op::Alloca(b_, pointer, stride, r_.Of({8, 16, 64}), r_.Percent(30)), e, stride};
    }
    tensor = Tensor(region, into.sizes, into.strides);
  }
  into.kind = ViewKind::kPartition;
  into.tile = tile;
  if (r_.Percent(40) && tile.size() > 1 &&
      std::count(tile.begin(), tile.end(), tile[0]) == static_cast<int64_t>(tile.size())) {
    into.dim_map = Permutation(static_cast<int>(tile.size()));
  }
  Settle(&into);
  MakeView(&into, tensor, false);
  // All tiles of the tensor.
  const Elem index = r_.Of({Elem::kI32, Elem::kI64});
  Value* before = token_;
  const bool in_turn = ir::IsSubByte(e) || r_.Percent(50);
  op::Values tokens;
  double bound = x.bound;
  bool plain = x.plain;
  int64_t tiles = 1;
  for (size_t k = 0; k < tile.size(); ++k)
    tiles *= (into.sizes[static_cast<size_t>(into.dim_map[k])] + tile[k] - 1) / tile[k];
  for (int64_t i = 0; i < tiles; ++i) {
    op::Values indices;
    int64_t rest = i;
    for (size_t k = 0; k < tile.size(); ++k) {
      const int64_t n = (into.sizes[static_cast<size_t>(into.dim_map[k])] + tile[k] - 1) / tile[k];
      indices.push_back(Constant(index, rest % n));
      rest /= n;
    }
    const Val y = i == 0 ? x : Operand(e, tile);
    bound = bound >= 0 && y.bound >= 0 ? std::max(bound, y.bound) : -1;
    plain = plain && y.plain;
    tokens.push_back(op::StoreView(b_, y.v, into.view, indices, How(before, true, e)));
    // Two tiles may share a byte.
    if (in_turn) before = tokens.back();
  }
  Value* stored = tokens.size() > 1 ? op::JoinTokens(b_, tokens) : tokens[0];
  region.bound = bound;
  Value* done = nullptr;
  Val back;
  if (tensor->type()->space == ir::MemorySpace::kShared) {
    Shape to;
    for (size_t d = 0; d < tile.size(); ++d) to.push_back(int64_t{1} << r_.In(0, 5));
    if (!Legal(e, to)) to = tile;
    back = LoadCut(region, DesignOver(into.sizes, into.strides, to), stored, &done);
  } else {
    Shape to = RandomShape(RandomCount(), 4);
    if (!Legal(e, to)) to = tile;
    back = Load(region, to, stored, &done);
  }
  back.plain = back.plain && plain;
  token_ = done;
  Add(back);
}

void Generator::StepGlobal() {
  const Elem e = r_.Of({Elem::kI8, Elem::kI16, Elem::kI32, Elem::kI64});
  const int64_t n = int64_t{1} << r_.In(0, 6);
  const std::string name = "table" + std::to_string(b_.module()->globals.size());
  ir::Global* g = b_.module()->AddGlobal(name, e, n);
  std::vector<uint8_t> bytes;
  for (int64_t i = 0; i < n * ir::StorageBytes(e); ++i) bytes.push_back(static_cast<uint8_t>(r_.Next()));
  g->value.bytes = b_.module()->arena().Copy(absl::Span<const uint8_t>(bytes));
  g->alignment = static_cast<uint64_t>(r_.Of({0, 8, 64}));
  const Region region{op::GetGlobal(b_, name), e, n};
  Value* done = nullptr;
  Add(Load(region, RandomShape(int64_t{1} << r_.In(0, 7), 3), nullptr, &done));
}

}  // namespace tile::fuzz

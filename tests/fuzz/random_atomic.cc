// Steps that update memory: by operations that commute, from all blocks; or by any on memory of the block alone.
#include <algorithm>

#include "tests/fuzz/generator.h"

namespace tile::fuzz {

using ir::MemoryOrdering;
using ir::MemoryScope;
using ir::RmwMode;

op::Access Generator::UpdateAccess(bool own) {
  op::Access a;
  a.token = Before();
  a.ordering = r_.Percent(60) ? MemoryOrdering::kRelaxed
                              : r_.Of({MemoryOrdering::kAcquire, MemoryOrdering::kRelease, MemoryOrdering::kAcqRel});
  a.scope = own && r_.Percent(30) ? MemoryScope::kTlBlk : r_.Of({MemoryScope::kDevice, MemoryScope::kSys});
  return a;
}

// Any number of updates of one place.
void Generator::UpdateCommuting(Elem e) {
  const bool is_float = ir::IsFp(e);
  Shape shape = RandomShape(std::min<int64_t>(RandomCount(), 2048), 3);
  if (shape.empty()) shape = {1};
  Val x = is_float ? Small(e, shape, 4) : Operand(e, shape);
  const double total = x.bound * static_cast<double>(x.count() * blocks_ * rounds_);
  if (is_float && total > LargestWhole(e)) return;
  RmwMode mode = is_float ? r_.Of({RmwMode::kAddf, RmwMode::kSub})
                          : r_.Of({RmwMode::kAdd, RmwMode::kAdd, RmwMode::kSub, RmwMode::kAnd, RmwMode::kOr,
                                   RmwMode::kXor, RmwMode::kMax, RmwMode::kMin, RmwMode::kUmax, RmwMode::kUmin});
  const int array = FindArray(Role::kUpdates, e);
  if (array < 0) return;
  int64_t& used = used_[static_cast<size_t>(array)];
  const auto part = [&](int64_t size) {
    const int64_t first = used;
    used += size + r_.Below(3);
    return Part(array, Constant(Elem::kI32, first), size, false);
  };
  op::Access a = UpdateAccess(false);
  const int64_t how = r_.Below(4);
  if (how <= 1) {  // pointers, few places or many
    const int64_t places = r_.Of({int64_t{1}, int64_t{7}, int64_t{64}, x.count()});
    const Region region = part(places);
    const Val any = Operand(Elem::kI32, shape);
    Value* offsets = op::Remi(b_, any.v, Splat(Elem::kI32, shape, places), ir::Signedness::kUnsigned);
    if (r_.Percent(40)) a.mask = Operand(Elem::kI1, shape).v;
    const op::Loaded done = op::AtomicRmw(b_, mode, Pointers(region, offsets), x.v, a);
    return After(done.token);
  }
  Shape sizes = shape;
  for (int64_t& n : sizes) n += r_.Percent(50) ? 0 : r_.In(-n / 2, 3);
  if (how == 2) {  // a tile of a view; all blocks the same
    Cut cut;
    cut.tile = shape;
    cut.kind = r_.Percent(70) ? ViewKind::kPartition : ViewKind::kStrided;
    cut.dim_map = Identity(static_cast<int>(shape.size()));
    cut.sizes = sizes;
    cut.steps = shape;
    cut.strides.assign(shape.size(), 1);
    for (size_t d = shape.size() - 1; d-- > 0;) cut.strides[d] = cut.strides[d + 1] * sizes[d + 1];
    Settle(&cut);
    const Region region = part(cut.strides[0] * sizes[0]);
    MakeView(&cut, Tensor(region, cut.sizes, cut.strides), false);
    const op::Values indices = Indices(cut, false);
    if (r_.Percent(50)) {
      a.ordering = MemoryOrdering::kRelaxed;
      a.scope = MemoryScope::kDevice;
      return After(op::AtomicRedView(b_, mode, cut.view, indices, x.v, a));
    }
    return After(op::AtomicRmwView(b_, mode, cut.view, indices, x.v, a).token);
  }
  // Scattered along one dimension.
  if (mode == RmwMode::kAnd || mode == RmwMode::kOr || mode == RmwMode::kXor) mode = RmwMode::kAdd;
  const auto dim = static_cast<size_t>(r_.Below(static_cast<int64_t>(shape.size())));
  sizes = shape;
  sizes[dim] = r_.In(1, 9);
  Shape strides(shape.size(), 1);
  for (size_t d = shape.size() - 1; d-- > 0;) strides[d] = strides[d + 1] * sizes[d + 1];
  const Region region = part(strides[0] * sizes[0]);
  Value* tensor = Tensor(region, sizes, strides);
  const Elem index = r_.Of({Elem::kI8, Elem::kI16, Elem::kI32, Elem::kI64});
  const Val any = Operand(index, shape);
  const bool check = r_.Percent(50);
  Value* indices = op::Remi(b_, any.v, Splat(index, shape, sizes[dim] + (check ? 2 : 0)), ir::Signedness::kUnsigned);
  const op::Loaded done = op::AtomicScatterView(b_, mode, tensor, indices, x.v, static_cast<int64_t>(dim), check, a);
  After(done.token);
}

// One update of each place, which gives what was there: stored before, and read afterwards.
void Generator::UpdateOwn(Elem e) {
  Shape shape = RandomShape(std::min<int64_t>(RandomCount(), 2048), 3);
  if (shape.empty()) shape = {1};
  const bool is_float = ir::IsFp(e);
  const bool wide = e == Elem::kI32 || e == Elem::kI64 || e == Elem::kF32 || e == Elem::kF64;
  const Val first = is_float ? Small(e, shape, 4) : Operand(e, shape);
  const Val x = is_float ? Small(e, shape, 4) : Operand(e, shape);
  if (is_float && first.bound + x.bound > LargestWhole(e)) return;
  const Region region = OutputRegion(e, first.count(), true);
  if (region.pointer == nullptr) return;
  Shape strides(shape.size(), 1);
  for (size_t d = shape.size() - 1; d-- > 0;) strides[d] = strides[d + 1] * shape[d + 1];
  Cut cut;
  cut.tile = shape;
  cut.sizes = shape;
  cut.strides = strides;
  Settle(&cut);
  MakeView(&cut, Tensor(region, shape, strides), false);
  const op::Values zero(shape.size(), Constant(Elem::kI32, 0));
  Value* stored = op::StoreView(b_, first.v, cut.view, zero, How(token_, true, e));
  op::Access a = UpdateAccess(true);
  a.token = stored;
  Value* offsets = op::Reshape(b_, Tile(Elem::kI32, shape), Shuffled(Elem::kI32, first.count()));
  const int64_t how = r_.Below(4);
  op::Loaded done{};
  if (how < 2 && wide) {
    // Half of the comparisons succeed.
    Val expected = first;
    if (r_.Percent(70)) {
      const Val other = is_float ? Small(e, shape, 4) : Operand(e, shape);
      const Val choice = Operand(Elem::kI1, shape);
      expected.v = op::Select(b_, choice.v, first.v, other.v);
      expected.bound = is_float ? std::max(first.bound, other.bound) : -1;
    }
    done = how == 0 ? op::AtomicCasView(b_, cut.view, zero, expected.v, x.v, a)
                    : op::AtomicCas(b_, Pointers(region, offsets), expected.v, x.v, a);
    const Val old{done.value, is_float ? std::max(first.bound, expected.bound) : -1};
    Add(old);
  } else {
    RmwMode mode = is_float ? r_.Of({RmwMode::kAddf, RmwMode::kSub}) : static_cast<RmwMode>(r_.Below(13));
    if (wide && is_float && r_.Percent(30)) mode = RmwMode::kXchg;
    if (!is_float && mode == RmwMode::kAddf) mode = RmwMode::kXchg;
    if (e == Elem::kI64 && (mode == RmwMode::kInc || mode == RmwMode::kDec)) mode = RmwMode::kAdd;
    done = how == 2 ? op::AtomicRmwView(b_, mode, cut.view, zero, x.v, a)
                    : op::AtomicRmw(b_, mode, Pointers(region, offsets), x.v, a);
    if (r_.Percent(70)) Add({done.value, is_float ? first.bound : -1});
  }
  const op::Loaded after = op::LoadView(b_, cut.view, zero, How(done.token, false, e));
  token_ = after.token;
  if (r_.Percent(50)) Add({after.value, is_float ? first.bound + x.bound : -1});
}

void Generator::StepAtomic() {
  if (r_.Percent(50)) {
    UpdateCommuting(r_.Of({Elem::kI32, Elem::kI32, Elem::kI64, Elem::kF32, Elem::kF64, Elem::kF16, Elem::kBF16}));
  } else {
    Elem e = Element();
    for (int i = 0; i < 8 && e != Elem::kI32 && e != Elem::kI64 && !ir::IsFp(e); ++i) e = Element();
    if (e == Elem::kI32 || e == Elem::kI64 || ir::IsFp(e)) UpdateOwn(e);
  }
}

}  // namespace tile::fuzz

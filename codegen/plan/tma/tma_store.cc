#include "codegen/plan/tma/tma_store.h"

#include <algorithm>

#include "codegen/analysis/store_order.h"
#include "codegen/analysis/view_dim.h"
#include "codegen/target/decisions.h"
#include "ir/op_views.h"

namespace tile::codegen {
namespace {

using ir::Op;
using ir::Type;

constexpr int64_t kMostRows = 16;  // of a box: 2 KiB
constexpr int64_t kRunBits = 512, kSwizzleBits = 1024;
// Of a box whose rows are those of all lanes.
constexpr int64_t kLaneRows = 32, kLaneRowBits = 512;

int Log2(int64_t n) { return 63 - __builtin_clzll(static_cast<uint64_t>(n)); }

// An instruction in which each thread stores neighbours writes runs of 64 bytes and more.
bool WritesLongRuns(Type view, int dim, const Layout& layout) {
  Subspace span;
  for (Mask base : layout.bases(In::kLane)) span.Insert(base);
  int n = 0;
  for (Mask bit = Mask{1} << layout.dim_shift(dim); n < layout.dim_bits(dim); ++n, bit <<= 1) {
    const Masks& registers = layout.bases(In::kRegister);
    if (!span.Contains(bit) && (n >= static_cast<int>(registers.size()) || registers[static_cast<size_t>(n)] != bit))
      break;
  }
  return ir::MemoryBits(view.elem()) << n >= kRunBits;
}

// Each lane has rows of its own, as of sums that come from tensor memory: it writes long runs, but an instruction a short piece of each.
bool LanesAreRows(const Layout& layout, int dim) {
  const Masks& lanes = layout.bases(In::kLane);
  return std::all_of(lanes.begin(), lanes.end(),
                     [&](Mask base) { return base != 0 && (base & ~layout.DimMask(dim)) == 0; });
}

// What is known of boxes without the layout, if the store may go by TMA: along which dimensions they lie.
std::optional<StagedTile> BoxOf(const Op& store) {
  if (!ir::StoreViewOp::Is(&store) || ir::OrderingOf(store) != ir::MemoryOrdering::kWeak) return std::nullopt;
  if (OrderOfStore(store) == WaitsForStore::kOthers) return std::nullopt;
  const Type view = ir::StoreViewOp(store).view()->type(), tensor = view.tensor();
  if (!view.is_grid_view() || tensor->space != ir::MemorySpace::kGlobal) return std::nullopt;
  StagedTile box;
  box.load = &store;
  box.k_major = true;
  box.element_bits = ir::MemoryBits(view.elem());
  if (box.element_bits < 8 || view.elem() == ir::Elem::kI1) return std::nullopt;
  box.contiguous = FastestDim(view);
  box.other = -1;
  for (int k = 0; k < view.rank(); ++k) {
    const auto u = static_cast<size_t>(k);
    if (k == box.contiguous) {
      if (!HasUnitStride(view, k)) return std::nullopt;
    } else if (view.shape()[u] > 1) {
      if (box.other >= 0) return std::nullopt;
      box.other = k;
    }
  }
  if (box.other < 0) return std::nullopt;
  // The smallest box that a copy takes.
  box.swizzle = 16;
  box.k = 8 * box.swizzle / box.element_bits;
  box.mn = 1;
  return box;
}

// Bits of the offset that a warp's elements have, in registers and lanes.
Mask OwnBits(const Layout& layout) {
  Mask own = 0;
  for (In in : {In::kRegister, In::kLane}) {
    for (Mask base : layout.bases(in)) own |= base;
  }
  return own;
}

// A box of so many rows and columns.
void SetSize(int64_t rows, int64_t columns, StagedTile* box) {
  box->k = columns;
  box->mn = rows;
  box->swizzle = static_cast<int>(columns * box->element_bits / 8);
}

// What follows from the size of the box.
TmaStore WithBox(const StagedTile& box, const Layout& layout) {
  const auto bits = [](int64_t size) { return static_cast<Mask>(size - 1); };
  const int contiguous = layout.dim_shift(box.contiguous), other = layout.dim_shift(box.other);
  TmaStore s;
  s.box = box;
  s.between = OwnBits(layout) & ~(bits(box.k) << contiguous | bits(box.mn) << other);
  s.map = box.Map(contiguous, other, layout.offset_bits());
  // All subsets of the bits, in order.
  Mask begin = 0;
  do {
    s.boxes.push_back(begin);
    begin = (begin - s.between) & s.between;
  } while (begin != 0);
  return s;
}

}  // namespace

int FastestDim(Type view) {
  for (int k = view.rank() - 1; k >= 0; --k) {
    if (HasUnitStride(view, k) && view.shape()[static_cast<size_t>(k)] > 1) return k;
  }
  return view.rank() - 1;
}

int64_t TmaStoreBytes(const Op& store, int num_warps) {
  std::optional<StagedTile> box = BoxOf(store);
  if (!box || !MapTensor(store, *box, 1).ok()) return 0;
  return num_warps * kTmaStoreBoxes * kMostRows * kSwizzleBits / 8;
}

std::optional<TmaStore> PlanTmaStore(const Op& store, const Layout& layout) {
  std::optional<StagedTile> box = BoxOf(store);
  if (!box || !layout.IsInjective()) return std::nullopt;
  const bool by_rows = WritesLongRuns(ir::StoreViewOp(store).view()->type(), box->contiguous, layout);
  if (by_rows && !LanesAreRows(layout, box->other)) return std::nullopt;
  // A warp's elements: all values of the bits `own`.
  const Mask own = OwnBits(layout);
  Mask of_lanes = 0;
  Subspace span;
  for (In in : {In::kRegister, In::kLane}) {
    for (Mask base : layout.bases(in)) {
      if (in == In::kLane) of_lanes |= base;
      span.Insert(base);
    }
  }
  if (span.dimension() != __builtin_popcountll(own)) return std::nullopt;
  for (Mask base : layout.bases(In::kWarp)) {
    if ((base & own) != 0) return std::nullopt;
  }
  const auto own_bits = [&](int dim) {
    int n = 0;
    while (n < layout.dim_bits(dim) && (own >> (layout.dim_shift(dim) + n) & 1) != 0) ++n;
    return n;
  };
  const int64_t row_bits = by_rows ? kLaneRowBits : kSwizzleBits, most_rows = by_rows ? kLaneRows : kMostRows;
  const int columns = std::min(own_bits(box->contiguous), Log2(row_bits / box->element_bits));
  const int rows = std::min(own_bits(box->other), Log2(most_rows));
  SetSize(int64_t{1} << rows, int64_t{1} << columns, &*box);
  if (!box->fits_tma()) return std::nullopt;
  TmaStore plan = WithBox(*box, layout);
  if ((plan.between & of_lanes) != 0) return std::nullopt;  // lanes of one instruction would write to several boxes
  if (!MapTensor(store, *box, 1).ok()) return std::nullopt;
  plan.repeats = OrderOfStore(store) == WaitsForStore::kThemselves;
  plan.ordered = !FollowsNothingElse(store);
  return plan;
}

void Decide(ir::Module* module, Op* store, const TmaStore& plan, int tensor_map) {
  Decide<Decision::kTensorMap>(module, store, tensor_map);
  Decide<Decision::kBox>(module, store, {plan.box.mn, plan.box.k});
  if (plan.ordered) Decide<Decision::kProxyFence>(module, store, true);
  if (plan.repeats) Decide<Decision::kAwaitsOwn>(module, store, true);
}

TmaStore TmaStoreOf(const Op& store, const Layout& layout) {
  const auto size = DecisionOf<Decision::kBox>(store).value();
  StagedTile box = *BoxOf(store);
  SetSize(size[0], size[1], &box);
  TmaStore s = WithBox(box, layout);
  s.ordered = DecisionOf<Decision::kProxyFence>(store);
  s.repeats = DecisionOf<Decision::kAwaitsOwn>(store);
  return s;
}

}  // namespace tile::codegen

// Right operands that a loop computes and products read in shared memory. Before and after, in a loop whose threads
// copy the left one:
//
//   %w = load_ptr_tko weak …                       wait_copies …, worker_barrier
//   %y = itof %w                                   %y = itof %w
//   %n = mmaf %x, %y, %acc                         %at = stage_operand %y
//                                                  fence_proxy_async, worker_barrier
//                                                  %n = mmaf <stage_tile>, <stage_tile %at>, %acc
//
// A product is awaited within its iteration. The next iteration begins with a barrier, so its store follows the
// product. Iterations whose tiles TMA copies have no such barrier: one precedes the store. All products of an iteration
// read the operand from one place.
//
// Some products have no copies ahead (HasOperandsStored). Their operands are stored directly before them. They use one
// memory in turn, and a barrier separates them. An operand of several products of a block is stored for the first one.
// A product whose operands are both stored already has no barrier. An operand that a loop does not change may be stored
// before the loop (codegen/plan/mma/stored_operands.h).
//
//   %s = mmaf %x, %y, %acc                         worker_barrier
//                                                  %xt = stage_operand %x {offsets = [0]}
//                                                  %yt = stage_operand %y {offsets = [8192]}
//                                                  fence_proxy_async, worker_barrier
//                                                  %s = mmaf <stage_tile %xt>, <stage_tile %yt>, %acc
#include "codegen/passes/expand/stored_operands.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "codegen/passes/expand/copy_role.h"
#include "codegen/plan/mma/staged_mma.h"
#include "codegen/target/decisions.h"

namespace tile::codegen {

using ir::Attr;
using ir::AttrKind;
using ir::Builder;
using ir::Op;
using ir::Value;

namespace {

constexpr int64_t kMostRowBytes = 128;  // the row of a swizzled tile

// A thread holds neighbours along dimension 0, so it stores vectors in rows that go along it.
bool GoesDown(const Layout& layout) {
  return layout.registers() > 1 && layout.bases(In::kRegister)[0] == uint64_t{1} << layout.dim_shift(0);
}

// The tile with its dimensions in the other order; no element moves.
Value* Turned(Builder& b, LayoutTable* layouts, Value* v) {
  const absl::Span<const int64_t> shape = v->type().shape();
  const ir::Type type =
      TypeIn(b, layouts, v->type().elem(), {shape[1], shape[0]}, LayoutOf(v->type())->Permute({1, 0}));
  const std::vector<int64_t> order = {1, 0};
  const Attr permutation = Attr::Ints(b.module()->arena().Copy(absl::MakeConstSpan(order)));
  return b.Create(ir::Opcode::kPermute, {{v}}, {type}, {{"permutation", permutation}})->result(0);
}

}  // namespace

int ContiguousDim(const StagedTile& tile) { return tile.k_major == tile.lhs ? 1 : 0; }

ir::Type TypeIn(Builder& b, LayoutTable* layouts, ir::Elem elem, absl::Span<const int64_t> shape,
                const Layout& layout) {
  ir::TypeData data = *b.types().Tile(ir::Element::Number(elem), shape).data();
  data.encoding = layouts->Intern(layout);
  return b.types().Intern(std::move(data));
}

Value* StageTileAt(Builder& b, Value* address, ir::Type type, int swizzle, int dim) {
  return b
      .Create(GetGpuOp(GpuOpcode::kStageTile), {{address}}, {type},
              {{"swizzle", Attr::Int(AttrKind::kInt, swizzle)}, {"dim", Attr::Int(AttrKind::kInt, dim)}})
      ->result(0);
}

Value* StageTileAt(Builder& b, Value* address, ir::Type type, const StagedTile& tile) {
  Value* stored = StageTileAt(b, address, type, tile.swizzle, ContiguousDim(tile));
  if (tile.turned > 0) Decide<Decision::kRowRotation>(b.module(), stored->def(), {tile.turned});
  return stored;
}

StagedTile AsHeld(StagedTile tile, const Layout& rhs) { return GoesDown(rhs) ? AlongK(tile) : tile; }

StagedTile AlongK(StagedTile tile) {
  tile.k_major = true;
  tile.swizzle = static_cast<int>(std::min(kMostRowBytes, tile.k * tile.element_bits / 8));
  return tile;
}

Value* StageAs(Builder& b, LayoutTable* layouts, Value* operand, const StagedTile& tile) {
  Value* rows = ContiguousDim(tile) == 0 ? Turned(b, layouts, operand) : operand;
  Op* stored = b.Create(GetGpuOp(GpuOpcode::kStageOperand), {{rows}}, {I32(b)});
  if (tile.swizzle != TileOfOperand(*stored).swizzle) Decide<Decision::kSwizzle>(b.module(), stored, {tile.swizzle});
  return Named(tile.lhs ? "lhs" : "rhs", stored->result(0));
}

Value* CopyRole::StoreRhs(Builder& b, const Op& mma) {
  Value* rhs = Of(mma.operand(1));
  const StagedTile tile = AsHeld(StoredRhs(rhs->type()), *LayoutOf(rhs->type()));
  Value*& address = frame_->stored[rhs];
  if (address == nullptr) {
    if (!stages().by_threads) Plain(b, GpuOpcode::kWorkerBarrier);
    address = StageAs(b, layouts(), rhs, tile);
    Plain(b, GpuOpcode::kFenceProxyAsync);
    Plain(b, GpuOpcode::kWorkerBarrier);
  }
  return StageTileAt(b, address, rhs->type(), tile);
}

RoleCopy::StoredTiles RoleCopy::Store(Builder& b, const StoredOperand& operand, Value* copy) {
  StoredTiles place;
  place.tile = AsHeld(StoredRhs(copy->type()), *LayoutOf(copy->type()));
  place.tile.swizzle = std::min(place.tile.swizzle, operand.row_bytes);
  place.address = StageAs(b, layouts(), copy, place.tile);
  Decide<Decision::kOffsets>(b.module(), place.address->def(), {operand.offset});
  return place;
}

void RoleCopy::StoreBefore(Builder& b, const Op& loop) {
  if (layouts_ == nullptr) return;
  const std::vector<StoredOperand> all = StoredBefore(loop);
  if (all.empty()) return;
  // Earlier products may still read this memory.
  Plain(b, GpuOpcode::kWorkerBarrier);
  for (const StoredOperand& o : all) stored_before_[{o.tile, &loop}] = Store(b, o, Of(const_cast<Value*>(o.tile)));
  Plain(b, GpuOpcode::kFenceProxyAsync);
  Plain(b, GpuOpcode::kWorkerBarrier);
}

void RoleCopy::MultiplyStored(Builder& b, const Op& mma) {
  ir::ops::Values operands = Of(ir::OperandsOf(mma));
  const std::vector<StoredOperand> all = StoredOperandsOf(mma);
  const auto stored = [&](const StoredOperand& o) -> StoredTiles& {
    return o.loop != nullptr ? stored_before_[{o.tile, o.loop}] : stored_[{o.tile, mma.block()}];
  };
  const bool stores =
      std::any_of(all.begin(), all.end(), [&](const StoredOperand& o) { return stored(o).address == nullptr; });
  // The previous product may still read its operands.
  if (stores) Plain(b, GpuOpcode::kWorkerBarrier);
  for (const StoredOperand& o : all) {
    StoredTiles& place = stored(o);
    if (place.address != nullptr) continue;
    place = Store(b, o, operands[static_cast<size_t>(o.index)]);
    place.turned = o.turned;
  }
  if (stores) {
    Plain(b, GpuOpcode::kFenceProxyAsync);
    Plain(b, GpuOpcode::kWorkerBarrier);
  }
  for (const StoredOperand& o : all) {
    const StoredTiles& place = stored(o);
    Value*& v = operands[static_cast<size_t>(o.index)];
    const int dim = ContiguousDim(place.tile);
    v = StageTileAt(b, place.address, v->type(), place.tile.swizzle, o.turned == place.turned ? dim : 1 - dim);
  }
  // Only an operand with a place of its own remains for other products.
  const int64_t own = BytesOfShared(*mma.block());
  for (const StoredOperand& o : all) {
    if (o.loop == nullptr && o.offset >= own) stored_.erase({o.tile, mma.block()});
  }
  Set(mma.result(0), CopyProduct(b, mma, operands, /*async=*/false)->result(0));
}

}  // namespace tile::codegen

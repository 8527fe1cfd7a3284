// The operations of a role for copies by TMA, and for the copied tiles.
#include "absl/container/flat_hash_set.h"
#include "codegen/gpu/ops.h"
#include "codegen/passes/expand/role_copy.h"

namespace tile::codegen {

using ir::Attr;
using ir::AttrKind;
using ir::Builder;
using ir::Op;
using ir::Value;
using ir::ops::Values;
namespace op = ir::ops;

void RoleCopy::CopyLoads(Builder& b, const Op& fetch, Value* index, const std::function<void(const Op&)>& load) {
  const ir::Block& region = *fetch.region(0);
  values_[region.arg(0)] = index;
  absl::flat_hash_set<const Op*> staged;
  for (const StagedTile& tile : StageOf(fetch).tiles) staged.insert(tile.load);
  for (const Op* inside : region) {
    if (staged.contains(inside)) {
      load(*inside);
    } else if (inside->num_results() > 0 &&
               (!inside->result(0)->type().is_tile() || inside->result(0)->type().is_scalar())) {
      // The products' reads include permutations, reshapes and conversions of the loaded tile.
      b.module()->Append(b.block(), ir::CopyOp(b.module(), *inside, &values_));
    }
  }
}

void RoleCopy::LoadTile(Builder& b, size_t r, size_t i, Value* stage, Value* barriers) {
  const FetchRing& of = ring(r);
  const StagedTile tile = of.stage.InStage(i);
  const ir::LoadViewOp view(*tile.load);
  const int64_t dims[] = {tile.contiguous, tile.other};
  const FetchRing::TensorMap* map = of.MapOf(tile.load);
  Value* address = AddressOf(b, of, stage, i);
  Op* copy = b.Create(GetGpuOp(GpuOpcode::kTmaLoad),
                      {{Of(view.view())},
                       Of(view.index().list()),
                       {address},
                       {barriers},
                       {stage},
                       {map == nullptr ? nullptr : map->place}},
                      {},
                      {{"swizzle", Attr::Int(AttrKind::kInt, tile.swizzle)},
                       {"dims", Attr::Ints(b.module()->arena().Copy(absl::MakeConstSpan(dims)))},
                       {"rounds", Attr::Flag(tile.rounded != nullptr)}});
  for (const ir::Annotation* a = tile.load->annotations(); a != nullptr; a = a->next)
    b.module()->Annotate(copy, *a->info, a->value);
}

void RoleCopy::StageTile(Builder& b, const Op& fetch, size_t r, int i) {
  const StagedTile& tile = ring(r).stage.tiles[static_cast<size_t>(i)];
  // An operand is m x k or k x n.
  const int dim = tile.k_major == tile.lhs ? 1 : 0;
  Value* address = AddressOf(b, ring(r), positions()[r].stage, static_cast<size_t>(i));
  Set(fetch.result(i),
      b.Create(GetGpuOp(GpuOpcode::kStageTile), {{address}}, {fetch.result(i)->type()},
               {{"swizzle", Attr::Int(AttrKind::kInt, tile.swizzle)}, {"dim", Attr::Int(AttrKind::kInt, dim)}})
          ->result(0));
}

// The view of a load, also if its fetch makes it. Its tensor stays the same in the loop (plan/tma/device_tensor_map.h).
Value* RoleCopy::ViewBefore(Builder& b, const Op& load) {
  Value* view = ir::LoadViewOp(load).view();
  if (view->def() != nullptr && view->def()->block() == load.block())
    b.module()->Append(b.block(), ir::CopyOp(b.module(), *view->def(), &values_));
  return Of(view);
}

void RoleCopy::MakeTensorMaps(Builder& b, size_t r) {
  const FetchRing& of = ring(r);
  if (of.maps.empty()) return;
  Values maps, places, views;
  Value* made = I1(b, true);
  for (const FetchRing::TensorMap& map : of.maps) {
    maps.push_back(map.map);
    places.push_back(map.place);
    views.push_back(ViewBefore(b, *map.load));
    Value* holds =
        b.Create(GetGpuOp(GpuOpcode::kTensorMapHolds), {{map.map}, {views.back()}}, {b.types().Scalar(ir::Elem::kI1)})
            ->result(0);
    made = op::Andi(b, made, holds);
  }
  Op* unless = b.Create(ir::Opcode::kIf, {{made}}, {});
  {
    Builder::Scope scope(b, b.AddRegion(unless, 0, {}));
    b.Create(ir::Opcode::kYield, {{}}, {});
  }
  Builder::Scope scope(b, b.AddRegion(unless, 1, {}));
  AwaitLoads(b, r);
  b.Create(GetGpuOp(GpuOpcode::kWriteTensorMaps), {maps, places, views}, {});
  b.Create(ir::Opcode::kYield, {{}}, {});
}

}  // namespace tile::codegen

#include "codegen/plan/tma/tensor_maps.h"

#include <algorithm>
#include <utility>

#include "codegen/gpu/op_views.h"
#include "codegen/plan/tile_layout.h"
#include "codegen/plan/tma/tma_store.h"
#include "codegen/target/decisions.h"
#include "ir/check.h"
#include "ir/op_views.h"

namespace tile::codegen {
namespace {

absl::StatusOr<TensorMap> MapOf(const ir::Op& access) {
  if (const auto store = ir::As<ir::StoreViewOp>(&access))
    return MapTensor(access, TmaStoreOf(access, *LayoutOf(store->tile()->type())).box, 1);
  const int parts = static_cast<int>(DecisionOf<Decision::kMulticast>(access).value_or(1));
  if (gpu::TmaLoadOp::Is(&access)) return MapTensor(access, TileOfLoad(access), parts);
  const StageLayout stage = StageOf(*access.parent());
  for (size_t i = 0; i < stage.tiles.size(); ++i) {
    if (stage.tiles[i].load == &access) return MapTensor(access, stage.InStage(i), parts);
  }
  return absl::InternalError("a load has a descriptor and no stage");
}

}  // namespace

bool CopiesByTma(const ir::Op& copy) {
  for (const ir::Op* op : *copy.region(0)) {
    if (DecisionOf<Decision::kTensorMap>(*op) || DecisionOf<Decision::kDeviceTensorMap>(*op)) return true;
  }
  return false;
}

std::vector<StagedTile> DeviceTensorMapsOf(const ir::Op& copy) {
  std::vector<StagedTile> made;
  const StageLayout stage = StageOf(copy);
  for (size_t i = 0; i < stage.tiles.size(); ++i) {
    if (!stage.shares_slot(i) && DecisionOf<Decision::kDeviceTensorMap>(*stage.tiles[i].load))
      made.push_back(stage.InStage(i));
  }
  return made;
}

int NumTensorMaps(const ir::Function& function) {
  int n = 0;
  // Several copies may read one.
  ir::Walk(function.body(), [&](const ir::Op* op) {
    n = std::max(n, static_cast<int>(DecisionOf<Decision::kTensorMap>(*op).value_or(-1)) + 1);
  });
  return n;
}

std::vector<TensorMap> TensorMapsOf(const ir::Function& function) {
  std::vector<TensorMap> maps(static_cast<size_t>(NumTensorMaps(function)));
  ir::Walk(function.body(), [&](const ir::Op* op) {
    const auto number = DecisionOf<Decision::kTensorMap>(*op);
    if (!number) return;
    absl::StatusOr<TensorMap> map = MapOf(*op);
    TILE_CHECK(map.ok() && *number >= 0 && static_cast<size_t>(*number) < maps.size(),
               "an access that goes by TMA has no descriptor");
    maps[static_cast<size_t>(*number)] = *std::move(map);
  });
  return maps;
}

}  // namespace tile::codegen

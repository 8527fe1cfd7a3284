#include "codegen/passes/layouts/choose_tma_stores.h"

#include <optional>

#include "codegen/plan/schedule.h"
#include "codegen/plan/tile_layout.h"
#include "codegen/plan/tma/tensor_maps.h"
#include "codegen/plan/tma/tma_store.h"
#include "ir/op_views.h"

namespace tile::codegen {

absl::Status ChooseTmaStores(Program& p) {
  if (!ScheduleOf(*p.function)->producer) return absl::OkStatus();
  ir::Walk(p.function->body(), [&](ir::Op* op) {
    const auto store_view = ir::As<ir::StoreViewOp>(op);
    if (!store_view) return;
    const Layout* layout = LayoutOf(store_view->tile()->type());
    const std::optional<TmaStore> plan = layout == nullptr ? std::nullopt : PlanTmaStore(*op, *layout);
    if (plan) Decide(p.module.get(), op, *plan, NumTensorMaps(*p.function));
  });
  return absl::OkStatus();
}

}  // namespace tile::codegen

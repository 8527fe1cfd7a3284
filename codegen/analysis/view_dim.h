// Which dimension of the tensor a dimension of a view's tile runs along.
//
//   view.tensor()->shape[TensorDim(view, k)]
//   MakerOf(view_value)         // the operation that makes the tensor under it
//   GridStep(view, k)           // elements from tile to tile
//   HasUnitStride(view, k)      // neighbours along dimension k are known to be neighbours in memory
//
// For partition and strided views. Pure functions.
#ifndef TILE_CODEGEN_ANALYSIS_VIEW_DIM_H_
#define TILE_CODEGEN_ANALYSIS_VIEW_DIM_H_

#include <cstddef>

#include "ir/op_views.h"
#include "ir/type.h"

namespace tile::codegen {

inline size_t TensorDim(ir::Type view, int k) {
  const auto u = static_cast<size_t>(k);
  return view->dim_map.empty() ? u : static_cast<size_t>(view->dim_map[u]);
}

// What makes the tensor under a view, a make_tensor_view or alloc_shared; null if it comes from elsewhere.
inline const ir::Op* MakerOf(const ir::Value* view) {
  while (const ir::Op* def = view->def()) {
    if (ir::MakeTensorViewOp::Is(def) || ir::AllocSharedOp::Is(def)) return def;
    if (def->num_operands() == 0) break;
    view = def->operand(0);
  }
  return nullptr;
}

// How far tiles of a partition or strided view are apart along dimension k of the tile.
inline int64_t GridStep(ir::Type view, int k) {
  const auto u = static_cast<size_t>(k);
  return view.kind() == ir::TypeKind::kStridedView ? view->steps[u] : view.shape()[u];
}

inline bool HasUnitStride(ir::Type view, int k) { return view.tensor()->strides[TensorDim(view, k)] == 1; }

}  // namespace tile::codegen

#endif  // TILE_CODEGEN_ANALYSIS_VIEW_DIM_H_

// Which dimension of the tensor a dimension of a view's tile runs along.
//
//   view.tensor()->shape[TensorDim(view, k)]
//   HasUnitStride(view, k)      // neighbours along dimension k are known to be neighbours in memory
//
// For partition and strided views. Pure functions.
#ifndef TILE_CODEGEN_ANALYSIS_VIEW_DIM_H_
#define TILE_CODEGEN_ANALYSIS_VIEW_DIM_H_

#include <cstddef>

#include "ir/type.h"

namespace tile::codegen {

inline size_t TensorDim(ir::Type view, int k) {
  const auto u = static_cast<size_t>(k);
  return view->dim_map.empty() ? u : static_cast<size_t>(view->dim_map[u]);
}

inline bool HasUnitStride(ir::Type view, int k) { return view.tensor()->strides[TensorDim(view, k)] == 1; }

}  // namespace tile::codegen

#endif  // TILE_CODEGEN_ANALYSIS_VIEW_DIM_H_

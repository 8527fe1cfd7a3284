// Tensor memory: 128 lanes of columns with 32 bits each, which the blocks on a multiprocessor share. Sums of M x N take a column for each n, and
// others for each 128 of M.
//
//   int64_t columns = AllocatedColumns(ColumnsOf(a->result(0)->type()) + ColumnsOf(b->result(0)->type()));
//
// Pure functions.
#ifndef TILE_CODEGEN_PLAN_TENSOR_MEMORY_H_
#define TILE_CODEGEN_PLAN_TENSOR_MEMORY_H_

#include <cstdint>

#include "ir/module.h"

namespace tile::codegen {

inline constexpr int64_t kTensorLanes = 128;

// Of sums of this type, which begin at any column.
int64_t ColumnsOf(ir::Type sums);
// A block takes a power of two of them.
int64_t AllocatedColumns(int64_t columns);
bool IsAllocation(int64_t columns);

}  // namespace tile::codegen

#endif  // TILE_CODEGEN_PLAN_TENSOR_MEMORY_H_

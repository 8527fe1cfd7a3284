// Tensor memory: 128 lanes of columns with 32 bits each, which the blocks on a multiprocessor share. Sums of M x N take a column for each n, and
// others for each 128 of M. Block scales of a product lie behind its sums.
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
// The product is one with block scales, which one thread begins.
bool IsScaledInColumns(const ir::Op& op);
// Where the block scales of its left and its right operand begin, counted from the first column of its sums, and where they end: a piece of scales
// (layout/block_scales.h) takes four columns.
struct ScaleColumns {
  int64_t lhs = 0, rhs = 0, end = 0;
};
ScaleColumns ScaleColumnsOf(const ir::Op& mma);
// That a product takes, with its scales.
int64_t ColumnsOfProduct(const ir::Op& mma);
// A block takes a power of two of them.
int64_t AllocatedColumns(int64_t columns);
bool IsAllocation(int64_t columns);

}  // namespace tile::codegen

#endif  // TILE_CODEGEN_PLAN_TENSOR_MEMORY_H_

#include "codegen/plan/tensor_memory.h"

#include <algorithm>
#include <bit>

#include "codegen/layout/block_scales.h"
#include "codegen/target/decisions.h"
#include "codegen/target/target.h"
#include "ir/op_views.h"

namespace tile::codegen {

int64_t ColumnsOf(ir::Type sums) { return std::max<int64_t>(1, sums.shape()[0] / kTensorLanes) * sums.shape()[1]; }

bool IsScaledInColumns(const ir::Op& op) {
  return ir::MmaScaledOp::Is(&op) && DecisionOf<Decision::kWarpgroups>(op).has_value();
}

ScaleColumns ScaleColumnsOf(const ir::Op& mma) {
  constexpr int64_t kColumnsOfPiece = 4;
  const ir::MmaScaledOp scaled(mma);
  const auto a = scaled.lhs_scale()->type().shape(), b = scaled.rhs_scale()->type().shape();
  ScaleColumns c;
  c.lhs = ColumnsOf(mma.result(0)->type());
  c.rhs = c.lhs + kColumnsOfPiece * ScalePieces(a[0], a[1]);
  c.end = c.rhs + kColumnsOfPiece * ScalePieces(b[1], b[0]);
  return c;
}

int64_t ColumnsOfProduct(const ir::Op& mma) {
  return ir::MmaScaledOp::Is(&mma) ? ScaleColumnsOf(mma).end : ColumnsOf(mma.result(0)->type());
}

int64_t AllocatedColumns(int64_t columns) {
  return std::max<int64_t>(Target::kLeastColumns, static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(columns))));
}

bool IsAllocation(int64_t columns) { return columns <= Target::kColumns && AllocatedColumns(columns) == columns; }

}  // namespace tile::codegen

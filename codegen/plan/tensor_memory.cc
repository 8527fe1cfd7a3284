#include "codegen/plan/tensor_memory.h"

#include <algorithm>
#include <bit>

#include "codegen/target/target.h"

namespace tile::codegen {

int64_t ColumnsOf(ir::Type sums) { return std::max<int64_t>(1, sums.shape()[0] / kTensorLanes) * sums.shape()[1]; }

int64_t AllocatedColumns(int64_t columns) {
  return std::max<int64_t>(Target::kLeastColumns, static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(columns))));
}

bool IsAllocation(int64_t columns) { return columns <= Target::kColumns && AllocatedColumns(columns) == columns; }

}  // namespace tile::codegen

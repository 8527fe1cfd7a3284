// Columns of a block's tensor memory. They are allocated at the block's entry and freed after the last access of its
// workers. This file also has the operations that both roles emit for them.
//
//   ColumnMemory memory = AllocateColumns(b, 128);     // in the kernel's body, before its roles
//   FindColumns(b, &memory);                           // after a barrier of all threads
//   InRegion(b, GpuOpcode::kElect, [&] { … Tell(b, GpuOpcode::kMmaCommit, ended, stage); });
//   FreeColumns(b, memory);                            // in the workers; each has fenced its loads
#ifndef TILE_CODEGEN_PASSES_EXPAND_COLUMN_MEMORY_H_
#define TILE_CODEGEN_PASSES_EXPAND_COLUMN_MEMORY_H_

#include <cstdint>
#include <functional>

#include "codegen/gpu/ops.h"
#include "ir/builder.h"

namespace tile::codegen {

struct ColumnMemory {
  ir::Value *place = nullptr, *count = nullptr;  // operands of alloc_columns
  ir::Value* first = nullptr;                    // the first column; null until it is found
};

// Allocates at least this number of columns.
ColumnMemory AllocateColumns(ir::Builder& b, int64_t columns);
// Other warps see the columns' address after a barrier of all threads.
void FindColumns(ir::Builder& b, ColumnMemory* memory);
void FreeColumns(ir::Builder& b, const ColumnMemory& memory);

// An operation without operands.
void Plain(ir::Builder& b, GpuOpcode code);
// Emits a region of this kind (warp, elect); `emit` makes its operations.
void InRegion(ir::Builder& b, GpuOpcode code, const std::function<void()>& emit);
// Emits mma_commit or barrier_arrive on the barrier of this number.
void Tell(ir::Builder& b, GpuOpcode code, ir::Value* barriers, ir::Value* number);

}  // namespace tile::codegen

#endif  // TILE_CODEGEN_PASSES_EXPAND_COLUMN_MEMORY_H_

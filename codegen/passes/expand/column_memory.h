// Columns of tensor memory of a block: allocated at its entry, free behind the last access of its workers. And what both roles that use them write.
//
//   ColumnMemory memory = AllocateColumns(b, 128);     // in the kernel's body, before its roles
//   FindColumns(b, &memory);                           // behind a barrier of all threads
//   InRegion(b, GpuOpcode::kElect, [&] { … Tell(b, GpuOpcode::kMmaCommit, ended, stage); });
//   FreeColumns(b, memory);                            // in the workers, each of whom has fenced what it loaded
#ifndef TILE_CODEGEN_PASSES_EXPAND_COLUMN_MEMORY_H_
#define TILE_CODEGEN_PASSES_EXPAND_COLUMN_MEMORY_H_

#include <cstdint>
#include <functional>

#include "codegen/gpu/ops.h"
#include "ir/builder.h"

namespace tile::codegen {

struct ColumnMemory {
  ir::Value *place = nullptr, *count = nullptr;  // of alloc_columns
  ir::Value* first = nullptr;                    // the first column; null until it is found
};

// So many of them, or more.
ColumnMemory AllocateColumns(ir::Builder& b, int64_t columns);
// Others see where they are behind a barrier of all threads.
void FindColumns(ir::Builder& b, ColumnMemory* memory);
void FreeColumns(ir::Builder& b, const ColumnMemory& memory);

// An operation without operands.
void Plain(ir::Builder& b, GpuOpcode code);
// What `emit` makes, in a region of this kind: warp, elect.
void InRegion(ir::Builder& b, GpuOpcode code, const std::function<void()>& emit);
// mma_commit, barrier_arrive: at the barrier of this number.
void Tell(ir::Builder& b, GpuOpcode code, ir::Value* barriers, ir::Value* number);

}  // namespace tile::codegen

#endif  // TILE_CODEGEN_PASSES_EXPAND_COLUMN_MEMORY_H_

#include "codegen/passes/expand/column_memory.h"

#include "codegen/passes/expand/fetch_ring.h"
#include "codegen/plan/tensor_memory.h"

namespace tile::codegen {

using ir::Attr;
using ir::Builder;
using ir::Value;

ColumnMemory AllocateColumns(Builder& b, int64_t columns) {
  ColumnMemory memory;
  memory.count = I32(b, AllocatedColumns(columns));
  memory.place = Named("place", b.Create(GetGpuOp(GpuOpcode::kAllocColumns), {{memory.count}}, {I32(b)})->result(0));
  return memory;
}

void FindColumns(Builder& b, ColumnMemory* memory) {
  memory->first = Named("columns", b.Create(GetGpuOp(GpuOpcode::kColumnsAt), {{memory->place}}, {I32(b)})->result(0));
}

void FreeColumns(Builder& b, const ColumnMemory& memory) {
  Plain(b, GpuOpcode::kWorkerBarrier);
  InRegion(b, GpuOpcode::kWarp, [&] {
    Plain(b, GpuOpcode::kFenceColumnsAfter);
    b.Create(GetGpuOp(GpuOpcode::kFreeColumns), {{memory.first, memory.count}}, {});
  });
}

void Plain(Builder& b, GpuOpcode code) { b.Create(GetGpuOp(code), {}, {}); }

void InRegion(Builder& b, GpuOpcode code, const std::function<void()>& emit) {
  Builder::Scope scope(b, b.AddRegion(b.Create(GetGpuOp(code), {}, {}), 0, {}));
  emit();
  b.Create(ir::Opcode::kYield, {{}}, {});
}

void Tell(Builder& b, GpuOpcode code, Value* barriers, Value* number) {
  b.Create(GetGpuOp(code), {{barriers}, {number}, {I1(b, true)}}, {}, {{"of_cluster", Attr::Flag(false)}});
}

}  // namespace tile::codegen

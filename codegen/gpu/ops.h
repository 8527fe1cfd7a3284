// The table of codegen/gpu/ops.def as data: operations in addition to those of ir/ops.def once a kernel is on its
// way to machine code.
//
//   Op* op = module->CreateOp({.info = GetGpuOp(GpuOpcode::kConvertLayout), …});
//   IsGpuOp(*op.info());
//
// Immutable; safe from any thread.
#ifndef TILE_CODEGEN_GPU_OPS_H_
#define TILE_CODEGEN_GPU_OPS_H_

#include "absl/types/span.h"
#include "ir/module.h"

namespace tile::codegen {

enum class GpuOpcode : uint16_t {
#define TILE_GPU_OP(number, Name, ...) k##Name = number,
#include "codegen/gpu/ops.def"
};

// `index` of a row is its position here.
absl::Span<const ir::OpInfo> AllGpuOps();
const ir::OpInfo* GetGpuOp(GpuOpcode op);
inline bool IsGpuOp(const ir::OpInfo& op) { return static_cast<int>(op.opcode) >= 0xF000; }
inline bool IsGpuOp(const ir::Op* op, GpuOpcode code) {
  return op != nullptr && static_cast<int>(op->opcode()) == static_cast<int>(code);
}
// Its results are in shared memory: fetch_ahead, copy_ahead.
inline bool IsFetch(const ir::Op* op) {
  return IsGpuOp(op, GpuOpcode::kFetchAhead) || IsGpuOp(op, GpuOpcode::kCopyAhead);
}

// Its loops are written out as operations of the GPU level: it is no tile code any more.
bool IsExpanded(const ir::Function& function);

// The operation whose annotations are what is decided about a kernel (Decide, DecisionOf: target/decisions.h); null if nothing is.
const ir::Op* FindKernelOp(const ir::Function& function);
ir::Op* KernelOp(ir::Module* module, ir::Function* function);  // made if it is not there

}  // namespace tile::codegen

#endif  // TILE_CODEGEN_GPU_OPS_H_

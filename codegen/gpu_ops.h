// The table of codegen/gpu_ops.def as data: operations that stand beside those of ir/ops.def once a kernel is on its way
// to machine code.
//
//   Op* op = module->CreateOp({.info = GetGpuOp(GpuOpcode::kConvertLayout), …});
//   IsGpuOp(*op.info());
//
// Immutable; safe from any thread.
#ifndef TILE_CODEGEN_GPU_OPS_H_
#define TILE_CODEGEN_GPU_OPS_H_

#include "absl/types/span.h"
#include "ir/op_info.h"

namespace tile::codegen {

enum class GpuOpcode : uint16_t {
#define TILE_GPU_OP(number, Name, ...) k##Name = number,
#include "codegen/gpu_ops.def"
};

// `index` of a row is its position here.
absl::Span<const ir::OpInfo> AllGpuOps();
const ir::OpInfo* GetGpuOp(GpuOpcode op);
inline bool IsGpuOp(const ir::OpInfo& op) { return static_cast<int>(op.opcode) >= 0xF000; }

}  // namespace tile::codegen

#endif  // TILE_CODEGEN_GPU_OPS_H_

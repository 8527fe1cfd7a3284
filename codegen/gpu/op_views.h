// Operations of codegen/gpu/ops.def with names and types, as ir/op_views.h has those of ir/ops.def.
//
//   if (const auto wait = ir::As<gpu::BarrierWaitOp>(op)) wait->phase();
#ifndef TILE_CODEGEN_GPU_OP_VIEWS_H_
#define TILE_CODEGEN_GPU_OP_VIEWS_H_

#include "codegen/gpu/ops.h"
#include "ir/op_views.h"

namespace tile::codegen::gpu {

template <GpuOpcode kOpcode, ir::Format kOf>
struct Row {
  static constexpr ir::Format kFormat = kOf;
  static bool Holds(const ir::OpInfo& op) { return static_cast<int>(op.opcode) == static_cast<int>(kOpcode); }
};
#define TILE_GPU_OP(number, Name, mnemonic, FormatName, ...) \
  using Name##Op = ir::OpView<Row<GpuOpcode::k##Name, ir::Format::k##FormatName>>;
#include "codegen/gpu/ops.def"

// Any that gives the address of stages.
struct StagesRow {
  static constexpr ir::Format kFormat = ir::Format::kAllocStages;
  static bool Holds(const ir::OpInfo& op) {
    return Row<GpuOpcode::kAllocStages, kFormat>::Holds(op) || Row<GpuOpcode::kOverlayStages, kFormat>::Holds(op);
  }
};
using StagesOp = ir::OpView<StagesRow>;

}  // namespace tile::codegen::gpu

#endif  // TILE_CODEGEN_GPU_OP_VIEWS_H_

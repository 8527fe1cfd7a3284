#include "codegen/gpu/ops.h"

namespace tile::codegen {
namespace {

const std::vector<ir::OpInfo>& Table() {
  using namespace ir;
  static const auto* table = [] {
    auto* rows = new std::vector<OpInfo>;
    int index = 0;
#define TILE_GPU_OP(number, Name, mnemonic, FormatName, FamilyName, traits, constraints)            \
  rows->push_back({static_cast<Opcode>(number), #Name, mnemonic, &GetFormat(Format::k##FormatName), \
                   Family::k##FamilyName, 0, traits, constraints, index++});
#include "codegen/gpu/ops.def"
    return rows;
  }();
  return *table;
}

}  // namespace

absl::Span<const ir::OpInfo> AllGpuOps() { return Table(); }

const ir::OpInfo* GetGpuOp(GpuOpcode op) {
  for (const ir::OpInfo& row : Table()) {
    if (static_cast<int>(row.opcode) == static_cast<int>(op)) return &row;
  }
  return nullptr;
}

bool IsExpanded(const ir::Function& function) {
  for (const ir::Op* op : *function.body()) {
    if (IsGpuOp(op, GpuOpcode::kWorkers)) return true;
  }
  return false;
}

const ir::Op* FindKernelOp(const ir::Function& function) {
  // What is assumed of parameters may stand before it.
  for (const ir::Op* op : *function.body()) {
    if (IsGpuOp(op, GpuOpcode::kKernel)) return op;
  }
  return nullptr;
}

ir::Op* KernelOp(ir::Module* module, ir::Function* function) {
  if (const ir::Op* op = FindKernelOp(*function)) return const_cast<ir::Op*>(op);
  const uint32_t no_operands = 0;
  ir::Op* op = module->CreateOp({.info = GetGpuOp(GpuOpcode::kKernel),
                                 .operands = {},
                                 .operand_ends = {&no_operands, 1},
                                 .results = {},
                                 .attrs = {},
                                 .loc = function->loc,
                                 .pos = function->pos});
  module->InsertBefore(function->body(), function->body()->front(), op);
  return op;
}

}  // namespace tile::codegen

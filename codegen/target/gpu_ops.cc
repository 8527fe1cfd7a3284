#include "codegen/target/gpu_ops.h"

namespace tile::codegen {
namespace {

const std::vector<ir::OpInfo>& Table() {
  using namespace ir;
  static const auto* table = [] {
    auto* rows = new std::vector<OpInfo>;
    int index = 0;
#define TILE_GPU_OP(number, Name, mnemonic, FormatName, FamilyName, traits)                         \
  rows->push_back({static_cast<Opcode>(number), #Name, mnemonic, &GetFormat(Format::k##FormatName), \
                   Family::k##FamilyName, 0, traits, "", index++});
#include "codegen/target/gpu_ops.def"
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

}  // namespace tile::codegen

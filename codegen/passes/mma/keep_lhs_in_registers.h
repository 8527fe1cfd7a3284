// Left operands that a loop does not change are kept in registers, too, as far as there is room (codegen/plan/mma/lhs_in_registers.h).
// After the passes that decide when products are waited for.
#ifndef TILE_CODEGEN_PASSES_MMA_KEEP_LHS_IN_REGISTERS_H_
#define TILE_CODEGEN_PASSES_MMA_KEEP_LHS_IN_REGISTERS_H_

#include "absl/status/status.h"
#include "codegen/passes/program.h"

namespace tile::codegen {

absl::Status KeepLhsInRegisters(Program& p);

}  // namespace tile::codegen

#endif  // TILE_CODEGEN_PASSES_MMA_KEEP_LHS_IN_REGISTERS_H_

// Left operands of products that read stages and that a loop does not change: words of their fragments, which stay in registers (codegen/plan/mma/lhs_in_registers.h).
#ifndef TILE_CODEGEN_EMIT_LOWER_LHS_IN_REGISTERS_H_
#define TILE_CODEGEN_EMIT_LOWER_LHS_IN_REGISTERS_H_

#include "codegen/emit/context/emitter.h"

namespace tile::codegen {

// In front of the loop, behind its ring, which has put those operands into shared memory: loads what was decided for its products from there.
void KeepLhs(Emitter& e, const ir::Op& loop, CopyRing* copies);

// Behind the begin of a product of the loop whose left operand was made in the iteration: what stays is read once more, by stores that are never
// done. Else ptxas may have laid that operand over it (docs/gpu-faults.md).
void ReadLhsInRegisters(Emitter& e, const ir::Op& loop, const CopyRing& copies);

}  // namespace tile::codegen

#endif  // TILE_CODEGEN_EMIT_LOWER_LHS_IN_REGISTERS_H_

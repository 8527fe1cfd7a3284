// Matrix products multiplied out with fma, for types without a matrix instruction. Internal to codegen/emit.
#ifndef TILE_CODEGEN_EMIT_MMA_MMA_FMA_H_
#define TILE_CODEGEN_EMIT_MMA_MMA_FMA_H_

#include "codegen/emit/context/emitter.h"

namespace tile::codegen {

// The type in which products of such elements are added up, and back from it.
llvm::Value* WidenForProduct(Emitter& e, ir::Elem from, llvm::Value* v, bool is_signed);
llvm::Value* NarrowProduct(Emitter& e, ir::Elem to, llvm::Value* v);

// The accumulator's registers, widened, in the result's layout, with the product of the operands (mmaf, mmai, mmaf_scaled)
// added: in ascending k for each element, as the VM does it.
Registers MultiplyByFma(Emitter& e, const ir::Op& op, Registers acc);

}  // namespace tile::codegen

#endif  // TILE_CODEGEN_EMIT_MMA_MMA_FMA_H_

// Multiplications that a warp leaves out where all of its factors are one (codegen/plan/mma/lazy_rescale.h).
#ifndef TILE_CODEGEN_EMIT_LOWER_LAZY_RESCALE_H_
#define TILE_CODEGEN_EMIT_LOWER_LAZY_RESCALE_H_

#include "codegen/emit/context/emitter.h"

namespace tile::codegen {

// Lowers the multiplication; `multiply` is Emit<Name> of it.
void RescaleLazily(Emitter& e, const ir::Op& op, llvm::Value* (*multiply)(Emitter&, const ir::Op&, Operands));

}  // namespace tile::codegen

#endif  // TILE_CODEGEN_EMIT_LOWER_LAZY_RESCALE_H_

// Arithmetic of f16 and bf16 on two elements at once, as the GPU has it: a word of two halves is one operand. Only of halves that lie in one word
// already, that are rounded into one, or that are equal: to put others together takes as many instructions as are saved.
#ifndef TILE_CODEGEN_EMIT_ELEMENTWISE_PAIRS_H_
#define TILE_CODEGEN_EMIT_ELEMENTWISE_PAIRS_H_

#include "codegen/emit/context/emitter.h"

namespace tile::codegen {

// Of one element; in arithmetic to nearest even also of a vector.
using EmitFn = llvm::Value* (*)(Emitter&, const ir::Op&, Operands);

// All registers of the result; none if the operation isn't computed so. `emit`: the operation's own function.
Registers EmitOnHalves(Emitter& e, const ir::Op& op, EmitFn emit);

}  // namespace tile::codegen

#endif  // TILE_CODEGEN_EMIT_ELEMENTWISE_PAIRS_H_

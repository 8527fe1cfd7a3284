// Arithmetic on two elements at once, as GPUs have it. Two of f16 or bf16 are the halves of one register. Only halves that are in one register
// already, that are rounded into one, or that are equal are taken: to put others together takes as many instructions as are saved.
// Two of f32 are two registers (kF32Pairs). The assembler chooses which, so that putting them together costs nothing as a rule.
#ifndef TILE_CODEGEN_EMIT_ELEMENTWISE_PAIRS_H_
#define TILE_CODEGEN_EMIT_ELEMENTWISE_PAIRS_H_

#include "codegen/emit/context/emitter.h"

namespace tile::codegen {

// Of one element; in arithmetic to nearest even also of a vector.
using EmitFn = llvm::Value* (*)(Emitter&, const ir::Op&, Operands);

// All registers of the result; none if the operation isn't computed so. `emit`: the operation's own function.
Registers EmitOnPairs(Emitter& e, const ir::Op& op, EmitFn emit);
// One instruction computes this of two f32. Its function in ops.def then takes vectors of two.
bool TakesPairsOfFloats(const Emitter& e, const ir::Op& op);
llvm::Value* PairOfFloats(Emitter& e, llvm::Value* first, llvm::Value* second);

}  // namespace tile::codegen

#endif  // TILE_CODEGEN_EMIT_ELEMENTWISE_PAIRS_H_

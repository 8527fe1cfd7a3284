// e to the power of floats, several at a time: e^x = 2^j 2^f with j = floor(x log2(e)), as the device library has it. The library clamps x, and puts j
// back by a multiplication, which subnormal results need: eight instructions, and registers for what it clamps with. Where |x| <= kMostPlain j is
// added to the exponent: six. kGroup elements share one test of that, for the whole warp, and one branch. Behind it the others are clamped and
// multiplied; what is in range has the same bits there, so that no result depends on its neighbours.
//
// Of powers that are divided, as softmax divides them: those that came the short way are numbers that quotients need not look at again
// (codegen/emit/elementwise/quotients.h). Elsewhere the branches cost more than they save, since ptxas moves nothing across them (swiglu of bf16: 71
// registers, with the library 54; cross-entropy spilled 180 bytes).
#ifndef TILE_CODEGEN_EMIT_ELEMENTWISE_EXPONENTIALS_H_
#define TILE_CODEGEN_EMIT_ELEMENTWISE_EXPONENTIALS_H_

#include "codegen/emit/context/emitter.h"

namespace tile::codegen {

// An exp of several registers in each thread that is divided, neither of doubles nor by the hardware's function alone.
bool RaisesTogether(Emitter& e, const ir::Op& op);
Registers EmitExponentials(Emitter& e, const ir::Op& op, Operands x);

// i1: this register of a result of EmitExponentials, of f32, came the short way, and so did its whole group.
llvm::Value* IsPlain(llvm::Value* power);

}  // namespace tile::codegen

#endif  // TILE_CODEGEN_EMIT_ELEMENTWISE_EXPONENTIALS_H_

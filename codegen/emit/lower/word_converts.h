// Conversions of large tiles that keep a thread's elements side by side in words of 32 bits, so that they take few registers from one exchange between
// threads to the next.
//
//   Registers in = OperandAgain(e, op);          // of a conversion that is done again behind an exchange; else e.regs(op.operand(0))
//   Registers out = RoundedInPairs(e, op, in);   // f32 to 16 bits, two at a time; none: it isn't computed so
//
// LLVM would take what the first conversion of the same tile gave, and keep it meanwhile: the second one gets words of which LLVM does not know that
// they are the same. And LLVM rounds pairs where they are stored, which may be behind a barrier that waits for other loads.
#ifndef TILE_CODEGEN_EMIT_LOWER_WORD_CONVERTS_H_
#define TILE_CODEGEN_EMIT_LOWER_WORD_CONVERTS_H_

#include "codegen/emit/context/emitter.h"

namespace tile::codegen {

Registers OperandAgain(Emitter& e, const ir::Op& op);
Registers RoundedInPairs(Emitter& e, const ir::Op& op, Operands in);

}  // namespace tile::codegen

#endif  // TILE_CODEGEN_EMIT_LOWER_WORD_CONVERTS_H_

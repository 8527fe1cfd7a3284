// Integers of 8 bits as floats, a word of four at a time. A byte that takes the place of a float's last digits is the float plus a power of two, which
// one subtraction takes off: f16 and bf16 hold all such integers, so nothing is rounded. That is an instruction or two for each element at
// full rate, where converting takes one byte at a time, at half of it or less.
//
//   Registers floats = FloatsOfBytes(e, itof, e.regs(itof.operand(0)));   // none: it isn't computed so
#ifndef TILE_CODEGEN_EMIT_ELEMENTWISE_BYTE_FLOATS_H_
#define TILE_CODEGEN_EMIT_ELEMENTWISE_BYTE_FLOATS_H_

#include "codegen/emit/context/emitter.h"

namespace tile::codegen {

Registers FloatsOfBytes(Emitter& e, const ir::Op& op, Operands in);

}  // namespace tile::codegen

#endif  // TILE_CODEGEN_EMIT_ELEMENTWISE_BYTE_FLOATS_H_

// Quotients of floats, correctly rounded, several at a time. ptxas makes of each div.rn.f32 a branch of its own, behind which the instructions of
// the next one wait, and a reciprocal of its own, also where all elements of a row are divided by one number.
//
//   r = 1 / b, refined once;   q = a * r;   rest = b * q - a, exact;   a / b = q - r * rest
//
// holds where nothing overflows and the rest is exact (codegen/emit/elementwise/quotient_range.h): kGroup quotients share one test of that, and
// one branch to div.rn.f32. Zeros are numbers like others there, since masked rows are full of them; of powers, which have no sign, the test takes an
// instruction less. Compared with div.rn.f32 on an H200: 198 million of the hardest cases, those next to the middle of two floats, and 600 million
// others; none differs. codegen/emit/elementwise/quotients_test.cc has a part of them.
#ifndef TILE_CODEGEN_EMIT_ELEMENTWISE_QUOTIENTS_H_
#define TILE_CODEGEN_EMIT_ELEMENTWISE_QUOTIENTS_H_

#include "codegen/emit/context/emitter.h"

namespace tile::codegen {

// A division to nearest even of several registers in each thread, neither of doubles nor by constants.
bool DividesTogether(Emitter& e, const ir::Op& op);
Registers EmitQuotients(Emitter& e, const ir::Op& op, Operands a, Operands b);

// Quotients rounded to 16 bits, each group behind its division, so that 8 of them take 4 registers while the next group is divided: ptxas moves
// nothing across the branches between. Empty if `op` is no such conversion.
Registers NarrowQuotients(Emitter& e, const ir::Op& op);

}  // namespace tile::codegen

#endif  // TILE_CODEGEN_EMIT_ELEMENTWISE_QUOTIENTS_H_

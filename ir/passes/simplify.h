// Replaces operations by simpler ones that give the same, element by element and bit by bit.
//
//   Simplify(&module, function);
//
// Before:                                                After:
//   %c = constant <i32: 1> : tile<i32>                     %y = offset %p, %x
//   %r = reshape %c : tile<i32> -> tile<1xi32>
//   %ones = broadcast %r : … -> tile<1024xi32>
//   %i = muli %x, %ones
//   %y = offset %p, %i
//
// Constants of integers are folded. Resolved are neutral and absorbing operands, chains of operations that only move or
// only rename elements, tests of tests, and selections and branches with a known condition. So are counted loops that
// run once or never, sizes that types state, and values that a loop carries unchanged. Floats: what is exact for every
// number, infinities and zeros with their sign included; a NaN stays a NaN.
//
// What an operation promises (overflow, assume) is kept where the operation stays; of an operation that goes, nothing uses the
// promise. Operations that nothing uses any more are left for RemoveUnused. Positions and names stay; what is new has the place of what it
// replaces. Takes time proportional to the program, a few times. Not thread-safe with other changes of the module.
#ifndef TILE_IR_PASSES_SIMPLIFY_H_
#define TILE_IR_PASSES_SIMPLIFY_H_

#include "ir/module.h"

namespace tile::ir {

// Whether anything changed.
bool Simplify(Module* module, Function* function);

}  // namespace tile::ir

#endif  // TILE_IR_PASSES_SIMPLIFY_H_

// A loop that counts a second number round and round, and works on the tiles of a grid one behind the other, becomes a loop over tiles
// around a loop over the parts of each:
//
//   for %i in (0 to %n, step 1) iter_values(%k = -1, %tile = %t, %sum = 0) {       %outer = ceildiv(%n, %parts)
//     %is_end = cmpi equal %k, %parts - 1                                          for %o in (0 to %outer, step 1) iter_values(%tile = %t) {
//     %part = select %is_end, 0, %k + 1                                              %next = addi %tile, %step
//     %is_first = cmpi equal %part, 0                                                %count = mini %parts, %n - %o * %parts
//     %next = if %is_first { yield %tile + %step } else { yield %tile }              %sum = for %part in (0 to %count, step 1) iter_values(%s = 0) {
//     %s = mmaf (%next, %part), %sum                                                   %r = mmaf (%next, %part), %s
//     %is_last = cmpi equal %part, %parts - 1                                          continue %r
//     if %is_last { store %s }                                                       }
//     %again = select %is_last, 0, %s                                                if (%count - 1 equal %parts - 1) { store %sum }
//     continue %part, %next, %again                                                  continue %next
//   }                                                                              }
//
// So persistent kernels are written for compilers that overlap loads and products of one loop only. All that is done here for loops of products
// needs the nest: the accumulators begin at a constant, addresses of a tile are the same in the inner loop, and no branch stands between products.
//
// What is done in the first part of a tile moves in front of the inner loop: an `if` that gives carried values otherwise, behind operations without
// effect. What is done in the last part moves behind it, if nothing with an effect follows. The last tile may have fewer parts than the others; where
// %parts is below 1 the number is never reset, and all is one tile. Only loops with matrix products.
#ifndef TILE_CODEGEN_PASSES_CANONICAL_NEST_LOOPS_H_
#define TILE_CODEGEN_PASSES_CANONICAL_NEST_LOOPS_H_

#include "absl/status/status.h"
#include "codegen/passes/program.h"

namespace tile::codegen {

absl::Status NestLoops(Program& p);

}  // namespace tile::codegen

#endif  // TILE_CODEGEN_PASSES_CANONICAL_NEST_LOOPS_H_

// Loops whose iterations wait for each other: a reduction or a scan takes what the last iteration computed, or gives what the next one needs. A tile
// stays in registers, and an iteration loads little: a row of it, say. Such a loop takes as long as one iteration's chain of instructions and exchanges.
//
//   for %t in (0 to %n, step 1) iter_values(%h = %h0) {    // tile<64x16xf32>
//     %k = load …                                          // 64 elements
//     %s = reduce (%h * %k)                                // depends on the last iteration
//     …
//     continue %h + %k * %s
//   }
#ifndef TILE_CODEGEN_ANALYSIS_RECURRENCE_H_
#define TILE_CODEGEN_ANALYSIS_RECURRENCE_H_

#include <cstdint>

#include "ir/module.h"

namespace tile::codegen {

// Elements of the largest tile that such loops of the function reduce or scan; 0: there is no such loop, or one loads more than half as many elements
// in an iteration.
int64_t ElementsOfRecurrences(const ir::Function& function);

}  // namespace tile::codegen

#endif  // TILE_CODEGEN_ANALYSIS_RECURRENCE_H_

// Numbers that a `for` carries beside its induction variable are computed from it: the pipelines of codegen know where a load begins in a
// later iteration only if that follows from the induction variable.
//
//   bool changed = ComputeCounters(&module, function);
//
// Before:                                                        After:
//   %f = for %i in (%a to %n, step 32) iter_values(%k = %b) {      %f = for %i in (%a to %n, step 32) iter_values(%k = %b) {
//     %t = load_view_tko weak %v[%k]                                 %d = subi %i, %a
//     %j = addi %k, %c                                               %s = shri %d, 5 unsigned
//     continue %j                                                    %m = muli %s, %c
//   }                                                                %l = addi %b, %m
//                                                                    %t = load_view_tko weak %v[%l]
//                                                                    %j = addi %k, %c
//                                                                    continue %j
//                                                                  }
//
// What is carried beside such a number, and computed of it alike before the loop and for the next iteration, as a mask is, is computed in the
// iteration that uses it.
//
// A number that begins with %a / 32, rounded down, and counts iterations, is %i / 32.
//
// The step must be a constant, the number an integer scalar, a scalar pointer, or a tile of integers, that every iteration changes by the same amount, which the
// loop does not change. Sums wrap in both forms alike: what is promised of the carried one is not needed. What is only carried then is left for
// RemoveUnused. Takes time proportional to the program. Not thread-safe with other changes of the module.
#ifndef TILE_IR_PASSES_COUNTERS_H_
#define TILE_IR_PASSES_COUNTERS_H_

#include "ir/module.h"

namespace tile::ir {

// Whether anything changed.
bool ComputeCounters(Module* module, Function* function);

}  // namespace tile::ir

#endif  // TILE_IR_PASSES_COUNTERS_H_

// Moves what every iteration of a loop would compute alike in front of the loop.
//
//   HoistInvariants(&module, function, Share::kScalars);
//
// Before:                                            After:
//   for %i in (%a to %b, step %c) {                    %v = make_partition_view %t : …
//     %v = make_partition_view %t : …                  for %i in (%a to %b, step %c) {
//     %x = load_view_tko weak %v[%i]                     %x = load_view_tko weak %v[%i]
//
// An operation moves if it has no effect and cannot fail, since the loop may not have run it at all. So these stay:
// reads of memory, a division whose divisor may be 0 or -1, extract or insert at a place that may be outside, assume,
// and views whose sizes may be negative. A broken promise of overflow is a failure of what uses the result, which stays
// where it is. Takes time proportional to the program and the depth of its loops. Not thread-safe with other changes of
// the module.
#ifndef TILE_IR_PASSES_HOIST_H_
#define TILE_IR_PASSES_HOIST_H_

#include "ir/module.h"
#include "ir/passes/common.h"

namespace tile::ir {

// The operation may run where the program does not run it.
bool MayRunAnywhere(const Op& op);

// Whether anything changed. Share::kScalars leaves tiles where they are.
bool HoistInvariants(Module* module, Function* function, Share share);

}  // namespace tile::ir

#endif  // TILE_IR_PASSES_HOIST_H_

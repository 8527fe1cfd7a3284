// Removes what no effect of the program needs: operations without effects, values that a loop carries, results of loops and
// branches, and branches and counted loops that are empty then.
//
//   RemoveUnused(&module, function);
//
// Before:                                                    After:
//   %s, %n = for %i in (%a to %b, step %c)                     %s = for %i in (%a to %b, step %c)
//       iter_values(%x = %zero, %k = %a) {                         iter_values(%x = %zero) {
//     %y = addf %x, %t                                           %y = addf %x, %t
//     %l = addi %k, %c                                           continue %y
//     continue %y, %l                                          }
//   }
//
// Accesses stay, loads too; so do a `loop`, which may never end, and everything with an effect. What goes may have broken a promise
// or divided by zero: nobody is told any more. Takes time proportional to the program. Not thread-safe with other changes of the
// module.
#ifndef TILE_IR_PASSES_REMOVE_UNUSED_H_
#define TILE_IR_PASSES_REMOVE_UNUSED_H_

#include "ir/module.h"

namespace tile::ir {

// Whether anything changed.
bool RemoveUnused(Module* module, Function* function);

}  // namespace tile::ir

#endif  // TILE_IR_PASSES_REMOVE_UNUSED_H_

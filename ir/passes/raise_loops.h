// Turns a `loop` that counts into a `for`: what frontends make of while loops, and what compilers of C++ make of for loops that they
// cannot count. Pipelining and the producer of asynchronous loads know only `for`.
//
//   for (const StaysLoop& s : RaiseLoops(&module, function).stay) Remark(*s.loop, s.why);
//
// Before:                                                    After:
//   %r:2 = loop iter_values(%i = %a, %x = %zero) {             %f:2 = for %i in (%a to %n, step %one)
//     %c = cmpi less_than %i, %n, signed                           iter_values(%k = %a, %x = %zero) {
//     if %c {                                                    %t = load_view_tko weak %v[%i]
//     } else {                                                   %y = addf %x, %t
//       break %i, %x                                             %j = addi %i, %one
//     }                                                          continue %j, %y
//     %t = load_view_tko weak %v[%i]                           }
//     %y = addf %x, %t
//     %j = addi %i, %one
//     continue %j, %y
//   }
//
// The loop must test before it does anything, in one place leave and nowhere return; a carried integer must go by the same amount of
// known sign in every iteration, and be compared with what the loop does not change. The numbers must not wrap before they reach the
// end: the step is 1, the sum promises it (breaking the promise gives the program no meaning), or the ranges of bound and step
// show it. What is done on the way out moves behind the `for`, with the values that were carried to the test. Loops that
// count down count the complement up: ~i rises by 1 where i falls by 1, and neither wraps before the other.
//
// nvcc keeps "for (…; test; advance)" as a loop that tests at its head whether this is the first iteration, and
// advances if not. It is turned into one that advances at its end, even if it cannot be raised then:
//   loop iter_values(%i = %a, %first = 1) {                    loop iter_values(%i = %a) {
//     %w = cmpi not_equal %first, 0, signed                      … %i …
//     %j = if %w { yield %i } else {                             %n = addi %i, 1
//       %n = addi %i, 1                                          continue %n
//       yield %n                                               }
//     }
//     … %j …
//     continue %j, 0
//   }
//
// Takes time proportional to the program. Not thread-safe with other changes of the module.
#ifndef TILE_IR_PASSES_RAISE_LOOPS_H_
#define TILE_IR_PASSES_RAISE_LOOPS_H_

#include <string>
#include <vector>

#include "ir/module.h"

namespace tile::ir {

struct StaysLoop {
  const Op* loop;
  std::string why;
};

struct RaisedLoops {
  bool changed = false;
  std::vector<StaysLoop> stay;  // what is a `loop` still
};

RaisedLoops RaiseLoops(Module* module, Function* function);

}  // namespace tile::ir

#endif  // TILE_IR_PASSES_RAISE_LOOPS_H_

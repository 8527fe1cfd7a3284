// A loop that goes on where another one ends, and does the same but for a few steps, becomes one with it. Attention with a causal mask:
//
//   %a = for %i in (0 to %n, step 32) … {                 %end = maxi %n, %m
//     %s = mmaf …                                         %b = for %i in (0 to %end, step 32) … {
//     … %s …                                                %s = mmaf …
//   }                                                       %first = cmpi less_than %i, %n
//   %b = for %i in (%n to %m, step 32) iter_values(%a) {    %x = if %first { yield %s } else { … yield (select %mask, %s, %c) }
//     %s = mmaf …                                           … %x …
//     %x = select %mask, %s, %c                           }
//     … %x …
//   }
//
// Two loops fill their rings of stages twice, and begin and end their pipelines twice: of short ones that is a good part. A step that only the
// second loop has gives one of its own operands in the iterations of the first. So front ends write it whose language has no branch for tiles, or
// that take such a branch apart: into (%l to min(%m, %n)) and (max(%l, %m) to %n).
//
// Of loops with matrix products, whose bodies have no effect but weak loads. The step is a constant, and the first loop ends where the second begins:
// the difference of its bounds is a multiple of the step. Runs behind `share`, which makes equal bounds one value.
#ifndef TILE_CODEGEN_PASSES_CANONICAL_MERGE_PEELED_LOOPS_H_
#define TILE_CODEGEN_PASSES_CANONICAL_MERGE_PEELED_LOOPS_H_

#include "absl/status/status.h"
#include "codegen/passes/program.h"

namespace tile::codegen {

absl::Status MergePeeledLoops(Program& p);

}  // namespace tile::codegen

#endif  // TILE_CODEGEN_PASSES_CANONICAL_MERGE_PEELED_LOOPS_H_

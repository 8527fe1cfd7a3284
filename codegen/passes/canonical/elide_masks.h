// Iterations in which a mask is true everywhere do without it.
//
//   %from = maxi …, %until = mini …                        // once, in front of the loop
//   for %i in (…) {                                        for %i in (…) {
//     %s = mmaf %query, %key, %zero                          %s = mmaf %query, %key, %zero
//     %m = cmpi less_than_or_equal %column, %row             %a = cmpi greater_than_or_equal %i, %from, %b = cmpi less_than %i, %until
//     %x = select %m, %s, %minus                             %all = andi %a, %b
//     … %x …                                                 %x = if %all { yield %s } else {
//   }                                                          %m = …; %t = select %m, %s, %minus; yield %t
//                                                            }
//
// Only for loops with matrix products, where masking all scores costs as much as their exponentials. In most iterations of attention all
// keys precede all queries, are within the window, and exist (analysis/uniform_iterations.h). One loop stays one loop, so that its ring of
// stages is not emptied in between. What is all false gives the other value likewise. Not where that is a constant.
#ifndef TILE_CODEGEN_PASSES_CANONICAL_ELIDE_MASKS_H_
#define TILE_CODEGEN_PASSES_CANONICAL_ELIDE_MASKS_H_

#include "absl/status/status.h"
#include "codegen/passes/program.h"

namespace tile::codegen {

absl::Status ElideMasks(Program& p);

}  // namespace tile::codegen

#endif  // TILE_CODEGEN_PASSES_CANONICAL_ELIDE_MASKS_H_

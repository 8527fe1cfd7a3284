// Operations that use up more registers than their result takes go in front of the exchange between threads that precedes them. Where threads
// exchange elements, all that lives across it is in registers at once.
//
//   %a = mulf %g, %s                         %a = mulf %g, %s
//   %b = mulf %a, %x                         %b = mulf %a, %x
//   %m = reduce … of %b …                    %c = mulf %a, %y      // %b and %c live across the exchange, not %b, %a and %y
//   … %b, %m …                               %m = reduce … of %b …
//   %c = mulf %a, %y                         … %b, %m …
//
// Element-wise operations of kernels without products, whose data exceeds what threads keep in registers (slice.h).
#ifndef TILE_CODEGEN_PASSES_SLICING_COMPUTE_EARLY_H_
#define TILE_CODEGEN_PASSES_SLICING_COMPUTE_EARLY_H_

#include "absl/status/status.h"
#include "codegen/passes/program.h"

namespace tile::codegen {

absl::Status ComputeEarly(Program& p);

}  // namespace tile::codegen

#endif  // TILE_CODEGEN_PASSES_SLICING_COMPUTE_EARLY_H_

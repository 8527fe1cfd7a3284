// Two loops over the same few pieces of a row become straight code, so that the row is loaded once (passes/slicing/eliminate_loads.h).
//
//   %max = for %k in (0 to 2, step 1) iter_values(%m = …) {      %a = load %row[0]   … %b = load %row[1]   …
//     %x = load %row[%k]                                          …
//     …                                                           %c = load %row[0]   // is %a
//   }
//   %sum = for %k in (0 to 2, step 1) … {
//     %x = load %row[%k]
//
// Loops with the same constant bounds and at most kMostIterations iterations, which follow each other in a block and load the same with the same
// index, where registers hold all of it (tuning::kReuse). Not loops with matrix products. Not thread-safe with other changes of the module.
#ifndef TILE_CODEGEN_PASSES_SLICING_UNROLL_ITERATIONS_H_
#define TILE_CODEGEN_PASSES_SLICING_UNROLL_ITERATIONS_H_

#include "absl/status/status.h"
#include "codegen/passes/program.h"

namespace tile::codegen {

absl::Status UnrollIterations(Program& p);

}  // namespace tile::codegen

#endif  // TILE_CODEGEN_PASSES_SLICING_UNROLL_ITERATIONS_H_

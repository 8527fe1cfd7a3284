// A loop over tiles with an inner loop over slices of the tile becomes one loop over all slices. Prefetches
// (codegen/passes/pipeline/prefetch_tiles.h) then also reach across tiles, and memory is never idle between two of
// them.
//
//   for %i in (%block to %rows, step %blocks) {         %n = 4 * number of values of %i
//     for %s in (0 to 4) {                              for %t in (0 to %n) {
//       … load %view[4 * %i + %s]                         %i = %block + (%t >> 2) * %blocks
//     }                                                   %s = %t & 3
//   }                                                     … load %view[4 * %i + %s]
//                                                       }
//
// The loops must carry only tokens for which nobody waits. Only scalars and views may be computed outside of the inner
// loop, whose number of iterations is a power of two and which has no tiles prefetched for products. The new loop
// counts in 64 bits, where their number can't overflow.
#ifndef TILE_CODEGEN_PASSES_SLICING_COALESCE_LOOPS_H_
#define TILE_CODEGEN_PASSES_SLICING_COALESCE_LOOPS_H_

#include <cstdint>
#include <optional>

#include "absl/status/status.h"
#include "codegen/passes/program.h"

namespace tile::codegen {

// A loop over slices that is all that the loop around it does, and how many there are.
struct LoopNest {
  ir::Op* inner = nullptr;
  int64_t slices = 0;
};
// nullopt: the loop does more than that, or in another way.
std::optional<LoopNest> FindNest(Program& p, ir::Op* outer);

absl::Status CoalesceLoops(Program& p);

}  // namespace tile::codegen

#endif  // TILE_CODEGEN_PASSES_SLICING_COALESCE_LOOPS_H_

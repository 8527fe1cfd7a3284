// Puts loops over slices in the place of whole tiles. Internal to codegen/passes.
//
//   WriteLoops(module, block, /*kept=*/reductions, &order, &loops);
//
// The original sinks are removed, with operands that only they used and with loads whose whole tile nobody uses any more. What
// waited for such a load by a token waits for the loops that load its slices. `kept`: reductions that stay although they are unused,
// since they are sinks of other loops. `order` must know the block as it is before.
#ifndef TILE_CODEGEN_PASSES_SLICING_SLICE_WRITE_H_
#define TILE_CODEGEN_PASSES_SLICING_SLICE_WRITE_H_

#include <vector>

#include "absl/container/flat_hash_set.h"
#include "codegen/analysis/access_order.h"
#include "codegen/passes/slicing/slice_loop.h"

namespace tile::codegen {

void WriteLoops(ir::Module* module, ir::Block* block, const absl::flat_hash_set<const ir::Op*>& kept, SliceOrder* order,
                std::vector<SliceLoop>* loops);

}  // namespace tile::codegen

#endif  // TILE_CODEGEN_PASSES_SLICING_SLICE_WRITE_H_

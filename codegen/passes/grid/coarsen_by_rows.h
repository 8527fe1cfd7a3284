// Two blocks become one whose tiles have the rows of the first one and behind them those of the second one, where the place in the grid is in
// numbers, too: there are two of each then. Attention with a causal mask, 64 queries in a block (passes/grid/coarsened_tiles.h finds what grows):
//
//   %x = get_tile_block_id                                 %x0 = 2 %x, %x1 = 2 %x + 1
//   %first = muli %x, 64                                   %first0 = muli %x0, 64, %first1 = muli %x1, 64
//   %row = addi (broadcast %first), iota                   %row = addi (select %upper, %first0, %first1), iota mod 64
//   %sums = for %i in (0 to %x) {                          %both = for %i in (0 to min(%x0, %x1)) { … }                  rows of both
//     … tiles of 64 rows …                                 %sums = for %i in (min(%x0, %x1) to max(%x0, %x1)) { …        rows of one
//   }                                                        continue select (%i < %end of the row), %next, %sums }
//
// A loop that begins at the place, too, as the masked part behind it does, is taken for short: its iterations are those of either block, and all
// choose. A branch by a number goes the first way where both do, else the second one, with a choice by rows.
#ifndef TILE_CODEGEN_PASSES_GRID_COARSEN_BY_ROWS_H_
#define TILE_CODEGEN_PASSES_GRID_COARSEN_BY_ROWS_H_

#include "codegen/passes/grid/coarsened_tiles.h"
#include "ir/module.h"

namespace tile::codegen {

// Not all loops choose in all iterations.
bool HalvesPay(const CoarsenedTiles& growth);
// What growth found grows to two blocks.
void GrowToHalves(ir::Module* module, CoarsenedTiles* growth);

}  // namespace tile::codegen

#endif  // TILE_CODEGEN_PASSES_GRID_COARSEN_BY_ROWS_H_

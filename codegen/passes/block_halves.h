// Two blocks become one whose tiles have the rows of the first one and behind them those of the second one, where the place in the grid is in
// numbers, too: there are two of each then. Attention with a causal mask, 64 queries in a block (passes/block_growth.h finds what grows):
//
//   %x = get_tile_block_id                                 %x0 = 2 %x, %x1 = 2 %x + 1
//   %first = muli %x, 64                                   %first0 = muli %x0, 64, %first1 = muli %x1, 64
//   %row = addi (broadcast %first), iota                   %row = addi (select %upper, %first0, %first1), iota mod 64
//   %sums = for %i in (0 to %x) {                          %both = for %i in (0 to min(%x0, %x1)) { … }                  rows of both
//     … tiles of 64 rows …                                 %sums = for %i in (min(%x0, %x1) to max(%x0, %x1)) { …        rows of one
//   }                                                        continue select (%i < %end of the row), %next, %sums }
//
// A loop whose lower bound depends on the block's index (the diagonal part of causal attention) is assumed to be short: it runs over the union of
// both ranges, and each row selects. A branch by a number goes the first way where both do, else the second one, with a choice by rows.
#ifndef TILE_CODEGEN_PASSES_BLOCK_HALVES_H_
#define TILE_CODEGEN_PASSES_BLOCK_HALVES_H_

#include "codegen/passes/block_growth.h"
#include "ir/module.h"

namespace tile::codegen {

// Not all loops choose in all iterations.
bool HalvesPay(const BlockGrowth& growth);
// What growth found grows to two blocks.
void GrowToHalves(ir::Module* module, BlockGrowth* growth);

}  // namespace tile::codegen

#endif  // TILE_CODEGEN_PASSES_BLOCK_HALVES_H_

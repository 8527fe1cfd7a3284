// Tile blocks that lie next to each other in the grid become one, with a larger tile: products of 128 x 128 and less leave the tensor
// cores waiting for shared memory and the L2, those of 128 x 256 do not.
//
//   if (CoarsenBlocks(target, module, function)) JoinedBlocks(*function)   // plan/schedule.h; {2, 1}: two along x
//
// Before, for a grid of x blocks:                     After, for x / 2:
//   %j, %i, %z = get_tile_block_id                      %j, %i, %z = get_tile_block_id
//   … load_view_tko %bv[%k, %j] → tile<64x128xbf16>     … load_view_tko %bw[%k, %j] → tile<64x256xbf16>
//   … mmaf … → tile<128x128xf32>                        … mmaf … → tile<128x256xf32>
//   store_view_tko %sum, %cv[%i, %j]                    store_view_tko %sum, %cw[%i, %j]
//
// Blocks of a chain of products are joined in pairs, along its rows, also where the place is in numbers (passes/grid/coarsen_by_rows.h).
//
// The result is the same under three conditions. The block's place in a dimension of the grid is used only as an index
// of loads and stores. Values that depend on it are made element by element and by products. All effects of the kernel
// are such stores. The grid's size must be a multiple of how many become one; an image says so
// (codegen/build_image.cc).
#ifndef TILE_CODEGEN_PASSES_GRID_COARSEN_BLOCKS_H_
#define TILE_CODEGEN_PASSES_GRID_COARSEN_BLOCKS_H_

#include "absl/status/status.h"
#include "codegen/passes/program.h"
#include "ir/module.h"

namespace tile::codegen {

// Whether any are, around the one product of the kernel, or the products of an attention; of others a multiprocessor holds so many (0: not known).
bool CoarsenBlocks(const Target& target, ir::Module* module, ir::Function* function, int blocks_alone = 0);

// The pass, which does nothing without May::kCoarsen. If no blocks become one, Program::applies is false.
absl::Status CoarsenBlocks(Program& p);

}  // namespace tile::codegen

#endif  // TILE_CODEGEN_PASSES_GRID_COARSEN_BLOCKS_H_

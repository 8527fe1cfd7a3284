// Loops by which few blocks walk over the tiles of a grid.
#ifndef TILE_CODEGEN_ANALYSIS_BEGINS_AT_BLOCK_H_
#define TILE_CODEGEN_ANALYSIS_BEGINS_AT_BLOCK_H_

#include "ir/module.h"

namespace tile::codegen {

// The for begins at a tile that is chosen by the number of the block, or at the first slice of one.
bool BeginsAtBlock(const ir::Op& loop);

// About how many iterations such a loop has in each block, where its end and its step are constants; 0: nothing is known.
int64_t KnownIterations(const ir::Op& loop);

}  // namespace tile::codegen

#endif  // TILE_CODEGEN_ANALYSIS_BEGINS_AT_BLOCK_H_

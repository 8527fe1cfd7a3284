// Whether blocks behind others in the grid have more to do.
//
//   %end = addi %x, 1                              // x = get_tile_block_id
//   for %j in (0 to %end, step 1) { … mmaf … }     // RisesAlong(function) is 0: the dimension x
//
// As in attention with a causal mask, whose later queries have more keys: where the hardware begins with the last blocks, the ones that
// end last are short (Schedule::last_first). An estimate, of which no result depends. Pure.
#ifndef TILE_CODEGEN_ANALYSIS_WORK_OF_BLOCKS_H_
#define TILE_CODEGEN_ANALYSIS_WORK_OF_BLOCKS_H_

#include "ir/module.h"

namespace tile::codegen {

// The dimension of the grid along which iterations of loops with matrix products become more, and in no loop fewer; -1: there is none.
int RisesAlong(const ir::Function& function);

}  // namespace tile::codegen

#endif  // TILE_CODEGEN_ANALYSIS_WORK_OF_BLOCKS_H_

// Whether blocks of the grid have more to do than their neighbours.
//
//   %end = addi %x, 1                              // x = get_tile_block_id
//   for %j in (0 to %end, step 1) { … mmaf … }     // WorkAlong(function) is {.dim = 0, .rises = true}
//
// As in attention with a causal mask, whose later queries have more keys: where the hardware begins with the longest blocks, the ones that
// end last are short (Schedule::longest_first, Schedule::wave_group). An estimate: no result depends on it. Pure.
#ifndef TILE_CODEGEN_ANALYSIS_WORK_OF_BLOCKS_H_
#define TILE_CODEGEN_ANALYSIS_WORK_OF_BLOCKS_H_

#include "ir/module.h"

namespace tile::codegen {

struct WorkOfBlocks {
  // The dimension of the grid along which iterations of loops with matrix products become more, and in no loop fewer, or the other way round;
  // -1: there is none.
  int dim = -1;
  bool rises = false;
};

WorkOfBlocks WorkAlong(const ir::Function& function);

}  // namespace tile::codegen

#endif  // TILE_CODEGEN_ANALYSIS_WORK_OF_BLOCKS_H_

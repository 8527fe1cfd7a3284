// What authors need not choose: how many warps work on a block of tiles.
//
//   Plan plan = MakePlan(target, function);
//
// A block gets so many warps that its tiles fit the registers of its threads (the largest, and all that live at once: more
// for kernels with matrix products than for those that wait for memory), and no more than it has work for. Not thread-safe
// with changes of the function.
#ifndef TILE_CODEGEN_PLAN_H_
#define TILE_CODEGEN_PLAN_H_

#include <string>

#include "codegen/target.h"
#include "ir/module.h"

namespace tile::codegen {

struct Plan {
  int num_warps = 4;
  std::string why;  // for people
  // Of loops that fetch ahead (codegen/plan_rings.h).
  int stages = 0;       // of their rings; 0: there are none
  int blocks = 1;       // that should be resident on a multiprocessor, for which registers are kept free
  int block_rows = 1;   // rows of the grid that are walked through together; a power of two
};

Plan MakePlan(const Target& target, const ir::Function& function);

}  // namespace tile::codegen

#endif  // TILE_CODEGEN_PLAN_H_

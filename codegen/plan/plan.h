// What authors need not choose: how many warps work on a block of tiles.
//
//   Plan plan = MakePlan(target, function, /*aligned=*/false);
//
// A block gets so many warps that its tiles fit the registers of its threads (the largest, and all that live at once: more
// for kernels with matrix products than for those that wait for memory), and no more than it has work for. Not thread-safe
// with changes of the function.
#ifndef TILE_CODEGEN_PLAN_PLAN_H_
#define TILE_CODEGEN_PLAN_PLAN_H_

#include <string>

#include "codegen/target/target.h"
#include "ir/module.h"

namespace tile::codegen {

inline constexpr int kClusterBlocks = 2;

struct Plan {
  int num_warps = 4;
  std::string why;  // for people
  // Of loops that fetch ahead (codegen/plan/plan_rings.h).
  int stages = 0;       // of their rings; 0: there are none
  bool producer = false;  // a warp of its own fills them, by TMA; else all threads do, by cp.async
  int blocks = 1;       // that should be resident on a multiprocessor, for which registers are kept free
  // Blocks stand in one row of the hardware's grid; `square` (a power of two; 0: as the hardware has them) neighbours along
  // dimension `along` of the grid are walked through together.
  int square = 0, along = 1;
  bool persistent = false;  // as many hardware blocks as fit walk through the grid, loads of the next block beside the end of one
  bool cluster = false;  // two neighbours along that dimension may be a cluster, which shares loads
};

// `aligned`: arrays are (passes/assume_aligned.h).
Plan MakePlan(const Target& target, const ir::Function& function, bool aligned);

}  // namespace tile::codegen

#endif  // TILE_CODEGEN_PLAN_PLAN_H_

// Blocks that walk over the tiles of a grid, for an image in which every tile has a hardware block of its own.
//
//   for %i in (%block to %tiles, step %blocks) {          %x = load_view_tko weak %v[%block]
//     %x = load_view_tko weak %v[%i]                      …
//     …
//   }
//
// A program walks where blocks are few, so that one loads the next tile while it works on this one. A GPU with many
// blocks overlaps them by itself, and needs no shared memory for it. More bytes are in flight, and warps of several
// tiles fill in for each other where one waits for a sum. The steps that lead to the first load are executed once. The
// hardware's grid has as many blocks as the loop of all blocks together has iterations, which the host must know
// (plan/tma/host_integer.h).
//
// That is right if iterations are independent: nothing that one does is ordered behind what another does. They carry no values, and
// tokens only from store to store, of rows that lie apart (the launch says so: a row's bound is at most the stride). Then it is as if each were another
// block's, and blocks have no order. What stands in front of the loop is done by each: that may be loads, which nothing waits for.
// It moves to where it is used, for no register is to hold it any longer.
#ifndef TILE_CODEGEN_PASSES_GRID_UNPERSIST_GRID_H_
#define TILE_CODEGEN_PASSES_GRID_UNPERSIST_GRID_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "codegen/passes/program.h"
#include "ir/tbc/image.h"

namespace tile::codegen {

// The pass, which does nothing without May::kUnpersist. If it finds no such loop, Program::applies is false.
absl::Status UnpersistGrid(Program& p);

// Of a kernel that was changed: blocks along x, and for which launches. Nothing of others.
struct SpreadGrid {
  ir::Expr blocks;  // empty: the grid of the launch
  std::vector<ir::ImageRequirement> requirements;
};
SpreadGrid SpreadGridOf(const ir::Function& function);

}  // namespace tile::codegen

#endif  // TILE_CODEGEN_PASSES_GRID_UNPERSIST_GRID_H_

// Warps of a block, from the tiles that its threads hold, where a candidate leaves them open. Internal to codegen/plan.
//
//   WarpChoice choice = FewestWarps(target, function, /*aligned=*/false);
#ifndef TILE_CODEGEN_PLAN_RESOURCES_WARPS_H_
#define TILE_CODEGEN_PLAN_RESOURCES_WARPS_H_

#include <string>

#include "codegen/target/target.h"
#include "ir/module.h"

namespace tile::codegen {

struct WarpChoice {
  int num_warps = 1;
  std::string why;  // for people
};

// What a kernel does with rows, by which it gets warps, and blocks on a multiprocessor.
struct RowWork {
  bool known = true;           // all accesses of tiles move in vectors, and nothing of that is tested at run time
  bool multiplies = false;     // matrices
  bool walks = false;          // a loop goes over tiles that are chosen by the number of the block
  bool in_iterations = false;  // a loop loads tiles
  bool in_iterations_of_tile = false;  // one that does not go over such tiles
  int loaded_bits = 0;                 // of an element, the largest of those
  int widest_bits = 0;                 // of an element that is loaded anywhere
  int64_t loaded_words = 0;            // of registers, of the largest tile that a loop loads
  bool reduces = false;
  bool across_warps = false;  // with many warps, several have parts of what is reduced
  bool waits = false;         // for other blocks, in a loop around an atomic
};
RowWork RowWorkOf(const ir::Function& function, bool aligned);

// Registers of 32 bits that tiles take at once, in all threads; left operands that instructions read from shared memory take none.
int64_t LiveBesideStages(const Target& target, int num_warps, const ir::Function& function);

// Registers of a thread for addresses in a loop of products with this body, and for fragments unless all of them read shared memory.
int64_t BesideProducts(const Target& target, int num_warps, const ir::Block& body);

// The first of 1, 2, 4, … warps whose registers hold the largest tile and all that live at once, each within its share; the most that a
// block may have if none do. `aligned`: arrays are (passes/canonical/assume_aligned.h).
WarpChoice FewestWarps(const Target& target, const ir::Function& function, bool aligned);

}  // namespace tile::codegen

#endif  // TILE_CODEGEN_PLAN_RESOURCES_WARPS_H_

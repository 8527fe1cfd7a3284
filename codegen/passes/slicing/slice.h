// Tiles that exceed the registers are worked on in slices, by a loop, so that neither code nor registers grow with the
// tile.
//
//   int loops = Slice({.limit = 32768, .slice = 16384}, module, function, trace);   // 0: nothing was changed
//
// Before:                                             After:
//   %x, %t = load_view_tko weak %a[%i]  (65536)         %acc = for %s in (0 to 4) iter_values(%m = -inf …) {
//   %m = reduce %x … maxf                                 %x, %t = load_view_tko weak %a.slice[4 %i + %s] (16384)
//   %y = … subf %x, broadcast %m                          continue maxf %x, %m
//   store_view_tko weak %y, %b[%i]                      }
//                                                       %m = reduce %acc … maxf
//                                                       for %s in (0 to 4) {
//                                                         … loads again, subtracts, stores a slice
//                                                       }
//
// Sinks (stores, and reductions along the sliced dimension) ask for slices of what they take; each operation in between
// knows which slices of its operands it needs (analysis/slice_dims.h), down to loads, constants and small tiles. Sinks that
// load the same become one loop, as long as none needs the end of another. Where slices can hold whole rows, so that
// reductions end in each and nothing is loaded twice, they do. Where slices would load again, and threads can keep what lives
// from one exchange to the next, all stays whole (kept_tiles.h). Tiles that hang together are sliced together or stay:
// what lives whole for one user need not be loaded again for the others.
//
// What makes that legal (semantics 6, 7.2): accesses of a loop happen in another order than those of whole tiles. A
// load may be done later and again if it is weak and no store of an earlier iteration or loop can have changed what it
// reads. All operations that it passes must be weak loads, or weak stores that do not wait for it. A store waits for a
// load if a token says so, or if both may be of one allocation; then it must write the elements that the load reads, in
// the same slice. Pointers of different parameters that no token relates don't overlap: what may overlap must be
// ordered by tokens.
//
// A `for` that carries large tiles is done once for each slice (slice_nest.h). A product whose factors are large, and whose result is not, adds up
// slices along K.
//
// A scan along the sliced dimension carries what the slices before add up to (slice_carry.h). Updates and accesses that
// others may see are done once, slice by slice, in their place. What would have to live whole is kept in memory and
// read again (spill_tiles.h).
//
// A store of what is there whole anyway, as a product is, stays whole although its pointers exceed the limit, if facts say that a thread
// needs few of them (TileRegisters).
//
// A slice may be outside of its tensor where the tile stuck out: the view of slices goes in steps of half a slice, for
// which code generation tests every element.
//
// --remarks tells of every loop, and why tiles stay whole. Each group of tiles is an optional step ("slice").
#ifndef TILE_CODEGEN_PASSES_SLICING_SLICE_H_
#define TILE_CODEGEN_PASSES_SLICING_SLICE_H_

#include <cstdint>

#include "absl/status/status.h"
#include "codegen/passes/program.h"
#include "codegen/trace/trace.h"
#include "ir/module.h"

namespace tile::codegen {

struct SliceOptions {
  int64_t limit = 0;  // tiles of more registers of 32 bits, over all threads, are sliced
  int64_t slice = 0;  // registers of a slice, at most; all that are held at once may take twice as many. A power of two
  int64_t shared_bytes = 0;  // shared memory that tiles may be kept in; the workspace comes next
  // Registers of all threads for tiles. A `for` that carries and loads more in an iteration is done for each slice (slice_nest.h); 0: none is.
  int64_t carried = 0;
  int64_t walk = INT64_MAX;  // the limit of tiles that a loop goes over, if it can do all it does with one in slices
  bool keeps_rows =
      false;  // large rows may stay whole: accesses are wide. Element by element, addresses and conditions take the registers
};

// As many threads as `num_warps` (0: as many as a block can have) can hold. `shared_bytes`: of a block, what slices use
// on their way included.
SliceOptions SlicesFor(int num_warps, int64_t shared_bytes = 0);

// The loops made. The trace may be null.
int Slice(const SliceOptions& options, ir::Module* module, ir::Function* function, Trace* trace);
// All that the block does with tiles becomes one loop over slices of so many registers, if it can. Returns whether.
bool SliceBlock(int64_t words, ir::Module* module, ir::Block* block, Trace* trace);
// The pass: for the warps that the user wants, else for as many as a block can have. Notes the largest tile that is left
// (Trace::largest_tile).
absl::Status Slice(Program& p);

}  // namespace tile::codegen

#endif  // TILE_CODEGEN_PASSES_SLICING_SLICE_H_

// Loops by which few blocks walk over the tiles of a grid: the next iteration's tiles are loaded before this one is worked on. Such
// blocks are alone on their multiprocessor, so that nobody else works while they wait for memory.
//
//   for %i in (%block to %rows, step %blocks) {        %f = if %block < %rows { load [%block] } else { 0 }
//     %x = load_view_tko weak %v[%i]                   for %i in (%block to %rows, step %blocks) iter_values(%x = %f) {
//     …                                                  %n = load_view_tko weak %v[%rows - %i > %blocks ? %i + %blocks : %i]
//     continue                                           …
//   }                                                    continue %n
//                                                      }
//
// The same is done in loops that multiply, for what is loaded and not copied ahead: rows of factors, operands that are converted or come element by
// element. There loads are carried as long as a thread has registers for them beside what lives, and masks keep the last iteration from loading more.
//
// If two iterations' tiles fit, they come two iterations early: what one iteration loads, 16 KiB of a block with 16
// warps, is less than is to be on its way to hide the latency of memory. The last iterations load the last tile once
// more, so that no load is made that the program does not make, and promises about it (inbounds) hold. A load takes
// part if it is weak, no token orders it inside the loop, and nothing waits for its token. (With copies, an operation
// that waits for it waits for the next one, too.) Its position must follow from the induction variable
// (LoopLoads::WhyNot), and the carried value must take few registers. Tiles that take more are copied to shared memory
// instead (codegen/plan/staging/prefetch_slot.h), where a view has contiguous rows, the induction variable is an index,
// and arrays are known to be aligned. What takes a register of a thread beside those is still carried. In a loop that
// multiplies, they are copied beside the ring of what is copied ahead, if that leaves memory for them.
#ifndef TILE_CODEGEN_PASSES_PIPELINE_PREFETCH_TILES_H_
#define TILE_CODEGEN_PASSES_PIPELINE_PREFETCH_TILES_H_

#include "absl/status/status.h"
#include "codegen/passes/program.h"

namespace tile::codegen {

absl::Status PrefetchTiles(Program& p);

}  // namespace tile::codegen

#endif  // TILE_CODEGEN_PASSES_PIPELINE_PREFETCH_TILES_H_

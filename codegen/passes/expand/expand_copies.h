// Writes out the copies of loops that copy ahead, by TMA or by threads. Also writes out the order in which their
// products begin and are awaited.
//
// Before, after:
//
//   kernel {stages = 4, num_warps = 8, …}
//   <program with loops that copy_ahead>
//   return
//
//   kernel {…}
//   %memory = overlay_stages bytes = 32768, stages = 4
//   %full = alloc_barriers count = 4, arrivals = 1
//   %free = alloc_barriers count = 4, arrivals = 8
//   fence_barriers
//   block_barrier
//   workers { <the program: copy_role.h> }
//   return
//
// Barriers, fence and block_barrier exist where TMA copies (copy_role.h). Loops whose threads copy have other waits
// (thread_copies.cc). Products into tensor memory need columns and a barrier for their ends, too (column_products.cc).
#ifndef TILE_CODEGEN_PASSES_EXPAND_EXPAND_COPIES_H_
#define TILE_CODEGEN_PASSES_EXPAND_EXPAND_COPIES_H_

#include "absl/status/status.h"
#include "codegen/passes/program.h"

namespace tile::codegen {

absl::Status ExpandCopies(Program& p);

}  // namespace tile::codegen

#endif  // TILE_CODEGEN_PASSES_EXPAND_EXPAND_COPIES_H_

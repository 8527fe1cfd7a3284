// Loads come in front of stores that they need not follow.
//
//   %x = load_view_tko weak %q[…]                     %x = load_view_tko weak %q[…]
//   … store_view_tko weak %a, %q[…]                   %y = load_view_tko weak %k[…]
//   %y = load_view_tko weak %k[…]                     … store_view_tko weak %a, %q[…]
//   … store_view_tko weak %b, %k[…]                   … store_view_tko weak %b, %k[…]
//
// The assembler knows nothing of what pointers may be equal, and leaves loads behind stores: a kernel that rotates queries and then keys waits
// for memory twice, with half of its bytes on their way each time. A load moves if it is weak, no token orders it behind such a store, the two are of
// different allocations, and a thread has registers for it.
#ifndef TILE_CODEGEN_PASSES_PIPELINE_HOIST_LOADS_H_
#define TILE_CODEGEN_PASSES_PIPELINE_HOIST_LOADS_H_

#include "absl/status/status.h"
#include "codegen/passes/program.h"

namespace tile::codegen {

absl::Status HoistLoads(Program& p);

}  // namespace tile::codegen

#endif  // TILE_CODEGEN_PASSES_PIPELINE_HOIST_LOADS_H_

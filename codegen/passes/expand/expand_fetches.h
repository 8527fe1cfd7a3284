// Writes out the roles of loops that fetch ahead. The last warp of a block, the producer, starts the copies of their
// stages. The others, the workers, multiply.
//
// Before, after:
//
//   kernel {producer, stages = 4, num_warps = 4, …}
//   <program with loops that fetch_ahead>
//   return
//
//   kernel {…}
//   %memory = alloc_stages bytes = 32768, stages = 4
//   %full = alloc_barriers count = 4, arrivals = 1
//   %free = alloc_barriers count = 4, arrivals = 4
//   fence_barriers
//   block_barrier
//   producer { <what the loads need, and their copies: producer_role.h> }
//   workers { <the program: worker_role.h> }
//   return
//
// In a persistent grid each role visits the tile blocks by itself (each_block). So the producer starts with the next
// block while workers store the last one. In a cluster the blocks wait until all barriers are initialised, and a
// producer ends only when its stages have been released. Where sums are in tensor memory, columns are allocated with
// the barriers. One thread begins the products, and all workers wait for their end (column_worker_role.h). If the
// producer's warpgroup gives up registers, three of its warps are idle.
#ifndef TILE_CODEGEN_PASSES_EXPAND_EXPAND_FETCHES_H_
#define TILE_CODEGEN_PASSES_EXPAND_EXPAND_FETCHES_H_

#include "absl/status/status.h"
#include "codegen/passes/program.h"

namespace tile::codegen {

absl::Status ExpandFetches(Program& p);

}  // namespace tile::codegen

#endif  // TILE_CODEGEN_PASSES_EXPAND_EXPAND_FETCHES_H_

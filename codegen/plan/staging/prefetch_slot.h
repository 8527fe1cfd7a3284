// Tiles that the next iteration of a loop loads, copied to shared memory while this one is worked on (Decision::kPrefetchSlot), because a
// thread has no registers for them (codegen/passes/pipeline/prefetch_tiles.h). Each thread copies what it will hold itself, in vectors of 16 bytes,
// and reads it back: no thread waits for another one. If shared memory holds more tiles, they come more iterations early
// (Decision::kPrefetchDistance): where blocks read and write in turns, a single tile that is on its way leaves memory idle in between.
//
//   [tile][vector][thread]       vector i of a thread is PrefetchSlotBytes' i-th row of 16 bytes times all threads
#ifndef TILE_CODEGEN_PLAN_STAGING_PREFETCH_SLOT_H_
#define TILE_CODEGEN_PLAN_STAGING_PREFETCH_SLOT_H_

#include <cstdint>

#include "codegen/layout/layout.h"
#include "codegen/target/decisions.h"
#include "ir/module.h"

namespace tile::codegen {

inline constexpr int kPrefetchVector = 16;  // bytes

// Shared memory for a tile of such elements, in this layout.
inline int64_t PrefetchSlotBytes(ir::Elem elem, const Layout& layout, int num_warps) {
  const int64_t of_thread = int64_t{layout.registers()} * ir::MemoryBits(elem) / 8;
  return (of_thread + kPrefetchVector - 1) / kPrefetchVector * kPrefetchVector * 32 * num_warps;
}

// Loads of a loop that copy early. Each ends a group of copies in every iteration, whether it copies or not, so that the others, and a ring
// of operands in the same loop, know how many groups are younger than theirs.
inline int CopyingLoads(const ir::Op& loop) {
  int loads = 0;
  for (const ir::Op* op : *loop.region(0)) loads += DecisionOf<Decision::kPrefetchSlot>(*op) ? 1 : 0;
  return loads;
}

inline constexpr int kMostCopiesAhead = 4;
inline int CopiesAheadOf(const ir::Op& load) {
  return static_cast<int>(DecisionOf<Decision::kPrefetchDistance>(load).value_or(1));
}

}  // namespace tile::codegen

#endif  // TILE_CODEGEN_PLAN_STAGING_PREFETCH_SLOT_H_

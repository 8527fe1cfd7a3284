// What --check=full looks at while a block runs. The interpreter calls a Checker around every instruction and for every
// access to memory; without one (the usual case) the calls are not made.
//
// A shadow of the frame mirrors it byte for byte, so that values which share or copy storage need no care: whoever moves
// bytes of the frame by itself (a load, a store) tells the checker which.
#ifndef TILE_VM_MACHINE_CHECKER_H_
#define TILE_VM_MACHINE_CHECKER_H_

#include <cstdint>
#include <vector>

#include "absl/types/span.h"
#include "ir/element.h"
#include "vm/machine/code.h"
#include "vm/machine/coverage.h"

namespace tile::vm {

// Elements next to each other in memory that one instruction reads or writes.
struct Access {
  uintptr_t address = 0;
  int64_t elements = 0;
  int element_bytes = 0;
  int64_t lane_step = 1;  // from one of them to the next in the tile, in elements
  bool reads = false, writes = false;
  ir::MemoryOrdering ordering = ir::MemoryOrdering::kWeak;
  ir::MemoryScope scope = ir::MemoryScope::kTlBlk;
  bool atomic = false;               // a read-modify-write
  const void* tile = nullptr;        // where the elements are in the frame (or the constants); null: nowhere
  int64_t lane = 0;                  // first element of the tile, row-major
  const Allocation* home = nullptr;  // the array that it is in; null: unknown
};

// Memory of the launch as the linear order of blocks left it.
struct KeptMemory {
  uintptr_t begin = 0;
  uint64_t bytes = 0;
  const uint8_t* data = nullptr;
};

class Checker {
 public:
  virtual ~Checker() = default;
  // Around a block: a frame begins (fresh) or goes on after parking.
  virtual void BeginBlock(BlockState& b) = 0;
  virtual void EndBlock(BlockState& b) = 0;
  // Before and after an instruction. Before: false after a Trap. `After` sees the results.
  virtual bool Before(BlockState& b, const Instr* in) = 0;
  virtual void After(BlockState& b, const Instr* in) = 0;
  // Whether other blocks may look at what the instruction does, so that it matters if the block stops there.
  virtual bool IsStrong(const BlockState& b, const Instr* in) const = 0;
  // An access that is about to happen, inside an allocation. False after a Trap.
  virtual bool OnAccess(BlockState& b, const Instr* in, const Access& access) = 0;
  // These elements of a tile have no specified value (masked without padding, outside of a tensor, fresh storage).
  virtual void OnUnspecified(BlockState& b, const void* tile, int64_t bytes) = 0;
  // These elements of a tile have one (padding).
  virtual void OnSpecified(BlockState& b, const void* tile, int64_t bytes) = 0;
  // All of these elements of a tile have one.
  virtual bool IsSpecified(const BlockState& b, const void* tile, int64_t bytes) const = 0;
  // A block allocated memory, or gave it back.
  virtual void OnAllocate(BlockState& b, const Allocation& a) = 0;
  virtual void OnFree(BlockState& b, const Allocation& a) = 0;
  // What was seen of the kernel's choices, if the launch asks for it; once.
  virtual std::vector<Coverage> TakeCoverage() = 0;
  // All blocks have ended, none by a trap.
  virtual void EndLaunch() = 0;
  // After EndLaunch, if the blocks did not run in the linear order: compares what they left with what that order left.
  virtual void CompareResults(absl::Span<const KeptMemory> linear) = 0;
};

}  // namespace tile::vm

#endif  // TILE_VM_MACHINE_CHECKER_H_

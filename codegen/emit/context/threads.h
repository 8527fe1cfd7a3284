// Which thread this is, and which elements of a tile it holds.
//
//   e.threads().lane()                       // i32, 0 … 31
//   e.threads().Element(layout, r)           // i32: which element of the tile (row-major) is in this thread's register r
//
// Numbers that follow from the thread's are computed once, in the entry block, so that they can be used everywhere. Not thread-safe.
#ifndef TILE_CODEGEN_EMIT_CONTEXT_THREADS_H_
#define TILE_CODEGEN_EMIT_CONTEXT_THREADS_H_

#include <cstdint>
#include <string>

#include "absl/container/flat_hash_map.h"
#include "absl/types/span.h"
#include "codegen/layout/layout.h"
#include "llvm/IR/Value.h"

namespace tile::codegen {

class Emitter;

class Threads {
 public:
  explicit Threads(Emitter& e) : e_(e) {}

  // In the entry block; `threads`: of a hardware block.
  void Begin(int threads);

  // i32, 0 … 32 · warps - 1. The threads of the producer, which holds no tiles, have higher numbers.
  llvm::Value* number() { return number_; }
  llvm::Value* lane() { return lane_; }
  llvm::Value* warp() { return warp_; }
  // Number of the warpgroup (four warps), the same in all lanes for the machine to see.
  llvm::Value* Warpgroup();
  // i1: this lane is the one that was chosen of its warp, all lanes of which are here; always the same. The assembler sees that it is one, and
  // so that what it starts alone needs no loop over lanes. From sm_90 on.
  llvm::Value* IsElected();

  // Which element of the tile (row-major) this thread holds in register r: i32. Element(layout, 0) ^ RegisterPart = the
  // rest; where bits do not overlap (all layouts but swizzled ones) ^ is +.
  llvm::Value* Part(const Layout& layout);
  llvm::Value* Element(const Layout& layout, int r);
  // Coordinate of that element along a dimension: i32.
  llvm::Value* Coordinate(const Layout& layout, int r, int dim);
  // i1: this thread holds the first of several copies of its elements; null: there is one copy.
  llvm::Value* HoldsFirstCopy(const Layout& layout);
  // XOR of bases[i] for the set bits of an i32 value, at the insertion point; value's other bits don't count.
  llvm::Value* LinearOf(llvm::Value* value, absl::Span<const uint64_t> bases);
  // Any linear function of the thread's number: XOR of lane_bases[i] for the set bits of lane, likewise warp.
  llvm::Value* LinearOfThread(absl::Span<const uint64_t> lane_bases, absl::Span<const uint64_t> warp_bases);

 private:
  Emitter& e_;
  llvm::Value *number_ = nullptr, *lane_ = nullptr, *warp_ = nullptr, *warpgroup_ = nullptr;
  absl::flat_hash_map<std::string, llvm::Value*> linear_;  // LinearOfThread, by its bases
};

// What register r adds to a thread's part of the element's number.
uint32_t RegisterPart(const Layout& layout, int r);

}  // namespace tile::codegen

#endif  // TILE_CODEGEN_EMIT_CONTEXT_THREADS_H_

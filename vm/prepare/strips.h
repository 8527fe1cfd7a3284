// Elementwise operations in a row, done strip by strip instead of tile by tile.
//
// A tile is often larger than the first-level cache. Where several elementwise instructions follow each other over
// equally many elements, all of them process a strip of about 2 KiB before the next strip begins. So each finds its
// operands in the cache, and a result that only they use needs no more room than a strip. A weak store_view at the end
// of such a row takes the strips as well, if the tile is in memory in one piece. A mask of `iota < bound` that turns
// out to be all ones is not computed. Meanwhile the next block's tiles are fetched (BlockState::ahead).
//
// The first instruction of a row becomes the whole row: it jumps past it. The others stay where they are, for
// --check=full and for when something stands in the way (memory that overlaps, a tile cut off at the edge): then each does
// its own work.
#ifndef TILE_VM_PREPARE_STRIPS_H_
#define TILE_VM_PREPARE_STRIPS_H_

#include <utility>
#include <vector>

#include "vm/kernels/elementwise.h"
#include "vm/machine/code.h"

namespace tile::vm {

inline constexpr int kMaxElementwiseOperands = 3;

// The parameters of an elementwise instruction: n elements, in calls of `chunk`, in which each operand is either contiguous
// or one element. Operand i begins at element (e / run) % count of its storage for result element e.
struct ElementwiseData {
  ElementwiseFn fn;
  Slot out, in[kMaxElementwiseOperands];
  int64_t n, chunk;
  int arity;
  int out_bytes;
  int64_t run[kMaxElementwiseOperands], count[kMaxElementwiseOperands];
  int run_bits[kMaxElementwiseOperands];  // run and count are powers of two, as sizes of tiles are
  int bytes[kMaxElementwiseOperands];

  // Where operand i is read for element e of the result, in bytes.
  int64_t Offset(int i, int64_t e) const { return ((e >> run_bits[i]) & (count[i] - 1)) * bytes[i]; }
};

// Null for any other instruction.
const ElementwiseData* ElementwiseOf(const Instr& in);

// Where a store puts its tile.
struct StoreTarget {
  enum class Kind { kTrap, kScattered, kDense };
  Kind kind;
  uint8_t* at = nullptr;   // kDense: the tile's elements, one after the other
  bool streaming = false;  // goes around the caches
};
// Whether the instruction is a weak store of whole elements through a view; its tile's place is in the frame as it is.
bool IsPlainStore(const Instr& in);
// Checks a plain store; kTrap after a trap, kScattered where the instruction itself must run.
StoreTarget LocateStore(BlockState& b, const Instr* store);

// Joins rows of instructions. `targets` are jumps by index: (from, to).
void JoinStrips(Code* code, const std::vector<std::pair<int, int>>& targets);

}  // namespace tile::vm

#endif  // TILE_VM_PREPARE_STRIPS_H_

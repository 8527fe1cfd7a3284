// Values without data. A run of a schedule computes integers that are scalars, since they decide positions, phases and conditions. Of
// everything else it keeps a name: a hash of the operation that makes the value and of the names of its operands. So equal computations
// have equal names in all roles of a kernel and before and behind a pass, and a tile that comes from the wrong stage has another name.
//
//   Terms terms(7);
//   terms.Of(*addi, 0, {3, 4}, block)        // 7
//   terms.Of(*load, 0, {view, index}, block) // a name; if it is an integer, a number that the seed chooses
//
// Operations that only move elements keep the name of what they move. Nothing depends on the order of calls. Not thread-safe.
#ifndef TILE_CODEGEN_GPU_SCHEDULE_TERMS_H_
#define TILE_CODEGEN_GPU_SCHEDULE_TERMS_H_

#include <cstdint>

#include "absl/container/flat_hash_map.h"
#include "absl/types/span.h"
#include "ir/module.h"

namespace tile::codegen::schedule {

// A hash of two numbers, the same in every process.
inline uint64_t Mix(uint64_t a, uint64_t b) {
  uint64_t x = a ^ (b + 0x9E3779B97F4A7C15u + (a << 6) + (a >> 2));
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
  return x ^ (x >> 31);
}

// A tile block among those of its cluster, which are neighbours along a dimension of the grid, and among those that its hardware block does.
struct BlockPlace {
  int rank = 0, blocks = 1;
  int dim = 0;
  int turn = 0;
};

class Terms {
 public:
  explicit Terms(uint64_t seed);

  uint64_t OfParam(const ir::Value& param) const;
  // Result i of an operation without regions, from those of its operands. An integer has its bits.
  uint64_t Of(const ir::Op& op, int i, absl::Span<const uint64_t> operands, const BlockPlace& block) const;
  // Something that the program does not know: an integer of this type, else a name.
  uint64_t Choose(uint64_t name, ir::Type type) const;
  // The tile of a view at this index, whoever loads it.
  uint64_t OfTile(uint64_t view, absl::Span<const uint64_t> index) const;
  // What the operation does with its operands: equal for operations that do the same.
  uint64_t Name(const ir::Op& op, absl::Span<const uint64_t> operands) const;
  // Tile blocks that a hardware block of a persistent grid does.
  int turns() const { return turns_; }

 private:
  uint64_t OfBlockId(int dim, const BlockPlace& block) const;

  const uint64_t seed_;
  const uint64_t unit_;  // numbers that are chosen are mostly multiples of it, as sizes are of tiles
  const int turns_;
  mutable absl::flat_hash_map<const ir::Op*, uint64_t> kinds_;  // names of operations without operands
};

}  // namespace tile::codegen::schedule

#endif  // TILE_CODEGEN_GPU_SCHEDULE_TERMS_H_

// What is known of scalars and pointers without running the program: by which power of two they are divisible, and
// which tiles hold neighbours.
//
//   Facts facts;
//   facts.Divisor(pointer)          // 16, if the address is known to be a multiple of 16 bytes
//   facts.Run(offsets, /*dim=*/1)   // how many neighbours along the dimension rise by one step
//
// Sources are constants, assumptions, arithmetic, and values carried by loops. Not thread-safe; remembers what it found,
// so the program must not change meanwhile.
#ifndef TILE_CODEGEN_ANALYSIS_FACTS_H_
#define TILE_CODEGEN_ANALYSIS_FACTS_H_

#include <cstdint>

#include "absl/container/flat_hash_map.h"
#include "ir/module.h"

namespace tile::codegen {

class Facts {
 public:
  static constexpr uint64_t kMax = uint64_t{1} << 20;  // more is of no use; of zero, too

  // Power of two, at most kMax, that divides every element of a tile of integers or pointers (in bytes); 1: nothing
  // known. Of a tensor_view: its base address.
  uint64_t Divisor(const ir::Value* v);

  // How the elements of a tile go along dimension `dim`: in aligned groups of `rising` (a power of two) neighbours rise by
  // 1 (integers) or by the size of the pointee (pointers); in groups of `equal` they are equal. The first of each
  // rising group is divisible by `start`. `wraps`: rising, unless a sum overflows within a group, against which there is
  // no promise.
  struct Line {
    uint64_t rising = 1;
    uint64_t equal = 1;
    uint64_t start = 1;
    bool wraps = false;
  };
  Line LineOf(const ir::Value* v, int dim) { return LineOf(v, dim, 0); }

 private:
  Line LineOf(const ir::Value* v, int dim, int depth);
  uint64_t Find(const ir::Value* v, int depth);
  uint64_t Carried(const ir::Value* arg, int depth);

  absl::flat_hash_map<const ir::Value*, uint64_t> known_;
};

// The largest power of two, at most Facts::kMax, that divides n.
uint64_t PowerOfTwoIn(uint64_t n);

}  // namespace tile::codegen

#endif  // TILE_CODEGEN_ANALYSIS_FACTS_H_

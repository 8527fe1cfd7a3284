// Values that are computed alike, by the same operations from the same values. Of many values value_numbers.h asks less often.
//
//   Equivalence alike;
//   alike(v, w)                        // one is as good as the other
//
// Not thread-safe; remembers what it found, so the program must not change meanwhile.
#ifndef TILE_CODEGEN_PASSES_EQUIVALENCE_H_
#define TILE_CODEGEN_PASSES_EQUIVALENCE_H_

#include <utility>

#include "absl/container/flat_hash_map.h"
#include "ir/module.h"

namespace tile::codegen {

class Equivalence {
 public:
  bool operator()(const ir::Value* a, const ir::Value* b);

 private:
  absl::flat_hash_map<std::pair<const ir::Value*, const ir::Value*>, bool> known_;
};

// A weak load of a tile: another one of the same may do for it.
bool MayLoadOnce(const ir::Op& op);

}  // namespace tile::codegen

#endif  // TILE_CODEGEN_PASSES_EQUIVALENCE_H_

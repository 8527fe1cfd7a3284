// Values that are computed alike, by the same operations from the same values, and loads that bring the same.
//
//   Alike alike;
//   alike(v, w)                        // one is as good as the other
//   alike.LoadTheSame(*first, *load)   // two loads for which MayLoadOnce holds: weak ones, of tiles
//
// Not thread-safe; remembers what it found, so the program must not change meanwhile.
#ifndef TILE_CODEGEN_PASSES_ALIKE_H_
#define TILE_CODEGEN_PASSES_ALIKE_H_

#include <utility>

#include "absl/container/flat_hash_map.h"
#include "ir/module.h"

namespace tile::codegen {

class Alike {
 public:
  bool operator()(const ir::Value* a, const ir::Value* b);
  // As if they were one value.
  void Take(const ir::Value* a, const ir::Value* b) { known_[{a, b}] = true; }
  // Places and masks are alike, and both wait for the same but for other weak loads, behind which memory is what it was.
  bool LoadTheSame(const ir::Op& a, const ir::Op& b);

 private:
  absl::flat_hash_map<std::pair<const ir::Value*, const ir::Value*>, bool> known_;
};

bool MayLoadOnce(const ir::Op& op);

}  // namespace tile::codegen

#endif  // TILE_CODEGEN_PASSES_ALIKE_H_

// Which accesses must stay in order when tiles are sliced. Internal to codegen/passes.
//
//   SliceOrder order;
//   order.MustFollow(store, load)      // the store may overwrite what the load reads, and comes after it
//   order.SameElements(store, load)    // both touch the same elements, place by place
//
// Remembers what tokens lead to, so tokens must not change meanwhile. Not thread-safe.
#ifndef TILE_CODEGEN_ANALYSIS_ACCESS_ORDER_H_
#define TILE_CODEGEN_ANALYSIS_ACCESS_ORDER_H_

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "ir/module.h"

namespace tile::codegen {

class SliceOrder {
 public:
  using Ops = absl::flat_hash_set<const ir::Op*>;

  // Operations that chains of tokens lead to from this load, in its own iteration of a loop, and those that hold such.
  const Ops& Followers(const ir::Op& load);

  // For a store after a load in the text: a token says so, or both may be of one allocation. Two parameters, or two addresses that
  // memory holds, may be the same place; that the program orders such accesses is for its tokens to say.
  bool MustFollow(const ir::Op& store, const ir::Op& load);

  // It reads memory that no other block can reach.
  static bool ReadsOwn(const ir::Op& load);

  static bool SameElements(const ir::Op& store, const ir::Op& load);

 private:
  absl::flat_hash_map<const ir::Op*, Ops> followers_;
};

}  // namespace tile::codegen

#endif  // TILE_CODEGEN_ANALYSIS_ACCESS_ORDER_H_

// Which loads of a loop that fetches ahead bring the same tile in neighbouring blocks of the grid, so that a cluster of two
// blocks needs each half of it once.
//
//   Sharing s = FindSharing(*function);
//   s.dim       // 0, 1: blocks x, x + 1 (y, y + 1) share; -1: there is nothing to share
//   s.loads     // these
//
// A load is shared along a dimension of the grid if its view and indices don't depend on the block's place there. The
// loop must be the same for all blocks in the cluster: not inside of other control flow, and with bounds that don't
// depend on that place either. And sharing must pay: products that need few bytes for each operation don't wait for
// loads.
#ifndef TILE_CODEGEN_PLAN_STAGING_SHARE_LOADS_H_
#define TILE_CODEGEN_PLAN_STAGING_SHARE_LOADS_H_

#include "absl/container/flat_hash_set.h"
#include "ir/module.h"

namespace tile::codegen {

struct Sharing {
  int dim = -1;
  absl::flat_hash_set<const ir::Op*> loads;
};

Sharing FindSharing(const ir::Function& function);

}  // namespace tile::codegen

#endif  // TILE_CODEGEN_PLAN_STAGING_SHARE_LOADS_H_

// Stores that only each other wait for: those of a loop over tile blocks, which carries their token.
//
//   for %i in … iter_values(%t = %start) {                       // %start: of no access
//     …
//     %u = store_view_tko weak %x, %view[%row, %column] token = %t
//     continue %u
//   }
//
//   OrderOfStore(store)     // kNothing: nobody waits for it; kThemselves: as above; kOthers: accesses of another kind wait
//   FollowsNothingElse(store)   // its token leads from no access but such stores
//
// Two tiles of one partition view are the same place or have none in common. So what writes a part of a tile, say one warp, meets
// only its own earlier writes, and has only those to wait for. Pure functions.
#ifndef TILE_CODEGEN_ANALYSIS_STORE_ORDER_H_
#define TILE_CODEGEN_ANALYSIS_STORE_ORDER_H_

#include <functional>

#include "ir/module.h"

namespace tile::codegen {

enum class WaitsForStore { kNothing, kThemselves, kOthers };

// Of a store through a partition or strided view.
WaitsForStore OrderOfStore(const ir::Op& store);
bool FollowsNothingElse(const ir::Op& store);

// Stores that are alike in another way. Only such take the token, or what it becomes; it is theirs, or of no access.
using IsAlike = std::function<bool(const ir::Op& access)>;
bool LeadsOnlyTo(const ir::Value* token, const IsAlike& alike);
bool ComesOnlyFrom(const ir::Value* token, const IsAlike& alike);

}  // namespace tile::codegen

#endif  // TILE_CODEGEN_ANALYSIS_STORE_ORDER_H_

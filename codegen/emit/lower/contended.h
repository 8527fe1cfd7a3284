// Contended atomic updates: many elements of a tile that go to one address (each warp updates it once), or are added to a few
// neighbouring ones, as those of a histogram (added up in shared memory first, so that each is updated once for the tile).
// Allowed for relaxed integer updates whose old values nobody asks for.
//
//   if (CombineUpdates(e, op)) return;      // atomic_rmw_tko, done; otherwise nothing was emitted
#ifndef TILE_CODEGEN_EMIT_LOWER_CONTENDED_H_
#define TILE_CODEGEN_EMIT_LOWER_CONTENDED_H_

#include "codegen/emit/context/emitter.h"

namespace tile::codegen {

bool CombineUpdates(Emitter& e, const ir::Op& op);

}  // namespace tile::codegen

#endif  // TILE_CODEGEN_EMIT_LOWER_CONTENDED_H_

// Contended atomic updates, where codegen/plan/combine_updates.h decided to combine them.
//
//   if (CombineUpdates(e, op)) return;      // atomic_rmw_tko, done; otherwise nothing was emitted
#ifndef TILE_CODEGEN_EMIT_LOWER_CONTENDED_H_
#define TILE_CODEGEN_EMIT_LOWER_CONTENDED_H_

#include "codegen/emit/context/emitter.h"

namespace tile::codegen {

bool CombineUpdates(Emitter& e, const ir::Op& op);

}  // namespace tile::codegen

#endif  // TILE_CODEGEN_EMIT_LOWER_CONTENDED_H_

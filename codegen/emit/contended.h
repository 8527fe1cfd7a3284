// Contended atomic additions: many elements of a tile that go to a few neighbouring addresses, as those of a histogram. They
// are added up in shared memory first, so that each address is updated once for the tile (operations.md 5.3 allows it for
// relaxed integer updates without result).
//
//   if (CombineInShared(e, op)) return;      // atomic_rmw_tko, done; otherwise nothing was emitted
#ifndef TILE_CODEGEN_EMIT_CONTENDED_H_
#define TILE_CODEGEN_EMIT_CONTENDED_H_

#include "codegen/emit/emitter.h"

namespace tile::codegen {

bool CombineInShared(Emitter& e, const ir::Op& op);

}  // namespace tile::codegen

#endif  // TILE_CODEGEN_EMIT_CONTENDED_H_

// Where instructions that read stages find an element, before the swizzle. Internal to codegen/emit/mma.
#ifndef TILE_CODEGEN_EMIT_MMA_OFFSET_IN_STAGE_H_
#define TILE_CODEGEN_EMIT_MMA_OFFSET_IN_STAGE_H_

#include <cstdint>

#include "codegen/plan/staging/staging.h"

namespace tile::codegen {

// Bytes from the start of the tile to element (mn, k).
inline int64_t OffsetInStage(const StagedTile& tile, int64_t mn, int64_t k) {
  const int64_t along = tile.k_major ? k : mn, row = tile.k_major ? mn : k;
  return along / tile.chunk_elements() * tile.chunk_bytes() + row * tile.swizzle +
         along % tile.chunk_elements() * tile.element_bits / 8;
}

}  // namespace tile::codegen

#endif  // TILE_CODEGEN_EMIT_MMA_OFFSET_IN_STAGE_H_

// Values that are more than a number: a layout says which thread holds what of them.
#ifndef TILE_CODEGEN_ANALYSIS_TILE_VALUE_H_
#define TILE_CODEGEN_ANALYSIS_TILE_VALUE_H_

#include <cstdint>

#include "ir/module.h"

namespace tile::codegen {

// Bytes that a tile takes in memory.
inline int64_t BytesOf(ir::Type tile) { return tile.num_elements() * ir::MemoryBits(tile.elem()) / 8; }

inline bool IsTile(const ir::Value* v) { return v->type().is_tile() && v->type().rank() > 0; }

}  // namespace tile::codegen

#endif  // TILE_CODEGEN_ANALYSIS_TILE_VALUE_H_

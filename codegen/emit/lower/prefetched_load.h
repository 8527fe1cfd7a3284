// A load whose tile was copied to shared memory an iteration ago (codegen/plan/staging/prefetch_slot.h).
#ifndef TILE_CODEGEN_EMIT_LOWER_PREFETCHED_LOAD_H_
#define TILE_CODEGEN_EMIT_LOWER_PREFETCHED_LOAD_H_

#include <optional>

#include "codegen/emit/context/copies.h"
#include "codegen/emit/memory/tile_box.h"

namespace tile::codegen {

// Reads this iteration's tile, and begins to copy the next one; the first iteration copies its own before. nullopt, and nothing is emitted,
// where vectors of 16 bytes are not known to be aligned. `padding`: of elements outside; null: they may be anything.
std::optional<Registers> LoadPrefetched(Emitter& e, const ir::Op& load, TileBox& box, const Layout& layout,
                                        const Copies& copies, llvm::Value* padding);

}  // namespace tile::codegen

#endif  // TILE_CODEGEN_EMIT_LOWER_PREFETCHED_LOAD_H_

// Operands that TMA brings as they are in memory and threads widen, from 8 bits to 16, before products read them. They lie in the stage as
// they came, and are widened into one of a few places that are no part of any stage:
//
//   stage of iteration i     [keys][values of 8 bits]     TMA → keys: products; values: all threads
//   place of iteration i     [values of f16]              all threads → products
//
// So whoever reads the wide tile an iteration late keeps its place and not the stage. A place is written again when all warps are done with
// it: of two warpgroups that are half an iteration apart, the first writes while the second still reads what is two iterations old.
//
//   WidenApart(module, copy); … WidenInPlace(module, copy);   // before layouts; the other way is where they were copied (StagedTile::rounded)
//   Layout whose = WideningLayout(tile, num_warps);           // which thread widens what
#ifndef TILE_CODEGEN_PLAN_STAGING_CONVERSION_BUFFERS_H_
#define TILE_CODEGEN_PLAN_STAGING_CONVERSION_BUFFERS_H_

#include "codegen/layout/layout.h"
#include "codegen/plan/staging/staging.h"
#include "ir/module.h"

namespace tile::codegen {

// One that is written, one that is read, and one that a warpgroup half an iteration behind still reads.
inline constexpr int kConversionBuffers = 3;

// Decides it for a copy_ahead that brings tiles which threads widen, and how its stages lie then.
void WidenApart(ir::Module* module, ir::Op* copy);
// The same, back to what it was.
void WidenInPlace(ir::Module* module, ir::Op* copy);
// Whether something that it brings is widened.
bool BringsToWiden(const ir::Op& copy);

// Of the load's tile, 16 neighbours to a thread: read from the stage and written to the wide place with the fewest bank conflicts.
Layout WideningLayout(const StagedTile& tile, int num_warps);
// The same of a tile of this shape, whose dimensions `tile` names.
Layout WideningLayout(const StagedTile& tile, absl::Span<const int64_t> shape, int num_warps);
// Element numbers in the stage or place (`tile`: as it lies there), of such a layout.
Layout InShared(const StagedTile& tile, const Layout& layout);

}  // namespace tile::codegen

#endif  // TILE_CODEGEN_PLAN_STAGING_CONVERSION_BUFFERS_H_

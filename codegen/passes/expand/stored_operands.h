// Operands that threads store to shared memory, where the instructions of products read them.
//
//   StagedTile tile = AsHeld(StoredRhs(rhs->type()), *LayoutOf(rhs->type()));
//   Value* at = StageAs(b, layouts, rhs, tile);         // a stage_operand: its address
//   Value* operand = StageTileAt(b, at, rhs->type(), tile);
#ifndef TILE_CODEGEN_PASSES_EXPAND_STORED_OPERANDS_H_
#define TILE_CODEGEN_PASSES_EXPAND_STORED_OPERANDS_H_

#include "codegen/plan/staging/staging.h"
#include "codegen/plan/tile_layout.h"
#include "ir/builder.h"

namespace tile::codegen {

// A tile type with this layout.
ir::Type TypeIn(ir::Builder& b, LayoutTable* layouts, ir::Elem elem, absl::Span<const int64_t> shape,
                const Layout& layout);

// The dimension of an operand (m x k or k x n) along which neighbours are neighbours in memory.
int ContiguousDim(const StagedTile& tile);
// The stage_tile at this address, in rows of `swizzle` bytes along dimension `dim`, or as `tile` is stored.
ir::Value* StageTileAt(ir::Builder& b, ir::Value* address, ir::Type type, int swizzle, int dim);
ir::Value* StageTileAt(ir::Builder& b, ir::Value* address, ir::Type type, const StagedTile& tile);

// How threads store an operand that they hold in this layout: as `tile` says, or in rows along dimension 0. The rows
// are along dimension 0 if a thread holds neighbours along it.
StagedTile AsHeld(StagedTile tile, const Layout& rhs);
// A right operand stored in rows along K.
StagedTile AlongK(StagedTile tile);
// The stage_operand of an operand, stored so: its address.
ir::Value* StageAs(ir::Builder& b, LayoutTable* layouts, ir::Value* operand, const StagedTile& tile);

}  // namespace tile::codegen

#endif  // TILE_CODEGEN_PASSES_EXPAND_STORED_OPERANDS_H_

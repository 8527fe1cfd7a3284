// Copies of a tile to its place in a stage, by all threads of a block: each copies a part, asynchronously (cp.async) where an instruction can. Whoever
// reads the stage waits for them and for a barrier. Vectors of 16 bytes are copied where the tensor is aligned so, which is tested once for all of
// them. Otherwise elements of four bytes and more are copied one by one, and smaller ones go through registers. Elements outside of the
// tensor become zero.
//
// A product sees what cp.async has brought once that has been waited for and a barrier follows, as the kernels of CUTLASS and Triton take it, too.
// Only what threads stored themselves needs a fence before. ptxas makes MEMBAR.ALL.CTA of that fence, which seems to wait for the copies of
// later iterations, too.
#ifndef TILE_CODEGEN_EMIT_PIPELINE_SLOT_COPIES_H_
#define TILE_CODEGEN_EMIT_PIPELINE_SLOT_COPIES_H_

#include "codegen/emit/context/emitter.h"
#include "codegen/plan/staging/staging.h"

namespace tile::codegen {

struct SlotPart {
  CopiedPart part;      // of the tile
  bool fences = false;  // each thread fences what it stores itself, for products that read shared memory
  bool tells = true;    // with a remark
};

// Of a load through a view (tile.load). `slot`: a pointer to shared memory, where the first part would lie.
void CopyView(Emitter& e, const StagedTile& tile, llvm::Value* slot, const SlotPart& part);
// Of a load through pointers, where the condition (i1; null: always) holds.
void CopyThroughPointers(Emitter& e, const StagedTile& tile, llvm::Value* slot, llvm::Value* when, bool tells);
// What this thread copied there, in the operand's type (tile.rounded).
void ConvertCopied(Emitter& e, const StagedTile& tile, llvm::Value* slot);

}  // namespace tile::codegen

#endif  // TILE_CODEGEN_EMIT_PIPELINE_SLOT_COPIES_H_

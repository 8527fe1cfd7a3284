// TMA copies between shared memory and tensors. Stores: codegen/plan/tma/tma_store.h.
#ifndef TILE_CODEGEN_EMIT_PIPELINE_TMA_H_
#define TILE_CODEGEN_EMIT_PIPELINE_TMA_H_

#include "codegen/emit/context/emitter.h"
#include "codegen/plan/staging/staging.h"

namespace tile::codegen {

// Where the tile of a load or store begins in its tensor, in the order of the descriptor's dimensions (i32), and which
// of them are the contiguous and the other dimension of the tile.
struct TensorPlace {
  Registers origin;
  size_t inner = 0, outer = 0;

  // The box that begins so many elements further along those two.
  Registers At(Emitter& e, llvm::Value* inner_offset, llvm::Value* outer_offset) const;
};
TensorPlace PlaceInTensor(Emitter& e, const ir::Op& access, const StagedTile& tile);

// Starts the copies of a tile to shared memory (i32 address), which count their bytes at the barrier; the thread does that is `mine`.
void LoadByTma(Emitter& e, const ir::Op& load, const StagedTile& tile, llvm::Value* to, llvm::Value* barrier,
               llvm::Value* mine);
// The store, which has a descriptor.
void StoreByTma(Emitter& e, const ir::Op& store);
// A thread that starts copies, at the entry, asks for the kernel's descriptors: the first copy would wait for its own, from memory.
void PrefetchTensorMaps(Emitter& e, const ir::Function& function);
// Behind all of them: shared memory is not read any more.
void AwaitTmaStores(Emitter& e);

}  // namespace tile::codegen

#endif  // TILE_CODEGEN_EMIT_PIPELINE_TMA_H_

// Which thread of the warp that is here begins what is asynchronous, in the region of an elect. Internal to codegen/emit/gpu.
#ifndef TILE_CODEGEN_EMIT_GPU_ELECTED_H_
#define TILE_CODEGEN_EMIT_GPU_ELECTED_H_

#include "codegen/emit/context/emitter.h"

namespace tile::codegen {

// i1.
inline llvm::Value* Elected(Emitter& e) { return e.control().elected; }
// The address (i32) of this barrier of a group.
inline llvm::Value* BarrierAt(Emitter& e, const ir::Value* barriers, const ir::Value* number) {
  return e.b().CreateAdd(e.scalar(barriers), e.b().CreateShl(e.scalar(number), 3));
}

}  // namespace tile::codegen

#endif  // TILE_CODEGEN_EMIT_GPU_ELECTED_H_

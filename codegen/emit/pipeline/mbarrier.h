// PTX with effects that the lanes of a warp execute together, and waits at mbarriers.
#ifndef TILE_CODEGEN_EMIT_PIPELINE_MBARRIER_H_
#define TILE_CODEGEN_EMIT_PIPELINE_MBARRIER_H_

#include "codegen/emit/context/emitter.h"

namespace tile::codegen {

// Waits until an mbarrier in shared memory has left the phase (i32: 0, 1).
void AwaitPhase(Emitter& e, llvm::Value* barrier, llvm::Value* phase);
void SynchronizeWarp(Emitter& e);
// Before TMA writes, or wgmma reads, what this thread has accessed.
void FenceProxyAsync(Emitter& e);
// PTX with effects that all lanes must execute together.
void ExecuteTogether(Emitter& e, absl::string_view text, absl::string_view constraints, Operands in);

}  // namespace tile::codegen

#endif  // TILE_CODEGEN_EMIT_PIPELINE_MBARRIER_H_

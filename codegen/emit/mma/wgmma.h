// Matrix products by wgmma, asynchronous instructions of a warpgroup over operands in shared memory. Chosen and laid out by
// codegen/plan/wgmma_plan.h.
#ifndef TILE_CODEGEN_EMIT_MMA_WGMMA_H_
#define TILE_CODEGEN_EMIT_MMA_WGMMA_H_

#include "codegen/emit/context/emitter.h"
#include "codegen/emit/context/fragment_source.h"
#include "codegen/emit/pipeline/ring.h"
#include "codegen/plan/staging.h"
#include "codegen/plan/wgmma_plan.h"

namespace tile::codegen {

// wgmma over the stage that `ring` awaited; acc and the result are those of the thread.
Registers MultiplyStaged(Emitter& e, const Ring& ring, const ir::Op& mma, llvm::Value* a, llvm::Value* b,
                         Registers acc);
// An operand in shared memory, written by threads that have fenced it for the asynchronous proxy.
struct StagedAt {
  const StagedTile& tile;
  llvm::Value* at;  // i32
};
// wgmma of the left operand's fragments (WgmmaLayout of kA), or of both from shared memory. Waits for the result.
Registers MultiplyCopied(Emitter& e, const WgmmaPlan& plan, FragmentSource& a, const StagedAt& b, Registers acc);
Registers MultiplyCopied(Emitter& e, const WgmmaPlan& plan, const StagedAt& a, const StagedAt& b, Registers acc);

}  // namespace tile::codegen

#endif  // TILE_CODEGEN_EMIT_MMA_WGMMA_H_

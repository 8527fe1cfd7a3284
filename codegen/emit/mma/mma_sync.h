// Matrix products by mma.sync. Internal to codegen/emit.
#ifndef TILE_CODEGEN_EMIT_MMA_MMA_SYNC_H_
#define TILE_CODEGEN_EMIT_MMA_MMA_SYNC_H_

#include "codegen/emit/context/emitter.h"
#include "codegen/emit/context/fragment_source.h"
#include "codegen/emit/mma/scale_words.h"
#include "codegen/plan/mma/mma_kind.h"
#include "codegen/plan/mma/mma_layout.h"

namespace tile::codegen {

// The scales of the whole product, if the plan has some, and the number of the first step along K.
struct StepScales {
  const ScaleWords* words = nullptr;
  int first_step = 0;
};

// The accumulator's registers, in the plan's layout, with the product of the operands added: a of fragments
// MmaLayout(plan.tile, Operand::kA), b of kB. f32 or i32.
Registers MultiplyBySync(Emitter& e, const MmaPlan& plan, FragmentSource& a, FragmentSource& b, Registers acc,
                         const StepScales& scales = {});

}  // namespace tile::codegen

#endif  // TILE_CODEGEN_EMIT_MMA_MMA_SYNC_H_

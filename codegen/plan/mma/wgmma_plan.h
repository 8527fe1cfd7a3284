// Products by wgmma (sm_90a): a warpgroup multiplies 64 rows from shared memory, or from its registers, and keeps the sums in its registers.
// The rows of codegen/target/wgmma_instructions.def say for which types.
//
// Pure functions.
#ifndef TILE_CODEGEN_PLAN_MMA_WGMMA_PLAN_H_
#define TILE_CODEGEN_PLAN_MMA_WGMMA_PLAN_H_

#include <string>

#include "codegen/layout/fragments.h"
#include "codegen/plan/mma/staged_mma.h"

namespace tile::codegen {

const StagedMmaKind& WgmmaKind();

// How an instruction is written.
struct WgmmaForm {
  std::string instruction;  // "wgmma.mma_async.sync.aligned.m64n128k16.f32.bf16.bf16"
  bool scales = false;      // it takes signs of its operands
  bool transposes = false;  // and their major order
};
WgmmaForm WgmmaFormOf(const StagedMmaPlan& plan, const ir::Op& mma);

}  // namespace tile::codegen

#endif  // TILE_CODEGEN_PLAN_MMA_WGMMA_PLAN_H_

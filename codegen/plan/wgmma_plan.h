// How a matrix product whose operands lie in shared memory, or the left one in registers, is done by wgmma: the instruction, and
// how the warpgroups (four warps each) share the tile.
//
//   if (std::optional<WgmmaPlan> p = PlanWgmma(target, num_warps, mma)) …   // nullopt: it can't be
//   if (std::optional<WgmmaPlan> p = PlanWgmmaOfCopies(target, num_warps, mma)) …
//   Decide(module, mma, *p);                                                // once, in passes/choose_mma.cc
//   if (auto p = WgmmaPlanOf(mma)) WgmmaLayout(p->tile, Operand::kC)        // from then on; of the accumulator
//
// Pure functions, except Decide.
#ifndef TILE_CODEGEN_PLAN_WGMMA_PLAN_H_
#define TILE_CODEGEN_PLAN_WGMMA_PLAN_H_

#include <optional>
#include <string>

#include "codegen/layout/fragments.h"
#include "codegen/plan/staging.h"
#include "codegen/target/target.h"

namespace tile::codegen {

struct WgmmaPlan {
  WgmmaTile tile;
  int k = 0;                // of one instruction
  std::string instruction;  // "wgmma.mma_async.sync.aligned.m64n128k16.f32.bf16.bf16"
  bool scales = false;      // it takes signs of its operands
  bool transposes = false;  // and their major order
};

// Both operands must be staged (StageOperand). Null warps: as many as WgmmaWarps says.
std::optional<WgmmaPlan> PlanWgmma(const Target& target, int num_warps, const ir::Op& mma);

// The right operand in a stage that the threads copy (CopyOf); the left one, too, or in registers (WgmmaLayout of kA). If it is the
// same in all rounds of the loop it lies in shared memory all the time, and if it is that of several products there is no plan:
// ptxas 13.0 overwrites fragments that live longer than one product with those of the next.
std::optional<WgmmaPlan> PlanWgmmaOfCopies(const Target& target, int num_warps, const ir::Op& mma);
// How a left operand that is the same in all rounds lies there.
StagedTile StagedLhs(const ir::Op& mma);

// What was decided about the product; nullopt: it is not done by wgmma.
void Decide(ir::Module* module, ir::Op* mma, const WgmmaPlan& plan);
std::optional<WgmmaPlan> WgmmaPlanOf(const ir::Op& mma);

// Warps that the product should have: 64 accumulators in a thread, or 128 where that takes too many warps.
int WgmmaWarps(const ir::Op& mma);

}  // namespace tile::codegen

#endif  // TILE_CODEGEN_PLAN_WGMMA_PLAN_H_

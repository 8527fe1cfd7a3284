// How a matrix product whose operands lie in shared memory, or the left one in registers, is done by wgmma: the instruction, and
// how the warpgroups (four warps each) share the tile.
//
//   if (std::optional<WgmmaPlan> p = PlanWgmma(target, num_warps, mma, a, b)) …   // nullopt: it can't be
//   if (std::optional<WgmmaPlan> p = PlanWgmmaOfCopies(target, num_warps, mma)) …
//   Decide(module, mma, *p);                                                // once, in passes/mma/choose_mma.cc
//   if (auto p = WgmmaPlanOf(mma)) WgmmaLayout(p->tile, Operand::kC)        // from then on; of the accumulator
//
// Pure functions, except Decide.
#ifndef TILE_CODEGEN_PLAN_MMA_WGMMA_PLAN_H_
#define TILE_CODEGEN_PLAN_MMA_WGMMA_PLAN_H_

#include <optional>
#include <string>

#include "codegen/layout/fragments.h"
#include "codegen/plan/staging/staging.h"
#include "codegen/target/target.h"

namespace tile::codegen {

struct WgmmaPlan {
  WgmmaTile tile;           // of a swapped product: M is the result's second dimension
  int k = 0;                // of one instruction
  std::string instruction;  // "wgmma.mma_async.sync.aligned.m64n128k16.f32.bf16.bf16"
  bool scales = false;      // it takes signs of its operands
  bool transposes = false;  // and their major order
  // It computes C^T = B^T A^T: the right operand is its first.
  bool swapped = false;
  // Its first operand lies across in its stage, in an order in which wgmma does not read this type: threads load it to registers.
  bool held = false;
  // The instruction adds up in too few bits: the sums of each iteration begin with zero, and add.f32 adds them to the others.
  bool promotes = false;

  int first() const { return swapped ? 1 : 0; }  // the operand of the product that is the first of the instruction
  // Of the product's result, and of its operand first() where that comes from registers.
  Layout ResultLayout() const;
  Layout FirstLayout() const;
};

// TMA brings both operands to a stage, where they lie so, as the product reads them.
std::optional<WgmmaPlan> PlanWgmma(const Target& target, int num_warps, const ir::Op& mma, const StagedTile& a,
                                   const StagedTile& b);

// The right operand is in a stage that the threads copy (CopyOf); so is the left one, or it is in registers (WgmmaLayout of kA). A
// loop-invariant left operand stays in shared memory for the whole loop. There is no plan if it feeds several products, because
// ptxas 13.0 overwrites fragments that live longer than one product with those of the next.
std::optional<WgmmaPlan> PlanWgmmaOfCopies(const Target& target, int num_warps, const ir::Op& mma);
// There is one for each product that reads what the copy_ahead brings.
bool WgmmaCanDoAll(const Target& target, int num_warps, const ir::Op& copy);
// Registers of 32 bits, over all threads, for sums that are kept apart until they are added to the others, if wgmma does the product:
// as many as its result has, at most 64 in a thread.
int64_t SumsApart(const Target& target, int num_warps, const ir::Op& mma);

// Whether it has one, and the left operand, loop-invariant, lies in shared memory.
bool StagesLhs(const Target& target, int num_warps, const ir::Op& mma);
// How a loop-invariant left operand is stored there.
StagedTile StagedLhs(const ir::Op& mma);

// What was decided about the product; nullopt: it is not done by wgmma.
void Decide(ir::Module* module, ir::Op* mma, const WgmmaPlan& plan);
std::optional<WgmmaPlan> WgmmaPlanOf(const ir::Op& mma);
// What is wrong with a decision for wgmma, of a product in a block of so many warps; "" if nothing is.
std::string WgmmaFault(const ir::Op& mma, int num_warps);

// Warps that the product should have: 64 accumulators in a thread, or 128 where that takes too many warps.
int WgmmaWarps(const ir::Op& mma);

}  // namespace tile::codegen

#endif  // TILE_CODEGEN_PLAN_MMA_WGMMA_PLAN_H_

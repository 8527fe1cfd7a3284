// Products by mma.sync: which instruction, how the warps share the tile, and so which thread holds which element. The rows of
// codegen/target/mma_instructions.def say for which types.
//
//   if (auto p = PlanMma(target, num_warps, op)) Decide(module, op, *p);   // once, as MmaSyncKind().Choose
//   if (auto p = MmaPlanOf(op)) MmaLayout(p->tile, Operand::kA)            // from then on
//
// Pure functions, except Decide.
#ifndef TILE_CODEGEN_PLAN_MMA_MMA_LAYOUT_H_
#define TILE_CODEGEN_PLAN_MMA_MMA_LAYOUT_H_

#include <optional>
#include <string>

#include "codegen/layout/fragments.h"
#include "codegen/plan/mma/mma_kind.h"
#include "codegen/target/target.h"
#include "ir/module.h"

namespace tile::codegen {

const MmaKind& MmaSyncKind();

struct MmaPlan {
  MmaTile tile;
  std::string instruction;                        // "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32"
  int words_a = 0, words_b = 0, registers_c = 0;  // of one instruction, in a thread
};

std::optional<MmaPlan> PlanMma(const Target& target, int num_warps, const ir::Op& op);

void Decide(ir::Module* module, ir::Op* mma, const MmaPlan& plan);
// nullopt: it is not done by mma.sync.
std::optional<MmaPlan> MmaPlanOf(const ir::Op& mma);

}  // namespace tile::codegen

#endif  // TILE_CODEGEN_PLAN_MMA_MMA_LAYOUT_H_

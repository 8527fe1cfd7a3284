// Products by mma.sync: which instruction, how the warps share the tile, and so which thread holds which element. The rows of
// codegen/target/mma_instructions.def say for which types, those of scaled_mma_instructions.def for which types with block scales.
//
//   if (auto p = PlanMma(target, num_warps, op)) Decide(module, op, *p);   // once, as MmaSyncKind().Choose
//   if (auto p = MmaPlanOf(op)) MmaLayout(p->tile, Operand::kA)            // from then on
//
// Pure functions, except Decide.
#ifndef TILE_CODEGEN_PLAN_MMA_MMA_LAYOUT_H_
#define TILE_CODEGEN_PLAN_MMA_MMA_LAYOUT_H_

#include <optional>
#include <string>

#include "absl/types/span.h"
#include "codegen/layout/fragments.h"
#include "codegen/plan/mma/mma_kind.h"
#include "codegen/target/target.h"
#include "ir/module.h"

namespace tile::codegen {

struct MmaPlan {
  MmaTile tile;
  std::string instruction;                        // "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32"
  int words_a = 0, words_b = 0, registers_c = 0;  // of one instruction, in a thread
  // Block scales of a row along K: of one instruction, and of the tile. 0: it has none.
  int scales = 0;
  int64_t blocks = 0;
};

// A kind whose fragments are those of mma.sync.
class FragmentKind : public MmaKind {
 public:
  using MmaKind::MmaKind;

  // The best for so many warps; nullopt: no instruction takes the product.
  virtual std::optional<MmaPlan> Plan(const Target& target, int num_warps, const ir::Op& mma) const = 0;
  // The instruction of this shape, with its warps not set; nullopt: there is none.
  virtual std::optional<MmaPlan> Of(const ir::Op& mma, absl::Span<const int64_t> shape) const = 0;

  bool Choose(const Target& target, int num_warps, ir::Module* module, ir::Op* mma) const final;
  Layout ResultLayout(int num_warps, const ir::Op& mma) const final;
  std::optional<Layout> FragmentLayout(const ir::Op& mma, int operand) const final;
  int64_t StepsAlongK(const ir::Op& mma) const final;
  std::string Fault(const ir::Op& mma, int num_warps) const final;
};

const FragmentKind& MmaSyncKind();

std::optional<MmaPlan> PlanMma(const Target& target, int num_warps, const ir::Op& op);
// How many warps share M and N of the plan's tile.
void ShareTile(int num_warps, const ir::Op& op, MmaTile* tile);

void Decide(ir::Module* module, ir::Op* mma, const MmaPlan& plan);
// nullopt: it is not done by mma.sync.
std::optional<MmaPlan> MmaPlanOf(const ir::Op& mma);

}  // namespace tile::codegen

#endif  // TILE_CODEGEN_PLAN_MMA_MMA_LAYOUT_H_

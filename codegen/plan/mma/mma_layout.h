// How a matrix product is done on a target: which mma.sync instruction, how the warps share the tile, and so which thread
// holds which element of the result. What no instruction does is multiplied out with fma.
//
//   MmaShape shape = ShapeOfMma(op);                    // batch, m, n, k
//   if (auto p = PlanMma(target, num_warps, op)) Decide(module, op, *p);   // once, in passes/mma/choose_mma.cc
//   if (auto p = MmaPlanOf(op)) MmaLayout(p->tile, Operand::kA)            // from then on
//
// Pure functions, except Decide.
#ifndef TILE_CODEGEN_PLAN_MMA_MMA_LAYOUT_H_
#define TILE_CODEGEN_PLAN_MMA_MMA_LAYOUT_H_

#include <optional>
#include <string>

#include "absl/strings/string_view.h"
#include "codegen/layout/fragments.h"
#include "codegen/layout/layout.h"
#include "codegen/target/target.h"
#include "ir/module.h"

namespace tile::codegen {

struct MmaShape {
  int64_t batch = 0;  // 0: the operands have rank 2
  int64_t m = 0, n = 0, k = 0;
};
MmaShape ShapeOfMma(const ir::Op& op);
// The operand types of an instruction, each % replaced by the signedness of an operand. `swapped`: the right one comes first.
std::string WithSigns(const ir::Op& op, const char* types, bool swapped);

struct MmaPlan {
  MmaTile tile;
  std::string instruction;                        // "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32"
  int words_a = 0, words_b = 0, registers_c = 0;  // of one instruction, in a thread
};

// Whether there is an instruction, whatever the number of warps.
bool HasMma(const Target& target, const ir::Op& op);
std::optional<MmaPlan> PlanMma(const Target& target, int num_warps, const ir::Op& op);

// What was decided about a product (Decision::kInstruction); a check fails if nothing was.
inline constexpr absl::string_view kByWgmma = "wgmma", kByMmaSync = "mma.sync", kByFma = "fma";
absl::string_view InstructionOf(const ir::Op& mma);
void Decide(ir::Module* module, ir::Op* mma, const MmaPlan& plan);
// nullopt: it is not done by mma.sync.
std::optional<MmaPlan> MmaPlanOf(const ir::Op& mma);

// The layout of the result (and accumulator) of mmaf, mmai or mmaf_scaled, once its instruction is decided.
Layout MmaResultLayout(int num_warps, const ir::Op& op);

}  // namespace tile::codegen

#endif  // TILE_CODEGEN_PLAN_MMA_MMA_LAYOUT_H_

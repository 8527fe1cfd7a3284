// How a matrix product is done on a target: which mma.sync instruction, how the warps share the tile, and so which thread
// holds which element of the result. What no instruction does is multiplied out with fma.
//
//   MmaShape shape = ShapeOfMma(op);                    // batch, m, n, k
//   std::optional<MmaPlan> p = PlanMma(target, plan, op);   // nullopt: fma
//   MmaLayout(p->tile, Operand::kA)
//
// Pure functions.
#ifndef TILE_CODEGEN_PLAN_MMA_LAYOUT_H_
#define TILE_CODEGEN_PLAN_MMA_LAYOUT_H_

#include <optional>
#include <string>

#include "codegen/layout/fragments.h"
#include "codegen/layout/layout.h"
#include "codegen/plan/schedule.h"
#include "codegen/target/target.h"
#include "ir/module.h"

namespace tile::codegen {

struct MmaShape {
  int64_t batch = 0;  // 0: the operands have rank 2
  int64_t m = 0, n = 0, k = 0;
};
MmaShape ShapeOfMma(const ir::Op& op);
// The operand types of an instruction, each % replaced by the signedness of an operand.
std::string WithSigns(const ir::Op& op, const char* types);

struct MmaPlan {
  MmaTile tile;
  std::string instruction;                        // "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32"
  int words_a = 0, words_b = 0, registers_c = 0;  // of one instruction, in a thread
};

// Whether there is an instruction, whatever the schedule.
bool HasMma(const Target& target, const ir::Op& op);
std::optional<MmaPlan> PlanMma(const Target& target, const Schedule& plan, const ir::Op& op);

// The layout of the result (and accumulator) of mmaf, mmai or mmaf_scaled.
Layout MmaResultLayout(const Target& target, const Schedule& plan, const ir::Op& op);

}  // namespace tile::codegen

#endif  // TILE_CODEGEN_PLAN_MMA_LAYOUT_H_

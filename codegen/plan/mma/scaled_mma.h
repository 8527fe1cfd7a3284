// Products with block scales by mma.sync: mmaf_scaled, where the GPU has an instruction for its types and for the elements that a scale serves. The
// rows of codegen/target/scaled_mma_instructions.def say for which.
//
//   if (const int scale = ScaleOf(op, i); scale >= 0) …   // operand i is the left (0) or the right (1) one's scales
//   WhyNotByBlockScales(target, op)                       // "" : there is an instruction
//
// Scales come in registers. Each tile of them is wanted as MmaScaleLayout has it, which a load can give at once (passes/layouts).
#ifndef TILE_CODEGEN_PLAN_MMA_SCALED_MMA_H_
#define TILE_CODEGEN_PLAN_MMA_SCALED_MMA_H_

#include <algorithm>
#include <iterator>
#include <string>

#include "codegen/plan/mma/mma_layout.h"
#include "codegen/target/target.h"
#include "ir/module.h"
#include "ir/op_views.h"

namespace tile::codegen {

const FragmentKind& MmaSyncScaledKind();

// Which side's scales an operand is, 0 or 1; -1: it is none.
int ScaleOf(const ir::Op& mma, int operand);

// Elements along K that a scale serves.
int64_t ElementsOfScale(const ir::MmaScaledOp& mma);

// The row of a table of instructions for the product's types and elements of a scale; null: there is none, as for what is no mmaf_scaled.
template <class Instruction, size_t kRows>
const Instruction* FindScaledInstruction(const Instruction (&rows)[kRows], const ir::Op& op) {
  const auto mma = ir::As<ir::MmaScaledOp>(&op);
  if (!mma) return nullptr;
  const Instruction* found = std::find_if(std::begin(rows), std::end(rows), [&](const Instruction& i) {
    return i.element == mma->lhs()->type().elem() && i.scale == mma->lhs_scale()->type().elem() &&
           i.block == ElementsOfScale(*mma);
  });
  return found == std::end(rows) ? nullptr : found;
}
// What is said where there is none.
std::string NoScaledInstruction(const ir::MmaScaledOp& mma);

// Why a mmaf_scaled has no such instruction; "" if it has one.
std::string WhyNotByBlockScales(const Target& target, const ir::Op& mma);

}  // namespace tile::codegen

#endif  // TILE_CODEGEN_PLAN_MMA_SCALED_MMA_H_

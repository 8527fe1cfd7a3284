// Multiplications of a product's sums by a factor for each row that is mostly one: attention multiplies what it has added up by
// exp(old maximum - new maximum), and after the first keys few rows get a new maximum. A warp of which all factors are one leaves the
// multiplication out, which changes nothing: x * 1 is x.
//
//   if (CanRescaleLazily(*op)) Decide<Decision::kLazyRescale>(module, op, true);   // once, in passes/mma/lazy_rescale.cc
//
// Pure functions.
#ifndef TILE_CODEGEN_PLAN_MMA_LAZY_RESCALE_H_
#define TILE_CODEGEN_PLAN_MMA_LAZY_RESCALE_H_

#include "ir/module.h"

namespace tile::codegen {

// It multiplies what a loop carries by a power that is alike in a row, for a product in the loop to add to.
bool CanRescaleLazily(const ir::Op& op);
// Which operand of it the factors are.
int FactorsIn(const ir::Op& op);
// A factor of one changes nothing, whichever operand it is: subnormal numbers stay.
bool KeepsTimesOne(const ir::Op& op);

}  // namespace tile::codegen

#endif  // TILE_CODEGEN_PLAN_MMA_LAZY_RESCALE_H_

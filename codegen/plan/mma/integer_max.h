// Computes f32 maxima with the integer maximum: sm_90 has one of three operands for integers, and of two for floats. The bits of numbers
// that are not negative have the order of the numbers, and those of negative ones are below them, read with a sign. Attention keeps the
// greatest score of a row from one iteration to the next:
//
//   %step = reduce %score dim=1 … (maxf)
//   %new = maxf %old, %step
//
// %new is mostly not negative. A warp whose %old are all non-negative begins with them and reduces as integers. If it finds a NaN, which
// maxf ignores, it repeats the step in floats. With a negative %old it uses floats (codegen/emit/lower/integer_max.h).
//
// A row of softmax has its maximum once, from which it is mostly the same: where that comes out negative or NaN, the warp does it again.
//
//   if (TakesIntegers(*op)) Decide<Decision::kIntegerMax>(module, op, true);   // once, in passes/mma/integer_max.cc
//
// Pure functions.
#ifndef TILE_CODEGEN_PLAN_MMA_INTEGER_MAX_H_
#define TILE_CODEGEN_PLAN_MMA_INTEGER_MAX_H_

#include "ir/module.h"

namespace tile::codegen {

// What a loop carries, with which nothing but one maxf compares the maximum that this operation reduces f32 to; null: it is none, or used
// otherwise.
const ir::Value* MaximumCarriedBy(const ir::Op& reduce);
// Such a maximum, or one beside which no product runs that a branch would hold up.
bool TakesIntegers(const ir::Op& reduce);

}  // namespace tile::codegen

#endif  // TILE_CODEGEN_PLAN_MMA_INTEGER_MAX_H_

// Computes maxima of f32 by integer maxima: sm_90 has an integer maximum of three operands, but only one of two for floats. The bits of numbers
// that are not negative have the order of the numbers, and those of negative ones are below them, read with a sign. Attention keeps the greatest score of a row from one
// iteration to the next:
//
//   %step = reduce %score dim=1 … (maxf)
//   %new = maxf %old, %step
//
// and that is mostly not negative. A warp whose %old are all non-negative begins with %old and reduces as integers. If a NaN shows up, which
// maxf passes over, or if an %old is negative, it repeats the reduction in floats (codegen/emit/lower/integer_maxima.h).
//
// A row of softmax has its maximum once, from which it is mostly the same: where that comes out negative or NaN, the warp does it again.
//
//   if (TakesIntegers(*op)) Decide<Decision::kAsIntegers>(module, op, true);   // once, in passes/choose_late.cc
//
// Pure functions.
#ifndef TILE_CODEGEN_PLAN_CARRIED_MAXIMUM_H_
#define TILE_CODEGEN_PLAN_CARRIED_MAXIMUM_H_

#include "ir/module.h"

namespace tile::codegen {

// What a loop carries, with which nothing but one maxf compares the maximum that this operation reduces f32 to; null: it is none, or used
// otherwise.
const ir::Value* CarriedMaximum(const ir::Op& reduce);
// Such a maximum, or one beside which no product runs that a branch would hold up.
bool TakesIntegers(const ir::Op& reduce);

}  // namespace tile::codegen

#endif  // TILE_CODEGEN_PLAN_CARRIED_MAXIMUM_H_

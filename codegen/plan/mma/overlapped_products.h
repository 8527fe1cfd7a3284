// Asynchronous products that are waited for where their results are read, not where they stand, so that the tensor cores always have
// something to do while a warp works on elements. The backward pass of attention:
//
//   for %i … (%dv, %dk) {                           for %i … (%dv, %dk) {
//     %s = mmaf %key, %query, %zero                   begin %s = mmaf %key, %query, %zero
//     %p = exp2 (%s - %m)                             begin %dp = mmaf %value, %do, %zero
//     %dv1 = mmaf %p, %do, %dv                        wait for %s;   %p = exp2 (%s - %m)
//     %dp = mmaf %value, %do, %zero                   begin %dv1 = mmaf %p, %do, %dv
//     %ds = %p * (%dp - %d)                           wait for %dp;  %ds = %p * (%dp - %d)
//     %dk1 = mmaf %ds, %query, %dk                    begin %dk1 = mmaf %ds, %query, %dk
//     continue %dv1, %dk1                             continue %dv1, %dk1
//   }                                               }                       wait for both
//
// Products end in the order in which they begin. What only goes around the loop is not waited for in its iteration: it still reads its
// stage when the next one begins, which therefore is kept that long (KeepsStage). One whose left operand is in registers runs on
// only if the next iteration makes that of a product, for which it waits: else it would write registers that are still read. Decided once, by
// passes/mma/overlap_products.h (Decision::kOverlaps). Pure functions.
#ifndef TILE_CODEGEN_PLAN_MMA_OVERLAPPED_PRODUCTS_H_
#define TILE_CODEGEN_PLAN_MMA_OVERLAPPED_PRODUCTS_H_

#include <string>

#include "ir/module.h"

namespace tile::codegen {

// Why a product can't be begun in one place and waited for in another; "" if it can. With layouts.
std::string WhyNotRunning(const ir::Op& mma);

// The sums of a product go around its loop and nowhere else.
bool GoesAround(const ir::Op& mma);

// A branch passes its sums on unchanged to a place whose value may still be in use while the product runs. That is
// another place of the loop than that of the sums it adds to, or two places, or the result of an `if`.
bool HandsOnElsewhere(const ir::Op& mma);

// What `mma` adds to are the sums of a running product, in the same registers, as nobody else wants them: the hardware keeps the order.
bool AddsInOrder(const ir::Op& mma, const ir::Value* sums);

// The copy_ahead keeps its stage until the next iteration's first wait: products that overlap others still read it.
bool KeepsStage(const ir::Op& copy);

}  // namespace tile::codegen

#endif  // TILE_CODEGEN_PLAN_MMA_OVERLAPPED_PRODUCTS_H_

// Which matrix products are links of a chain that works on whole rows, as in attention. The result of such a product is
// reduced along its rows, or becomes the left operand of another product through elementwise operations. A product
// whose own left operand came from a product in this way is a link, too. If all warps are along M, a row's elements are
// in one warp: reductions need no shared memory, and accumulators are fragments of the next product where they are.
//
//   if (WorksOnRows(mma)) …
//   if (IsInvariant(mma, 0)) …
//
// Accumulators that a loop carries before they are used that way do not count: their warp layout is chosen for the loop. The
// answer is the same before and after layouts are assigned. Pure.
#ifndef TILE_CODEGEN_ANALYSIS_PRODUCT_CHAIN_H_
#define TILE_CODEGEN_ANALYSIS_PRODUCT_CHAIN_H_

#include "ir/module.h"

namespace tile::codegen {

// mmaf, mmai.
bool IsProduct(const ir::Op& op);
bool HasProducts(const ir::Function& function);
// One of them stands in the loop's body, not in another loop inside.
bool Multiplies(const ir::Op& loop);
// Anywhere in the loop, also a scaled one.
bool HoldsProducts(const ir::Op& loop);
// A loop around the operation holds one, whose steps a branch in the operation would hold up.
bool StandsBesideProducts(const ir::Op& op);

bool WorksOnRows(const ir::Op& mma);

// The product that goes on with this one's sums, in the same block, if nobody else wants them; null: there is none, or this is no product.
const ir::Op* NextOfSum(const ir::Op& mma);

// The operand is the same in all iterations of the innermost loop around the product; false if there is none.
bool IsInvariant(const ir::Op& mma, int operand);

}  // namespace tile::codegen

#endif  // TILE_CODEGEN_ANALYSIS_PRODUCT_CHAIN_H_

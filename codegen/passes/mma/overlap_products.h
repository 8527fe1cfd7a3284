// Lets products by wgmma of one iteration run beside each other and beside the work on elements between them
// (codegen/plan/mma/overlapped_products.h): a product moves up behind the first one beside which its operands are there, and all of the loop
// are waited for only where their results are read.
//
// With layouts, which may have put conversions around products. Before:         After:
//   %s = mmaf %k, %q, %zero {instruction = "wgmma", …}                             %s = mmaf %k, %q, %zero {…, runs}
//   %p = exp2 %s                                                                   %t = mmaf %v, %d, %zero {…, runs}
//   %t = mmaf %v, %d, %zero {instruction = "wgmma", …}                             %p = exp2 %s
//
// What begins early takes registers for longer: a product moves only as far up as its thread has room.
//
// Loops in which no product can begin beside another stay as they are: there the products wait for each other.
#ifndef TILE_CODEGEN_PASSES_MMA_OVERLAP_PRODUCTS_H_
#define TILE_CODEGEN_PASSES_MMA_OVERLAP_PRODUCTS_H_

#include "absl/status/status.h"
#include "codegen/passes/program.h"

namespace tile::codegen {

absl::Status OverlapProducts(Program& p);

}  // namespace tile::codegen

#endif  // TILE_CODEGEN_PASSES_MMA_OVERLAP_PRODUCTS_H_

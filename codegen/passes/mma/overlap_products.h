// Lets asynchronous products of one iteration overlap each other and the elementwise work between them (codegen/plan/mma/overlapped_products.h). A
// product moves up to directly after the first product during which its operands are available. Products of the loop are awaited only where
// their results are read.
//
// With layouts, which may have put conversions around products. Before:         After:
//   %s = mmaf %k, %q, %zero {instruction = …}                                      %s = mmaf %k, %q, %zero {…, runs}
//   %p = exp2 %s                                                                   %t = mmaf %v, %d, %zero {…, runs}
//   %t = mmaf %v, %d, %zero {instruction = …}                                      %p = exp2 %s
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

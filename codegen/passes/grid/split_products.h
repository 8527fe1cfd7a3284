// Runs loops over matrix products in parts, one after the other, if their results exceed the registers of a block. A
// part is half of the rows or columns, a quarter, …, together with the values that are computed from them and stored.
// Its sums stay in registers. Sums come in the same order, so results are the same bit by bit.
//
//   int splits = SplitProducts(target, /*by_tma=*/false, /*limit=*/32768, module, function, trace);
//
// Before:                                              After:
//   %sum = for %k … iter_values(%acc = 0) {              for %part in (0 to 2) {
//     %x = load_view_tko %av[%i, %k]   // 256x64           %sum = for %k … iter_values(%acc = 0) {
//     %y = load_view_tko %bv[%k, %j]   // 64x256             %x = load_view_tko %aw[2 %i + %part, %k]   // 128x64
//     … mmaf %x, %y, %acc              // 256x256            %y = load_view_tko %bv[%k, %j]             // 64x256
//   }                                                        … mmaf %x, %y, %acc                        // 128x256
//   %out = ftof %sum                                       }
//   store_view_tko %out, %cv[%i, %j]                       %out = ftof %sum
//                                                          store_view_tko %out, %cw[2 %i + %part, %j]
//                                                        }
//
// Rows of several products that hang together (attention: queries, scores, weights, sums) are cut together; what all
// rows need is loaded again for each part. Weak stores, by a partition view or by pointers, take all results; in
// attention for training these are rows and the sums of their weights. The stores cannot change what later parts load,
// and are placed where their order does not matter (analysis/access_order.h). Every operation in between knows which
// parts of its operands it needs (analysis/slice_dims.h). --remarks tells of each loop, and why one stays whole. Each
// is an optional step ("split-product"). Not thread-safe with other changes of the module.
#ifndef TILE_CODEGEN_PASSES_GRID_SPLIT_PRODUCTS_H_
#define TILE_CODEGEN_PASSES_GRID_SPLIT_PRODUCTS_H_

#include <cstdint>

#include "absl/status/status.h"
#include "codegen/passes/program.h"
#include "codegen/target/target.h"
#include "codegen/trace/trace.h"
#include "ir/module.h"

namespace tile::codegen {

// `limit`: registers of 32 bits, over all threads, that a loop may hold. `by_tma`: a producer will bring operands where it can. Returns how
// often one was halved. The trace may be null.
int SplitProducts(const Target& target, bool by_tma, int64_t limit, ir::Module* module, ir::Function* function,
                  Trace* trace);

// The pass: with the limit for the warps that the user wants, else for as many as a block can have.
absl::Status SplitProducts(Program& p);

}  // namespace tile::codegen

#endif  // TILE_CODEGEN_PASSES_GRID_SPLIT_PRODUCTS_H_

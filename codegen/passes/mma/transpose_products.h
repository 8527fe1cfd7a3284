// A product whose right operand stays the same in its loop, while the left one is loaded, becomes the transposed product. Instructions that read
// stages want the right operand in one, where copies bring it, and keep an unchanging left operand in shared memory (plan/mma/staged_mma.h).
//
//   for … {                                           for … {
//     %q = load_ptr_tko …                               %q = load_ptr_tko …
//     %s = mmaf %q, %kt, %zero                          %qt = permute %q [1, 0]
//     %p = exp2 %s                                      %st = mmaf %k, %qt, %zero
//     %pt = permute %p [1, 0]                           %s = permute %st [1, 0]
//     %dv = mmaf %pt, %do, …                            …
//
// So kernels for gradients of attention are written, whose blocks keep keys and values and go over queries. What follows uses the result transposed
// (%pt): then the sums of the first product are the left operand of the next one as they are. Not done where rows of the result are folded in
// the loop, or where only products that take it as it is follow.
#ifndef TILE_CODEGEN_PASSES_MMA_TRANSPOSE_PRODUCTS_H_
#define TILE_CODEGEN_PASSES_MMA_TRANSPOSE_PRODUCTS_H_

#include "absl/status/status.h"
#include "codegen/passes/program.h"

namespace tile::codegen {

absl::Status TransposeProducts(Program& p);

}  // namespace tile::codegen

#endif  // TILE_CODEGEN_PASSES_MMA_TRANSPOSE_PRODUCTS_H_

// Neighbours that share an address are loaded once.
//
//   %k = divi %row, %eight                            %k4 = divi (muli (iota 8), %eight), %eight
//   %p = offset %base, %k * %stride + %column         %q = offset %base, %k4 * %stride + %column    : tile<8x128xptr<i32>>
//   %w = load_ptr_tko weak %p                         %n = load_ptr_tko weak %q
//                                                     %w = reshape (broadcast (reshape %n : 8x1x128) : 8x8x128) : 64x128
//
// So kernels load packed elements: eight rows of a tile read the same words and shift them by other distances. The pointers follow
// from constants and elementwise operations, and facts say which neighbours are equal (codegen/analysis/facts.h); the mask and the padding are
// equal, too. Not done to what only a product reads: copies bring that to shared memory.
#ifndef TILE_CODEGEN_PASSES_CANONICAL_LOAD_ONCE_H_
#define TILE_CODEGEN_PASSES_CANONICAL_LOAD_ONCE_H_

#include "absl/status/status.h"
#include "codegen/passes/program.h"

namespace tile::codegen {

absl::Status LoadOnce(Program& p);

}  // namespace tile::codegen

#endif  // TILE_CODEGEN_PASSES_CANONICAL_LOAD_ONCE_H_

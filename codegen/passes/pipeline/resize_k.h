// Changes the size of a matrix product's iterations along K. Smaller ones let more of them fit into shared memory at a
// time; larger ones give rows along K the length that the hardware moves best. Each iteration of the loop becomes two,
// four, …, or two, four, … become one. Sums come in the same order, so results are the same bit by bit.
//
//   if (CanNarrowK(*mma, 4)) NarrowK(module, mma, 4);
//   if (WidenK(module, function, mma, 2)) …
//
// Before:                                              After:
//   for %k in (%a to %b, step 1) {                       for %t in (4 %a to 4 %b, step 1) {
//     %x = load_view_tko %av[%i, %k]   // 128x64           %u = 4 (%t >> 2) + (%t & 3)
//     %y = load_view_tko %bv[%k, %j]   // 64x128           %x = load_view_tko %aw[%i, %u]   // 128x16
//     %s = mmaf %x, %y, %acc                               %y = load_view_tko %bw[%u, %j]   // 16x128
//     continue %s                                          %s = mmaf %x, %y, %acc
//   }                                                      continue %s
//                                                        }
//
// Not thread-safe with other changes of the module.
#ifndef TILE_CODEGEN_PASSES_PIPELINE_RESIZE_K_H_
#define TILE_CODEGEN_PASSES_PIPELINE_RESIZE_K_H_

#include <optional>

#include "codegen/plan/staging/loaded_operand.h"
#include "ir/module.h"

namespace tile::codegen {

// Both operands of a product whose loads can be moved to shared memory.
struct LoadedProduct {
  LoadedOperand operands[2];

  int64_t slot_bytes() const { return operands[0].slot_bytes() + operands[1].slot_bytes(); }
};
// Nullopt: the load of one can't.
std::optional<LoadedProduct> LoadedProductOf(const ir::Op& mma);

// The product is in a for that does nothing else, and both operands come from loads (LoadedOperandOf).
bool IsProductLoop(const ir::Op& mma);
// It is in such a loop, which steps by 1; loads go by partition views that can be split, and a part of their K is
// at least 32 bytes.
bool CanNarrowK(const ir::Op& mma, int parts);
// `parts`: a power of two.
void NarrowK(ir::Module* module, ir::Op* mma, int parts);

// False, and nothing is done, unless it is in such a loop, which counts the tiles of a view along K from the first to the last, and both loads
// take the tile of that number. `factor`: a power of two. Where the host gives the size along K, it must be a multiple of theirs
// (Decision::kWidenedK). Where it, or where the tensors lie, is loaded or computed, they end where the tiles did, and the last iteration may
// have fewer.
bool WidenK(ir::Module* module, ir::Function* function, ir::Op* mma, int factor);

}  // namespace tile::codegen

#endif  // TILE_CODEGEN_PASSES_PIPELINE_RESIZE_K_H_

// How a reduce or scan goes along its dimension: which bits of the numbers of registers, lanes and warps move there.
//
//   const Layout layout = FoldLayout(op, LayoutOf(operand->type()), num_warps);   // operands are converted to it
//   const AlongDim along = BitsAlong(layout, dim);
//   along.in[In::kWarp].size()      // 2: four warps hold parts of a row, which they exchange through shared memory
//
// Pure functions.
#ifndef TILE_CODEGEN_PLAN_FOLD_LAYOUT_H_
#define TILE_CODEGEN_PLAN_FOLD_LAYOUT_H_

#include <cstdint>
#include <vector>

#include "codegen/layout/layout.h"
#include "ir/module.h"

namespace tile::codegen {

// Bits that move along one dimension, with the bit of its coordinate; lowest first.
struct BitAlong {
  int at;          // position among the bits of the register, lane or warp
  int coordinate;  // position among the bits of the coordinate
};
struct AlongDim {
  std::vector<BitAlong> in[kNumIns];
  bool simple = true;   // every basis is within the dimension or outside of it, and is one bit inside
  bool ordered = true;  // registers below lanes below warps, lane after lane
};
AlongDim BitsAlong(const Layout& layout, int dim);

// The operands' layout if the operation can go along the dimension in it, else one in which the dimension is in order: with a
// commutative body any simple layout will do.
Layout FoldLayout(const ir::Op& fold, const Layout& operand, int num_warps);

// So many warps have parts of one result; where it is more than one, they exchange them through shared memory.
int WarpsOfResult(const ir::Op& fold, const Layout& operand, int num_warps);
// The reduce and those that follow it and exchange with it (Decision::kBatched).
std::vector<const ir::Op*> ReducesTogether(const ir::Op& first);

// Shared memory for the parts that so many warps have of each element of one result, whose elements have so many bytes. All lanes
// may read the same places: then each element takes a word at least.
uint64_t FoldPartsBytes(int64_t parts, const Layout& result, int bytes);
bool FoldTakesWords(const Layout& result);

}  // namespace tile::codegen

#endif  // TILE_CODEGEN_PLAN_FOLD_LAYOUT_H_

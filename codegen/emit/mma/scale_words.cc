#include "codegen/emit/mma/scale_words.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "codegen/emit/context/convert.h"
#include "ir/check.h"
#include "ir/op_views.h"

namespace tile::codegen {

ScaleWords::ScaleWords(Emitter& e, const ir::Op& mma, const MmaPlan& plan) : blocks_(plan.blocks) {
  const ir::MmaScaledOp scaled(mma);
  const size_t in_word = static_cast<size_t>(std::min<int64_t>(4, blocks_));
  for (int side = 0; side < 2; ++side) {
    const ir::Value* scales = side == 0 ? scaled.lhs_scale() : scaled.rhs_scale();
    TILE_CHECK(e.layout(scales) == MmaScaleLayout(plan.tile, side == 0 ? Operand::kA : Operand::kB, blocks_),
               "scales are in other threads than the instruction takes them from");
    const Operands codes = e.regs(scales);
    for (size_t r = 0; r < codes.size(); r += in_word) words_[side].push_back(PackWord(e, codes.subspan(r, in_word)));
  }
}

llvm::Value* ScaleWords::Word(Operand side, int i, int64_t block) const {
  return words_[side == Operand::kA ? 0 : 1][static_cast<size_t>(PlaceOfMmaScale(side, blocks_, i, block).word)];
}

std::string ScaleWords::Selector(Operand side, int i, int64_t block) const {
  const MmaScalePlace place = PlaceOfMmaScale(side, blocks_, i, block);
  return absl::StrCat("{", place.byte, ", ", place.thread, "}");
}

}  // namespace tile::codegen

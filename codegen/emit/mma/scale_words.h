// Block scales of a product by mma.sync, as its instructions take them: a register of a warp, and which of its bytes and threads count. Internal to
// codegen/emit.
//
//   const ScaleWords scales(e, op, plan);
//   scales.Word(Operand::kA, i, block)        // i32: for instruction i along M, from this block along K on
//   scales.Selector(Operand::kA, i, block)    // "{2, 1}": byte and thread
#ifndef TILE_CODEGEN_EMIT_MMA_SCALE_WORDS_H_
#define TILE_CODEGEN_EMIT_MMA_SCALE_WORDS_H_

#include <cstdint>
#include <string>

#include "codegen/emit/context/emitter.h"
#include "codegen/layout/block_scales.h"
#include "codegen/plan/mma/mma_layout.h"

namespace tile::codegen {

class ScaleWords {
 public:
  // The tiles of scales have the layouts of the product's kind (FragmentLayout).
  ScaleWords(Emitter& e, const ir::Op& mma, const MmaPlan& plan);

  llvm::Value* Word(Operand side, int i, int64_t block) const;
  std::string Selector(Operand side, int i, int64_t block) const;

 private:
  const int64_t blocks_;
  Registers words_[2];
};

}  // namespace tile::codegen

#endif  // TILE_CODEGEN_EMIT_MMA_SCALE_WORDS_H_

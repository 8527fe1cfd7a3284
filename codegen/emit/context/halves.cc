#include "codegen/emit/context/halves.h"

#include "llvm/IR/PatternMatch.h"

namespace tile::codegen {

llvm::Value* HalfOfWord(Emitter& e, llvm::Value* word, int i, llvm::Type* type) {
  auto& b = e.b();
  llvm::Value* halves = b.CreateBitCast(word, llvm::FixedVectorType::get(b.getInt16Ty(), 2));
  return e.FromBits(b.CreateExtractElement(halves, static_cast<uint64_t>(i)), type);
}

llvm::Value* WordOfHalf(llvm::Value* half, int i) {
  using llvm::PatternMatch::m_BitCast, llvm::PatternMatch::m_ExtractElt, llvm::PatternMatch::m_SpecificInt,
      llvm::PatternMatch::m_Value;
  if (const auto* cast = llvm::dyn_cast<llvm::BitCastInst>(half)) half = cast->getOperand(0);
  llvm::Value* word = nullptr;
  const auto of_word = m_ExtractElt(m_BitCast(m_Value(word)), m_SpecificInt(static_cast<uint64_t>(i)));
  const bool found = llvm::PatternMatch::match(half, of_word);
  return found && half->getType()->isIntegerTy(16) && word->getType()->isIntegerTy(32) ? word : nullptr;
}

llvm::Value* WordOfHalves(llvm::Value* low, llvm::Value* high) {
  llvm::Value* word = WordOfHalf(low, 0);
  return word != nullptr && WordOfHalf(high, 1) == word ? word : nullptr;
}

}  // namespace tile::codegen

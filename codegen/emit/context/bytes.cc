#include "codegen/emit/context/bytes.h"

#include "llvm/IR/PatternMatch.h"

namespace tile::codegen {
namespace {

// The i32 whose byte `i` this is: shifted down, or taken out of a vector; null: of none.
llvm::Value* WordOfByte(llvm::Value* byte, int i) {
  using llvm::PatternMatch::m_BitCast, llvm::PatternMatch::m_ExtractElt, llvm::PatternMatch::m_LShr,
      llvm::PatternMatch::m_SpecificInt, llvm::PatternMatch::m_Trunc, llvm::PatternMatch::m_Value;
  const auto place = static_cast<uint64_t>(i);
  llvm::Value* word = nullptr;
  const bool found =
      byte->getType()->isIntegerTy(8) &&
      (llvm::PatternMatch::match(byte, m_ExtractElt(m_BitCast(m_Value(word)), m_SpecificInt(place))) ||
       (i > 0 && llvm::PatternMatch::match(byte, m_Trunc(m_LShr(m_Value(word), m_SpecificInt(8 * place))))) ||
       (i == 0 && llvm::PatternMatch::match(byte, m_Trunc(m_Value(word)))));
  return found && word->getType()->isIntegerTy(32) ? word : nullptr;
}

}  // namespace

llvm::Value* ByteOfWord(Emitter& e, llvm::Value* word, int i) {
  auto& b = e.b();
  return b.CreateTrunc(i == 0 ? word : b.CreateLShr(word, 8 * i), b.getInt8Ty());
}

llvm::Value* WordOfBytes(Operands bytes) {
  llvm::Value* word = WordOfByte(bytes[0], 0);
  for (int i = 1; i < kBytesOfWord && word != nullptr; ++i) {
    if (WordOfByte(bytes[static_cast<size_t>(i)], i) != word) return nullptr;
  }
  return word;
}

Registers WordsOfBytes(Operands bytes) {
  if (bytes.size() % kBytesOfWord != 0) return {};
  Registers words;
  for (size_t r = 0; r < bytes.size(); r += kBytesOfWord) {
    words.push_back(WordOfBytes(bytes.subspan(r, kBytesOfWord)));
    if (words.back() == nullptr) return {};
  }
  return words;
}

}  // namespace tile::codegen

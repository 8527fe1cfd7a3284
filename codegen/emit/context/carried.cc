#include "codegen/emit/context/carried.h"

#include "codegen/emit/context/bytes.h"
#include "codegen/emit/context/convert.h"
#include "codegen/emit/context/halves.h"

namespace tile::codegen {
namespace {

constexpr unsigned kWordBits = 32;

// So many neighbours lie in one word; 1: each is a register.
size_t InWord(Emitter& e, ir::Type t) {
  const unsigned bits = e.RegisterType(t.element())->getScalarSizeInBits();
  const size_t n = bits == 8 || bits == 16 ? kWordBits / bits : 1;
  return static_cast<size_t>(e.layout(t).registers()) % n == 0 ? n : 1;
}

llvm::Value* ElementOf(Emitter& e, ir::Type t, size_t in_word, llvm::Value* word, int i) {
  return in_word == 2 ? HalfOfWord(e, word, i, e.RegisterType(t.element())) : ByteOfWord(e, word, i);
}

llvm::Value* WordOf(Emitter& e, Operands elements) {
  llvm::Value* known = elements.size() == 2 ? WordOfHalves(elements[0], elements[1]) : WordOfBytes(elements);
  return known != nullptr ? known : PackWord(e, elements);
}

}  // namespace

std::vector<llvm::PHINode*> NewPhis(Emitter& e, ir::Type t) {
  std::vector<llvm::PHINode*> phis;
  if (!t.is_tile()) return phis;
  const size_t in_word = InWord(e, t), n = static_cast<size_t>(e.layout(t).registers()) / in_word;
  llvm::Type* type = in_word > 1 ? e.b().getInt32Ty() : e.RegisterType(t.element());
  for (size_t r = 0; r < n; ++r) phis.push_back(e.b().CreatePHI(type, 2));
  return phis;
}

Registers RegistersOf(Emitter& e, const Registers& words, ir::Type t) {
  if (!t.is_tile()) return words;
  const size_t in_word = InWord(e, t);
  if (in_word == 1) return words;
  Registers elements;
  for (llvm::Value* word : words) {
    for (size_t i = 0; i < in_word; ++i) elements.push_back(ElementOf(e, t, in_word, word, static_cast<int>(i)));
  }
  return elements;
}

Registers WordsOf(Emitter& e, const ir::Value* v) {
  if (!v->type().is_tile()) return {};
  const Registers& registers = e.regs(v);
  const size_t in_word = InWord(e, v->type());
  if (in_word == 1) return registers;
  Registers words;
  for (size_t r = 0; r < registers.size(); r += in_word)
    words.push_back(WordOf(e, Operands(registers).subspan(r, in_word)));
  return words;
}

void AddIncoming(Emitter& e, const Phis& phis, absl::Span<ir::Value* const> values) {
  for (size_t i = 0; i < phis.size(); ++i) {
    const Registers words = WordsOf(e, values[i]);
    for (size_t r = 0; r < phis[i].size(); ++r) phis[i][r]->addIncoming(words[r], e.b().GetInsertBlock());
  }
}

}  // namespace tile::codegen

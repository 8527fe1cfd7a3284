#include "codegen/emit/context/carried.h"

#include "codegen/emit/context/bytes.h"
#include "codegen/emit/context/convert.h"

namespace tile::codegen {
namespace {

bool LiesInWords(Emitter& e, ir::Type t) {
  return e.RegisterType(t.element())->isIntegerTy(8) && e.layout(t).registers() % kBytesOfWord == 0;
}

}  // namespace

std::vector<llvm::PHINode*> NewPhis(Emitter& e, ir::Type t) {
  std::vector<llvm::PHINode*> phis;
  if (!t.is_tile()) return phis;
  const bool words = LiesInWords(e, t);
  const int n = static_cast<int>(e.layout(t).registers()) / (words ? kBytesOfWord : 1);
  llvm::Type* type = words ? e.b().getInt32Ty() : e.RegisterType(t.element());
  for (int r = 0; r < n; ++r) phis.push_back(e.b().CreatePHI(type, 2));
  return phis;
}

Registers RegistersOf(Emitter& e, const Registers& words, ir::Type t) {
  if (!t.is_tile() || !LiesInWords(e, t)) return words;
  Registers bytes;
  for (llvm::Value* word : words) {
    for (int i = 0; i < kBytesOfWord; ++i) bytes.push_back(ByteOfWord(e, word, i));
  }
  return bytes;
}

Registers WordsOf(Emitter& e, const ir::Value* v) {
  if (!v->type().is_tile()) return {};
  const Registers& registers = e.regs(v);
  if (!LiesInWords(e, v->type())) return registers;
  Registers words;
  for (size_t r = 0; r < registers.size(); r += kBytesOfWord) {
    const Operands bytes = Operands(registers).subspan(r, kBytesOfWord);
    llvm::Value* word = WordOfBytes(bytes);
    words.push_back(word != nullptr ? word : PackWord(e, bytes));
  }
  return words;
}

void AddIncoming(Emitter& e, const Phis& phis, absl::Span<ir::Value* const> values) {
  for (size_t i = 0; i < phis.size(); ++i) {
    const Registers words = WordsOf(e, values[i]);
    for (size_t r = 0; r < phis[i].size(); ++r) phis[i][r]->addIncoming(words[r], e.b().GetInsertBlock());
  }
}

}  // namespace tile::codegen

#include "codegen/emit/fragment_registers.h"

#include <utility>

#include "codegen/emit/convert.h"
#include "codegen/layout/conversion.h"

namespace tile::codegen {
namespace {

class Held : public FragmentSource {
 public:
  Held(Emitter& e, Registers elements)
      : e_(e), elements_(std::move(elements)), per_word_(static_cast<size_t>(4 / MemoryBytes(elements_[0]->getType()))) {
    words_.resize(elements_.size() / per_word_);
  }

  llvm::Value* Word(int w) override {
    const auto at = static_cast<size_t>(w);
    if (words_[at] == nullptr) words_[at] = PackWord(e_, Operands(elements_).subspan(at * per_word_, per_word_));
    return words_[at];
  }

 private:
  Emitter& e_;
  Registers elements_;
  size_t per_word_;
  Registers words_;
};

}  // namespace

std::unique_ptr<FragmentSource> FragmentsInRegisters(Emitter& e, const ir::Value* v, const Layout& fragment) {
  const int bits = 8 * MemoryBytes(e.regs(v)[0]->getType());
  if (Convert(e.layout(v), fragment, bits).kind == ConversionKind::kShared) return nullptr;
  return FragmentsBroughtToRegisters(e, v, fragment);
}

std::unique_ptr<FragmentSource> FragmentsBroughtToRegisters(Emitter& e, const ir::Value* v, const Layout& fragment) {
  return std::make_unique<Held>(e, ConvertRegisters(e, e.layout(v), fragment, e.regs(v)));
}

}  // namespace tile::codegen

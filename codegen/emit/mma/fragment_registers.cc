#include "codegen/emit/mma/fragment_registers.h"

#include <utility>

#include "codegen/emit/context/convert.h"
#include "codegen/layout/conversion.h"
#include "ir/element.h"

namespace tile::codegen {
namespace {

class Held : public FragmentSource {
 public:
  // `hide`: the assembler must not see that a word is a constant.
  Held(Emitter& e, Registers elements, int bits, bool hide)
      : e_(e), elements_(std::move(elements)), per_word_(static_cast<size_t>(32 / bits)), hide_(hide) {
    words_.resize(elements_.size() / per_word_);
  }

  llvm::Value* Word(int w) override {
    const auto at = static_cast<size_t>(w);
    if (words_[at] == nullptr) {
      const Operands elements = Operands(elements_).subspan(at * per_word_, per_word_);
      words_[at] = per_word_ == 8 ? PackCodes(elements) : PackWord(e_, elements);
      // Zero: grids are smaller.
      if (hide_) words_[at] = e_.b().CreateOr(words_[at], e_.b().CreateLShr(e_.GridSize(0), 31));
    }
    return words_[at];
  }

 private:
  // Packs eight codes of 4 bits, each of which is in a byte.
  llvm::Value* PackCodes(Operands codes) {
    auto& b = e_.b();
    llvm::Value* word = e_.I32(0);
    for (size_t i = 0; i < codes.size(); ++i)
      word = b.CreateOr(word, b.CreateShl(b.CreateZExt(codes[i], b.getInt32Ty()), 4 * i));
    return word;
  }

  Emitter& e_;
  Registers elements_;
  size_t per_word_;
  bool hide_;
  Registers words_;
};

}  // namespace

std::unique_ptr<FragmentSource> FragmentsInRegisters(Emitter& e, const ir::Value* v, const Layout& fragment,
                                                     bool one_word) {
  const int bits = 8 * MemoryBytes(e.regs(v)[0]->getType());
  if (Convert(e.layout(v), fragment, bits).kind == ConversionKind::kShared) return nullptr;
  return FragmentsBroughtToRegisters(e, v, fragment, one_word);
}

std::unique_ptr<FragmentSource> FragmentsBroughtToRegisters(Emitter& e, const ir::Value* v, const Layout& fragment,
                                                            bool one_word) {
  // ptxas 13.0 takes products of f8 apart into products of f16 for sm_90, and the upper halves of constants wrongly. Where a
  // right operand is one word (m16n8k8), 12.8 to 13.5 take the sign of a constant word away, as if it were one f32, and have the
  // instruction negate both halves.
  const ir::Elem elem = v->type().elem();
  const int bits = ir::MemoryBits(elem);
  const bool hide = ir::IsFloat(elem) && (bits == 8 || (bits == 16 && one_word));
  return std::make_unique<Held>(e, ConvertRegisters(e, e.layout(v), fragment, e.regs(v)), bits, hide);
}

}  // namespace tile::codegen

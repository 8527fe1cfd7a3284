#include "codegen/emit/lower/word_converts.h"

#include "codegen/emit/context/bytes.h"
#include "codegen/emit/context/convert.h"
#include "codegen/emit/context/halves.h"
#include "ir/op_views.h"

namespace tile::codegen {
namespace {

// The fewest elements of a thread for which this is worth it: converted to f32, each takes a register.
constexpr size_t kMany = 64;

// The same conversion of the same loaded tile precedes this one, and threads exchange something in between.
bool IsAgain(const ir::Op& op) {
  if (op.info()->family != ir::Family::kConvert || op.num_operands() != 1) return false;
  const ir::Value* from = op.operand(0);
  if (from->def() == nullptr || !from->def()->info()->is_load() || from->uses()->next == nullptr) return false;
  bool exchanged = false;
  for (const ir::Op* before = op.prev(); before != nullptr && before != from->def(); before = before->prev()) {
    exchanged = exchanged || ir::FoldOp::Is(before);
    const bool same = before->info() == op.info() && before->operand(0) == from;
    if (same && before->result(0)->type() == op.result(0)->type()) return exchanged;
  }
  return false;
}

// The operation follows an exchange in its block, and its result is only stored.
bool IsStoredBehindExchange(const ir::Op& op) {
  for (const ir::Use* use = op.result(0)->uses(); use != nullptr; use = use->next) {
    if (!ir::StorePtrOp::Is(use->owner) && !ir::StoreViewOp::Is(use->owner)) return false;
  }
  const ir::Op* before = op.prev();
  while (before != nullptr && !ir::FoldOp::Is(before)) before = before->prev();
  return before != nullptr;
}

// The same word, but LLVM does not know that.
llvm::Value* Other(Emitter& e, llvm::Value* word) {
  return e.Ptx(e.b().getInt32Ty(), "mov.b32 $0, $1;", "=r,r", {word}, false);
}

}  // namespace

Registers OperandAgain(Emitter& e, const ir::Op& op) {
  const Registers& in = e.regs(op.operand(0));
  if (in.size() < kMany || !IsAgain(op)) return in;
  Registers again;
  for (llvm::Value* word : WordsOfBytes(in)) {
    word = Other(e, word);
    for (int i = 0; i < kBytesOfWord; ++i) again.push_back(ByteOfWord(e, word, i));
  }
  if (!again.empty()) return again;
  for (size_t r = 0; r + 1 < in.size(); r += 2) {
    llvm::Value* word = WordOfHalves(in[r], in[r + 1]);
    if (word == nullptr) return in;
    word = Other(e, word);
    for (int half : {0, 1}) again.push_back(HalfOfWord(e, word, half, in[r]->getType()));
  }
  return again.size() == in.size() ? again : in;
}

Registers RoundedInPairs(Emitter& e, const ir::Op& op, Operands in) {
  if (!ir::FToFOp::Is(&op) || in.size() < kMany || in.size() % 2 != 0 || !e.target().has(kBf16Fma)) return {};
  const ir::Elem to = op.result(0)->type().elem();
  if (op.operand(0)->type().elem() != ir::Elem::kF32 || (to != ir::Elem::kF16 && to != ir::Elem::kBF16)) return {};
  if (ir::FToFOp(op).rounding() != ir::Rounding::kNearestEven || !IsStoredBehindExchange(op)) return {};
  llvm::Type* type = e.RegisterType(to);
  Registers out;
  for (size_t r = 0; r < in.size(); r += 2) {
    llvm::Value* pair[] = {e.b().CreateFPTrunc(in[r], type), e.b().CreateFPTrunc(in[r + 1], type)};
    llvm::Value* word = PackWord(e, pair);
    for (int half : {0, 1}) out.push_back(HalfOfWord(e, word, half, type));
  }
  return out;
}

}  // namespace tile::codegen

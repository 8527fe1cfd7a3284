// Matrix products, as passes/choose_mma.h decided: by wgmma, by mma.sync, or multiplied out with fma.
#include <memory>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "codegen/emit/context/emitter.h"
#include "codegen/emit/mma/fragment_registers.h"
#include "codegen/emit/mma/mma_fma.h"
#include "codegen/emit/mma/mma_sync.h"
#include "codegen/emit/mma/wgmma.h"
#include "codegen/emit/pipeline/copy_ring.h"
#include "codegen/emit/pipeline/ring.h"
#include "ir/op_views.h"

namespace tile::codegen {
namespace {

// Elements of 32 bits that are converted on their way out of shared memory.
class ConvertedWords : public FragmentSource {
 public:
  ConvertedWords(Emitter& e, std::unique_ptr<FragmentSource> from, const ir::Op& conversion)
      : e_(e), from_(std::move(from)), conversion_(conversion) {}

  llvm::Value* Word(int w) override {
    llvm::Value*& word = words_[w];
    if (word == nullptr) {
      llvm::Value* x = e_.FromBits(from_->Word(w), e_.RegisterType(conversion_.operand(0)->type().elem()));
      word = e_.ToBits(EmitFToF(e_, conversion_, {&x, 1}));
    }
    return word;
  }

 private:
  Emitter& e_;
  std::unique_ptr<FragmentSource> from_;
  const ir::Op& conversion_;
  absl::flat_hash_map<int, llvm::Value*> words_;
};

std::unique_ptr<FragmentSource> Fragments(Emitter& e, const ir::Op& op, int operand, const Layout& fragment) {
  const ir::Value* v = op.operand(operand);
  if (CopyOf(op, operand) == nullptr) {
    if (auto held = FragmentsInRegisters(e, v, fragment)) return held;
    return FragmentsThroughShared(e, v, fragment);
  }
  const CopyRing& ring = *e.control().copy_rings.back();
  const StagedTile& tile = ring.tile(v->index());
  auto read = FragmentsInShared(e, v->type().elem(), tile.OperandMap(), ring.Slot(v->index()), fragment);
  if (tile.rounded == nullptr || ring.ConvertsInPlace(v->index())) return read;
  return std::make_unique<ConvertedWords>(e, std::move(read), *tile.rounded);
}

Registers ByWgmma(Emitter& e, const ir::Op& op, const WgmmaPlan& plan, Registers acc) {
  auto& b = e.b();
  Ring* ring = FetchOf(op) != nullptr ? e.control().rings.back() : nullptr;
  CopyRing* copies = ring == nullptr ? e.control().copy_rings.back() : nullptr;
  const auto staged = [&](int i) {
    const int slot = op.operand(i)->index();
    if (ring != nullptr) return StagedAt{ring->stage().tiles[static_cast<size_t>(slot)], ring->Slot(slot)};
    return StagedAt{copies->tile(slot), b.CreatePtrToInt(copies->Slot(slot), b.getInt32Ty())};
  };
  WgmmaUse use;
  if (ring != nullptr) use.async = ring->IsAsync(op);
  if (copies != nullptr) use.async = copies->IsAsync(op);
  if (copies != nullptr) use.meanwhile = [&] { copies->FetchMeanwhile(); };
  const int first = plan.first();
  const StagedAt second = staged(1 - first);
  if (plan.held) {
    const StagedAt from = staged(first);
    llvm::Value* at = b.CreateIntToPtr(from.at, b.getPtrTy(3));
    const auto held =
        FragmentsInShared(e, op.operand(first)->type().elem(), from.tile.OperandMap(), at, plan.FirstLayout());
    return MultiplyByWgmma(e, plan, *held, second, std::move(acc), use);
  }
  if (ring != nullptr || CopyOf(op, first) != nullptr)
    return MultiplyByWgmma(e, plan, staged(first), second, std::move(acc), use);
  if (llvm::Value* at = copies->StagedLhsOf(op)) {
    return MultiplyByWgmma(e, plan, StagedAt{StagedLhs(op), at}, second, std::move(acc), use);
  }
  const auto held = FragmentsBroughtToRegisters(e, op.operand(first), plan.FirstLayout());
  return MultiplyByWgmma(e, plan, *held, second, std::move(acc), use);
}

void LowerProduct(Emitter& e, const ir::Op& op) {
  const ir::Elem elem = op.result(0)->type().elem();
  Registers acc;
  for (llvm::Value* v : e.regs(ir::MmaOp(op).acc())) acc.push_back(WidenForProduct(e, elem, v, true));
  if (const auto wgmma = WgmmaPlanOf(op)) {
    acc = ByWgmma(e, op, *wgmma, std::move(acc));
  } else if (const auto plan = MmaPlanOf(op)) {
    const auto a = Fragments(e, op, 0, MmaLayout(plan->tile, Operand::kA));
    const auto b = Fragments(e, op, 1, MmaLayout(plan->tile, Operand::kB));
    acc = MultiplyBySync(e, *plan, *a, *b, std::move(acc));
  } else {
    acc = MultiplyByFma(e, op, std::move(acc));
  }
  for (llvm::Value*& v : acc) v = NarrowProduct(e, elem, v);
  e.Set(op.result(0), std::move(acc));
}

}  // namespace

void LowerMmaF(Emitter& e, const ir::Op& op) { LowerProduct(e, op); }
void LowerMmaI(Emitter& e, const ir::Op& op) { LowerProduct(e, op); }
void LowerMmaScaled(Emitter& e, const ir::Op& op) { LowerProduct(e, op); }

}  // namespace tile::codegen

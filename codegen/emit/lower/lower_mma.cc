// Matrix products, as passes/mma/choose_mma.h decided: by instructions that read stages or take fragments, or multiplied out.
#include <algorithm>
#include <memory>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "codegen/emit/context/emitter.h"
#include "codegen/emit/lower/cross_iteration_mma.h"
#include "codegen/emit/lower/lhs_in_registers.h"
#include "codegen/emit/lower/overlapped_products.h"
#include "codegen/emit/mma/fragment_registers.h"
#include "codegen/emit/mma/mma_fma.h"
#include "codegen/emit/mma/mma_sync.h"
#include "codegen/emit/mma/staged_mma_emitter.h"
#include "codegen/emit/pipeline/async_products.h"
#include "codegen/emit/pipeline/copy_ring.h"
#include "codegen/gpu/op_views.h"
#include "codegen/plan/mma/lhs_in_registers.h"
#include "codegen/plan/mma/overlapped_products.h"
#include "codegen/plan/resources/shared_use.h"
#include "codegen/target/decisions.h"
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
    const bool one_word = MmaPlanOf(op)->words_b == 1;
    if (auto held = FragmentsInRegisters(e, v, fragment, one_word)) return held;
    if (MmaExchangeBytes(op) > e.most_exchange()) return FragmentsBroughtToRegisters(e, v, fragment, one_word);
    return FragmentsThroughShared(e, v, fragment);
  }
  const CopyRing& ring = *e.control().copy_rings.back();
  const StagedTile& tile = ring.tile(v->index());
  auto read = FragmentsInShared(e, v->type().elem(), tile.OperandMap(), ring.Slot(v->index()), fragment);
  if (tile.rounded == nullptr || ring.ConvertsInPlace(v->index())) return read;
  return std::make_unique<ConvertedWords>(e, std::move(read), *tile.rounded);
}

// Both operands lie in a stage, where they are named (codegen/gpu/ops.def).
bool ReadsStages(const ir::Op& op) { return gpu::StageTileOp::Is(op.operand(1)->def()); }

// What a product reads from a stage: of copies this iteration's or the one before.
StagedAt Staged(Emitter& e, const ir::Op& op, int operand, bool before = false) {
  if (const auto tile = ir::DefAs<gpu::StageTileOp>(op.operand(operand)))
    return {StagedOperandOf(op, operand).value(), e.scalar(tile->address())};
  const int slot = op.operand(operand)->index();
  const CopyRing& copies = *e.control().copy_rings.back();
  return {copies.tile(slot), e.b().CreatePtrToInt(copies.Slot(slot, before), e.b().getInt32Ty())};
}

}  // namespace

void ReadLhsInRegisters(Emitter& e, const ir::Op& loop, const CopyRing& copies) {
  auto& b = e.b();
  if (!copies.lhs_in_registers()) return;
  llvm::Value* never = b.CreateICmpSLT(e.GridSize(0), e.I32(0));  // grids are smaller
  for (const ir::Op* op : *loop.region(0)) {
    const CopyRing::Words words = copies.LhsInRegistersOf(*op);
    for (int w = 0; !words.empty() && w < NumWordsOfLhs(*op); w += kWordsOfStep) {
      if (!words.contains(w)) continue;
      Registers in = {never, e.I32(0)};
      for (int i = 0; i < kWordsOfStep; ++i) in.push_back(words.at(w + i));
      e.Ptx(b.getVoidTy(), "@$0 st.shared.v4.b32 [$1], {$2, $3, $4, $5};", "b,r,r,r,r,r", in, true);
    }
  }
}

namespace {

Registers MultiplyStaged(Emitter& e, const ir::Op& op, const StagedMmaPlan& plan, Registers acc) {
  auto& b = e.b();
  CopyRing* copies = ReadsStages(op) ? nullptr : e.control().copy_rings.back();
  CrossIterationMma* late = copies == nullptr ? nullptr : e.control().late.back();
  const bool leads = late != nullptr && late->IsLeader(op);
  const bool runs = DecisionOf<Decision::kOverlaps>(op);
  const bool leads_on = late != nullptr && late->LeadsOn(op);
  if (late != nullptr && late->IsFirst(op)) late->TakeTurn();
  for (int i = 0; i < 2 && copies != nullptr; ++i) {
    if (CopyOf(op, i) != nullptr && copies->pieces(op.operand(i)->index()) > 0) copies->AdvancePiece();
  }
  if (copies != nullptr && CopyOf(op, 1) != nullptr) copies->AwaitWidened(op.operand(1)->index());
  const StagedMmaEmitter& emitter = EmitterOf(plan);
  MmaUse use;
  use.async = leads || leads_on || runs || (copies != nullptr ? copies->IsAsync(op) : DecisionOf<Decision::kAsync>(op));
  if (copies != nullptr && !leads && !leads_on && !runs) use.meanwhile = [&] { copies->FetchMeanwhile(); };
  const int first = plan.first();
  const StagedAt second = Staged(e, op, 1 - first);
  if (plan.held) {
    const StagedAt from = Staged(e, op, first);
    llvm::Value* at = b.CreateIntToPtr(from.at, b.getPtrTy(3));
    const auto held =
        FragmentsInShared(e, op.operand(first)->type().elem(), from.tile.OperandMap(), at, plan.FirstLayout());
    return emitter.Multiply(e, op, plan, *held, second, std::move(acc), use);
  }
  if (copies == nullptr || CopyOf(op, first) != nullptr)
    return emitter.Multiply(e, op, plan, Staged(e, op, first), second, std::move(acc), use);
  if (llvm::Value* at = copies->StagedLhsOf(op)) {
    use.words = copies->LhsInRegistersOf(op);
    return emitter.Multiply(e, op, plan, StagedAt{StagedLhs(op), at}, second, std::move(acc), use);
  }
  const auto held = FragmentsBroughtToRegisters(e, op.operand(first), plan.FirstLayout());
  use.in_steps = DecisionOf<Decision::kInSteps>(op);
  use.meanwhile = [&e, &op, copies, fetch = std::move(use.meanwhile)] {
    ReadLhsInRegisters(e, *op.parent(), *copies);
    if (fetch) fetch();
  };
  return emitter.Multiply(e, op, plan, *held, second, std::move(acc), use);
}

// What steps from `first` on along K need of an operand, whose fragments have `steps` of them.
class StepsAlongK : public FragmentSource {
 public:
  StepsAlongK(FragmentSource& all, int words, int steps, int part_steps, int first)
      : all_(all), words_(words), steps_(steps), part_steps_(part_steps), first_(first) {}

  llvm::Value* Word(int w) override {
    const int step = w / words_ % part_steps_, row = w / words_ / part_steps_;
    return all_.Word((row * steps_ + first_ + step) * words_ + w % words_);
  }

 private:
  FragmentSource& all_;
  const int words_, steps_, part_steps_, first_;
};

// Of a ring of pieces: one operand comes in them, along K, or along M or N, each of which gives its part of the result.
Registers MultiplyPieces(Emitter& e, const ir::Op& op, const MmaPlan& plan, int operand, Registers acc) {
  CopyRing& ring = *e.control().copy_rings.back();
  const ir::Value* v = op.operand(operand);
  const StagedTile& tile = ring.tile(v->index());
  const int pieces = ring.pieces(v->index());
  const bool left = operand == 0;
  MmaPlan part = plan;
  part.tile.pieces_m = part.tile.pieces_n = 1;
  (tile.k_major ? part.tile.k : left ? part.tile.m : part.tile.n) /= pieces;
  const auto steps = [](const MmaPlan& p) { return static_cast<int>(p.tile.k / p.tile.instruction.k); };
  const auto other = Fragments(e, op, 1 - operand, MmaLayout(plan.tile, left ? Operand::kB : Operand::kA));
  if (other->scratch_bytes() > 0) {
    other->Write(e.Scratch(other->scratch_bytes()));
    e.Barrier();
  }
  const SharedMap map = tile.Part(pieces).OperandMap();
  const Layout fragment = MmaLayout(part.tile, left ? Operand::kA : Operand::kB);
  const size_t sums = tile.k_major ? acc.size() : acc.size() / static_cast<size_t>(pieces);
  for (int i = 0; i < pieces; ++i) {
    ring.AdvancePiece();
    const auto piece = FragmentsInShared(e, v->type().elem(), map, ring.Slot(v->index()), fragment);
    StepsAlongK rest(*other, left ? plan.words_b : plan.words_a, steps(plan), steps(part),
                     tile.k_major ? i * steps(part) : 0);
    const auto at = acc.begin() + (tile.k_major ? 0 : static_cast<int64_t>(sums) * i);
    Registers now(at, at + static_cast<int64_t>(sums));
    now = left ? MultiplyBySync(e, part, *piece, rest, std::move(now))
               : MultiplyBySync(e, part, rest, *piece, std::move(now));
    std::copy(now.begin(), now.end(), at);
    ring.ReleasePiece();
  }
  return acc;
}

// Operands that come through shared memory do so in parts along K (Decision::kParts), each of which is multiplied before the next comes.
Registers MultiplyInParts(Emitter& e, const ir::Op& op, const MmaPlan& plan, int64_t parts, Registers acc) {
  MmaPlan part = plan;
  part.tile.k /= parts;
  const int steps = static_cast<int>(plan.tile.k / plan.tile.instruction.k),
            part_steps = steps / static_cast<int>(parts);
  const auto layout = [](const MmaPlan& p, int i) { return MmaLayout(p.tile, i == 0 ? Operand::kA : Operand::kB); };
  std::unique_ptr<FragmentSource> whole[2];  // what needs no shared memory of the product
  for (int i = 0; i < 2; ++i) {
    if (CopyOf(op, i) != nullptr) {
      whole[i] = Fragments(e, op, i, layout(plan, i));
    } else {
      whole[i] = FragmentsInRegisters(e, op.operand(i), layout(plan, i), plan.words_b == 1);
    }
  }
  for (int64_t p = 0; p < parts; ++p) {
    std::unique_ptr<FragmentSource> sides[2];
    for (int i = 0; i < 2; ++i) {
      if (whole[i] != nullptr) {
        sides[i] = std::make_unique<StepsAlongK>(*whole[i], i == 0 ? plan.words_a : plan.words_b, steps, part_steps,
                                                 static_cast<int>(p) * part_steps);
      } else {
        sides[i] =
            FragmentsThroughShared(e, op.operand(i), layout(part, i), {.dim = 1 - i, .parts = parts, .number = p});
      }
    }
    acc = MultiplyBySync(e, part, *sides[0], *sides[1], std::move(acc));
  }
  return acc;
}

// By the instruction that was decided.
Registers Multiply(Emitter& e, const ir::Op& op, Registers acc) {
  if (const auto staged = StagedMmaPlanOf(op)) {
    acc = MultiplyStaged(e, op, *staged, std::move(acc));
    if (!ReadsStages(op) && e.control().copy_rings.back()->in_pieces()) e.control().copy_rings.back()->ReleasePiece();
    const bool leads = !ReadsStages(op) && e.control().late.back()->IsLeader(op);
    if (leads) acc = e.control().late.back()->BeginBeside(std::move(acc));
    const bool ended = !DecisionOf<Decision::kOverlaps>(op) && !DecisionOf<Decision::kAsync>(op);
    return ended && HandsOnElsewhere(op) ? InRegistersOfTheirOwn(e, std::move(acc)) : acc;
  }
  const auto plan = MmaPlanOf(op);
  if (!plan) return MultiplyByFma(e, op, std::move(acc));
  for (int i = 0; i < 2; ++i) {
    if (CopyOf(op, i) != nullptr && e.control().copy_rings.back()->pieces(op.operand(i)->index()) > 0)
      return MultiplyPieces(e, op, *plan, i, std::move(acc));
  }
  if (const int64_t parts = DecisionOf<Decision::kParts>(op).value_or(1); parts > 1)
    return MultiplyInParts(e, op, *plan, parts, std::move(acc));
  const auto a = Fragments(e, op, 0, MmaLayout(plan->tile, Operand::kA));
  const auto b = Fragments(e, op, 1, MmaLayout(plan->tile, Operand::kB));
  return MultiplyBySync(e, *plan, *a, *b, std::move(acc));
}

void LowerProduct(Emitter& e, const ir::Op& op) {
  const ir::Elem elem = op.result(0)->type().elem();
  if (DecisionOf<Decision::kCrossIteration>(op)) {
    e.control().late.back()->Keep(op);
    return e.Set(op.result(0), e.regs(ir::MmaOp(op).acc()));
  }
  Registers acc;
  for (llvm::Value* v : e.regs(ir::MmaOp(op).acc())) acc.push_back(WidenForProduct(e, elem, v, true));
  acc = Multiply(e, op, std::move(acc));
  for (llvm::Value*& v : acc) v = NarrowProduct(e, elem, v);
  e.Set(op.result(0), std::move(acc));
  if (DecisionOf<Decision::kOverlaps>(op)) e.control().running.back()->Begun(op);
}

// Words that are there.
class ReadyWords : public FragmentSource {
 public:
  explicit ReadyWords(Registers words) : words_(std::move(words)) {}
  llvm::Value* Word(int w) override { return words_[static_cast<size_t>(w)]; }

 private:
  Registers words_;
};

}  // namespace

void KeepLhs(Emitter& e, const ir::Op& loop, CopyRing* copies) {
  for (const ir::Op* op : *loop.region(0)) {
    const int64_t steps = DecisionOf<Decision::kLhsInRegisters>(*op).value_or(0);
    if (steps == 0) continue;
    const StagedMmaPlan plan = *StagedMmaPlanOf(*op);
    const auto from =
        FragmentsInShared(e, op->operand(0)->type().elem(), StagedLhs(*op).OperandMap(),
                          e.b().CreateIntToPtr(copies->StagedLhsOf(*op), e.b().getPtrTy(3)), plan.FirstLayout());
    CopyRing::Words words;
    for (int w = 0; w < NumWordsOfLhs(*op); ++w) {
      if (w / kWordsOfStep % plan.steps() < steps) words[w] = from->Word(w);
    }
    copies->KeepLhs(*op, std::move(words));
  }
}

int NumWordsOfLhs(const ir::Op& mma) {
  const int bits = ir::MemoryBits(mma.operand(0)->type().elem());
  return static_cast<int>(StagedMmaPlanOf(mma)->FirstLayout().registers()) * bits / 32;
}

Registers WordsOfLhs(Emitter& e, const ir::Op& mma) {
  const auto fragments = FragmentsBroughtToRegisters(e, mma.operand(0), StagedMmaPlanOf(mma)->FirstLayout());
  Registers words;
  for (int w = 0; w < NumWordsOfLhs(mma); ++w) words.push_back(fragments->Word(w));
  return words;
}

Registers BeginProduct(Emitter& e, const ir::Op& mma, Registers words, Registers sums, bool before) {
  const StagedMmaPlan plan = *StagedMmaPlanOf(mma);
  e.control().copy_rings.back()->AwaitWidened(mma.operand(1)->index(), before);
  ReadyWords lhs(std::move(words));
  const StagedAt second = Staged(e, mma, 1, before);
  MmaUse use;
  use.async = true;
  return EmitterOf(plan).Multiply(e, mma, plan, lhs, second, std::move(sums), use);
}

void LowerMmaF(Emitter& e, const ir::Op& op) { LowerProduct(e, op); }
void LowerMmaI(Emitter& e, const ir::Op& op) { LowerProduct(e, op); }
void LowerMmaScaled(Emitter& e, const ir::Op& op) { LowerProduct(e, op); }

}  // namespace tile::codegen

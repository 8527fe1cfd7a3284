// Matrix products, as passes/mma/choose_mma.h decided: by instructions that read stages or take fragments, or multiplied out.
#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "codegen/emit/context/emitter.h"
#include "codegen/emit/mma/fragment_registers.h"
#include "codegen/emit/mma/mma_fma.h"
#include "codegen/emit/mma/mma_sync.h"
#include "codegen/emit/mma/scale_words.h"
#include "codegen/emit/mma/staged_mma_emitter.h"
#include "codegen/emit/mma/tcgen05.h"
#include "codegen/emit/pipeline/async_products.h"
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
  const ir::Op* stage_tile = StageTileOf(v);
  if (stage_tile == nullptr) {
    const bool one_word = MmaPlanOf(op)->words_b == 1;
    if (auto held = FragmentsInRegisters(e, v, fragment, one_word)) return held;
    if (MmaExchangeBytes(op) > e.most_exchange()) return FragmentsBroughtToRegisters(e, v, fragment, one_word);
    return FragmentsThroughShared(e, v, fragment);
  }
  const StagedTile tile = *StagedOperandOf(op, operand);
  llvm::Value* slot = e.b().CreateIntToPtr(e.scalar(gpu::StageTileOp(*stage_tile).address()), e.b().getPtrTy(3));
  auto read = FragmentsInShared(e, v->type().elem(), tile.OperandMap(), slot, fragment);
  if (tile.rounded == nullptr) return read;
  return std::make_unique<ConvertedWords>(e, std::move(read), *tile.rounded);
}

// What a product reads from a stage.
StagedAt Staged(Emitter& e, const ir::Op& op, int operand) {
  const ir::Op& tile = *StageTileOf(op.operand(operand));
  return {StagedOperandOf(op, operand).value(), e.scalar(gpu::StageTileOp(tile).address())};
}

// Words that are there.
class ReadyWords : public FragmentSource {
 public:
  explicit ReadyWords(Registers words) : words_(std::move(words)) {}
  llvm::Value* Word(int w) override { return words_[static_cast<size_t>(w)]; }

 private:
  Registers words_;
};

// Word w of a fragment_words of a left operand of this type is there.
bool HoldsWord(const ir::Op& words, ir::Type type, int w) {
  const int64_t steps = type.shape()[1] / DecisionOf<Decision::kShape>(words).value()[2];
  return w / kWordsOfStep % steps < DecisionOf<Decision::kLhsInRegisters>(words).value_or(steps);
}

// Of the first operand, by their number, those that are in registers, too.
absl::flat_hash_map<int, llvm::Value*> HeldWordsOf(Emitter& e, const ir::Op& mma) {
  absl::flat_hash_map<int, llvm::Value*> words;
  const auto held = ir::DefAs<gpu::HeldWordsOp>(mma.operand(0));
  if (!held) return words;
  const Registers& all = e.regs(held->rhs());
  for (int w = 0; w < static_cast<int>(all.size()); ++w) {
    if (HoldsWord(*held->rhs()->def(), mma.operand(0)->type(), w)) words[w] = all[static_cast<size_t>(w)];
  }
  return words;
}

// Behind the begin of a product whose left operand was made in the iteration: words of other left operands of its loop are read once more, by
// stores that are never done. Else ptxas may have laid that operand over them (docs/gpu-faults.md).
void ReadHeldWords(Emitter& e, const ir::Op& loop) {
  auto& b = e.b();
  llvm::Value* never = b.CreateICmpSLT(e.GridSize(0), e.I32(0));  // grids are smaller
  for (const ir::Op* op : *loop.region(0)) {
    if (!ir::MmaOp::Is(op)) continue;
    const auto words = HeldWordsOf(e, *op);
    const int all = words.empty() ? 0 : static_cast<int>(e.regs(gpu::HeldWordsOp(op->operand(0)->def()).rhs()).size());
    for (int w = 0; w < all; w += kWordsOfStep) {
      if (!words.contains(w)) continue;
      Registers in = {never, e.I32(0)};
      for (int i = 0; i < kWordsOfStep; ++i) in.push_back(words.at(w + i));
      e.Ptx(b.getVoidTy(), "@$0 st.shared.v4.b32 [$1], {$2, $3, $4, $5};", "b,r,r,r,r,r", in, true);
    }
  }
}

// The region of the meanwhile in front of the product, if there is one.
void DoMeanwhile(Emitter& e, const ir::Op& mma) {
  const auto meanwhile = ir::As<gpu::MeanwhileOp>(mma.prev());
  if (!meanwhile) return;
  const ir::Op& op = meanwhile->op();
  const Registers results = e.InlineBody(*op.region(0), {});
  for (int i = 0; i < op.num_results(); ++i) e.SetScalar(op.result(i), results[static_cast<size_t>(i)]);
}

// Operands are in a stage, or the first one in registers.
Registers MultiplyStaged(Emitter& e, const ir::Op& op, const StagedMmaPlan& plan, Registers acc) {
  const StagedMmaEmitter& emitter = EmitterOf(plan);
  MmaUse use;
  use.async = DecisionOf<Decision::kAsync>(op);
  use.meanwhile = [&] { DoMeanwhile(e, op); };
  const int first = plan.first();
  const StagedAt second = Staged(e, op, 1 - first);
  if (StageTileOf(op.operand(first)) == nullptr) {
    if (const auto words = ir::DefAs<gpu::WordsTileOp>(op.operand(first))) {
      ReadyWords lhs(e.regs(words->source()));
      return emitter.Multiply(e, op, plan, lhs, second, std::move(acc), use);
    }
    const auto held = FragmentsBroughtToRegisters(e, op.operand(first), plan.FirstLayout());
    use.in_steps = DecisionOf<Decision::kInSteps>(op);
    use.meanwhile = [&] {
      ReadHeldWords(e, *op.parent());
      DoMeanwhile(e, op);
    };
    return emitter.Multiply(e, op, plan, *held, second, std::move(acc), use);
  }
  const StagedAt from = Staged(e, op, first);
  if (plan.held) {
    llvm::Value* at = e.b().CreateIntToPtr(from.at, e.b().getPtrTy(3));
    const auto held =
        FragmentsInShared(e, op.operand(first)->type().elem(), from.tile.OperandMap(), at, plan.FirstLayout());
    return emitter.Multiply(e, op, plan, *held, second, std::move(acc), use);
  }
  use.words = HeldWordsOf(e, op);
  return emitter.Multiply(e, op, plan, from, second, std::move(acc), use);
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

// The piece operations in front of the product, in order.
std::vector<const ir::Op*> PiecesOf(const ir::Op& mma) {
  std::vector<const ir::Op*> pieces;
  for (const ir::Op* op = mma.prev(); gpu::PieceOp::Is(op); op = op->prev()) pieces.insert(pieces.begin(), op);
  return pieces;
}

// One operand comes in pieces. They are parts along K, or along M or N: then each gives its part of the result.
Registers MultiplyPieces(Emitter& e, const ir::Op& op, const MmaPlan& plan, Registers acc) {
  const std::vector<const ir::Op*> pieces = PiecesOf(op);
  const auto count = static_cast<int64_t>(pieces.size());
  const bool left = gpu::PieceOp::Is(op.operand(0)->def());
  const ir::Value* v = op.operand(left ? 0 : 1);
  const StagedTile tile = StoredTile(*StageTileOf(v), left);
  MmaPlan part = plan;
  part.tile.pieces_m = part.tile.pieces_n = 1;
  (tile.k_major ? part.tile.k : left ? part.tile.m : part.tile.n) /= count;
  const auto steps = [](const MmaPlan& p) { return static_cast<int>(p.tile.k / p.tile.instruction.k); };
  const auto other = Fragments(e, op, left ? 1 : 0, MmaLayout(plan.tile, left ? Operand::kB : Operand::kA));
  if (other->scratch_bytes() > 0) {
    other->Write(e.Scratch(other->scratch_bytes()));
    e.Barrier();
  }
  const Layout fragment = MmaLayout(part.tile, left ? Operand::kA : Operand::kB);
  const size_t sums = tile.k_major ? acc.size() : acc.size() / pieces.size();
  for (size_t i = 0; i < pieces.size(); ++i) {
    const ir::Op& piece_op = *pieces[i];
    for (const ir::Op* inside : *piece_op.region(0)) {
      if (!ir::YieldOp::Is(inside)) e.Lower(*inside);
    }
    const ir::Op& yield = *piece_op.region(0)->back();
    for (int r = 1; r < piece_op.num_results(); ++r) e.SetScalar(piece_op.result(r), e.scalar(yield.operand(r)));
    llvm::Value* at = e.scalar(gpu::StageTileOp(StageTileOf(piece_op.result(0))).address());
    const auto piece = FragmentsInShared(e, v->type().elem(), tile.OperandMap(),
                                         e.b().CreateIntToPtr(at, e.b().getPtrTy(3)), fragment);
    StepsAlongK rest(*other, left ? plan.words_b : plan.words_a, steps(plan), steps(part),
                     tile.k_major ? static_cast<int>(i) * steps(part) : 0);
    const auto first = acc.begin() + (tile.k_major ? 0 : static_cast<int64_t>(sums * i));
    Registers now(first, first + static_cast<int64_t>(sums));
    now = left ? MultiplyBySync(e, part, *piece, rest, std::move(now))
               : MultiplyBySync(e, part, rest, *piece, std::move(now));
    std::copy(now.begin(), now.end(), first);
  }
  return acc;
}

std::optional<ScaleWords> ScalesOf(Emitter& e, const ir::Op& op, const MmaPlan& plan) {
  if (plan.scales == 0) return std::nullopt;
  return std::optional<ScaleWords>(std::in_place, e, op, plan);
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
    if (StageTileOf(op.operand(i)) != nullptr) {
      whole[i] = Fragments(e, op, i, layout(plan, i));
    } else {
      whole[i] = FragmentsInRegisters(e, op.operand(i), layout(plan, i), plan.words_b == 1);
    }
  }
  const std::optional<ScaleWords> scales = ScalesOf(e, op, plan);
  const int rank = op.operand(0)->type().rank();
  for (int64_t p = 0; p < parts; ++p) {
    std::unique_ptr<FragmentSource> sides[2];
    for (int i = 0; i < 2; ++i) {
      if (whole[i] != nullptr) {
        sides[i] = std::make_unique<StepsAlongK>(*whole[i], i == 0 ? plan.words_a : plan.words_b, steps, part_steps,
                                                 static_cast<int>(p) * part_steps);
      } else {
        sides[i] = FragmentsThroughShared(e, op.operand(i), layout(part, i),
                                          {.dim = rank - 1 - i, .parts = parts, .number = p});
      }
    }
    acc = MultiplyBySync(e, part, *sides[0], *sides[1], std::move(acc),
                         {scales ? &*scales : nullptr, static_cast<int>(p) * part_steps});
  }
  return acc;
}

// By the instruction that was decided.
Registers Multiply(Emitter& e, const ir::Op& op, Registers acc) {
  if (const auto staged = StagedMmaPlanOf(op)) {
    acc = MultiplyStaged(e, op, *staged, std::move(acc));
    return !DecisionOf<Decision::kAsync>(op) && HandsOnElsewhere(op) ? InRegistersOfTheirOwn(e, std::move(acc)) : acc;
  }
  const auto plan = MmaPlanOf(op);
  if (!plan) return MultiplyByFma(e, op, std::move(acc));
  if (gpu::PieceOp::Is(op.prev())) return MultiplyPieces(e, op, *plan, std::move(acc));
  if (const int64_t parts = DecisionOf<Decision::kParts>(op).value_or(1); parts > 1)
    return MultiplyInParts(e, op, *plan, parts, std::move(acc));
  const auto a = Fragments(e, op, 0, MmaLayout(plan->tile, Operand::kA));
  const auto b = Fragments(e, op, 1, MmaLayout(plan->tile, Operand::kB));
  const std::optional<ScaleWords> scales = ScalesOf(e, op, *plan);
  return MultiplyBySync(e, *plan, *a, *b, std::move(acc), {scales ? &*scales : nullptr});
}

// One thread begins it, and its sums are nobody's registers.
void BeginInColumns(Emitter& e, const ir::Op& op, const gpu::ColumnSumsOp& sums) {
  const ColumnsAt at = {e.scalar(sums.val_if_true()), e.scalar(sums.cond())};
  const StagedMmaPlan plan = *StagedMmaPlanOf(op);
  const StagedAt lhs = Staged(e, op, 0), rhs = Staged(e, op, 1);
  const auto scaled = ir::As<ir::MmaScaledOp>(&op);
  if (!scaled) return BeginInColumns(e, op, plan, lhs, rhs, at);
  const auto address = [&](const ir::Value* scales) {
    return e.scalar(gpu::StageTileOp(StageTileOf(scales)).address());
  };
  BeginScaledInColumns(e, op, plan, lhs, rhs, {address(scaled->lhs_scale()), address(scaled->rhs_scale())}, at);
}

void LowerProduct(Emitter& e, const ir::Op& op) {
  if (const auto sums = ir::DefAs<gpu::ColumnSumsOp>(ir::MmaOp(op).acc())) return BeginInColumns(e, op, *sums);
  const ir::Elem elem = op.result(0)->type().elem();
  Registers acc;
  for (llvm::Value* v : e.regs(ir::MmaOp(op).acc())) acc.push_back(WidenForProduct(e, elem, v, true));
  acc = Multiply(e, op, std::move(acc));
  for (llvm::Value*& v : acc) v = NarrowProduct(e, elem, v);
  e.Set(op.result(0), std::move(acc));
}

}  // namespace

void LowerFragmentWords(Emitter& e, const ir::Op& op) {
  const ir::Value* source = gpu::FragmentWordsOp(op).source();
  const ir::Type type = source->type();
  const Layout fragments = LhsFragments(op);
  std::unique_ptr<FragmentSource> from;
  if (const ir::Op* tile = StageTileOf(source)) {
    llvm::Value* at = e.b().CreateIntToPtr(e.scalar(gpu::StageTileOp(*tile).address()), e.b().getPtrTy(3));
    from = FragmentsInShared(e, type.elem(), StoredTile(*tile, true).OperandMap(), at, fragments);
  } else {
    from = FragmentsBroughtToRegisters(e, source, fragments);
  }
  Registers words;
  for (int w = 0; w < e.layout(op.result(0)).registers(); ++w)
    words.push_back(HoldsWord(op, type, w) ? from->Word(w) : llvm::PoisonValue::get(e.b().getInt32Ty()));
  e.Set(op.result(0), std::move(words));
}

void LowerMmaF(Emitter& e, const ir::Op& op) { LowerProduct(e, op); }
void LowerMmaI(Emitter& e, const ir::Op& op) { LowerProduct(e, op); }
void LowerMmaScaled(Emitter& e, const ir::Op& op) { LowerProduct(e, op); }

}  // namespace tile::codegen

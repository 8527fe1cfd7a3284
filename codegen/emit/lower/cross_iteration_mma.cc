#include "codegen/emit/lower/cross_iteration_mma.h"

#include <algorithm>
#include <string>
#include <utility>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "codegen/analysis/product_chain.h"
#include "codegen/emit/context/convert.h"
#include "codegen/emit/lower/overlapped_products.h"
#include "codegen/emit/pipeline/async_products.h"
#include "codegen/emit/pipeline/copy_ring.h"
#include "codegen/emit/pipeline/mbarrier.h"
#include "codegen/gpu/ops.h"
#include "codegen/plan/mma/cross_iteration_mma.h"
#include "codegen/target/decisions.h"
#include "ir/loops.h"

namespace tile::codegen {
namespace {

// LLVM orders what has no effects by its users alone: these values, of 16 or 32 bits, are made here and not behind.
void MakeHere(Emitter& e, const Registers& values) {
  std::string constraints;
  for (llvm::Value* v : values) {
    const bool is_half = v->getType()->getPrimitiveSizeInBits() == 16;
    absl::StrAppend(&constraints, constraints.empty() ? "" : ",",
                    is_half                     ? "h"
                    : v->getType()->isFloatTy() ? "f"
                                                : "r");
  }
  if (!values.empty()) e.Ptx(e.b().getVoidTy(), "", constraints, values, true);
}

}  // namespace

CrossIterationMma::CrossIterationMma(Emitter& e, const ir::Op& loop) : e_(e), loop_(loop) {
  for (const ir::Op* op : *loop.region(0)) {
    if (!IsProduct(*op) || !DecisionOf<Decision::kCrossIteration>(*op)) continue;
    const int carried = CarriedSums(*op);
    products_.push_back({op, ir::CarryingLoop(loop).arg(carried), carried, FirstUserOfSums(*op), {}, {}});
  }
  if (!any()) return;
  leaders_ = LeadersOf(loop);
  leader_ = leaders_.back();
  turns_ = DecisionOf<Decision::kTakesTurns>(*leader_);
  ring_ = e.control().copy_rings.back();
}

llvm::BasicBlock* CrossIterationMma::Begin(llvm::Value* runs, llvm::BasicBlock* head, llvm::BasicBlock* exit) {
  auto& b = e_.b();
  llvm::BasicBlock* first = any() ? e_.NewBlock("first") : head;
  b.CreateCondBr(runs, first, exit);
  if (!any()) return b.GetInsertBlock();
  b.SetInsertPoint(first);
  ring_->AwaitNext();
  if (turns_) AtTurn("@!$0 bar.arrive 2, 256;");
  b.CreateBr(head);
  return b.GetInsertBlock();
}

void CrossIterationMma::Enter(llvm::BasicBlock* from) {
  if (!any()) return;
  auto& b = e_.b();
  for (Product& p : products_) {
    for (int i = 0; i < NumWordsOfLhs(*p.mma); ++i) {
      p.held.push_back(b.CreatePHI(b.getInt32Ty(), 2));
      p.held.back()->addIncoming(llvm::PoisonValue::get(b.getInt32Ty()), from);
    }
  }
  has_before_ = b.CreatePHI(b.getInt1Ty(), 2);
  has_before_->addIncoming(b.getFalse(), from);
}

void CrossIterationMma::LowerBody() {
  for (const ir::Op* op : *loop_.region(0)) {
    const bool uses = std::any_of(products_.begin(), products_.end(), [&](const Product& p) { return p.user == op; });
    if (uses && !awaited_) Await(op);
    if (any() && op == loop_.region(0)->back()) {
      if (others_kept_) ring_->ReleaseOthers();
      ring_->AwaitLate();
    }
    e_.control().running.back()->Before(*op);
    e_.Lower(*op);
    e_.shared().account().Passed(op);
    // Early enough for a warpgroup that is half an iteration ahead.
    if (op->info()->has(ir::kElementBody)) FillWide();
  }
}

void CrossIterationMma::AtTurn(absl::string_view text) {
  ExecuteTogether(e_, text, "b", {e_.b().CreateICmpEQ(e_.threads().Warpgroup(), e_.I32(0))});
}

void CrossIterationMma::TakeTurn() {
  if (ring_->widens_beside()) ring_->LoadToWiden();
  if (turns_) AtTurn("@$0 bar.sync 2, 256; @!$0 bar.sync 3, 256;");
}

void CrossIterationMma::PassTurn() {
  if (turns_) AtTurn("@$0 bar.arrive 3, 256; @!$0 bar.arrive 2, 256;");
}

// The first product runs meanwhile, and the late ones.
void CrossIterationMma::WidenBeside() {
  if (ring_->widens_beside()) ring_->WidenBeside();
}

Registers CrossIterationMma::BeginBeside(Registers sums) {
  auto& b = e_.b();
  llvm::BasicBlock *late = e_.NewBlock("late"), *none = e_.NewBlock("none"), *begun = e_.NewBlock("begun");
  b.CreateCondBr(has_before_, late, none);
  b.SetInsertPoint(none);
  PassTurn();
  WidenBeside();
  std::vector<Registers> without = {WaitForProducts(e_, 0, sums)}, with = {{}};
  for (const Product& p : products_) without.push_back(e_.regs(p.sums));
  none = b.GetInsertBlock();
  b.CreateBr(begun);
  b.SetInsertPoint(late);
  for (const Product& p : products_) {
    with.push_back(BeginProduct(e_, *p.mma, Registers(p.held.begin(), p.held.end()), e_.regs(p.sums), /*before=*/true));
  }
  PassTurn();
  WidenBeside();
  with[0] = std::move(sums);
  late = b.GetInsertBlock();
  b.CreateBr(begun);
  b.SetInsertPoint(begun);
  Registers result = Merged(e_, with[0], late, without[0], none);
  for (size_t i = 0; i < products_.size(); ++i) {
    e_.Set(products_[i].sums, Merged(e_, with[i + 1], late, without[i + 1], none));
  }
  // One warp starts copies, which takes it a while: less than it waits here for the leader.
  ring_->FetchMeanwhile();
  fills_ = ring_->widens_beside();
  return WaitForProducts(e_, static_cast<int>(products_.size()), std::move(result));
}

Registers CrossIterationMma::MadeBefore(const ir::Op* user) const {
  absl::flat_hash_set<const ir::Op*> behind;
  for (const ir::Op* op = user; op != nullptr; op = op->next()) behind.insert(op);
  const auto needed = [&](const ir::Value* v) {
    for (const ir::Use* use = v->uses(); use != nullptr; use = use->next) {
      const ir::Op* at = use->owner;
      while (at->parent() != &loop_) at = at->parent();
      if (behind.contains(at)) return true;
    }
    return false;
  };
  Registers made;
  for (const ir::Op* op = leader_->next(); op != user; op = op->next()) {
    for (int i = 0; i < op->num_results(); ++i) {
      const ir::Value* v = op->result(i);
      if (!v->type().is_tile() || v->type().is_scalar() || IsFetch(op) || !needed(v)) continue;
      for (llvm::Value* r : e_.regs(v)) {
        const unsigned bits = r->getType()->getPrimitiveSizeInBits();
        if ((bits == 16 || bits == 32) && !llvm::isa<llvm::Constant>(r)) made.push_back(r);
      }
    }
  }
  return made;
}

// Whether an iteration follows this one.
llvm::Value* CrossIterationMma::HasNext() {
  auto& b = e_.b();
  const ir::ForOp loop(loop_);
  llvm::Value* left = b.CreateSub(e_.scalar(loop.upper_bound()), e_.scalar(loop_.region(0)->arg(0)));
  return b.CreateICmpULT(e_.scalar(loop.step()), left);
}

void CrossIterationMma::FillWide() {
  if (fills_) ring_->FillWide();
  fills_ = false;
}

void CrossIterationMma::Await(const ir::Op* user) {
  FillWide();
  std::vector<Registers> sums;
  for (const Product& p : products_) sums.push_back(e_.regs(p.sums));
  MakeHere(e_, MadeBefore(user));
  // The next stage is waited for first. That ends a basic block: within one, ptxas would move the wait for products to its front.
  e_.When(HasNext(), [&] { ring_->AwaitNext(); });
  std::vector<Registers> done = WaitForAll(e_, sums);
  for (size_t i = 0; i < products_.size(); ++i) e_.Set(products_[i].sums, std::move(done[i]));
  ring_->ReleaseLate(has_before_, /*before=*/true);
  others_kept_ = ReadsBehind(user);
  if (!others_kept_) ring_->ReleaseOthers();
  awaited_ = true;
}

bool CrossIterationMma::IsOneOfLeaders(const ir::Op& mma) const {
  return std::find(leaders_.begin(), leaders_.end(), &mma) != leaders_.end();
}

bool CrossIterationMma::ReadsBehind(const ir::Op* user) const {
  for (const ir::Op* op = user; op != nullptr; op = op->next()) {
    const bool copied = IsProduct(*op) && (CopyOf(*op, 0) != nullptr || CopyOf(*op, 1) != nullptr);
    if (copied && !DecisionOf<Decision::kCrossIteration>(*op)) return true;
  }
  return false;
}

void CrossIterationMma::Keep(const ir::Op& mma) {
  for (Product& p : products_) {
    if (p.mma == &mma) p.kept = WordsOfLhs(e_, mma);
  }
}

void CrossIterationMma::EndIteration() {
  if (any() && !awaited_) Await(nullptr);
}

void CrossIterationMma::GoAround(llvm::BasicBlock* from) {
  if (!any()) return;
  for (Product& p : products_) {
    for (size_t i = 0; i < p.held.size(); ++i) p.held[i]->addIncoming(p.kept[i], from);
  }
  has_before_->addIncoming(e_.b().getTrue(), from);
}

void CrossIterationMma::Drain(std::vector<Registers>* values) {
  if (!any()) return;
  std::vector<Registers> sums;
  for (Product& p : products_) {
    sums.push_back(BeginProduct(e_, *p.mma, std::move(p.kept), std::move((*values)[static_cast<size_t>(p.carried)]),
                                /*before=*/false));
  }
  std::vector<Registers> done = WaitForAll(e_, sums);
  for (size_t i = 0; i < products_.size(); ++i)
    (*values)[static_cast<size_t>(products_[i].carried)] = std::move(done[i]);
  ring_->ReleaseLate(e_.b().getTrue(), /*before=*/false);
  // The first warpgroup's next turn, which is none.
  if (turns_) AtTurn("@$0 bar.sync 2, 256;");
}

}  // namespace tile::codegen

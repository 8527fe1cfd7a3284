// Control flow: if, for, loop and what ends their regions. Conditions are scalars, the same in all threads, so barriers
// inside are safe.
#include <optional>
#include <utility>

#include "codegen/analysis/guarded_loop.h"
#include "codegen/emit/context/carried.h"
#include "codegen/emit/lower/fma_sums.h"
#include "codegen/emit/pipeline/tma.h"
#include "codegen/gpu/ops.h"
#include "codegen/target/decisions.h"
#include "ir/loops.h"
#include "llvm/IR/MDBuilder.h"

namespace tile::codegen {
namespace {

using Phis = std::vector<std::vector<llvm::PHINode*>>;

std::vector<ir::Value*> Operands1(const ir::Op& op, int first) {
  std::vector<ir::Value*> out;
  for (int i = first; i < op.num_operands(); ++i) out.push_back(op.operand(i));
  return out;
}

Registers WordsOf(const std::vector<llvm::PHINode*>& phis) { return Registers(phis.begin(), phis.end()); }

// Phis for values of these types, and registers of the values from them.
Phis PhisFor(Emitter& e, absl::Span<ir::Value* const> values) {
  Phis phis;
  for (const ir::Value* v : values) phis.push_back(NewPhis(e, v->type()));
  for (size_t i = 0; i < values.size(); ++i) {
    const ir::Type type = values[i]->type();
    if (type.is_tile()) e.Set(values[i], RegistersOf(e, WordsOf(phis[i]), type));
  }
  return phis;
}

std::vector<Registers> WordsOfAll(Emitter& e, absl::Span<ir::Value* const> values) {
  std::vector<Registers> words;
  for (const ir::Value* v : values) words.push_back(WordsOf(e, v));
  return words;
}

std::vector<ir::Value*> Results(const ir::Op& op) {
  std::vector<ir::Value*> out;
  for (int i = 0; i < op.num_results(); ++i) out.push_back(op.result(i));
  return out;
}

// The accesses of the body may be of the iteration before, and those of the last iteration are pending behind it.
void EnterLoop(Emitter& e, const ir::Op& op) {
  e.order().AddAll(*op.region(0));
  // The workers' copy of the loop says it.
  for (const ir::Op* around = op.parent(); around != nullptr; around = around->parent()) {
    if (IsGpuOp(around, GpuOpcode::kProducer)) return;
  }
  if (!e.wants_remarks() || DecisionOf<Decision::kPrefetches>(op)) return;
  int loads = 0;
  for (const ir::Op* inside : *op.region(0)) {
    loads += inside->info()->is_load() && !DecisionOf<Decision::kPrefetchSlot>(*inside);
  }
  if (loads > 0) {
    e.Remark(op, "pipeline", "not pipelined in this image: each iteration waits for its own loads");
  }
}

// In a loop, and its other way takes what is there: mostly the last iteration's mask. Where that is not so, it costs a jump. Not one that asks
// whether a loop runs, or whether copies begin.
bool IsCorrection(const ir::Op& op) {
  const ir::Op* loop = op.parent();
  for (const ir::Op* inside : *op.region(0)) {
    const bool copies = IsGpuOp(inside, GpuOpcode::kBarrierWait) || IsGpuOp(inside, GpuOpcode::kCopyAsync);
    if (IsGuarded(*inside) || copies) return false;
  }
  return loop != nullptr && loop->info()->has(ir::kLoop) && op.num_results() > 0 && op.region(1) != nullptr &&
         op.region(1)->front() == op.region(1)->back();
}

// Products begin in one way, and the other way awaits those that run.
bool AwaitsProductsElse(const ir::Op& op) {
  bool awaits = false;
  if (op.region(1) == nullptr) return false;
  for (const ir::Op* other : *op.region(1)) awaits = awaits || IsGpuOp(other, GpuOpcode::kMmaWait);
  return awaits;
}

}  // namespace

void LowerIf(Emitter& e, const ir::Op& op) {
  auto& b = e.b();
  // ptxas takes the first way for the usual one. Where that falls through an inverted condition, it may serialise products (C7514).
  const bool other_first = AwaitsProductsElse(op);
  llvm::BasicBlock* then = other_first ? nullptr : e.NewBlock("then");
  llvm::BasicBlock* otherwise = e.NewBlock("else");
  if (other_first) then = e.NewBlock("then");
  llvm::BasicBlock* after = e.NewBlock("endif");
  llvm::MDNode* weights = IsCorrection(op) ? llvm::MDBuilder(e.context()).createUnlikelyBranchWeights() : nullptr;
  b.CreateCondBr(e.scalar(op.operand(0)), then, otherwise, weights);

  b.SetInsertPoint(after);
  ControlStack::Merge merge;
  merge.after = after;
  const std::vector<ir::Value*> results = Results(op);
  merge.results = PhisFor(e, results);
  e.control().merges.push_back(std::move(merge));

  const Order::Pending before = e.order().pending();
  for (int i = 0; i < 2; ++i) {
    b.SetInsertPoint(i == 0 ? then : otherwise);
    e.order().set_pending(before);
    if (op.region(i) != nullptr) {
      e.LowerBlock(*op.region(i));
      if (e.refused()) return;
    }
    if (b.GetInsertBlock()->getTerminator() == nullptr) {  // no region, or one without results
      e.control().merges.back().pending.Add(e.order().pending());
      b.CreateBr(after);
    }
  }
  e.order().set_pending(std::move(e.control().merges.back().pending));
  e.control().merges.pop_back();
  b.SetInsertPoint(after);
}

void LowerYield(Emitter& e, const ir::Op& op) {
  ControlStack::Merge& merge = e.control().merges.back();
  const std::vector<ir::Value*> values = Operands1(op, 0);
  AddIncoming(e, merge.results, values);
  merge.pending.Add(e.order().pending());
  e.b().CreateBr(merge.after);
}

namespace {

llvm::CmpInst::Predicate LessIn(const ir::ForOp& loop) {
  return loop.unsigned_cmp() ? llvm::CmpInst::ICMP_ULT : llvm::CmpInst::ICMP_SLT;
}

// The next value of the induction variable, and whether it stays below the bound.
std::pair<llvm::Value*, llvm::Value*> StepOf(Emitter& e, const ir::ForOp& loop, llvm::Value* iv) {
  auto& b = e.b();
  llvm::Value *upper = e.scalar(loop.upper_bound()), *step = e.scalar(loop.step());
  const auto* one = llvm::dyn_cast<llvm::ConstantInt>(step);
  if (one != nullptr && one->isOne()) {
    llvm::Value* next = b.CreateAdd(iv, step, "", loop.unsigned_cmp(), !loop.unsigned_cmp());
    return {next, b.CreateICmp(LessIn(loop), next, upper)};
  }
  // Compared as a distance, since the sum may overflow.
  llvm::Value* next = b.CreateAdd(iv, step);
  return {next, b.CreateICmpULT(step, b.CreateSub(upper, iv))};
}

constexpr int kIterationsTogether = 2;

// The program says so (passes/expand/copy_role.cc says why).
bool HasTwoIterations(const ir::Op& loop) {
  bool says = false;
  for (const ir::Op* op : *loop.region(0)) says = says || IsGpuOp(op, GpuOpcode::kTwoIterations);
  return says;
}

// Of the body of the loop that this branch goes back to.
void AskForCopies(llvm::BranchInst* back, int count) {
  llvm::LLVMContext& context = back->getContext();
  llvm::Metadata* number =
      llvm::ConstantAsMetadata::get(llvm::ConstantInt::get(llvm::Type::getInt32Ty(context), count));
  llvm::MDNode* wish = llvm::MDNode::get(context, {llvm::MDString::get(context, "llvm.loop.unroll.count"), number});
  llvm::MDNode* loop = llvm::MDNode::getDistinct(context, {nullptr, wish});
  loop->replaceOperandWith(0, loop);
  back->setMetadata(llvm::LLVMContext::MD_loop, loop);
}

}  // namespace

void LowerFor(Emitter& e, const ir::Op& op) {
  auto& b = e.b();
  const ir::ForOp loop_op(op);
  llvm::Value* lower = e.scalar(loop_op.lower_bound());
  llvm::Value* upper = e.scalar(loop_op.upper_bound());
  const std::vector<ir::Value*> inits = loop_op.init_values().list(), results = Results(op);
  const ir::Block& body = *op.region(0);

  llvm::BasicBlock* head = e.NewBlock("for");
  llvm::BasicBlock* next = e.NewBlock("next");
  llvm::BasicBlock* exit = e.NewBlock("endfor");
  llvm::Value* runs = b.CreateICmp(LessIn(loop_op), lower, upper);
  // Where the loop is known to run its results are what the last iteration leaves.
  const bool always = IsGuarded(op);
  llvm::BasicBlock* before = b.GetInsertBlock();
  const std::vector<Registers> first = WordsOfAll(e, inits);
  if (always) {
    b.CreateBr(head);
  } else {
    b.CreateCondBr(runs, head, exit);
  }
  b.SetInsertPoint(exit);
  const Phis out = always ? Phis(results.size()) : PhisFor(e, results);
  b.SetInsertPoint(head);
  llvm::PHINode* iv = b.CreatePHI(lower->getType(), 2, "iv");
  iv->addIncoming(lower, before);
  e.SetScalar(body.arg(0), iv);
  const Phis carried = PhisFor(e, body.args().subspan(ir::CarryingLoop(op).first_arg()));
  // Operands of the phis come from the block before the loop.
  for (size_t i = 0; i < inits.size(); ++i) {
    for (size_t r = 0; r < carried[i].size(); ++r) {
      carried[i][r]->addIncoming(first[i][r], before);
      if (!always) out[i][r]->addIncoming(first[i][r], before);
    }
  }
  ControlStack::Loop loop;
  loop.next = next;
  b.SetInsertPoint(next);
  for (size_t i = 0; i < inits.size(); ++i) loop.carried.push_back(NewPhis(e, inits[i]->type()));
  const Phis latch = loop.carried;
  e.control().loops.push_back(std::move(loop));

  EnterLoop(e, op);
  const Order::Pending at_entry = e.order().pending();
  b.SetInsertPoint(head);
  for (const ir::Op* inside : body) e.Lower(*inside);
  if (e.refused()) return;
  e.control().loops.pop_back();

  b.SetInsertPoint(next);
  const auto [stepped, more] = StepOf(e, loop_op, iv);
  // What ends an iteration may have branched.
  llvm::BasicBlock* latch_end = b.GetInsertBlock();
  iv->addIncoming(stepped, latch_end);
  std::vector<Registers> final;
  for (const auto& phis : latch) final.push_back(WordsOf(phis));
  llvm::BasicBlock* last = e.NewBlock("drain");
  llvm::BranchInst* back = b.CreateCondBr(more, head, last);
  if (HasTwoIterations(op)) AskForCopies(back, kIterationsTogether);
  b.SetInsertPoint(last);
  for (size_t i = 0; i < final.size(); ++i) {
    if (LeavesFmaSums(op, static_cast<int>(i))) final[i] = InOtherRegisters(e, final[i]);
  }
  for (size_t i = 0; i < latch.size(); ++i) {
    const ir::Type type = results[i]->type();
    if (always && type.is_tile()) e.Set(results[i], RegistersOf(e, final[i], type));
  }
  b.CreateBr(exit);
  for (size_t i = 0; i < latch.size(); ++i) {
    for (size_t r = 0; r < latch[i].size(); ++r) {
      carried[i][r]->addIncoming(latch[i][r], latch_end);
      if (!always) out[i][r]->addIncoming(final[i][r], last);
    }
  }
  b.SetInsertPoint(exit);
  e.order().set_pending(at_entry);
}

void LowerLoop(Emitter& e, const ir::Op& op) {
  auto& b = e.b();
  const std::vector<ir::Value*> inits = ir::LoopOp(op).init_values().list(), results = Results(op);
  const ir::Block& body = *op.region(0);
  llvm::BasicBlock* before = b.GetInsertBlock();
  const std::vector<Registers> first = WordsOfAll(e, inits);
  ControlStack::Loop loop;
  llvm::BasicBlock* head = e.NewBlock("loop");
  loop.next = e.NewBlock("next");
  loop.exit = e.NewBlock("endloop");
  b.CreateBr(head);

  b.SetInsertPoint(loop.exit);
  loop.results = PhisFor(e, results);
  b.SetInsertPoint(loop.next);
  for (const ir::Value* v : inits) loop.carried.push_back(NewPhis(e, v->type()));
  b.SetInsertPoint(head);
  const Phis carried = PhisFor(e, body.args());
  for (size_t i = 0; i < inits.size(); ++i) {
    for (size_t r = 0; r < carried[i].size(); ++r) {
      carried[i][r]->addIncoming(first[i][r], before);
      carried[i][r]->addIncoming(loop.carried[i][r], loop.next);
    }
  }
  llvm::BasicBlock *next = loop.next, *exit = loop.exit;
  e.control().loops.push_back(std::move(loop));

  EnterLoop(e, op);
  const Order::Pending at_entry = e.order().pending();
  b.SetInsertPoint(head);
  e.LowerBlock(body);
  if (e.refused()) return;
  e.control().loops.pop_back();

  b.SetInsertPoint(next);
  b.CreateBr(head);
  b.SetInsertPoint(exit);
  e.order().set_pending(at_entry);
}

void LowerContinue(Emitter& e, const ir::Op& op) {
  const std::vector<ir::Value*> values = Operands1(op, 0);
  AddIncoming(e, e.control().loops.back().carried, values);
  e.b().CreateBr(e.control().loops.back().next);
}

void LowerBreak(Emitter& e, const ir::Op& op) {
  const std::vector<ir::Value*> values = Operands1(op, 0);
  AddIncoming(e, e.control().loops.back().results, values);
  e.b().CreateBr(e.control().loops.back().exit);
}

void LowerReturn(Emitter& e, const ir::Op&) {
  if (e.stores_by_tma()) AwaitTmaStores(e);
  e.b().CreateRetVoid();
}

}  // namespace tile::codegen

// Who does what: roles of warps, the thread that begins copies, and the tile blocks of a persistent grid.
#include <array>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "codegen/emit/context/carried.h"
#include "codegen/emit/pipeline/mbarrier.h"
#include "codegen/gpu/op_views.h"
#include "llvm/IR/IntrinsicsNVPTX.h"

namespace tile::codegen {
namespace {

constexpr int kWarp = 32;

// Without the yield that ends it.
void LowerRegion(Emitter& e, const ir::Op& op) {
  for (const ir::Op* inside : *op.region(0)) {
    if (ir::YieldOp::Is(inside)) return;
    e.Lower(*inside);
  }
}

}  // namespace

void LowerProducer(Emitter& e, const ir::Op& op) {
  auto& b = e.b();
  llvm::BasicBlock *producer = e.NewBlock("producer"), *workers = e.NewBlock("workers");
  b.CreateCondBr(b.CreateICmpUGE(e.threads().number(), e.I32(e.num_threads())), producer, workers);
  b.SetInsertPoint(producer);
  const Order::Pending before = e.order().pending();
  LowerRegion(e, op);
  e.order().set_pending(before);
  b.CreateRetVoid();
  b.SetInsertPoint(workers);
}

void LowerWorkers(Emitter& e, const ir::Op& op) { LowerRegion(e, op); }

void LowerWarp(Emitter& e, const ir::Op& op) {
  const int first = IsGpuOp(op.parent(), GpuOpcode::kProducer) ? e.num_threads() : 0;
  e.When(e.b().CreateICmpULT(e.threads().number(), e.I32(first + kWarp)), [&] { LowerRegion(e, op); });
}

void LowerWarpNumber(Emitter& e, const ir::Op& op) { e.SetScalar(op.result(0), e.threads().warp()); }

// The loop asks for it (emit/lower/lower_control.cc).
void LowerTwoIterations(Emitter&, const ir::Op&) {}

// The product behind it does (emit/lower/lower_mma.cc).
void LowerMeanwhile(Emitter&, const ir::Op&) {}

// All lanes run the region, and what is asynchronous in it has a predicate.
void LowerElect(Emitter& e, const ir::Op& op) {
  llvm::Value* outer = std::exchange(e.control().elected, e.threads().IsElected());
  LowerRegion(e, op);
  e.control().elected = outer;
}

void LowerSetRegisters(Emitter& e, const ir::Op& op) {
  const gpu::SetRegistersOp set(op);
  ExecuteTogether(e, absl::StrCat("setmaxnreg.", set.more() ? "inc" : "dec", ".sync.aligned.u32 ", set.count(), ";"),
                  "", {});
}

void LowerFirstBlock(Emitter& e, const ir::Op&) {
  if (!e.plan().persistent) {
    e.blocks().Id(0);
    return;
  }
  e.blocks().set_first(
      e.blocks().Place(e.b().CreateIntrinsic(llvm::Intrinsic::nvvm_read_ptx_sreg_ctaid_x, {}), nullptr));
}

namespace {

void SetFromPhis(Emitter& e, const ir::Value* v, const std::vector<llvm::PHINode*>& phis) {
  e.Set(v, RegistersOf(e, Registers(phis.begin(), phis.end()), v->type()));
}

}  // namespace

// The place of a tile block takes divisions. first_block has computed that of the first one; the next ones are computed after the block before.
void LowerEachBlock(Emitter& e, const ir::Op& op) {
  auto& b = e.b();
  llvm::BasicBlock *before = b.GetInsertBlock(), *head = e.NewBlock("block"), *next = e.NewBlock("nextblock"),
                   *another = e.NewBlock("another"), *exit = e.NewBlock("leave");
  llvm::Value* first = b.CreateIntrinsic(llvm::Intrinsic::nvvm_read_ptx_sreg_ctaid_x, {});
  llvm::Value* step = b.CreateIntrinsic(llvm::Intrinsic::nvvm_read_ptx_sreg_nctaid_x, {});
  llvm::Value* all = b.CreateMul(b.CreateMul(e.blocks().Count(0), e.blocks().Count(1)), e.blocks().Count(2));
  std::vector<Registers> first_words;
  for (int i = 0; i < op.num_operands(); ++i) first_words.push_back(WordsOf(e, op.operand(i)));
  b.CreateBr(head);  // there are no more hardware blocks than tile blocks
  b.SetInsertPoint(next);
  ControlStack::Merge merge = {next, {}, {}};
  for (int i = 0; i < op.num_results(); ++i) {
    merge.results.push_back(NewPhis(e, op.result(i)->type()));
  }
  for (int i = 0; i < op.num_results(); ++i) SetFromPhis(e, op.result(i), merge.results[static_cast<size_t>(i)]);
  b.SetInsertPoint(head);
  llvm::PHINode* number = b.CreatePHI(b.getInt32Ty(), 2);
  std::array<llvm::PHINode*, 3> ids;
  for (llvm::PHINode*& id : ids) id = b.CreatePHI(b.getInt32Ty(), 2);
  Phis carried;
  for (int i = 0; i < op.num_operands(); ++i) {
    const ir::Value* arg = op.region(0)->arg(i);
    carried.push_back(NewPhis(e, arg->type()));
    const Registers& words = first_words[static_cast<size_t>(i)];
    for (size_t r = 0; r < carried.back().size(); ++r) carried.back()[r]->addIncoming(words[r], before);
  }
  for (int i = 0; i < op.num_operands(); ++i) {
    SetFromPhis(e, op.region(0)->arg(i), carried[static_cast<size_t>(i)]);
  }
  e.blocks().set_ids({ids[0], ids[1], ids[2]});
  e.control().merges.push_back(merge);
  e.LowerBlock(*op.region(0));
  e.control().merges.pop_back();
  if (e.refused()) return;
  b.SetInsertPoint(next);
  llvm::Value* following = b.CreateAdd(number, step);
  b.CreateCondBr(b.CreateICmpULT(following, all), another, exit);
  b.SetInsertPoint(another);
  const Blocks::Ids others = e.blocks().Place(following, nullptr);
  b.CreateBr(head);
  number->addIncoming(first, before);
  number->addIncoming(following, another);
  for (size_t d = 0; d < ids.size(); ++d) {
    ids[d]->addIncoming(e.blocks().first()[d], before);
    ids[d]->addIncoming(others[d], another);
  }
  for (size_t i = 0; i < carried.size(); ++i) {
    for (size_t r = 0; r < carried[i].size(); ++r) carried[i][r]->addIncoming(merge.results[i][r], another);
  }
  b.SetInsertPoint(exit);
}

}  // namespace tile::codegen

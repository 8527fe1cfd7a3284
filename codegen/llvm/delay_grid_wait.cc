#include "codegen/llvm/delay_grid_wait.h"

#include "codegen/llvm/pure_instruction.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicsNVPTX.h"
#include "llvm/IR/Module.h"

namespace tile::codegen {
namespace {

using llvm::BasicBlock;
using llvm::Instruction;

constexpr int kAccesses = 24;  // and other instructions that stay, of which the operands come first

bool IsWait(const Instruction& i) {
  const auto* call = llvm::dyn_cast<llvm::CallInst>(&i);
  const auto* text = call == nullptr ? nullptr : llvm::dyn_cast<llvm::InlineAsm>(call->getCalledOperand());
  return text != nullptr && text->getAsmString() == "griddepcontrol.wait;";
}

bool ComesEarly(const Instruction& i) {
  return IsPure(i) && !llvm::isa<llvm::AllocaInst>(i) && llvm::isSafeToSpeculativelyExecute(&i);
}

// Where all go on that do not end there; null: that is not known.
BasicBlock* Next(BasicBlock& block) {
  auto* branch = llvm::dyn_cast<llvm::BranchInst>(block.getTerminator());
  if (branch == nullptr) return nullptr;
  BasicBlock* next = nullptr;
  for (BasicBlock* to : branch->successors()) {
    if (llvm::isa<llvm::ReturnInst>(to->front())) continue;
    if (next != nullptr || to->getSinglePredecessor() != &block) return nullptr;
    next = to;
  }
  return next;
}

// Up to the first instruction that needs what an access gives.
bool MoveInFront(Instruction* wait) {
  llvm::SmallPtrSet<const llvm::Value*, 16> late;
  int accesses = 0;
  bool moved = false;
  Instruction* next = nullptr;
  for (Instruction* i = wait->getNextNode(); i != nullptr; i = next) {
    BasicBlock* behind = i->isTerminator() ? Next(*i->getParent()) : nullptr;
    next = i->isTerminator() ? (behind == nullptr ? nullptr : &behind->front()) : i->getNextNode();
    if (llvm::isa<llvm::PHINode>(i)) return moved;
    for (const llvm::Value* v : i->operands()) {
      if (late.contains(v)) return moved;
    }
    if (ComesEarly(*i)) {
      i->moveBefore(wait->getIterator());
      moved = true;
    } else if (!i->isTerminator()) {
      late.insert(i);
      if (++accesses > kAccesses) return moved;
    }
  }
  return moved;
}

void WaitBehind(Instruction* wait) {
  llvm::IRBuilder<> b(wait);
  llvm::Value* blocks = b.CreateIntrinsic(llvm::Intrinsic::nvvm_read_ptx_sreg_nctaid_x, {});
  auto* type = llvm::FunctionType::get(b.getVoidTy(), {b.getInt32Ty()}, false);
  b.CreateCall(type,
               llvm::InlineAsm::get(type, "{ .reg .pred some; setp.ne.u32 some, $0, 0; @some griddepcontrol.wait; }",
                                    "r,~{memory}", /*hasSideEffects=*/true),
               {blocks});
  wait->eraseFromParent();
}

}  // namespace

void DelayGridWait(llvm::Module* module) {
  for (llvm::Function& f : *module) {
    Instruction* wait = nullptr;
    for (BasicBlock& block : f) {
      for (Instruction& i : block) {
        if (IsWait(i)) wait = &i;
      }
    }
    if (wait != nullptr && MoveInFront(wait)) WaitBehind(wait);
  }
}

}  // namespace tile::codegen

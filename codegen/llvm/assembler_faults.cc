#include "codegen/llvm/assembler_faults.h"

#include <algorithm>
#include <string>
#include <vector>

#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/PatternMatch.h"
#include "llvm/Transforms/Utils/Local.h"

namespace tile::codegen {
namespace {

// Of PTX of our own; "" of anything else.
llvm::StringRef PtxOf(const llvm::Instruction& i) {
  const auto* call = llvm::dyn_cast<llvm::CallInst>(&i);
  const auto* text = call == nullptr ? nullptr : llvm::dyn_cast<llvm::InlineAsm>(call->getCalledOperand());
  return text == nullptr ? "" : llvm::StringRef(text->getAsmString());
}

// PTX of our own with a predicate, that orders other accesses or is ordered.
bool IsGuardedStrongAccess(const llvm::Instruction& i) {
  const llvm::StringRef ptx = PtxOf(i);
  if (!ptx.contains(".acquire") && !ptx.contains(".relaxed") && !ptx.contains(".release") && !ptx.contains(".acq_rel"))
    return false;
  const auto& call = llvm::cast<llvm::CallInst>(i);
  return std::any_of(call.arg_begin(), call.arg_end(), [](const llvm::Use& v) { return v->getType()->isIntegerTy(1); });
}

// A wait that leaves products by wgmma running.
bool LeavesProductsRunning(const llvm::Instruction& i) {
  constexpr llvm::StringLiteral kWait = "wgmma.wait_group.sync.aligned ";
  const auto [before, groups] = PtxOf(i).split(kWait);
  return !groups.empty() && !groups.starts_with("0");
}

bool MustStayRolled(const llvm::Instruction& i) { return IsGuardedStrongAccess(i) || LeavesProductsRunning(i); }

void KeepRolled(llvm::Loop* loop) {
  llvm::LLVMContext& context = loop->getHeader()->getContext();
  llvm::MDNode* disable = llvm::MDNode::get(context, llvm::MDString::get(context, "llvm.loop.unroll.disable"));
  llvm::MDNode* id = llvm::MDNode::getDistinct(context, {nullptr, disable});
  id->replaceOperandWith(0, id);
  loop->setLoopID(id);
}

void KeepRolledWhatMustBe(llvm::Function& f) {
  llvm::DominatorTree dominators(f);
  llvm::LoopInfo loops(dominators);
  for (llvm::Loop* loop : loops.getLoopsInPreorder()) {
    for (llvm::BasicBlock* block : loop->blocks()) {
      if (std::any_of(block->begin(), block->end(), MustStayRolled)) {
        KeepRolled(loop);
        break;
      }
    }
  }
}

// Shuffles that nobody reads, which LLVM keeps and ptxas does not, and what only they read.
void RemoveUnusedShuffles(llvm::Function* f) {
  for (llvm::BasicBlock& block : *f) {
    for (auto at = block.rbegin(); at != block.rend();) {
      llvm::Instruction& i = *at++;
      const auto* intrinsic = llvm::dyn_cast<llvm::IntrinsicInst>(&i);
      const bool shuffle =
          intrinsic != nullptr && intrinsic->getCalledFunction()->getName().starts_with("llvm.nvvm.shfl.sync");
      if (i.use_empty() && (shuffle || llvm::isInstructionTriviallyDead(&i))) i.eraseFromParent();
    }
  }
}

// PTX that acquires by a load, and all of whose results are unused.
bool IsUnusedAcquire(const llvm::CallInst& call) { return PtxOf(call).contains("ld.acquire.") && call.use_empty(); }

void AcquireByFence(llvm::CallInst* call) {
  const auto* text = llvm::cast<llvm::InlineAsm>(call->getCalledOperand());
  const llvm::StringRef order = "ld.acquire.", ptx = text->getAsmString();
  const auto [before, after] = ptx.split(order);
  const llvm::StringRef scope = after.take_until([](char c) { return c == '.'; });
  const std::string fenced = (before + "ld.relaxed." + after + " fence.acq_rel." + scope + ";").str();
  call->setCalledOperand(
      llvm::InlineAsm::get(text->getFunctionType(), fenced, text->getConstraintString(), text->hasSideEffects()));
}

}  // namespace

namespace {

// Of a signed bit, which is 0 or -1.
void ConvertBitsBySelect(llvm::Function* f) {
  std::vector<llvm::SIToFPInst*> bits;
  for (llvm::Instruction& i : llvm::instructions(*f)) {
    auto* convert = llvm::dyn_cast<llvm::SIToFPInst>(&i);
    if (convert != nullptr && convert->getOperand(0)->getType()->isIntegerTy(1)) bits.push_back(convert);
  }
  for (llvm::SIToFPInst* convert : bits) {
    llvm::IRBuilder<> b(convert);
    llvm::Type* type = convert->getType();
    convert->replaceAllUsesWith(
        b.CreateSelect(convert->getOperand(0), llvm::ConstantFP::get(type, -1.0), llvm::ConstantFP::get(type, 0.0)));
    convert->eraseFromParent();
  }
}

// Of 16 bits and less, by the complement, which neither LLVM nor ptxas takes for one.
void NegateByComplement(llvm::Function* f) {
  std::vector<llvm::BinaryOperator*> negations;
  for (llvm::Instruction& i : llvm::instructions(*f)) {
    auto* sub = llvm::dyn_cast<llvm::BinaryOperator>(&i);
    if (sub == nullptr || sub->getOpcode() != llvm::Instruction::Sub) continue;
    const auto* zero = llvm::dyn_cast<llvm::ConstantInt>(sub->getOperand(0));
    if (zero != nullptr && zero->isZero() && zero->getBitWidth() > 1 && zero->getBitWidth() <= 16)
      negations.push_back(sub);
  }
  for (llvm::BinaryOperator* sub : negations) {
    llvm::IRBuilder<> b(sub);
    llvm::Type* half = b.getInt16Ty();
    auto* text = llvm::InlineAsm::get(llvm::FunctionType::get(half, {half}, false),
                                      "{ .reg .b16 x; not.b16 x, $1; add.s16 $0, x, 1; }", "=h,h", false);
    llvm::CallInst* negative = b.CreateCall(text, {b.CreateZExt(sub->getOperand(1), half)});
    negative->setDoesNotAccessMemory();
    sub->replaceAllUsesWith(b.CreateTrunc(negative, sub->getType()));
    sub->eraseFromParent();
  }
}

// The bits of a number of 16 bits that arithmetic has made, for which ptxas takes half of an instruction for two.
bool IsHalfOfPair(const llvm::Value* bits) {
  const auto* cast = llvm::dyn_cast<llvm::BitCastInst>(bits);
  if (cast == nullptr || !bits->getType()->isIntegerTy(16)) return false;
  const llvm::Type* number = cast->getOperand(0)->getType();
  const auto* from = llvm::dyn_cast<llvm::Instruction>(cast->getOperand(0));
  if (from == nullptr || (!number->isHalfTy() && !number->isBFloatTy())) return false;
  return llvm::isa<llvm::IntrinsicInst, llvm::BinaryOperator, llvm::UnaryOperator, llvm::SelectInst>(from);
}

llvm::Value* WordOf(llvm::IRBuilder<>& b, llvm::Value* low, llvm::Value* high) {
  llvm::Value* none = llvm::PoisonValue::get(llvm::FixedVectorType::get(b.getInt16Ty(), 2));
  llvm::Value* halves = b.CreateInsertElement(none, low, uint64_t{0});
  return b.CreateBitCast(b.CreateInsertElement(halves, high, uint64_t{1}), b.getInt32Ty());
}

// Words of two halves, and halves widened by zeros, as `mov.b32 word, {low, high}`.
void WidenByMove(llvm::Function* f) {
  using llvm::PatternMatch::m_c_Or, llvm::PatternMatch::m_Shl, llvm::PatternMatch::m_SpecificInt,
      llvm::PatternMatch::m_Value, llvm::PatternMatch::m_ZExt;
  std::vector<llvm::Instruction*> words, widened;
  for (llvm::Instruction& i : llvm::instructions(*f)) {
    if (i.getOpcode() == llvm::Instruction::Or && i.getType()->isIntegerTy(32)) words.push_back(&i);
    if (llvm::isa<llvm::ZExtInst>(i) && IsHalfOfPair(i.getOperand(0))) widened.push_back(&i);
  }
  for (llvm::Instruction* word : words) {
    llvm::Value *low = nullptr, *high = nullptr;
    const auto halves = m_c_Or(m_ZExt(m_Value(low)), m_Shl(m_ZExt(m_Value(high)), m_SpecificInt(16)));
    if (!llvm::PatternMatch::match(word, halves) || (!IsHalfOfPair(low) && !IsHalfOfPair(high))) continue;
    if (!low->getType()->isIntegerTy(16) || !high->getType()->isIntegerTy(16)) continue;
    llvm::IRBuilder<> b(word);
    word->replaceAllUsesWith(WordOf(b, low, high));
  }
  for (llvm::Instruction* wide : widened) {
    llvm::IRBuilder<> b(wide);
    llvm::Value* word = WordOf(b, wide->getOperand(0), b.getInt16(0));
    wide->replaceAllUsesWith(b.CreateIntCast(word, wide->getType(), /*isSigned=*/false));
  }
  for (std::vector<llvm::Instruction*>* old : {&words, &widened}) {
    for (llvm::Instruction* i : *old) {
      if (i->use_empty()) i->eraseFromParent();
    }
  }
}

}  // namespace

void AvoidAssemblerFaults(llvm::Module* module) {
  for (llvm::Function& f : *module) {
    if (!f.isDeclaration()) KeepRolledWhatMustBe(f);
    RemoveUnusedShuffles(&f);
    ConvertBitsBySelect(&f);
    NegateByComplement(&f);
    WidenByMove(&f);
    for (llvm::Instruction& i : llvm::instructions(f)) {
      auto* call = llvm::dyn_cast<llvm::CallInst>(&i);
      if (call != nullptr && IsUnusedAcquire(*call)) AcquireByFence(call);
    }
  }
  std::vector<llvm::MinMaxIntrinsic*> narrow;
  for (llvm::Function& f : *module) {
    for (llvm::Instruction& i : llvm::instructions(f)) {
      auto* m = llvm::dyn_cast<llvm::MinMaxIntrinsic>(&i);
      if (m != nullptr && m->getType()->isIntegerTy() && m->getType()->getIntegerBitWidth() < 32) narrow.push_back(m);
    }
  }
  for (llvm::MinMaxIntrinsic* m : narrow) {
    llvm::IRBuilder<> b(m);
    const auto wide = [&](llvm::Value* v) { return b.CreateIntCast(v, b.getInt32Ty(), m->isSigned()); };
    llvm::Value* result = b.CreateBinaryIntrinsic(m->getIntrinsicID(), wide(m->getLHS()), wide(m->getRHS()));
    m->replaceAllUsesWith(b.CreateTrunc(result, m->getType()));
    m->eraseFromParent();
  }
}

}  // namespace tile::codegen

#include "codegen/llvm/scale_beside.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "codegen/llvm/order_steps.h"
#include "codegen/llvm/pure_instruction.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/IntrinsicsNVPTX.h"
#include "llvm/IR/Module.h"
#include "llvm/Transforms/Utils/ValueMapper.h"

namespace tile::codegen {
namespace {

using llvm::BasicBlock;
using llvm::Instruction;

// One exponential of so many stays in front: the vote of a warp takes as long as four of sixteen.
constexpr int kInFront = 4;
// Sums of weights that are left for later, each of which takes a register: three of each row, of two.
constexpr int kSums = 6;

llvm::Intrinsic::ID IntrinsicOf(const llvm::Value* v) {
  const auto* call = llvm::dyn_cast<llvm::IntrinsicInst>(v);
  return call == nullptr ? llvm::Intrinsic::not_intrinsic : call->getIntrinsicID();
}

bool IsExp2(const llvm::Value* v) {
  const llvm::Intrinsic::ID id = IntrinsicOf(v);
  return id == llvm::Intrinsic::nvvm_ex2_approx || id == llvm::Intrinsic::nvvm_ex2_approx_ftz;
}

bool IsExchange(const Instruction& i) {
  const llvm::Intrinsic::ID id = IntrinsicOf(&i);
  return id == llvm::Intrinsic::nvvm_shfl_sync_bfly_i32 || id == llvm::Intrinsic::nvvm_shfl_sync_bfly_f32;
}

class Scaling {
 public:
  explicit Scaling(BasicBlock& block) : before_(&block) {}

  // `before` ends with a branch of the whole warp to `behind`, or to it by way of `scale`, which does nothing but multiply.
  bool Matches() {
    branch_ = llvm::dyn_cast<llvm::BranchInst>(before_->getTerminator());
    if (branch_ == nullptr || !branch_->isConditional()) return false;
    vote_ = llvm::dyn_cast<Instruction>(branch_->getCondition());
    behind_ = branch_->getSuccessor(0);
    scale_ = branch_->getSuccessor(1);
    if (vote_ == nullptr || vote_->getParent() != before_ || !vote_->hasOneUse() ||
        IntrinsicOf(vote_) != llvm::Intrinsic::nvvm_vote_all_sync)
      return false;
    if (scale_->getSinglePredecessor() != before_ || scale_->getSingleSuccessor() != behind_) return false;
    if (!behind_->hasNPredecessors(2)) return false;
    return std::all_of(scale_->begin(), std::prev(scale_->end()), [](const Instruction& i) { return IsPure(i); });
  }

  // Finds what is done on both ways: back to what decides the branch, or to what has to stay in its place.
  bool FindShared() {
    TestArguments();
    Decide(vote_);
    for (auto i = std::next(branch_->getReverseIterator()); i != before_->rend(); ++i) {
      const bool decides = decides_.contains(&*i);
      if (&*i != vote_ && (decides ? !IsPure(*i) : !IsPure(*i) && !IsExchange(*i))) break;
      if (!decides) shared_.push_back(&*i);
    }
    std::reverse(shared_.begin(), shared_.end());
    FindLater();
    StayInFront();
    return std::any_of(shared_.begin(), shared_.end(), [](const Instruction* i) { return IsExp2(i); });
  }

  // The product takes its steps one by one, so that the exponentials go between those.
  bool GoesInSteps(unsigned steps) const { return HasSteps(*behind_, steps); }

  void MoveBehind() {
    llvm::SmallPtrSet<const llvm::Value*, 16> factors;
    const auto stays = [&](const Instruction* i) {
      return std::any_of(i->use_begin(), i->use_end(), [&](const llvm::Use& use) {
        const auto* user = llvm::cast<Instruction>(use.getUser());
        return user->getParent() == scale_ || factors.contains(user) ||
               (user->getParent() == behind_ && llvm::isa<llvm::PHINode>(user));
      });
    };
    for (auto i = shared_.rbegin(); i != shared_.rend(); ++i) {
      if (stays(*i)) factors.insert(*i);
    }
    const auto begin = behind_->getFirstInsertionPt();
    for (Instruction* i : shared_) {
      if (!factors.contains(i)) i->moveBefore(begin);
    }
    MoveLater();
  }

  void Move() {
    auto* ones = BasicBlock::Create(before_->getContext(), "ones", before_->getParent(), behind_);
    llvm::ValueToValueMapTy copies;
    for (Instruction* i : shared_) {
      Instruction* copy = i->clone();
      copy->insertInto(ones, ones->end());
      copies[i] = copy;
      llvm::RemapInstruction(copy, copies, llvm::RF_NoModuleLevelChanges | llvm::RF_IgnoreMissingLocals);
    }
    llvm::BranchInst::Create(behind_, ones);
    branch_->setSuccessor(0, ones);
    for (llvm::PHINode& phi : behind_->phis()) {
      const int from = phi.getBasicBlockIndex(before_);
      const auto copy = copies.find(phi.getIncomingValue(static_cast<unsigned>(from)));
      if (copy != copies.end()) phi.setIncomingValue(static_cast<unsigned>(from), copy->second);
      phi.setIncomingBlock(static_cast<unsigned>(from), ones);
    }
    MoveLater();
    for (Instruction* i : shared_) Join(i, copies[i], ones);
    Interleave();
  }

 private:
  void MoveLater() {
    const auto is_user = [&](const Instruction& i) {
      return std::any_of(i.op_begin(), i.op_end(), [&](const llvm::Use& v) {
        return std::find(later_.begin(), later_.end(), v.get()) != later_.end();
      });
    };
    const auto where = std::find_if(behind_->getFirstNonPHIIt(), std::prev(behind_->end()), is_user);
    for (Instruction* i : later_) i->moveBefore(where);
  }

  void TestArguments() {
    for (Instruction& i : *before_) {
      auto* test = llvm::dyn_cast<llvm::FCmpInst>(&i);
      if (test == nullptr || test->getPredicate() != llvm::FCmpInst::FCMP_OEQ || !IsExp2(test->getOperand(0))) continue;
      const auto* one = llvm::dyn_cast<llvm::ConstantFP>(test->getOperand(1));
      if (one == nullptr || !one->isExactlyValue(1.0)) continue;
      llvm::Value* argument = llvm::cast<llvm::CallBase>(test->getOperand(0))->getArgOperand(0);
      llvm::IRBuilder<> b(test);
      llvm::Value* is_zero = b.CreateFCmpOEQ(argument, llvm::ConstantFP::get(argument->getType(), 0));
      // Only the vote may be sure less often than before.
      test->replaceUsesWithIf(is_zero, [&](const llvm::Use& use) { return LeadsToVote(use.getUser()); });
    }
  }

  bool LeadsToVote(const llvm::User* user) const {
    while (user != vote_) {
      const auto* both = llvm::dyn_cast<llvm::BinaryOperator>(user);
      if (both == nullptr || both->getOpcode() != Instruction::And || !both->hasOneUse()) return false;
      user = *both->user_begin();
    }
    return true;
  }

  void Decide(Instruction* i) {
    if (!decides_.insert(i).second) return;
    for (llvm::Value* v : i->operands()) {
      auto* def = llvm::dyn_cast<Instruction>(v);
      if (def != nullptr && def->getParent() == before_ && !llvm::isa<llvm::PHINode>(def)) Decide(def);
    }
  }

  // The first exponentials, during which it is decided.
  void StayInFront() {
    auto left =
        std::count_if(shared_.begin(), shared_.end(), [](const Instruction* i) { return IsExp2(i); }) / kInFront;
    llvm::SmallPtrSet<const llvm::Value*, 16> stay;
    const auto keep = [&](const Instruction* i, const auto& self) -> void {
      if (!stay.insert(i).second) return;
      for (const llvm::Value* v : i->operands()) {
        const auto* def = llvm::dyn_cast<Instruction>(v);
        if (def != nullptr && def->getParent() == before_ && !llvm::isa<llvm::PHINode>(def)) self(def, self);
      }
    };
    for (const Instruction* i : shared_) {
      if (left > 0 && IsExp2(i)) keep(i, keep), --left;
    }
    shared_.erase(
        std::remove_if(shared_.begin(), shared_.end(), [&](const Instruction* i) { return stay.contains(i); }),
        shared_.end());
  }

  // Exchanges between lanes, what needs them, and the last sums that they need, go on behind both ways, if nothing there needs them; as late as
  // they can, since the product for which all this is done may begin before.
  void FindLater() {
    llvm::SmallPtrSet<const llvm::Value*, 16> exchanged, later;
    for (const Instruction* i : shared_) {
      const bool depends =
          std::any_of(i->op_begin(), i->op_end(), [&](const llvm::Use& v) { return exchanged.contains(v); });
      if (IsExchange(*i) || depends) exchanged.insert(i);
    }
    const auto is_later = [&](const llvm::Use& use) {
      const auto* user = llvm::cast<Instruction>(use.getUser());
      if (user->getParent() == before_) return later.contains(user);
      return user->getParent() != scale_ && !(user->getParent() == behind_ && llvm::isa<llvm::PHINode>(user));
    };
    int sums = kSums;
    for (auto i = shared_.rbegin(); i != shared_.rend(); ++i) {
      if (!std::all_of((*i)->use_begin(), (*i)->use_end(), is_later)) continue;
      const bool is_sum = (*i)->getOpcode() == Instruction::FAdd && !IsExp2((*i)->getOperand(0));
      if (exchanged.contains(*i) || llvm::isa<llvm::BitCastInst>(*i) || (is_sum && sums-- > 0)) later.insert(*i);
    }
    const auto begin =
        std::stable_partition(shared_.begin(), shared_.end(), [&](const Instruction* i) { return !later.contains(i); });
    later_.assign(begin, shared_.end());
    shared_.erase(begin, shared_.end());
  }

  // What uses it behind both ways takes what came.
  void Join(Instruction* i, llvm::Value* copy, BasicBlock* ones) {
    const llvm::SmallPtrSet<const Instruction*, 16> shared(shared_.begin(), shared_.end());
    const auto is_behind = [&](const llvm::Use& use) {
      const auto* user = llvm::cast<Instruction>(use.getUser());
      const auto* phi = llvm::dyn_cast<llvm::PHINode>(user);
      return user->getParent() != scale_ && !shared.contains(user) &&
             (phi == nullptr || phi->getIncomingBlock(use) != scale_);
    };
    if (std::none_of(i->use_begin(), i->use_end(), is_behind)) return;
    auto* phi = llvm::PHINode::Create(i->getType(), 2, "", behind_->begin());
    i->replaceUsesWithIf(phi, is_behind);
    phi->addIncoming(i, scale_);
    phi->addIncoming(copy, ones);
  }

  // Factors first, then as many multiplications behind each exponential as there are for it.
  void Interleave() {
    std::vector<Instruction*> products;
    for (Instruction& i : *scale_) {
      if (!i.isTerminator()) products.push_back(&i);
    }
    llvm::SmallPtrSet<const Instruction*, 16> left(shared_.begin(), shared_.end());
    const auto take = [&](Instruction* i, const auto& self) -> void {
      if (!left.erase(i)) return;
      for (llvm::Value* v : i->operands()) {
        if (auto* def = llvm::dyn_cast<Instruction>(v)) self(def, self);
      }
      i->moveBefore(scale_->getTerminator()->getIterator());
    };
    for (Instruction* product : products) {
      for (llvm::Value* v : product->operands()) {
        if (auto* def = llvm::dyn_cast<Instruction>(v)) take(def, take);
      }
    }
    const auto exps = std::count_if(left.begin(), left.end(), [](const Instruction* i) { return IsExp2(i); });
    const size_t each =
        exps == 0 ? products.size() : (products.size() + static_cast<size_t>(exps) - 1) / static_cast<size_t>(exps);
    size_t next = 0;
    const auto multiply = [&](size_t n) {
      for (; n > 0 && next < products.size(); --n) products[next++]->moveBefore(scale_->getTerminator()->getIterator());
    };
    for (Instruction* i : shared_) {
      if (!left.contains(i)) continue;
      take(i, take);
      if (IsExp2(i)) multiply(each);
    }
    multiply(products.size());
  }

  BasicBlock *before_, *scale_ = nullptr, *behind_ = nullptr;
  llvm::BranchInst* branch_ = nullptr;
  Instruction* vote_ = nullptr;
  llvm::SmallPtrSet<const Instruction*, 32> decides_;
  std::vector<Instruction*> shared_, later_;  // in order
};

}  // namespace

void ScaleBesideExponentials(llvm::Module* module, const char* kind) {
  const unsigned steps = module->getContext().getMDKindID(kind);
  for (llvm::Function& f : *module) {
    std::vector<BasicBlock*> blocks;
    for (BasicBlock& block : f) blocks.push_back(&block);
    for (BasicBlock* block : blocks) {
      Scaling scaling(*block);
      if (!scaling.Matches() || !scaling.FindShared()) continue;
      if (scaling.GoesInSteps(steps)) {
        scaling.MoveBehind();
      } else {
        scaling.Move();
      }
    }
  }
}

}  // namespace tile::codegen

#include "codegen/llvm/recompute_addresses.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/PostOrderIterator.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/ValueHandle.h"
#include "llvm/Transforms/Utils/Local.h"

namespace tile::codegen {
namespace {

using llvm::BasicBlock;
using llvm::Instruction;
using llvm::Value;

constexpr int kMostSteps = 4;  // that follow each other, from what is kept to what is used

// Registers of 32 bits. Parameters are operands in constant memory.
int WordsOf(const Value* v) {
  if (!llvm::isa<Instruction>(v)) return 0;
  const llvm::Type* type = v->getType();
  if (type->isPointerTy()) return 2;
  return type->isIntegerTy() ? static_cast<int>(type->getIntegerBitWidth() + 31) / 32 : 1;
}

// One machine instruction or two, without access to memory.
bool IsCheap(const Value* v) {
  const auto* op = llvm::dyn_cast<Instruction>(v);
  if (op == nullptr || !(op->getType()->isIntegerTy() || op->getType()->isPointerTy())) return false;
  if (op->getType()->isIntegerTy(1)) return false;
  switch (op->getOpcode()) {
    case Instruction::Add:
    case Instruction::Sub:
    case Instruction::And:
    case Instruction::Or:
    case Instruction::Xor:
    case Instruction::Shl:
    case Instruction::LShr:
    case Instruction::ZExt:
    case Instruction::SExt:
    case Instruction::Trunc:
    case Instruction::PtrToInt:
    case Instruction::IntToPtr: return true;
    case Instruction::Mul: return op->getType()->isIntegerTy(32);
    case Instruction::GetElementPtr: return op->getNumOperands() == 2;
    default: return false;
  }
}

// Where the operand is used: phis use it at the end of the block that it comes from.
Instruction* PointOf(const llvm::Use& use) {
  auto* user = llvm::cast<Instruction>(use.getUser());
  if (const auto* phi = llvm::dyn_cast<llvm::PHINode>(user)) return phi->getIncomingBlock(use)->getTerminator();
  return user;
}

// What is there from before a loop, for what is in it or behind it.
class Inputs {
 public:
  Inputs(const llvm::Loop& loop, const llvm::DominatorTree& dominators) : loop_(loop), dominators_(dominators) {
    for (BasicBlock& block : *loop.getHeader()->getParent()) {
      for (Instruction& op : block) {
        for (const llvm::Use& use : op.operands()) {
          if (IsBefore(use.get()) && IsLate(use)) kept_.insert(use.get());
        }
      }
    }
  }

  // Chooses what is recomputed: all of one operation, or what follows from the operands of one value, while that takes fewer registers.
  void Choose() {
    for (bool changed = true; changed;) {
      changed = false;
      llvm::MapVector<unsigned, llvm::SetVector<Value*>> by_operation;
      for (Value* v : kept_) {
        if (MayGo(v)) by_operation[llvm::cast<Instruction>(v)->getOpcode()].insert(v);
      }
      for (const auto& [operation, values] : by_operation) changed = Replace(WithoutDear(values)) || changed;
      for (Value* v : std::vector<Value*>(kept_.begin(), kept_.end())) {
        if (kept_.contains(v) && MayGo(v)) changed = Replace(FollowingFrom(v)) || changed;
      }
    }
  }

  // In front of each use in the loop and behind it.
  void Recompute() {
    for (Value* v : recomputed_) {
      std::vector<llvm::Use*> uses;
      for (llvm::Use& use : v->uses()) {
        if (IsLate(use)) uses.push_back(&use);
      }
      for (llvm::Use* use : uses) use->set(CloneAt(v, PointOf(*use)));
    }
    llvm::SmallVector<llvm::WeakTrackingVH> unused(recomputed_.begin(), recomputed_.end());
    llvm::RecursivelyDeleteTriviallyDeadInstructionsPermissive(unused);
  }

 private:
  bool IsBefore(const Value* v) const {
    const auto* op = llvm::dyn_cast<Instruction>(v);
    return op != nullptr && dominators_.properlyDominates(op->getParent(), loop_.getHeader());
  }

  bool IsLate(const llvm::Use& use) const {
    return dominators_.dominates(loop_.getHeader(), PointOf(use)->getParent());
  }

  // Uses of it that are computed again, one from the other.
  int StepsFrom(const Value* v) const {
    int steps = 0;
    for (const llvm::User* user : v->users()) {
      const auto it = steps_.find(user);
      if (it != steps_.end()) steps = std::max(steps, it->second);
    }
    return steps + 1;
  }

  // Phis take one value of all edges from a block.
  bool MayGo(const Value* v) const {
    return IsCheap(v) && StepsFrom(v) <= kMostSteps && llvm::none_of(v->uses(), [&](const llvm::Use& use) {
             return llvm::isa<llvm::PHINode>(use.getUser()) && IsLate(use);
           });
  }

  bool Needs(const Value* operand) const {
    return llvm::isa<Instruction>(operand) && !kept_.contains(const_cast<Value*>(operand)) &&
           !recomputed_.contains(const_cast<Value*>(operand));
  }

  // Values that are kept, and need no more operands than this one does.
  llvm::SetVector<Value*> FollowingFrom(Value* v) const {
    llvm::SetVector<Value*> values;
    const auto* op = llvm::cast<Instruction>(v);
    for (Value* other : kept_) {
      const bool follows =
          MayGo(other) && llvm::all_of(llvm::cast<Instruction>(other)->operands(), [&](const Value* x) {
            return !Needs(x) || llvm::is_contained(op->operands(), x);
          });
      if (follows) values.insert(other);
    }
    return values;
  }

  // The operands that these values need beside what is kept, and how many of the values need each.
  llvm::MapVector<Value*, int> NeededBy(const llvm::SetVector<Value*>& values) const {
    llvm::MapVector<Value*, int> needed;
    for (Value* v : values) {
      llvm::SmallPtrSet<Value*, 4> seen;
      for (Value* operand : llvm::cast<Instruction>(v)->operands()) {
        if (Needs(operand) && seen.insert(operand).second) ++needed[operand];
      }
    }
    return needed;
  }

  // Without those whose own operands, which no other needs, take more registers than they do.
  llvm::SetVector<Value*> WithoutDear(llvm::SetVector<Value*> values) const {
    for (bool changed = true; changed;) {
      const llvm::MapVector<Value*, int> needed = NeededBy(values);
      changed = values.remove_if([&](Value* v) {
        int own = 0;
        for (Value* operand : llvm::cast<Instruction>(v)->operands()) {
          const auto it = needed.find(operand);
          own += it != needed.end() && it->second == 1 ? WordsOf(operand) : 0;
        }
        return own > WordsOf(v);
      });
    }
    return values;
  }

  // As many registers do only where the operands may in turn be computed from fewer.
  bool Replace(const llvm::SetVector<Value*>& values) {
    const llvm::MapVector<Value*, int> needed = NeededBy(values);
    int less = 0;
    bool may_go = !values.empty();
    for (Value* v : values) less += WordsOf(v);
    for (const auto& [operand, users] : needed) {
      less -= WordsOf(operand);
      may_go = may_go && IsCheap(operand);
    }
    if (less < 0 || (less == 0 && !may_go)) return false;
    for (Value* v : values) {
      kept_.remove(v);
      recomputed_.insert(v);
      steps_[v] = StepsFrom(v);
    }
    for (const auto& [operand, users] : needed) kept_.insert(operand);
    return true;
  }

  Value* CloneAt(Value* v, Instruction* at) {
    if (llvm::isa<llvm::Constant>(v)) return v;
    if (!recomputed_.contains(v)) return Unknown(v, at);
    Instruction* clone = llvm::cast<Instruction>(v)->clone();
    for (llvm::Use& operand : clone->operands()) operand.set(CloneAt(operand.get(), at));
    clone->insertBefore(at->getIterator());
    return clone;
  }

  // The value, of which LLVM's code generator does not know that it is the same in all iterations: what follows from it stays where it is.
  static Value* Unknown(Value* v, Instruction* at) {
    llvm::Type* type = v->getType();
    if (!type->isPointerTy() && !type->isIntegerTy(32) && !type->isIntegerTy(64)) return v;
    llvm::IRBuilder<> b(at);
    return b.CreateCall(llvm::InlineAsm::get(llvm::FunctionType::get(type, {type}, false), "",
                                             type->isIntegerTy(32) ? "=r,0" : "=l,0", true),
                        {v});
  }

  const llvm::Loop& loop_;
  const llvm::DominatorTree& dominators_;
  llvm::SetVector<Value*> kept_, recomputed_;
  llvm::DenseMap<const Value*, int> steps_;  // of what is recomputed, to where it is used
};

// Addresses of a tile are computed together, and used one after the other. Each is computed in front of its first use.
class Sink {
 public:
  Sink(llvm::Function* f, const llvm::LoopInfo& loops) : f_(f), loops_(loops) {}

  // From the last to the first: what an address is computed from follows it.
  void Run() {
    for (BasicBlock* block : llvm::post_order(f_)) {
      std::vector<Instruction*> ops;
      for (Instruction& op : llvm::reverse(*block)) ops.push_back(&op);
      for (Instruction* op : ops) {
        Instruction* first = MaySink(*op) ? FirstUser(*op) : nullptr;
        if (first != nullptr) op->moveBefore(first->getIterator());
      }
    }
  }

 private:
  // What it is computed from is there anyway, serves several, or follows it.
  static bool MaySink(const Instruction& op) {
    return IsCheap(&op) && llvm::all_of(op.operands(), [&](const Value* v) {
             const auto* from = llvm::dyn_cast<Instruction>(v);
             return from == nullptr || from->getParent() != op.getParent() || llvm::isa<llvm::PHINode>(from) ||
                    !from->hasOneUse() || IsCheap(from);
           });
  }

  // Null: users are in several blocks, or in other loops.
  Instruction* FirstUser(const Instruction& op) const {
    Instruction* first = nullptr;
    for (const llvm::User* u : op.users()) {
      auto* user = const_cast<Instruction*>(llvm::cast<Instruction>(u));
      const bool beside = first == nullptr || user->getParent() == first->getParent();
      const bool same = loops_.getLoopFor(user->getParent()) == loops_.getLoopFor(op.getParent());
      if (llvm::isa<llvm::PHINode>(user) || !beside || !same) return nullptr;
      if (first == nullptr || user->comesBefore(first)) first = user;
    }
    return first;
  }

  llvm::Function* f_;
  const llvm::LoopInfo& loops_;
};

}  // namespace

void RecomputeAddresses(llvm::Module* module) {
  for (llvm::Function& f : *module) {
    if (f.isDeclaration()) continue;
    const llvm::DominatorTree dominators(f);
    const llvm::LoopInfo loops(dominators);
    Sink(&f, loops).Run();
    for (const llvm::Loop* loop : loops.getLoopsInPreorder()) {
      Inputs inputs(*loop, dominators);
      inputs.Choose();
      inputs.Recompute();
    }
  }
}

}  // namespace tile::codegen

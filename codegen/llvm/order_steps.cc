#include "codegen/llvm/order_steps.h"

#include <algorithm>
#include <vector>

#include "codegen/llvm/pure_instruction.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"

namespace tile::codegen {
namespace {

using llvm::Instruction;

// What stands in a block up to its last step.
class Steps {
 public:
  Steps(llvm::BasicBlock& block, unsigned kind) : kind_(kind) {
    for (Instruction& i : block) {
      if (llvm::isa<llvm::PHINode>(i)) continue;
      number_[&i] = all_.size();
      all_.push_back(&i);
      if (i.hasMetadata(kind)) end_ = all_.size();
    }
    all_.resize(end_);
    taken_.assign(end_, false);
  }

  void Order() {
    if (all_.empty()) return;
    const auto behind = std::next(all_.back()->getIterator());
    for (size_t i = 0; i < end_; ++i) {
      if (IsPure(*all_[i])) continue;
      TakeNeeds(i);
      if (all_[i]->hasMetadata(kind_)) TakeSums();
      Take(i);
    }
    for (size_t i = 0; i < end_; ++i) {
      if (!taken_[i]) Take(i);
    }
    for (Instruction* i : order_) i->moveBefore(behind);
  }

 private:
  void Take(size_t i) {
    taken_[i] = true;
    order_.push_back(all_[i]);
  }

  // Operands that stand here and are not taken.
  std::vector<size_t> Missing(size_t i) const {
    std::vector<size_t> missing;
    for (const llvm::Value* v : all_[i]->operands()) {
      const auto* def = llvm::dyn_cast<Instruction>(v);
      const auto it = def == nullptr ? number_.end() : number_.find(def);
      if (it != number_.end() && it->second < end_ && !taken_[it->second]) missing.push_back(it->second);
    }
    return missing;
  }

  // All that `i` needs, in the order in which it stood.
  void TakeNeeds(size_t i) {
    std::vector<size_t> found = Missing(i);
    std::vector<bool> seen(end_, false);
    for (size_t at = 0; at < found.size(); ++at) {
      if (seen[found[at]]) continue;
      seen[found[at]] = true;
      const std::vector<size_t> more = Missing(found[at]);
      found.insert(found.end(), more.begin(), more.end());
    }
    for (size_t n = 0; n < i; ++n) {
      if (seen[n]) Take(n);
    }
  }

  void TakeSums() {
    for (size_t i = 0; i < end_; ++i) {
      if (!taken_[i] && all_[i]->getOpcode() == Instruction::FAdd && Missing(i).empty()) Take(i);
    }
  }

  const unsigned kind_;
  size_t end_ = 0;  // behind the last step
  std::vector<Instruction*> all_, order_;
  llvm::DenseMap<const Instruction*, size_t> number_;
  std::vector<bool> taken_;
};

}  // namespace

bool HasSteps(const llvm::BasicBlock& block, unsigned kind) {
  return std::any_of(block.begin(), block.end(), [&](const Instruction& i) { return i.hasMetadata(kind); });
}

void OrderSteps(llvm::Module* module, const char* kind) {
  const unsigned number = module->getContext().getMDKindID(kind);
  for (llvm::Function& f : *module) {
    for (llvm::BasicBlock& block : f) {
      if (HasSteps(block, number)) Steps(block, number).Order();
    }
  }
}

}  // namespace tile::codegen

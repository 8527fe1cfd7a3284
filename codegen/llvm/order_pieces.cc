#include "codegen/llvm/order_pieces.h"

#include <algorithm>
#include <cstdint>
#include <vector>

#include "codegen/llvm/pure_instruction.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/InstrTypes.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Metadata.h"
#include "llvm/IR/Module.h"

namespace tile::codegen {
namespace {

constexpr int kAhead = 4;  // loads of a thread on their way

int64_t GroupOf(const llvm::Instruction& i, unsigned kind) {
  const llvm::MDNode* node = i.getMetadata(kind);
  return node == nullptr ? 0 : llvm::mdconst::extract<llvm::ConstantInt>(node->getOperand(0))->getSExtValue();
}

bool IsLoad(const llvm::Instruction& i) { return !i.getType()->isVoidTy(); }

// Loads, what is pure, and stores of one group, without a load behind a store.
class Region {
 public:
  bool empty() const { return all_.empty(); }
  bool has_stores() const { return !stores_.empty(); }

  void Add(llvm::Instruction* i, bool access) {
    const int n = static_cast<int>(all_.size());
    if (access) (IsLoad(*i) ? loads_ : stores_).push_back(n);
    number_[i] = n;
    all_.push_back(i);
  }

  void Order() {
    if (loads_.empty() || stores_.size() < 2) return;
    llvm::Instruction* end = all_[static_cast<size_t>(stores_.back())]->getNextNode();
    taken_.assign(all_.size(), false);
    // What no store needs is for later; what lies behind the last store stays.
    std::vector<std::vector<int>> needs;
    std::vector<bool> needed(all_.size(), false);
    for (const int store : stores_) {
      needs.push_back(LoadsOf(store));
      for (const int load : needs.back()) needed[static_cast<size_t>(load)] = true;
    }
    for (const int load : loads_) {
      if (!needed[static_cast<size_t>(load)]) Take(load);
    }
    size_t next = 0;
    int flying = 0;
    std::vector<int> brought(stores_.size(), 0);
    for (size_t k = 0; k < stores_.size(); ++k) {
      for (; next < stores_.size() && (next <= k || flying < kAhead); ++next) {
        for (const int load : needs[next]) {
          if (taken_[static_cast<size_t>(load)]) continue;
          Take(load);
          ++brought[next];
        }
        flying += brought[next];
      }
      Take(stores_[k]);
      flying -= brought[k];
    }
    for (int i = 0; i < stores_.back(); ++i) Take(i);
    for (llvm::Instruction* i : order_) i->moveBefore(end->getIterator());
  }

 private:
  // What `i` needs, itself too, that is not taken yet; in the order in which it stood.
  std::vector<int> Needs(int i) const {
    std::vector<int> found = {i};
    std::vector<bool> seen(all_.size(), false);
    seen[static_cast<size_t>(i)] = true;
    for (size_t at = 0; at < found.size(); ++at) {
      for (const llvm::Use& use : all_[static_cast<size_t>(found[at])]->operands()) {
        const auto* def = llvm::dyn_cast<llvm::Instruction>(use.get());
        const auto it = def == nullptr ? number_.end() : number_.find(def);
        if (it == number_.end()) continue;
        const auto n = static_cast<size_t>(it->second);
        if (seen[n] || taken_[n]) continue;
        seen[n] = true;
        found.push_back(it->second);
      }
    }
    std::sort(found.begin(), found.end());
    return found;
  }

  std::vector<int> LoadsOf(int store) const {
    std::vector<int> loads;
    for (const int i : Needs(store)) {
      if (std::binary_search(loads_.begin(), loads_.end(), i)) loads.push_back(i);
    }
    return loads;
  }

  void Take(int i) {
    if (taken_[static_cast<size_t>(i)]) return;
    for (const int n : Needs(i)) {
      taken_[static_cast<size_t>(n)] = true;
      order_.push_back(all_[static_cast<size_t>(n)]);
    }
  }

  std::vector<llvm::Instruction*> all_, order_;
  llvm::DenseMap<const llvm::Instruction*, int> number_;
  std::vector<int> loads_, stores_;
  std::vector<bool> taken_;
};

void OrderBlock(llvm::BasicBlock& block, unsigned kind) {
  Region region;
  int64_t group = 0;
  std::vector<llvm::Instruction*> all;
  for (llvm::Instruction& i : block) all.push_back(&i);
  const auto close = [&] {
    region.Order();
    region = Region();
  };
  for (llvm::Instruction* i : all) {
    const int64_t of = GroupOf(*i, kind);
    if (of == 0) {
      if (region.empty()) continue;
      if (IsPure(*i)) {
        region.Add(i, false);
      } else {
        close();
      }
      continue;
    }
    if (!region.empty() && (of != group || (IsLoad(*i) && region.has_stores()))) close();
    if (region.empty() && !IsLoad(*i)) continue;
    group = of;
    region.Add(i, true);
  }
  close();
}

}  // namespace

void OrderPieces(llvm::Module* module, const char* kind) {
  const unsigned number = module->getContext().getMDKindID(kind);
  for (llvm::Function& f : *module) {
    for (llvm::BasicBlock& block : f) OrderBlock(block, number);
  }
}

}  // namespace tile::codegen

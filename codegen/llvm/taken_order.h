// Instructions of a block in a new order, in which each comes with what it needs.
#ifndef TILE_CODEGEN_LLVM_TAKEN_ORDER_H_
#define TILE_CODEGEN_LLVM_TAKEN_ORDER_H_

#include <algorithm>
#include <vector>

#include "llvm/ADT/DenseMap.h"
#include "llvm/IR/Instructions.h"

namespace tile::codegen {

class TakenOrder {
 public:
  // In the order in which they stand; they are numbered from 0.
  void Add(llvm::Instruction* i) {
    number_[i] = size();
    all_.push_back(i);
    taken_.push_back(false);
  }
  int size() const { return static_cast<int>(all_.size()); }
  llvm::Instruction* at(int i) const { return all_[static_cast<size_t>(i)]; }
  bool taken(int i) const { return taken_[static_cast<size_t>(i)]; }

  // What `i` needs, itself too, that is not taken yet; in the order in which it stood.
  std::vector<int> Needs(int i) const {
    std::vector<int> found = {i};
    std::vector<bool> seen(all_.size(), false);
    seen[static_cast<size_t>(i)] = true;
    for (size_t next = 0; next < found.size(); ++next) {
      for (const llvm::Use& use : at(found[next])->operands()) {
        const auto* def = llvm::dyn_cast<llvm::Instruction>(use.get());
        const auto it = def == nullptr ? number_.end() : number_.find(def);
        if (it == number_.end() || seen[static_cast<size_t>(it->second)] || taken(it->second)) continue;
        seen[static_cast<size_t>(it->second)] = true;
        found.push_back(it->second);
      }
    }
    std::sort(found.begin(), found.end());
    return found;
  }

  // The next one, behind what it needs.
  void Take(int i) {
    if (!taken(i)) TakeAll(Needs(i));
  }
  void TakeAll(const std::vector<int>& these) {
    for (const int n : these) {
      taken_[static_cast<size_t>(n)] = true;
      order_.push_back(at(n));
    }
  }

  // Those that were taken.
  void MoveBefore(llvm::BasicBlock::iterator where) const {
    for (llvm::Instruction* i : order_) i->moveBefore(where);
  }

 private:
  std::vector<llvm::Instruction*> all_, order_;
  llvm::DenseMap<const llvm::Instruction*, int> number_;
  std::vector<bool> taken_;
};

}  // namespace tile::codegen

#endif  // TILE_CODEGEN_LLVM_TAKEN_ORDER_H_

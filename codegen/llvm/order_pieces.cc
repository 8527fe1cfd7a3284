#include "codegen/llvm/order_pieces.h"

#include <algorithm>
#include <cstdint>
#include <vector>

#include "codegen/llvm/pure_instruction.h"
#include "codegen/llvm/taken_order.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/InstrTypes.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Metadata.h"
#include "llvm/IR/Module.h"

namespace tile::codegen {
namespace {

constexpr int64_t kBitsAhead = 4 * 128;  // of a thread's loads that are on their way

int64_t GroupOf(const llvm::Instruction& i, unsigned kind) {
  const llvm::MDNode* node = i.getMetadata(kind);
  return node == nullptr ? 0 : llvm::mdconst::extract<llvm::ConstantInt>(node->getOperand(0))->getSExtValue();
}

bool IsLoad(const llvm::Instruction& i) { return !i.getType()->isVoidTy(); }

// What a load brings.
int64_t BitsOf(const llvm::Instruction& load) {
  return static_cast<int64_t>(load.getDataLayout().getTypeSizeInBits(load.getType()).getFixedValue());
}

// Loads, what is pure, and stores of one group, without a load behind a store.
class Region {
 public:
  bool empty() const { return all_.size() == 0; }
  bool has_stores() const { return !stores_.empty(); }

  void Add(llvm::Instruction* i, bool access) {
    if (access) (IsLoad(*i) ? loads_ : stores_).push_back(all_.size());
    all_.Add(i);
  }

  void Order() {
    if (loads_.empty() || stores_.size() < 2) return;
    llvm::Instruction* end = all_.at(stores_.back())->getNextNode();
    // What no store needs is for later; what lies behind the last store stays.
    std::vector<std::vector<int>> needs;
    std::vector<bool> needed(static_cast<size_t>(all_.size()), false);
    for (const int store : stores_) {
      needs.push_back(LoadsOf(store));
      for (const int load : needs.back()) needed[static_cast<size_t>(load)] = true;
    }
    for (const int load : loads_) {
      if (!needed[static_cast<size_t>(load)]) all_.Take(load);
    }
    size_t next = 0;
    int64_t flying = 0;
    std::vector<int64_t> brought(stores_.size(), 0);
    for (size_t k = 0; k < stores_.size(); ++k) {
      for (; next < stores_.size() && (next <= k || flying < kBitsAhead); ++next) {
        for (const int load : needs[next]) {
          if (all_.taken(load)) continue;
          all_.Take(load);
          brought[next] += BitsOf(*all_.at(load));
        }
        flying += brought[next];
      }
      all_.Take(stores_[k]);
      flying -= brought[k];
    }
    for (int i = 0; i < stores_.back(); ++i) all_.Take(i);
    all_.MoveBefore(end->getIterator());
  }

 private:
  std::vector<int> LoadsOf(int store) const {
    std::vector<int> loads;
    for (const int i : all_.Needs(store)) {
      if (std::binary_search(loads_.begin(), loads_.end(), i)) loads.push_back(i);
    }
    return loads;
  }

  TakenOrder all_;
  std::vector<int> loads_, stores_;
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

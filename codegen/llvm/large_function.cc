#include "codegen/llvm/large_function.h"

#include <algorithm>
#include <vector>

#include "absl/strings/str_cat.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/Instructions.h"
#include "llvm/Transforms/Utils/Cloning.h"

namespace tile::codegen {
namespace {

constexpr int kLongBlock = 1024;  // instructions
constexpr int kMostCalls = 512;   // of one function

int CountLoops(llvm::Function& f) {
  if (f.size() <= kMostLoops) return 0;  // a loop has a block at least
  const llvm::DominatorTree dominators(f);
  const llvm::LoopInfo loops(dominators);
  return static_cast<int>(loops.getLoopsInPreorder().size());
}

int MostPhis(const llvm::Function& f) {
  std::ptrdiff_t most = 0;
  for (const llvm::BasicBlock& block : f)
    most = std::max(most, std::distance(block.phis().begin(), block.phis().end()));
  return static_cast<int>(most);
}

}  // namespace

std::string WhyLarge(llvm::Module& module) {
  std::string why;
  const auto exceeds = [&why](int count, const char* what, int most) {
    if (count > most) why = absl::StrCat(count, " ", what, "; ", most, " at most");
    return count > most;
  };
  for (llvm::Function& f : module) {
    if (exceeds(CountLoops(f), "loops", kMostLoops) || exceeds(static_cast<int>(f.size()), "blocks", kMostBlocks) ||
        exceeds(MostPhis(f), "phis in a block", kMostPhis) ||
        exceeds(static_cast<int>(f.getInstructionCount()), "instructions", kMostInstructions)) {
      break;
    }
  }
  return why;
}

void SplitLongBlocks(llvm::Module* module) {
  for (llvm::Function& f : *module) {
    std::vector<llvm::Instruction*> starts;
    for (llvm::BasicBlock& block : f) {
      int length = 0;
      for (llvm::Instruction& i : block) {
        // Allocas stay in the entry, and phis at the beginning.
        if (++length < kLongBlock || llvm::isa<llvm::PHINode, llvm::AllocaInst>(i) || i.isTerminator()) continue;
        starts.push_back(&i);
        length = 0;
      }
    }
    // The last one goes first, since a split moves all instructions after it.
    std::reverse(starts.begin(), starts.end());
    for (llvm::Instruction* i : starts) i->getParent()->splitBasicBlock(i);
  }
}

void CopyBusyFunctions(llvm::Module* module) {
  std::vector<llvm::Function*> functions;
  for (llvm::Function& f : *module) {
    if (!f.isDeclaration() && f.hasLocalLinkage()) functions.push_back(&f);
  }
  for (llvm::Function* f : functions) {
    std::vector<llvm::Use*> calls;
    for (llvm::Use& use : f->uses()) {
      const auto* call = llvm::dyn_cast<llvm::CallBase>(use.getUser());
      if (call != nullptr && call->isCallee(&use)) calls.push_back(&use);
    }
    llvm::Function* callee = f;
    for (size_t i = kMostCalls; i < calls.size(); ++i) {
      if (i % kMostCalls == 0) {
        llvm::ValueToValueMapTy values;
        callee = llvm::CloneFunction(f, values);
      }
      calls[i]->set(callee);
    }
  }
}

}  // namespace tile::codegen

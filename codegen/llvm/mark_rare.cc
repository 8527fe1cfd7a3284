#include "codegen/llvm/mark_rare.h"

#include <algorithm>
#include <string>

#include "absl/strings/str_cat.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/ProfDataUtils.h"

namespace tile::codegen {
namespace {

using llvm::BasicBlock;

constexpr uint32_t kRare = 1000;  // times as often the other way
constexpr int kUsual = 1000;

// Of a branch that mostly goes one way, that way and the other; nulls: of any other.
std::pair<BasicBlock*, BasicBlock*> WaysOf(BasicBlock& block) {
  auto* branch = llvm::dyn_cast<llvm::BranchInst>(block.getTerminator());
  uint64_t yes = 0, no = 0;
  if (branch == nullptr || !branch->isConditional() || !llvm::extractBranchWeights(*branch, yes, no)) return {};
  if (std::max(yes, no) / kRare < std::max<uint64_t>(1, std::min(yes, no))) return {};
  const bool mostly_yes = yes > no;
  return {branch->getSuccessor(mostly_yes ? 0 : 1), branch->getSuccessor(mostly_yes ? 1 : 0)};
}

}  // namespace

void MarkRare(llvm::Module* module, const char* mark) {
  for (llvm::Function& f : *module) {
    if (f.isDeclaration()) continue;
    llvm::MapVector<BasicBlock*, int> often;
    for (BasicBlock& block : f) {
      const auto [usual, rare] = WaysOf(block);
      if (usual == nullptr) continue;
      often.insert({usual, kUsual});
      often[rare] = 1;
    }
    if (often.empty()) continue;
    const llvm::DominatorTree dominators(f);
    const llvm::LoopInfo loops(dominators);
    for (const auto& [block, times] : often) {
      if (loops.getLoopFor(block) == nullptr) continue;
      llvm::IRBuilder<> b(block, block->getFirstInsertionPt());
      b.CreateCall(
          llvm::InlineAsm::get(llvm::FunctionType::get(b.getVoidTy(), false), absl::StrCat(mark, times), "", true));
    }
  }
}

}  // namespace tile::codegen

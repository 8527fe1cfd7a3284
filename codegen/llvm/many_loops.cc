#include "codegen/llvm/many_loops.h"

#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/Dominators.h"

namespace tile::codegen {

bool HasManyLoops(llvm::Module& module) {
  for (llvm::Function& f : module) {
    if (f.size() <= kManyLoops) continue;  // a loop has a block at least
    const llvm::DominatorTree dominators(f);
    const llvm::LoopInfo loops(dominators);
    if (loops.getLoopsInPreorder().size() > kManyLoops) return true;
  }
  return false;
}

}  // namespace tile::codegen

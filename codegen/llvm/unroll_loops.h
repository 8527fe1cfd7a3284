// Loops whose body the emitter wants several times in a row: those with the metadata llvm.loop.unroll.count. LLVM's own pass leaves loops
// with operations that all threads of a warp do together as they are, if it does not know how often they run. Here each copy of the
// body keeps its test for the end, so that nothing is done more or less often than before.
#ifndef TILE_CODEGEN_LLVM_UNROLL_LOOPS_H_
#define TILE_CODEGEN_LLVM_UNROLL_LOOPS_H_

#include <utility>

#include "llvm/IR/PassManager.h"

namespace tile::codegen {

class UnrollLoops : public llvm::PassInfoMixin<UnrollLoops> {
 public:
  // `behind`: for functions that have such loops, since later copies know from earlier ones.
  explicit UnrollLoops(llvm::FunctionPassManager behind) : behind_(std::move(behind)) {}

  llvm::PreservedAnalyses run(llvm::Function& f, llvm::FunctionAnalysisManager& analyses);

 private:
  llvm::FunctionPassManager behind_;
};

}  // namespace tile::codegen

#endif  // TILE_CODEGEN_LLVM_UNROLL_LOOPS_H_

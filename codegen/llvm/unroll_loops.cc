#include "codegen/llvm/unroll_loops.h"

#include <optional>
#include <utility>
#include <vector>

#include "llvm/Analysis/AssumptionCache.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/OptimizationRemarkEmitter.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/Analysis/TargetTransformInfo.h"
#include "llvm/IR/Dominators.h"
#include "llvm/Transforms/Utils/LoopSimplify.h"
#include "llvm/Transforms/Utils/LoopUtils.h"
#include "llvm/Transforms/Utils/UnrollLoop.h"

namespace tile::codegen {

llvm::PreservedAnalyses UnrollLoops::run(llvm::Function& f, llvm::FunctionAnalysisManager& analyses) {
  auto& loops = analyses.getResult<llvm::LoopAnalysis>(f);
  std::vector<std::pair<llvm::Loop*, int>> wanted;
  for (llvm::Loop* loop : loops.getLoopsInPreorder()) {
    const std::optional<int> count = llvm::getOptionalIntLoopAttribute(loop, "llvm.loop.unroll.count");
    if (count.has_value() && loop->isInnermost()) wanted.emplace_back(loop, *count);
  }
  if (wanted.empty()) return llvm::PreservedAnalyses::all();
  auto& dominators = analyses.getResult<llvm::DominatorTreeAnalysis>(f);
  auto& evolution = analyses.getResult<llvm::ScalarEvolutionAnalysis>(f);
  auto& assumptions = analyses.getResult<llvm::AssumptionAnalysis>(f);
  for (const auto& [loop, count] : wanted) {
    llvm::simplifyLoop(loop, &dominators, &loops, &evolution, &assumptions, nullptr, /*PreserveLCSSA=*/false);
    llvm::formLCSSARecursively(*loop, dominators, &loops, &evolution);
    llvm::UnrollLoopOptions options{};
    options.Count = static_cast<unsigned>(count);
    options.Force = true;
    llvm::UnrollLoop(loop, options, &loops, &evolution, &dominators, &assumptions,
                     &analyses.getResult<llvm::TargetIRAnalysis>(f),
                     &analyses.getResult<llvm::OptimizationRemarkEmitterAnalysis>(f), /*PreserveLCSSA=*/true);
  }
  analyses.invalidate(f, llvm::PreservedAnalyses::none());
  behind_.run(f, analyses);
  return llvm::PreservedAnalyses::none();
}

}  // namespace tile::codegen

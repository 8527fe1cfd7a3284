#include "codegen/llvm/optimise.h"

#include <string>

#include "llvm/Analysis/TargetLibraryInfo.h"
#include "llvm/IR/PassInstrumentation.h"
#include "llvm/Passes/PassBuilder.h"

namespace tile::codegen {
namespace {

// What an LLVM pass works on.
std::string NameOf(const llvm::Any& ir) {
  if (const auto* f = llvm::any_cast<const llvm::Function*>(&ir)) return (*f)->getName().str();
  if (llvm::any_cast<const llvm::Module*>(&ir) != nullptr) return "module";
  return "part of a function";
}

}  // namespace

void Optimise(llvm::Module* module, llvm::TargetMachine* machine, int opt_level, Trace* trace) {
  llvm::PipelineTuningOptions tuning;
  tuning.LoopUnrolling = false;  // the tile operations are unrolled already
  tuning.LoopVectorization = false;
  tuning.SLPVectorization = false;
  llvm::PassInstrumentationCallbacks callbacks;
  if (trace != nullptr && trace->step_limit.has_value()) {
    callbacks.registerShouldRunOptionalPassCallback(
        [trace](llvm::StringRef pass, llvm::Any ir) { return trace->TakesStep(pass.str(), NameOf(ir)); });
  }
  llvm::PassBuilder builder(machine, tuning, std::nullopt, &callbacks);
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager calls;
  llvm::ModuleAnalysisManager modules;
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(calls);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, calls, modules);
  const llvm::OptimizationLevel level = opt_level >= 2 ? llvm::OptimizationLevel::O2 : llvm::OptimizationLevel::O1;
  if (opt_level > 0) {
    builder.buildPerModuleDefaultPipeline(level).run(*module, modules);
  } else {
    builder.buildO0DefaultPipeline(llvm::OptimizationLevel::O0).run(*module, modules);
  }
}

}  // namespace tile::codegen

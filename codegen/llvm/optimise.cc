#include "codegen/llvm/optimise.h"

#include <string>
#include <utility>

#include "codegen/llvm/unroll_loops.h"
#include "llvm/Analysis/TargetLibraryInfo.h"
#include "llvm/IR/PassInstrumentation.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/ErrorHandling.h"

namespace tile::codegen {
namespace {

// LLVM's own pipeline of -O2 takes half as long again, for code that is as good: it runs instcombine eight times, and looks for
// what the emitter never writes (calls that recurse, memset in loops, exceptions). The order is that of -O2.
#define INSTCOMBINE "instcombine<max-iterations=1;no-verify-fixpoint>,"
#define SIMPLIFYCFG "simplifycfg<switch-range-to-icmp;keep-loops;speculate-blocks;simplify-cond-branch>,"
#define LICM "licm<allowspeculation>"
// The device library asks how f32 is to be rounded, and its functions are there to be inlined; numbers of threads have bounds. Jumps are
// threaded for one test of a condition for all that depend on it: masks of one row in several accesses. What the rules have made of
// addresses leaves loops again at the end, and accesses whose alignment is known then become vectors.
constexpr char kPipeline[] =
    "nvvm-reflect,function(nvvm-intr-range),inferattrs,function<eager-inv>(" SIMPLIFYCFG
    "sroa<modify-cfg>,early-cse<>),always-inline,globaldce,globalopt,"
    "function<eager-inv>(" INSTCOMBINE SIMPLIFYCFG "jump-threading,correlated-propagation," SIMPLIFYCFG
    "reassociate,loop-mssa(licm<no-allowspeculation>,loop-rotate<header-duplication>," LICM
    ",simple-loop-unswitch<no-nontrivial;trivial>)," SIMPLIFYCFG INSTCOMBINE
    "loop(indvars,loop-deletion),gvn<>,sccp,bdce,jump-threading,adce,dse," INSTCOMBINE
    "simplifycfg<switch-range-to-icmp;switch-to-arithmetic;no-keep-loops;hoist-common-insts;"
    "hoist-loads-stores-with-cond-faulting;sink-common-insts;speculate-blocks;simplify-cond-branch;speculate-"
    "unpredictables>,infer-alignment,loop-mssa(" LICM "),loop-sink,instsimplify,div-rem-pairs),globaldce";
// For large functions (large_function.h): each pass takes time in proportion to the function.
constexpr char kPipelineOfLargeFunctions[] =
    "nvvm-reflect,function(nvvm-intr-range),always-inline,function(sroa<modify-cfg>,adce),globaldce";
// What the second of two copies of a loop's body knows from the first one.
constexpr char kBehindUnrolling[] = "sccp," INSTCOMBINE SIMPLIFYCFG "gvn<>,loop-mssa(" LICM "),adce,instsimplify";
#undef INSTCOMBINE
#undef SIMPLIFYCFG
#undef LICM

// What an LLVM pass works on.
std::string NameOf(const llvm::Any& ir) {
  if (const auto* f = llvm::any_cast<const llvm::Function*>(&ir)) return (*f)->getName().str();
  if (llvm::any_cast<const llvm::Module*>(&ir) != nullptr) return "module";
  return "part of a function";
}

llvm::ModulePassManager Pipeline(llvm::PassBuilder& builder, int opt_level, bool is_large) {
  if (opt_level == 0) return builder.buildO0DefaultPipeline(llvm::OptimizationLevel::O0);
  if (is_large) {
    llvm::ModulePassManager passes;
    if (llvm::Error e = builder.parsePassPipeline(passes, kPipelineOfLargeFunctions))
      llvm::report_fatal_error(std::move(e));
    return passes;
  }
  if (opt_level == 1) return builder.buildPerModuleDefaultPipeline(llvm::OptimizationLevel::O1);
  llvm::ModulePassManager passes;
  if (llvm::Error e = builder.parsePassPipeline(passes, kPipeline)) llvm::report_fatal_error(std::move(e));
  llvm::FunctionPassManager behind;
  if (llvm::Error e = builder.parsePassPipeline(behind, kBehindUnrolling)) llvm::report_fatal_error(std::move(e));
  passes.addPass(llvm::createModuleToFunctionPassAdaptor(UnrollLoops(std::move(behind))));
  return passes;
}

}  // namespace

void Optimise(llvm::Module* module, llvm::TargetMachine* machine, int opt_level, bool is_large, Trace* trace) {
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
  Pipeline(builder, opt_level, is_large).run(*module, modules);
}

}  // namespace tile::codegen

#include "codegen/compile.h"

#include <algorithm>
#include <memory>
#include <mutex>
#include <utility>

#include "absl/strings/str_cat.h"
#include "codegen/llvm/assembler_faults.h"
#include "codegen/emit/lower/kernel.h"
#include "codegen/analysis/live_registers.h"
#include "codegen/passes/assign_layouts.h"
#include "codegen/passes/assume_aligned.h"
#include "codegen/passes/copy_ahead.h"
#include "codegen/passes/fetch_ahead.h"
#include "codegen/passes/resolve_hints.h"
#include "codegen/passes/slice.h"
#include "codegen/passes/split_products.h"
#include "codegen/plan/plan.h"
#include "codegen/plan/plan_rings.h"
#include "codegen/assemble/ptxas.h"
#include "codegen/emit/context/symbol.h"
#include "codegen/plan/tma_store.h"
#include "ir/clone.h"
#include "llvm/Analysis/TargetLibraryInfo.h"
#include "llvm/IR/DiagnosticInfo.h"
#include "llvm/IR/DiagnosticPrinter.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/PassInstrumentation.h"
#include "llvm/IR/Verifier.h"
#include "llvm/IRReader/IRReader.h"
#include "llvm/Linker/Linker.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/Transforms/IPO/GlobalDCE.h"
#include "llvm/Transforms/IPO/Internalize.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"

extern "C" void LLVMInitializeNVPTXTarget();
extern "C" void LLVMInitializeNVPTXTargetInfo();
extern "C" void LLVMInitializeNVPTXTargetMC();
extern "C" void LLVMInitializeNVPTXAsmPrinter();

namespace tile::codegen {
namespace {

constexpr int kManyInstructions = 20000;
constexpr int64_t kMostRegistersOfThread = 1024;  // that a tile may take, in memory as what exceeds them is

absl::StatusOr<std::unique_ptr<llvm::TargetMachine>> MakeTargetMachine(const Target& target, int opt_level) {
  static std::once_flag once;
  std::call_once(once, [] {
    LLVMInitializeNVPTXTargetInfo();
    LLVMInitializeNVPTXTarget();
    LLVMInitializeNVPTXTargetMC();
    LLVMInitializeNVPTXAsmPrinter();
  });
  const llvm::Triple triple("nvptx64-nvidia-cuda");
  std::string error;
  const llvm::Target* t = llvm::TargetRegistry::lookupTarget(triple, error);
  if (t == nullptr) return absl::InternalError(absl::StrCat("error[codegen.llvm]: ", error));
  llvm::TargetOptions options;
  return std::unique_ptr<llvm::TargetMachine>(
      t->createTargetMachine(triple, target.arch, absl::StrCat("+ptx", target.ptx), options, llvm::Reloc::PIC_,
                             std::nullopt, opt_level == 0 ? llvm::CodeGenOptLevel::None : llvm::CodeGenOptLevel::Aggressive));
}

template <class T>
std::string Print(const T& x) {
  std::string text;
  llvm::raw_string_ostream out(text);
  x.print(out, nullptr);
  return text;
}

// Adds the functions of CUDA's device library that the module calls.
absl::Status LinkLibdevice(llvm::Module* module) {
  bool needed = false;
  for (const llvm::Function& f : *module) needed = needed || (f.isDeclaration() && f.getName().starts_with("__nv_"));
  if (!needed) return absl::OkStatus();
  const std::string path = FindLibdevice();
  if (path.empty()) {
    return absl::NotFoundError(
        "error[codegen.libdevice]: this kernel needs CUDA's device library for its math functions, and libdevice.10.bc "
        "was not found. Install the CUDA toolkit and name its folder in CUDA_HOME, or the file in TILEC_LIBDEVICE");
  }
  llvm::SMDiagnostic why;
  std::unique_ptr<llvm::Module> library = llvm::parseIRFile(path, why, module->getContext());
  if (library == nullptr) {
    return absl::InvalidArgumentError(absl::StrCat("error[codegen.libdevice]: ", path, ": ", why.getMessage().str()));
  }
  library->setTargetTriple(module->getTargetTriple());
  library->setDataLayout(module->getDataLayout());
  if (llvm::Linker::linkModules(*module, std::move(library), llvm::Linker::Flags::LinkOnlyNeeded,
                                [](llvm::Module& m, const llvm::StringSet<>& names) {
                                  llvm::internalizeModule(m, [&](const llvm::GlobalValue& v) {
                                    return !v.hasName() || !names.contains(v.getName());
                                  });
                                })) {
    return absl::InternalError(absl::StrCat("error[codegen.libdevice]: ", path, " can't be linked"));
  }
  return absl::OkStatus();
}

// Math functions are called, not copied to each place, where copies would make most of very much code.
void CallManyMathFunctions(llvm::Module* module) {
  const auto is_math = [](const llvm::Function& f) { return !f.isDeclaration() && f.getName().starts_with("__nv_"); };
  uint64_t copies = 0;
  for (const llvm::Function& f : *module) {
    if (is_math(f)) copies += uint64_t{f.getInstructionCount()} * f.getNumUses();
  }
  if (copies <= kManyInstructions) return;
  for (llvm::Function& f : *module) {
    if (!is_math(f)) continue;
    f.removeFnAttr(llvm::Attribute::AlwaysInline);
    f.addFnAttr(llvm::Attribute::NoInline);
  }
}

// What an LLVM pass works on.
std::string NameOf(const llvm::Any& ir) {
  if (const auto* f = llvm::any_cast<const llvm::Function*>(&ir)) return (*f)->getName().str();
  if (llvm::any_cast<const llvm::Module*>(&ir) != nullptr) return "module";
  return "part of a function";
}

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

absl::StatusOr<std::string> EmitPtx(llvm::Module* module, llvm::TargetMachine* machine) {
  llvm::SmallString<0> out;
  llvm::raw_svector_ostream stream(out);
  llvm::legacy::PassManager passes;
  if (machine->addPassesToEmitFile(passes, stream, nullptr, llvm::CodeGenFileType::AssemblyFile)) {
    return absl::InternalError("error[codegen.llvm]: LLVM can't print PTX");
  }
  passes.run(*module);
  return std::string(out.str());
}

// How loops over products are compiled.
enum class Ahead : uint8_t { kNothing, kCopies, kTma };

struct Attempt {
  Ahead ahead = Ahead::kNothing;  // the most that may be done
  int most_stages = 0;            // set to 0 if fewer would be of no use
  Ahead done = Ahead::kNothing;   // what was: set by CompileOnce
};

absl::StatusOr<Compiled> CompileOnce(const ir::Module& module, const ir::Function& function, const CompileOptions& options,
                                     Attempt* attempt) {
  const Target& target = *options.target;
  const std::unique_ptr<ir::Module> copy = ir::CloneModule(module, function);
  ir::Module& work = *copy;
  ir::Function* f = work.functions[0].get();
  ResolveHints(target, &work, f);
  std::vector<ir::ImageRequirement> requirements;
  if (options.aligned) requirements = AssumeAligned(&work, f);

  Trace unused;
  Trace& trace = options.trace != nullptr ? *options.trace : unused;
  const auto remark = [&](absl::string_view about, absl::string_view what) {
    if (trace.on_remark)
      trace.on_remark(absl::StrCat(work.Where(f->loc, f->pos), ": remark[", about, "]: @", f->name, ": ", what));
  };
  FetchPlan fetch;
  {
    TimedPass time(options.trace, "split");
    SplitProducts(MostProductRegisters(options.num_warps), &work, f, options.trace);
  }
  trace.Text("split", [&] { return PrintWithLayouts(*f); });
  {
    TimedPass time(options.trace, "fetch");
    if (attempt->ahead == Ahead::kTma) fetch = FetchAhead(target, options.num_warps, &work, f, options.trace);
    if (fetch.num_warps > 0) {
      attempt->done = Ahead::kTma;
    } else if (attempt->ahead != Ahead::kNothing && CopyAhead(target, &work, f, options.trace)) {
      attempt->done = Ahead::kCopies;
    } else {
      FitRounds(target, &work, f);
    }
  }
  trace.Text("fetch", [&] { return PrintWithLayouts(*f); });
  {
    TimedPass time(options.trace, "slice");
    Slice(SlicesFor(options.num_warps, static_cast<int64_t>(target.shared_bytes)), &work, f, options.trace);
  }
  trace.Text("slice", [&] { return PrintWithLayouts(*f); });
  const LargestTile largest = FindLargestTile(*f);
  if (largest.op != nullptr) {
    trace.largest_tile = absl::StrCat(work.Where(largest.op->loc, largest.op->pos), ": ", largest.op->info()->mnemonic, " of ",
                                      largest.tile->type().ToString());
  }
  TimedPass plan_time(options.trace, "plan");
  Plan plan = MakePlan(target, *f, options.aligned);
  if (options.num_warps > 0) {
    plan.num_warps = options.num_warps;
    plan.why = "as told";
  } else if (fetch.num_warps > 0) {
    plan.num_warps = fetch.num_warps;
    plan.why = "warpgroups for wgmma";
  }
  PlanRings(target, *f, fetch.sharing.dim, attempt->most_stages, &plan);
  if (!PlanCopies(target, *f, attempt->most_stages, options.num_warps == 0, &plan)) {
    remark("fetch", "nothing is fetched ahead: shared memory does not hold the operands of two rounds");
    attempt->most_stages = 0;
    return absl::InvalidArgumentError("no room for a ring");
  }
  plan_time.Done();
  if (largest.op != nullptr) {
    // LLVM and ptxas take minutes for what would be of no use.
    const int64_t each = RegistersOf(largest.tile->type()) / (32 * plan.num_warps);
    if (each > kMostRegistersOfThread) {
      return absl::InvalidArgumentError(absl::StrCat(
          work.Where(largest.op->loc, largest.op->pos), ": error[codegen.registers]: ", largest.op->info()->mnemonic, " in kernel @",
          f->name, " works on the whole of ", largest.tile->type().ToString(), ", which is ", each,
          " registers of 32 bits in each of ", 32 * plan.num_warps, " threads; ", target.arch,
          " has 255, and code for more than ", kMostRegistersOfThread, " is not made. Use tiles of 1/",
          (each + kMostRegistersOfThread - 1) / kMostRegistersOfThread * 8,
          " of the elements there, or a program that can be done in slices (--remarks says what hinders it)"));
    }
  }
  remark("plan", absl::StrCat(plan.num_warps, plan.num_warps == 1 ? " warp: " : " warps: ", plan.why));
  trace.Text("plan", [&] { return absl::StrCat("@", f->name, ": ", plan.num_warps, " warps: ", plan.why, "\n"); });
  LayoutTable layouts;
  {
    TimedPass time(options.trace, "layouts");
    if (absl::Status s = AssignLayouts(target, plan, &work, f, &layouts); !s.ok()) return s;
  }
  trace.Text("layouts", [&] { return PrintWithLayouts(*f); });
  TmaAccesses tma;
  ir::Walk(f->body(), [&](ir::Op* op) {
    if (!plan.producer || op->opcode() != ir::Opcode::kStoreView) return;
    const Layout* layout = LayoutOf(op->operand("tile")->type());
    std::optional<TmaStore> store = layout == nullptr ? std::nullopt : PlanTmaStore(*op, *layout);
    if (!store) return;
    tma.stores = true;
    fetch.map_of[op] = static_cast<int>(fetch.maps.size());
    fetch.maps.push_back(std::move(store->tensor));
  });

  auto machine = MakeTargetMachine(target, options.opt_level);
  if (!machine.ok()) return machine.status();
  llvm::LLVMContext context;
  // LLVM's own handler ends the process.
  std::string llvm_error;
  context.setDiagnosticHandlerCallBack(
      [](const llvm::DiagnosticInfo* info, void* error) {
        auto* text = static_cast<std::string*>(error);
        if (info->getSeverity() != llvm::DS_Error || !text->empty()) return;
        llvm::raw_string_ostream out(*text);
        llvm::DiagnosticPrinterRawOStream printer(out);
        info->print(printer);
      },
      &llvm_error);
  llvm::Module llvm_module(KernelSymbol(function.name), context);
  llvm_module.setTargetTriple((*machine)->getTargetTriple());
  llvm_module.setDataLayout((*machine)->createDataLayout());
  llvm_module.addModuleFlag(llvm::Module::Override, "nvvm-reflect-ftz", 0u);

  tma.map_of = fetch.map_of;
  tma.count = static_cast<int>(fetch.maps.size());
  tma.shared = fetch.sharing.loads;
  Emitter emitter(target, plan, work, *f, &llvm_module, options.trace,
                  std::move(tma));
  TimedPass emit_time(options.trace, "llvm");
  if (absl::Status s = EmitKernel(&emitter); !s.ok()) return s;
  for (llvm::Function& g : llvm_module) {
    if (!g.isDeclaration()) llvm::EliminateUnreachableBlocks(g);
  }
  emit_time.Done();
  trace.Text("llvm", [&] { return Print(llvm_module); });
  std::string broken;
  llvm::raw_string_ostream broken_out(broken);
  if (llvm::verifyModule(llvm_module, &broken_out)) {
    return absl::InternalError(absl::StrCat("error[codegen.internal]: the code generator made wrong LLVM IR for @",
                                            function.name, ": ", broken));
  }
  {
    TimedPass time(options.trace, "libdevice");
    if (absl::Status s = LinkLibdevice(&llvm_module); !s.ok()) return s;
    CallManyMathFunctions(&llvm_module);
  }
  trace.Text("libdevice", [&] { return Print(llvm_module); });
  {
    TimedPass time(options.trace, "llvm-opt");
    Optimise(&llvm_module, machine->get(), options.opt_level, options.trace);
    AvoidAssemblerFaults(&llvm_module);
  }
  trace.Text("llvm-opt", [&] { return Print(llvm_module); });

  Compiled result;
  result.llvm_instructions = static_cast<int>(llvm_module.getInstructionCount());
  if (result.llvm_instructions > kManyInstructions) {
    remark("size", absl::StrCat(result.llvm_instructions, " LLVM instructions, more than ", kManyInstructions,
                                ": the assembler will take long, and registers will spill. Use smaller tiles"));
  }
  result.symbol = KernelSymbol(function.name);
  result.threads = emitter.hardware_threads();
  result.shared_bytes = emitter.shared_bytes();
  result.workspace_bytes = emitter.workspace_bytes();
  result.sites = emitter.sites();
  result.one_row = plan.square > 0;
  result.persistent = plan.persistent;
  if (plan.cluster) result.cluster_dim = plan.along;
  result.requirements = std::move(requirements);
  for (const TensorMap& map : fetch.maps) {
    result.maps.push_back(map.descriptor);
    for (const ir::ImageRequirement& r : map.requirements) {
      auto& all = result.requirements;
      if (std::find(all.begin(), all.end(), r) == all.end()) all.push_back(r);
    }
  }
  TimedPass ptx_time(options.trace, "ptx");
  absl::StatusOr<std::string> ptx = EmitPtx(&llvm_module, machine->get());
  if (!ptx.ok()) return ptx.status();
  if (!llvm_error.empty()) {
    return absl::InternalError(
        absl::StrCat("error[codegen.llvm]: LLVM refuses the code of @", function.name, ": ", llvm_error));
  }
  ptx_time.Done();
  trace.Text("ptx", [&] { return *ptx; });
  result.ptx = *std::move(ptx);
  return result;
}

}  // namespace

absl::StatusOr<Compiled> Compile(const ir::Module& module, const ir::Function& function, const CompileOptions& options) {
  // The stages may leave too little shared memory for the rest: then fewer, then the next way.
  Attempt attempt;
  attempt.ahead = options.descriptors ? Ahead::kTma : Ahead::kCopies;
  while (attempt.ahead != Ahead::kNothing) {
    const int most = attempt.ahead == Ahead::kTma ? kMostStages : kMostCopyStages;
    for (attempt.most_stages = most; attempt.most_stages >= 2; --attempt.most_stages) {
      attempt.done = Ahead::kNothing;
      absl::StatusOr<Compiled> result = CompileOnce(module, function, options, &attempt);
      if (result.ok() || !absl::IsInvalidArgument(result.status()) || attempt.done == Ahead::kNothing) return result;
    }
    attempt.ahead = attempt.done == Ahead::kTma ? Ahead::kCopies : Ahead::kNothing;
  }
  return CompileOnce(module, function, options, &attempt);
}

}  // namespace tile::codegen

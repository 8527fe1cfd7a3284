// The passes from tile code with layouts to PTX.
#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "codegen/assemble/frequencies.h"
#include "codegen/assemble/ptxas.h"
#include "codegen/compilation.h"
#include "codegen/emit/context/symbol.h"
#include "codegen/emit/lower/kernel.h"
#include "codegen/gpu/ops.h"
#include "codegen/llvm/assembler_faults.h"
#include "codegen/llvm/delay_grid_wait.h"
#include "codegen/llvm/large_function.h"
#include "codegen/llvm/libdevice.h"
#include "codegen/llvm/machine.h"
#include "codegen/llvm/mark_rare.h"
#include "codegen/llvm/optimise.h"
#include "codegen/llvm/order_pieces.h"
#include "codegen/llvm/order_steps.h"
#include "codegen/llvm/recompute_addresses.h"
#include "codegen/llvm/scale_beside.h"
#include "codegen/passes/canonical/assume_aligned.h"
#include "codegen/passes/grid/unpersist_grid.h"
#include "codegen/plan/mma/tcgen05_scaled.h"
#include "codegen/plan/tma/parameters.h"
#include "codegen/plan/tma/tensor_maps.h"
#include "codegen/target/decisions.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"

namespace tile::codegen {
namespace {

// What the image says of the code, besides the code.
void Describe(EmittedKernel emitted, const Schedule& schedule, Compilation& c) {
  Compiled& r = c.result;
  r.symbol = KernelSymbol(c.function->name);
  r.threads = schedule.hardware_threads();
  r.parameter_bytes = ParameterBytes(*c.function);
  r.shared_bytes = emitted.shared_bytes;
  r.workspace_bytes = emitted.workspace_bytes;
  r.sites = std::move(emitted.sites);
  r.one_row = schedule.square > 0;
  r.persistent = schedule.persistent;
  r.blocks = schedule.blocks;
  r.joined = JoinedBlocks(*c.function);
  r.joined_least = DecisionOf<Decision::kJoinedLeast>(*FindKernelOp(*c.function)).value_or(0);
  r.parts = PartsOfBlock(*c.function);
  int products = 0;
  ir::Walk(c.function->body(), [&](const ir::Op* op) { products += op->info()->family == ir::Family::kMma ? 1 : 0; });
  r.multiplies = products > 0;
  r.chain = products > 1;
  if (const auto cycles = DecisionOf<Decision::kJoinedCycles>(*FindKernelOp(*c.function)))
    r.joined_cycles = {(*cycles)[0], (*cycles)[1]};
  if (schedule.cluster) r.cluster_dim = schedule.along;
  r.requirements = AlignmentRequirements(*c.function);
  SpreadGrid spread = SpreadGridOf(*c.function);
  r.spread = std::move(spread.blocks);
  r.requirements.insert(r.requirements.end(), spread.requirements.begin(), spread.requirements.end());
  if (const auto widened = DecisionOf<Decision::kWidenedK>(*FindKernelOp(*c.function))) {
    r.widens_k = true;
    r.requirements.push_back(MultipleOf(static_cast<int>((*widened)[0]), (*widened)[1]));
  }
  ir::Walk(c.function->body(),
           [&](const ir::Op* op) { r.makes_maps = r.makes_maps || DecisionOf<Decision::kDeviceTensorMap>(*op); });
  for (const TensorMap& map : TensorMapsOf(*c.function)) {
    r.maps.push_back(map.descriptor);
    for (const ir::ImageRequirement& needs : map.requirements) {
      if (std::find(r.requirements.begin(), r.requirements.end(), needs) == r.requirements.end())
        r.requirements.push_back(needs);
    }
  }
}

}  // namespace

absl::Status EmitLlvm(Compilation& c) {
  const int64_t parameters = ParameterBytes(*c.function);
  if (parameters > kMostParameterBytes) {
    return absl::InvalidArgumentError(
        absl::StrCat(c.module->Where(c.function->loc, c.function->pos), ": error[codegen.parameters]: the ",
                     c.function->num_params(), " parameters of kernel @", c.function->name, " take ", parameters,
                     " bytes with those that the runtime adds; a GPU takes at most ", kMostParameterBytes,
                     "\n  fix: pass one array that holds the addresses or the numbers, or split the kernel"));
  }
  Target target = c.target;
  if (parameters > kOldParameterBytes) target.ptx = std::max(target.ptx, kPtxOfManyParameters);
  if (ColumnsOfScaled(*c.function) > 0) target.ptx = std::max(target.ptx, kPtxOfScaledInColumns);
  absl::StatusOr<std::unique_ptr<LlvmCode>> code =
      LlvmCode::Make(target, KernelSymbol(c.function->name), c.options.opt_level);
  if (!code.ok()) return code.status();
  c.llvm = *std::move(code);
  llvm::Module& module = c.llvm->module();
  const Schedule schedule = *ScheduleOf(*c.function);
  absl::StatusOr<EmittedKernel> kernel =
      EmitKernel(c.target, schedule, *c.module, *c.function, &module, c.options.trace);
  if (!kernel.ok()) return kernel.status();
  for (llvm::Function& f : module) {
    if (!f.isDeclaration()) llvm::EliminateUnreachableBlocks(f);
  }
  Describe(*std::move(kernel), schedule, c);
  const int64_t planned = DecisionOf<Decision::kSharedBytes>(*FindKernelOp(*c.function)).value_or(0);
  if (c.options.verify_each && planned != static_cast<int64_t>(c.result.shared_bytes)) {
    return absl::InternalError(absl::StrCat("error[codegen.internal]: @", c.function->name, " takes ",
                                            c.result.shared_bytes, " bytes of shared memory; planned were ", planned));
  }
  const std::string faults = c.llvm->Faults();
  if (faults.empty()) return absl::OkStatus();
  c.trace().Text("emit-llvm", [&] { return c.llvm->Text(); });  // for who looks for the fault
  return absl::InternalError(absl::StrCat("error[codegen.internal]: the code generator made wrong LLVM IR for @",
                                          c.function->name, ": ", faults));
}

absl::Status LinkMathLibrary(Compilation& c) {
  if (absl::Status s = LinkLibdevice(FindLibdevice(), &c.llvm->module()); !s.ok()) return s;
  CallManyMathFunctions(&c.llvm->module());
  return absl::OkStatus();
}

absl::Status OptimiseLlvm(Compilation& c) {
  const std::string why = WhyLarge(c.llvm->module());
  c.result.is_large = !why.empty();
  if (c.result.is_large) {
    c.llvm->set_large();
    c.Remark("optimise-llvm", absl::StrCat("large (", why, "): LLVM and the assembler optimise little"));
  }
  Optimise(&c.llvm->module(), &c.llvm->machine(), c.options.opt_level, c.result.is_large, c.options.trace);
  return absl::OkStatus();
}

absl::Status OrderPieces(Compilation& c) {
  if (c.options.opt_level > 0) OrderPieces(&c.llvm->module(), InfoOf(Decision::kUnordered).name.c_str());
  return absl::OkStatus();
}

absl::Status ScaleBesideExponentials(Compilation& c) {
  if (c.options.opt_level > 1) ScaleBesideExponentials(&c.llvm->module(), InfoOf(Decision::kInSteps).name.c_str());
  return absl::OkStatus();
}

absl::Status OrderSteps(Compilation& c) {
  if (c.options.opt_level > 1) OrderSteps(&c.llvm->module(), InfoOf(Decision::kInSteps).name.c_str());
  return absl::OkStatus();
}

absl::Status DelayGridWait(Compilation& c) {
  if (c.options.opt_level > 1) DelayGridWait(&c.llvm->module());
  return absl::OkStatus();
}

absl::Status RecomputeAddresses(Compilation& c) {
  if (c.options.recomputes_addresses && !c.result.is_large) RecomputeAddresses(&c.llvm->module());
  return absl::OkStatus();
}

absl::Status AvoidAssemblerFaults(Compilation& c) {
  AvoidAssemblerFaults(&c.llvm->module());
  return absl::OkStatus();
}

absl::Status MarkRare(Compilation& c) {
  if (c.options.opt_level > 1) MarkRare(&c.llvm->module(), kFrequencyMark);
  return absl::OkStatus();
}

absl::Status PrintPtx(Compilation& c) {
  const int size = static_cast<int>(c.llvm->module().getInstructionCount());
  c.result.llvm_instructions = size;
  if (size > kManyInstructions) {
    c.Remark("print-ptx", absl::StrCat(size, " LLVM instructions, more than ", kManyInstructions,
                                       ": the assembler will take long, and registers will spill. Use smaller tiles"));
  }
  absl::StatusOr<std::string> ptx = c.llvm->Ptx();
  if (!ptx.ok()) return ptx.status();
  c.result.ptx = *std::move(ptx);
  return absl::OkStatus();
}

}  // namespace tile::codegen

#include "codegen/passes/pipeline/load_ahead.h"

#include "codegen/passes/pipeline/copy_ahead.h"
#include "codegen/passes/pipeline/fetch_ahead.h"
#include "codegen/target/decisions.h"
#include "codegen/target/gpu_ops.h"

namespace tile::codegen {

absl::Status LoadAhead(Program& p) {
  const Ahead most = p.candidate.ahead;
  ir::Module* module = p.module.get();
  const bool any =
      (most == Ahead::kTma &&
       FetchAhead(p.target, p.candidate.num_warps, p.widens_k, module, p.function, &p.trace())) ||
      (most != Ahead::kNothing && CopyAhead(p.target, most == Ahead::kTma, module, p.function, &p.trace()));
  if (any) {
    Decide<Decision::kMostStages>(module, KernelOp(module, p.function), p.candidate.most_stages);
  } else {
    FitK(p.target, module, p.function);
  }
  return absl::OkStatus();
}

}  // namespace tile::codegen

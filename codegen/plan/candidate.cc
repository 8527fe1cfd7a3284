#include "codegen/plan/candidate.h"

#include "codegen/target/gpu_ops.h"

namespace tile::codegen {

Ahead AheadOf(const ir::Function& function) {
  Ahead ahead = Ahead::kNothing;
  ir::Walk(function.body(), [&](const ir::Op* op) {
    if (IsGpuOp(op, GpuOpcode::kFetchAhead)) ahead = Ahead::kTma;
    if (IsGpuOp(op, GpuOpcode::kCopyAhead)) ahead = Ahead::kCopies;
  });
  return ahead;
}

}  // namespace tile::codegen

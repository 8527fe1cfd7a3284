#include "codegen/passes/pipeline/fit_k.h"

#include <algorithm>
#include <cstdint>
#include <vector>

#include "codegen/analysis/product_chain.h"
#include "codegen/gpu/ops.h"
#include "codegen/passes/pipeline/resize_k.h"
#include "codegen/plan/mma/mma_kind.h"
#include "ir/op_views.h"

namespace tile::codegen {
namespace {

constexpr int64_t kScratchBytes = 1024;  // of shared memory that other operations of the block take at least

}  // namespace

absl::Status FitK(Program& p) {
  bool ahead = false;
  std::vector<ir::Op*> products;
  ir::Walk(p.function->body(), [&](ir::Op* op) {
    ahead = ahead || IsFetch(op);
    if (IsProduct(*op) && IsProductLoop(*op)) products.push_back(op);
  });
  if (ahead) return absl::OkStatus();
  for (ir::Op* mma : products) {
    const MmaShape s = ShapeOfMma(*mma);
    // For fma elements are widened.
    const int64_t element = ir::MemoryBits(mma->operand(0)->type().elem()) / 8;
    const int64_t bytes =
        (s.m + s.n) * s.k * (HasMatrixInstruction(p.target, *mma) ? element : std::max<int64_t>(4, element));
    int parts = 1;
    while (bytes / parts > p.target.shared_bytes - kScratchBytes && CanNarrowK(*mma, 2 * parts)) parts *= 2;
    if (parts > 1) NarrowK(p.module.get(), mma, parts);
  }
  return absl::OkStatus();
}

}  // namespace tile::codegen

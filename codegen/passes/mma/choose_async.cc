#include "codegen/passes/mma/choose_async.h"

#include "codegen/analysis/all_iterations.h"
#include "codegen/analysis/product_chain.h"
#include "codegen/gpu/ops.h"
#include "codegen/plan/mma/mma_kind.h"
#include "codegen/plan/mma/overlapped_products.h"
#include "codegen/plan/staging/staging.h"
#include "codegen/plan/tma/tensor_maps.h"
#include "codegen/target/decisions.h"

namespace tile::codegen {

namespace {

// A product whose operands lie in stages, and that may still run when the next iteration begins. What is added to its sums, and fragments
// that are read again, wait for it.
bool CanRunOn(const ir::Op& op) {
  if (!IsProduct(op)) return false;
  const ir::Op* copy = CopyOf(op, 0);
  const bool copied = copy != nullptr && CopyOf(op, 1) == copy && KindOf(op).asynchronous() && !CopiesByTma(*copy);
  if (!copied && FetchOf(op) == nullptr) return false;
  if (copied && DecisionOf<Decision::kPieceBytes>(*copy)) return false;
  // An iteration that ends early begins none for which the one before could be waited for.
  if (!AllIterationsEnd(*op.parent())) return false;
  return GoesAround(op) && !DecisionOf<Decision::kPromotes>(op) && !DecisionOf<Decision::kHeld>(op);
}

// All that reads the stages can: nobody else says when they are free.
bool AllCanRunOn(const ir::Op& copy) {
  for (int i = 0; i < copy.num_results(); ++i) {
    for (const ir::Use* use = copy.result(i)->uses(); use != nullptr; use = use->next) {
      if (IsProduct(*use->owner) && !CanRunOn(*use->owner)) return false;
    }
  }
  return true;
}

}  // namespace

absl::Status ChooseAsync(Program& p) {
  ir::Walk(p.function->body(), [&](ir::Op* op) {
    if (!CanRunOn(*op)) return;
    const ir::Op* copy = CopyOf(*op, 0);
    if (copy == nullptr || AllCanRunOn(*copy)) Decide<Decision::kAsync>(p.module.get(), op, true);
  });
  return absl::OkStatus();
}

}  // namespace tile::codegen

#include "codegen/plan/running_products.h"

#include "codegen/analysis/all_rounds.h"
#include "codegen/analysis/product_chain.h"
#include "codegen/plan/mma_layout.h"
#include "codegen/plan/staging.h"
#include "codegen/target/decisions.h"
#include "codegen/target/gpu_ops.h"
#include "ir/loops.h"
#include "ir/op_views.h"

namespace tile::codegen {
namespace {

using ir::Op;
using ir::Value;

bool HasOneUse(const Value* v) { return v->uses() != nullptr && v->uses()->next == nullptr; }

}  // namespace

std::string WhyNotRunning(const Op& mma) {
  if (!IsProduct(mma) || InstructionOf(mma) != kByWgmma) return "it is no product by wgmma";
  const Op* copy = CopyOf(mma, 1);
  if (copy == nullptr || copy->parent() != mma.parent() || mma.block() != copy->block())
    return "its right operand is not copied ahead in its loop";
  if (!AllRoundsEnd(*mma.parent())) return "an iteration may end before its last operation";
  if (DecisionOf<Decision::kPieceBytes>(*copy)) return "its operands come one by one";
  if (StageOf(*copy).widens_apart(static_cast<size_t>(mma.operand(1)->index())))
    return "its right operand is widened in the iteration";
  if (DecisionOf<Decision::kHeld>(mma) || DecisionOf<Decision::kPromotes>(mma)) return "its sums are added to others";
  if (DecisionOf<Decision::kLate>(mma)) return "it is done an iteration late";
  const ir::Elem sums = mma.result(0)->type().elem();
  return sums == ir::Elem::kF32 || sums == ir::Elem::kI32 ? "" : "its sums are converted";
}

bool GoesAround(const Op& mma) {
  const Value *acc = ir::ProductOp(mma).acc(), *result = mma.result(0);
  const ir::CarryingLoop loop(*mma.parent());
  const int carried = loop.carried_by(acc);
  return carried >= 0 && HasOneUse(acc) && HasOneUse(result) && loop.latch() != nullptr && loop.next(carried) == result;
}

bool AddsInOrder(const Op& mma, const Value* sums) {
  return DecisionOf<Decision::kRuns>(mma) && ir::ProductOp(mma).acc() == sums && mma.operand(0) != sums &&
         mma.operand(1) != sums;
}

bool KeepsStage(const Op& copy) { return DecisionOf<Decision::kKeepsStage>(copy); }

}  // namespace tile::codegen

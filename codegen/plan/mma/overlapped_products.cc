#include "codegen/plan/mma/overlapped_products.h"

#include <utility>
#include <vector>

#include "codegen/analysis/all_iterations.h"
#include "codegen/analysis/product_chain.h"
#include "codegen/gpu/ops.h"
#include "codegen/plan/mma/mma_kind.h"
#include "codegen/plan/staging/staging.h"
#include "codegen/target/decisions.h"
#include "ir/loops.h"
#include "ir/op_views.h"

namespace tile::codegen {
namespace {

using ir::Op;
using ir::Value;

bool HasOneUse(const Value* v) { return v->uses() != nullptr && v->uses()->next == nullptr; }

// The operation of the block that is or holds this one; null if none does.
const Op* InBlock(const Op* op, const ir::Block* block) {
  while (op != nullptr && op->block() != block) op = op->parent();
  return op;
}

bool IsBefore(const Op* op, const Op* other) {
  while (op != nullptr && op != other) op = op->next();
  return op == other;
}

// What lies in the same registers.
bool KeepsRegisters(const Op& op) {
  return ir::ReshapeOp::Is(&op) || ir::PermuteOp::Is(&op) || ir::BitcastOp::Is(&op) || ir::AssumeOp::Is(&op) ||
         IsGpuOp(&op, GpuOpcode::kConvertLayout);
}

// Branches that hand on the value as it is, with the number of the operand.
void FindBranches(const Value* v, std::vector<std::pair<const Op*, int>>* found) {
  for (const ir::Use* use = v->uses(); use != nullptr; use = use->next) {
    const Op& user = *use->owner;
    if (KeepsRegisters(user)) FindBranches(user.result(0), found);
    if (!user.info()->has(ir::kTerminator)) continue;
    for (int i = 0; i < user.num_operands(); ++i) {
      if (user.operand(i) == v) found->emplace_back(&user, i);
    }
  }
}

}  // namespace

std::string WhyNotRunning(const Op& mma) {
  if (!IsProduct(mma) || !KindOf(mma).asynchronous()) return "it is no asynchronous product";
  const Op* copy = CopyOf(mma, 1);
  if (copy == nullptr || copy->parent() != mma.parent() || mma.block() != copy->block())
    return "its right operand is not copied ahead in its loop";
  if (!AllIterationsEnd(*mma.parent())) return "an iteration may end before its last operation";
  if (DecisionOf<Decision::kPieceBytes>(*copy)) return "its operands come one by one";
  if (StageOf(*copy).widens_apart(static_cast<size_t>(mma.operand(1)->index())))
    return "its right operand is widened in the iteration";
  if (DecisionOf<Decision::kHeld>(mma) || DecisionOf<Decision::kPromotes>(mma)) return "its sums are added to others";
  if (DecisionOf<Decision::kCrossIteration>(mma)) return "it is done an iteration late";
  const ir::Elem sums = mma.result(0)->type().elem();
  return sums == ir::Elem::kF32 || sums == ir::Elem::kI32 ? "" : "its sums are converted";
}

bool GoesAround(const Op& mma) {
  const Value *acc = ir::ProductOp(mma).acc(), *result = mma.result(0);
  const ir::CarryingLoop loop(*mma.parent());
  const int carried = loop.carried_by(acc);
  return carried >= 0 && HasOneUse(acc) && HasOneUse(result) && loop.latch() != nullptr && loop.next(carried) == result;
}

bool HandsOnElsewhere(const Op& mma) {
  if (mma.parent() == nullptr || !ir::IsLoop(mma.parent())) return false;
  std::vector<std::pair<const Op*, int>> branches;
  FindBranches(mma.result(0), &branches);
  const ir::CarryingLoop loop(*mma.parent());
  // A branch in front of the product gives the place another value.
  if (!AllIterationsEnd(loop.op())) return !branches.empty();
  // Products that add to the sums of each other do so in the same registers.
  const Op* first = &mma;
  const auto acc_of = [](const Op* product) { return ir::ProductOp(product).acc(); };
  while (acc_of(first)->def() != nullptr && NextOfSum(*acc_of(first)->def()) == first) first = acc_of(first)->def();
  const Value* acc = acc_of(first);
  for (const auto& [branch, i] : branches) {
    if (branches.size() > 1 || branch != loop.latch()) return true;
    const Value* place = loop.arg(i);
    if (acc != place && loop.carried_by(acc) >= 0) return true;
    // Who reads what is in that place comes before, but for the product.
    for (const ir::Use* use = place->uses(); use != nullptr; use = use->next) {
      const Op* user = InBlock(use->owner, mma.block());
      const bool adds = user == first && acc == place && first->operand(0) != place && first->operand(1) != place;
      if (!adds && (user == first || !IsBefore(user, first))) return true;
    }
  }
  return false;
}

bool AddsInOrder(const Op& mma, const Value* sums) {
  return DecisionOf<Decision::kOverlaps>(mma) && sums->def() != nullptr && NextOfSum(*sums->def()) == &mma;
}

bool KeepsStage(const Op& copy) {
  for (const Op* op : *copy.block()) {
    if (IsProduct(*op) && DecisionOf<Decision::kOverlaps>(*op) && DecisionOf<Decision::kAsync>(*op)) return true;
  }
  return false;
}

}  // namespace tile::codegen

#include "codegen/plan/mma/integer_max.h"

#include <optional>

#include "codegen/analysis/product_chain.h"
#include "codegen/analysis/reduce_body.h"
#include "ir/loops.h"
#include "ir/op_views.h"
#include "ir/passes/rewrite.h"

namespace tile::codegen {
namespace {

using ir::Op;
using ir::Value;

// NaN loses, and subnormal numbers stay.
bool IsMaximum(const Op& op) {
  return op.opcode() == ir::Opcode::kMaxf && !ir::FoldKindOf(op).propagate_nan &&
         !ir::FlushToZeroOp(op).flush_to_zero();
}

bool ReducesToMaximum(const Op& op) {
  return ir::ReduceOp::Is(&op) && op.num_results() == 1 && op.operand(0)->type().elem() == ir::Elem::kF32 &&
         IsCommutative(*op.region(0)) && IsMaximum(*op.region(0)->front());
}

}  // namespace

const Value* MaximumCarriedBy(const Op& reduce) {
  if (!ReducesToMaximum(reduce)) return nullptr;
  const Value* result = reduce.result(0);
  while (true) {
    const ir::Use* use = result->uses();
    if (use == nullptr || use->next != nullptr) return nullptr;
    const Op& user = *use->owner;
    if (user.opcode() == ir::Opcode::kReshape) {
      result = user.result(0);
      continue;
    }
    if (!IsMaximum(user)) return nullptr;
    const Value* other = user.operand(user.operand(0) == result ? 1 : 0);
    const auto loop = other == result ? std::nullopt : ir::CarryingLoop::Around(other);
    return loop.has_value() && ir::IsInside(reduce.result(0), &loop->op()) ? other : nullptr;
  }
}

bool TakesIntegers(const Op& reduce) {
  return MaximumCarriedBy(reduce) != nullptr || (ReducesToMaximum(reduce) && !StandsBesideProducts(reduce));
}

}  // namespace tile::codegen

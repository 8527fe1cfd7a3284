#include "codegen/passes/equivalence.h"

#include "codegen/gpu/ops.h"
#include "ir/op_views.h"
#include "ir/passes/common.h"

namespace tile::codegen {
namespace {

using ir::Op;
using ir::Value;

bool IsArithmetic(const Op& op) {
  const uint16_t other = ir::kReads | ir::kWrites | ir::kEffect | ir::kTerminator | ir::kRegions;
  return op.info()->has(ir::kPure) && (op.info()->traits & other) == 0;
}

}  // namespace

bool Equivalence::operator()(const Value* a, const Value* b) {
  if (a == b) return true;
  const auto [known, is_new] = known_.try_emplace({a, b}, false);
  if (!is_new) return known->second;
  const Op *x = a->def(), *y = b->def();
  if (x == nullptr || y == nullptr || !IsArithmetic(*x) || a->index() != b->index()) return false;
  bool same = ir::AreAlike(*x, *y);
  for (int i = 0; same && i < x->num_operands(); ++i) same = (*this)(x->operand(i), y->operand(i));
  return known_[{a, b}] = same;
}

bool MayLoadOnce(const Op& op) {
  return op.info()->is_load() && !IsFetch(&op) && op.num_regions() == 0 &&
         ir::OrderingOf(op) == ir::MemoryOrdering::kWeak && op.result(0)->type().is_tile();
}

}  // namespace tile::codegen

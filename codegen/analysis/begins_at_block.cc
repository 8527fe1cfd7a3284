#include "codegen/analysis/begins_at_block.h"

#include "codegen/target/decisions.h"
#include "ir/op_views.h"

namespace tile::codegen {
namespace {

constexpr int kMostOfBound = 16;  // operations from the number of the block to where the loop begins

bool FollowsFromBlock(const ir::Value* v, int* budget) {
  const ir::Op* def = v->def();
  if (def == nullptr || --*budget < 0) return false;
  if (ir::GetTileBlockIdOp::Is(def)) return true;
  if (!def->info()->has(ir::kPure) || def->num_regions() > 0) return false;
  for (int i = 0; i < def->num_operands(); ++i) {
    if (FollowsFromBlock(def->operand(i), budget)) return true;
  }
  return false;
}

}  // namespace

bool BeginsAtBlock(const ir::Op& loop) {
  int budget = kMostOfBound;
  return DecisionOf<Decision::kFlattened>(loop).has_value() || FollowsFromBlock(ir::ForOp(loop).lower_bound(), &budget);
}

}  // namespace tile::codegen

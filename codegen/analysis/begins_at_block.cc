#include "codegen/analysis/begins_at_block.h"

#include <algorithm>

#include "codegen/target/decisions.h"
#include "ir/op_views.h"
#include "ir/passes/rewrite.h"

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
  return DecisionOf<Decision::kCoalesced>(loop).has_value() || FollowsFromBlock(ir::ForOp(loop).lower_bound(), &budget);
}

int64_t KnownIterations(const ir::Op& loop) {
  const ir::ForOp counted(loop);
  const auto end = ir::SplatOf(counted.upper_bound()), step = ir::SplatOf(counted.step());
  if (!end || !step || *step == 0) return 0;
  return std::max<int64_t>(0, ir::AsSigned(*end, ir::WidthOf(counted.upper_bound())) / static_cast<int64_t>(*step));
}

}  // namespace tile::codegen

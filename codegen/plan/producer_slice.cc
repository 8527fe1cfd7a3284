#include "codegen/plan/producer_slice.h"

#include "absl/container/flat_hash_set.h"
#include "codegen/plan/staging.h"
#include "codegen/target/decisions.h"
#include "ir/loops.h"

namespace tile::codegen {
namespace {

using ir::Op;
using ir::Value;

constexpr int kDepth = 64;

// `seen`: values that are, unless one that was found not to be has ended the search.
bool Sliceable(const Value* v, int depth, absl::flat_hash_set<const Value*>* seen) {
  if (depth > kDepth) return false;
  if (!seen->insert(v).second) return true;
  const Op* def = v->def();
  if (def == nullptr) {
    const auto loop = ir::CarryingLoop::Around(v);
    return v->block()->parent() == nullptr || (loop && loop->index() == v);
  }
  if (!def->info()->has(ir::kPure) || def->num_regions() > 0) return false;
  if (v->type().is_tile() && !v->type().is_scalar()) return false;
  for (int i = 0; i < def->num_operands(); ++i) {
    if (!Sliceable(def->operand(i), depth + 1, seen)) return false;
  }
  return true;
}

// What the value is computed from.
void Mark(ir::Module* module, const Value* v) {
  Op* def = v->def();
  if (def == nullptr || DecisionOf<Decision::kByProducer>(*def)) return;
  Decide<Decision::kByProducer>(module, def, true);
  for (int i = 0; i < def->num_operands(); ++i) Mark(module, def->operand(i));
}

}  // namespace

bool IsSliceable(const Value* v) {
  absl::flat_hash_set<const Value*> seen;
  return Sliceable(v, 0, &seen);
}

bool IsSliceableLoop(const Op& loop) {
  for (const Op* op = &loop; op != nullptr; op = op->parent()) {
    if (!ir::ForOp::Is(op)) return false;
    for (const Value* v : ir::BoundsOf(ir::ForOp(op))) {
      if (!IsSliceable(v)) return false;
    }
  }
  return true;
}

void DecideProducerOps(ir::Module* module, ir::Function* function) {
  ir::Walk(function->body(), [&](Op* loop) {
    if (!ir::ForOp::Is(loop) || FetchIn(*loop) == nullptr) return;
    for (Op* op = loop; op != nullptr; op = op->parent()) {
      Decide<Decision::kByProducer>(module, op, true);
      for (const Value* v : ir::BoundsOf(ir::ForOp(op))) Mark(module, v);
    }
    const ir::Block* region = FetchIn(*loop)->region(0);
    for (const Op* op : *region) {
      for (int i = 0; i < op->num_operands(); ++i) {
        const Value* v = op->operand(i);
        if (v->def() != nullptr && v->def()->block() != region) Mark(module, v);
      }
    }
  });
}

}  // namespace tile::codegen

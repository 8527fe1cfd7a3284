#include "codegen/plan/producer_slice.h"

#include "codegen/plan/staging.h"
#include "ir/loops.h"

namespace tile::codegen {
namespace {

using ir::Op;
using ir::Value;

constexpr int kDepth = 64;

bool Sliceable(const Value* v, int depth) {
  if (depth > kDepth) return false;
  const Op* def = v->def();
  if (def == nullptr) {
    const auto loop = ir::CarryingLoop::Around(v);
    return v->block()->parent() == nullptr || (loop && loop->index() == v);
  }
  if (!def->info()->has(ir::kPure) || def->num_regions() > 0) return false;
  if (v->type().is_tile() && !v->type().is_scalar()) return false;
  for (int i = 0; i < def->num_operands(); ++i) {
    if (!Sliceable(def->operand(i), depth + 1)) return false;
  }
  return true;
}

void Add(const Value* v, absl::flat_hash_set<const Op*>* ops) {
  const Op* def = v->def();
  if (def == nullptr || !ops->insert(def).second) return;
  for (int i = 0; i < def->num_operands(); ++i) Add(def->operand(i), ops);
}

}  // namespace

bool IsSliceable(const Value* v) { return Sliceable(v, 0); }

bool IsSliceableLoop(const Op& loop) {
  for (const Op* op = &loop; op != nullptr; op = op->parent()) {
    if (!ir::ForOp::Is(op)) return false;
    for (const Value* v : ir::BoundsOf(ir::ForOp(op))) {
      if (!IsSliceable(v)) return false;
    }
  }
  return true;
}

absl::flat_hash_set<const Op*> ProducerOps(const ir::Function& function) {
  absl::flat_hash_set<const Op*> ops;
  ir::Walk(function.body(), [&](Op* loop) {
    if (!ir::ForOp::Is(loop) || FetchIn(*loop) == nullptr) return;
    for (const Op* op = loop; op != nullptr; op = op->parent()) {
      ops.insert(op);
      for (const Value* v : ir::BoundsOf(ir::ForOp(op))) Add(v, &ops);
    }
    const ir::Block* region = FetchIn(*loop)->region(0);
    for (const Op* op : *region) {
      for (int i = 0; i < op->num_operands(); ++i) {
        const Value* v = op->operand(i);
        if (v->def() != nullptr && v->def()->block() != region) Add(v, &ops);
      }
    }
  });
  return ops;
}

}  // namespace tile::codegen

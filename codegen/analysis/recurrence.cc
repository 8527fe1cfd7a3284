#include "codegen/analysis/recurrence.h"

#include <algorithm>

#include "absl/container/flat_hash_set.h"
#include "codegen/analysis/tile_value.h"
#include "ir/loops.h"
#include "ir/op_views.h"
#include "ir/passes/rewrite.h"

namespace tile::codegen {
namespace {

using ir::Op;
using ir::Value;

int64_t ElementsOf(const Value* v) { return IsTile(v) ? v->type().num_elements() : 0; }

// The operation, or one inside, uses one of the values.
bool UsesAny(const Op& op, const absl::flat_hash_set<const Value*>& values) {
  for (int i = 0; i < op.num_operands(); ++i) {
    if (values.contains(op.operand(i))) return true;
  }
  bool uses = false;
  for (int r = 0; r < op.num_regions(); ++r) {
    if (op.region(r) == nullptr) continue;
    ir::Walk(op.region(r), [&](const Op* inside) {
      for (int i = 0; i < inside->num_operands(); ++i) uses = uses || values.contains(inside->operand(i));
    });
  }
  return uses;
}

bool IsRecurrence(const Op& loop) {
  const ir::CarryingLoop carrying(loop);
  absl::flat_hash_set<const Value*> carried, folded;
  for (int i = 0; i < carrying.num_carried(); ++i) {
    if (IsTile(carrying.arg(i))) carried.insert(carrying.arg(i));
  }
  for (const Op* op : *carrying.body()) {
    const bool from_last = UsesAny(*op, carried), from_fold = UsesAny(*op, folded), folds = ir::FoldOp::Is(op);
    if ((folds && from_last) || (from_fold && op == carrying.latch())) return true;
    for (int r = 0; r < op->num_results(); ++r) {
      if (from_last) carried.insert(op->result(r));
      if (from_fold || folds) folded.insert(op->result(r));
    }
  }
  return false;
}

}  // namespace

int64_t ElementsOfRecurrences(const ir::Function& function) {
  int64_t most = 0;
  bool loads_much = false;
  ir::Walk(function.body(), [&](const Op* loop) {
    if (!ir::ForOp::Is(loop) || !IsRecurrence(*loop)) return;
    int64_t elements = 0, loaded = 0;
    ir::Walk(loop->region(0), [&](const Op* op) {
      if (ir::FoldOp::Is(op)) elements = std::max(elements, ElementsOf(op->operand(0)));
      if (op->info()->is_load()) loaded += ElementsOf(op->result(0));
    });
    loads_much = loads_much || 2 * loaded > elements;
    most = std::max(most, elements);
  });
  return loads_much ? 0 : most;
}

}  // namespace tile::codegen

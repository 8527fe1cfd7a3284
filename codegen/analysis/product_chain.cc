#include "codegen/analysis/product_chain.h"

#include <vector>

#include "absl/container/flat_hash_set.h"
#include "codegen/analysis/loop_around.h"
#include "codegen/gpu/ops.h"
#include "ir/op_views.h"

namespace tile::codegen {
namespace {

using ir::Op;
using ir::Opcode;
using ir::Value;

// The elements stay in their rows.
bool KeepsRows(const Op& op) {
  return op.info()->has(ir::kElementwise) || op.info() == GetGpuOp(GpuOpcode::kConvertLayout);
}

// Values still to be looked at, each once.
class Worklist {
 public:
  void Add(const Value* v) {
    if (v->type().is_tile() && v->type().rank() == 2 && seen_.insert(v).second) pending_.push_back(v);
  }
  const Value* Next() {
    if (pending_.empty()) return nullptr;
    const Value* v = pending_.back();
    pending_.pop_back();
    return v;
  }

 private:
  std::vector<const Value*> pending_;
  absl::flat_hash_set<const Value*> seen_;
};

bool LeadsToRows(const Value* result) {
  Worklist list;
  list.Add(result);
  while (const Value* v = list.Next()) {
    for (const ir::Use* use = v->uses(); use != nullptr; use = use->next) {
      const Op& op = *use->owner;
      if (ir::ReduceOp::Is(&op) && ir::ReduceOp(op).dim() == 1) return true;
      if (IsProduct(op) && ir::ProductOp(op).lhs() == v) return true;
      if (KeepsRows(op)) list.Add(op.result(0));
      const Op* parent = op.parent();
      if (op.opcode() != Opcode::kYield || parent == nullptr || parent->opcode() != Opcode::kIf) continue;
      for (int i = 0; i < op.num_operands(); ++i) {
        if (op.operand(i) == v) list.Add(parent->result(i));
      }
    }
  }
  return false;
}

bool ComesFromProduct(const Value* operand) {
  Worklist list;
  list.Add(operand);
  while (const Value* v = list.Next()) {
    const Op* op = v->def();
    if (op == nullptr) continue;
    if (IsProduct(*op)) return true;
    if (KeepsRows(*op)) {
      for (int i = 0; i < op->num_operands(); ++i) list.Add(op->operand(i));
    } else if (op->opcode() == Opcode::kIf) {
      for (int r = 0; r < op->num_regions(); ++r) {
        const Op* end = op->region(r) != nullptr ? op->region(r)->back() : nullptr;
        if (end != nullptr && end->opcode() == Opcode::kYield) list.Add(end->operand(v->index()));
      }
    }
  }
  return false;
}

}  // namespace

const Op* NextOfSum(const Op& mma) {
  if (!IsProduct(mma)) return nullptr;
  const ir::Use* use = mma.result(0)->uses();
  if (use == nullptr || use->next != nullptr || !IsProduct(*use->owner) || use->owner->block() != mma.block())
    return nullptr;
  const ir::ProductOp next(use->owner);
  const bool adds = next.acc() == mma.result(0) && next.lhs() != mma.result(0) && next.rhs() != mma.result(0);
  return adds ? use->owner : nullptr;
}

bool IsInvariant(const Op& mma, int operand) {
  const Value* v = mma.operand(operand);
  const Op* loop = LoopAround(mma);
  if (loop == nullptr) return false;
  const ir::Block* home = v->def() != nullptr ? v->def()->block() : v->block();
  for (const ir::Block* b = home; b != nullptr; b = b->parent() != nullptr ? b->parent()->block() : nullptr) {
    if (b->parent() == loop) return false;
  }
  return true;
}

bool IsProduct(const Op& op) { return op.info()->has(ir::kProduct); }

bool HasProducts(const ir::Function& function) {
  bool any = false;
  ir::Walk(function.body(), [&](const Op* op) { any = any || IsProduct(*op); });
  return any;
}

bool Multiplies(const Op& loop) {
  for (const Op* op : *loop.region(0)) {
    if (IsProduct(*op)) return true;
  }
  return false;
}

bool HoldsProducts(const Op& loop) {
  bool holds = false;
  ir::Walk(loop.region(0), [&](const Op* op) { holds = holds || op->info()->family == ir::Family::kMma; });
  return holds;
}

bool StandsBesideProducts(const Op& op) {
  const auto is_role = [](const Op* o) { return IsGpuOp(o, GpuOpcode::kWorkers) || IsGpuOp(o, GpuOpcode::kEachBlock); };
  const Op* around = op.parent();
  // At the GPU level the whole program is in a role.
  while (around != nullptr && (is_role(around) || !HoldsProducts(*around))) around = around->parent();
  return around != nullptr;
}

bool WorksOnRows(const Op& mma) {
  if (!IsProduct(mma)) return false;
  return LeadsToRows(mma.result(0)) || ComesFromProduct(ir::ProductOp(mma).lhs());
}

}  // namespace tile::codegen

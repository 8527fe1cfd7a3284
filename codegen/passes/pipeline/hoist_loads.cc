#include "codegen/passes/pipeline/hoist_loads.h"

#include <algorithm>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "codegen/analysis/access_order.h"
#include "codegen/analysis/live_registers.h"
#include "codegen/analysis/tile_value.h"
#include "codegen/passes/move_loads.h"
#include "codegen/plan/schedule.h"
#include "ir/op_views.h"
#include "ir/passes/rewrite.h"

namespace tile::codegen {
namespace {

using ir::Block;
using ir::Op;
using ir::Value;

constexpr int64_t kMostMoved = 16;  // registers of a thread

bool IsWeak(const Op& op) {
  const bool access =
      ir::LoadViewOp::Is(&op) || ir::LoadPtrOp::Is(&op) || ir::StoreViewOp::Is(&op) || ir::StorePtrOp::Is(&op);
  return access && ir::OrderingOf(op) == ir::MemoryOrdering::kWeak;
}

class Mover {
 public:
  explicit Mover(Program& p) : p_(p), threads_(ScheduleOf(*p.function)->threads()) {}

  void Visit(Block* block) {
    std::vector<Op*> ops;
    for (Op* op : *block) ops.push_back(op);
    stores_.clear();
    behind_.clear();
    int64_t moved = 0;
    for (Op* op : ops) {
      const bool load = op->info()->is_load() && IsWeak(*op);
      if (load && !stores_.empty() && Moves(*op, &moved)) continue;
      if (IsWeak(*op) && !load) stores_.push_back(op);
      // Nothing is known of what else happens there.
      if (!IsWeak(*op) && !op->info()->has(ir::kPure) && !ir::MakeTokenOp::Is(op) && !ir::JoinTokensOp::Is(op)) {
        stores_.clear();
        behind_.clear();
      }
      if (!stores_.empty()) behind_.insert(op);
    }
    for (Op* op : ops) {
      for (int r = 0; r < op->num_regions(); ++r) {
        if (op->region(r) != nullptr && !op->info()->has(ir::kElementBody)) Visit(op->region(r));
      }
    }
  }

 private:
  // In front of the first store, with what it needs.
  bool Moves(Op& load, int64_t* moved) {
    const int64_t each = (RegistersOf(load.result(0)->type()) + threads_ - 1) / threads_;
    std::vector<Op*> with;
    if (*moved + each > kMostMoved || !Collect(&load, &with)) return false;
    if (std::any_of(stores_.begin(), stores_.end(), [&](const Op* s) { return order_.MustFollow(*s, load); }))
      return false;
    const StepTexts texts = {"hoist-loads", "in front of stores that it need not follow",
                             "behind the stores in front of it"};
    if (!TakesStep(*p_.module, load, texts, "", &p_.trace())) return false;
    for (Op* op : with) {
      ir::MoveBefore(p_.module.get(), op, stores_[0]);
      behind_.erase(op);
    }
    *moved += each;
    return true;
  }

  // What stands behind the first store and is needed for the op, in order; false if that is more than can move.
  bool Collect(Op* op, std::vector<Op*>* with) {
    if (std::find(with->begin(), with->end(), op) != with->end()) return true;
    for (int i = 0; i < op->num_operands(); ++i) {
      Op* def = op->operand(i)->def();
      if (def == nullptr || !behind_.contains(def)) continue;
      const bool small = !IsTile(def->result(0)) || RegistersOf(def->result(0)->type()) <= threads_;
      const bool plain = def->info()->has(ir::kPure) && def->num_regions() == 0 && small;
      if (!(plain || ir::MakeTokenOp::Is(def) || ir::JoinTokensOp::Is(def)) || !Collect(def, with)) return false;
    }
    with->push_back(op);
    return true;
  }

  Program& p_;
  const int64_t threads_;
  SliceOrder order_;
  std::vector<Op*> stores_;                // of the stretch, in order
  absl::flat_hash_set<const Op*> behind_;  // the first of them, and what stands behind it
};

}  // namespace

absl::Status HoistLoads(Program& p) {
  Mover(p).Visit(p.function->body());
  return absl::OkStatus();
}

}  // namespace tile::codegen

#include "ir/passes/remove_unused.h"

#include <algorithm>
#include <array>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "ir/loops.h"
#include "ir/passes/rewrite.h"

namespace tile::ir {
namespace {

bool IsControl(const Op* op) { return IfOp::Is(op) || IsLoop(op); }

// Has no effect of its own; what its body does is judged there.
bool IsRemovable(const Op& op) {
  const uint16_t stays = kReads | kWrites | kEffect | kTerminator;
  return op.info()->has(kPure) && (op.info()->traits & stays) == 0;
}

// What decides which way control goes.
std::vector<Value*> ControlOperands(const Op& op) {
  if (const auto branch = As<IfOp>(&op)) return {branch->condition()};
  if (!ForOp::Is(&op)) return {};
  const std::array<Value*, 3> bounds = BoundsOf(ForOp(op));
  return {bounds.begin(), bounds.end()};
}

class UnusedRemover {
 public:
  UnusedRemover(Module* module, Function* function) : module_(module), function_(function) {}

  bool Run() {
    Walk(function_->body(), [&](Op* op) {
      if (op->info()->has(kTerminator)) {
        if (Op* to = TargetOf(*op)) branches_[to].push_back(op);
      }
    });
    Mark();
    std::vector<Op*> dead, control;
    Walk(function_->body(), [&](Op* op) {
      if (IsControl(op)) control.push_back(op);
      if (IsRemovable(*op) && !AnyNeeded(*op)) dead.push_back(op);
    });
    for (Op* op : dead) {
      for (int r = 0; r < op->num_regions(); ++r) Walk(op->region(r), [](Op* inner) { inner->DropOperands(); });
      op->DropOperands();
      op->Unlink();
    }
    bool changed = !dead.empty();
    // The inner ones first, which follow theirs in textual order.
    for (auto it = control.rbegin(); it != control.rend(); ++it) changed = Narrow(*it) || changed;
    return changed;
  }

 private:
  void Need(Value* v) {
    if (needed_.insert(v).second) open_.push_back(v);
  }

  // Whether any result is needed.
  bool AnyNeeded(const Op& op) const {
    for (int i = 0; i < op.num_results(); ++i) {
      if (needed_.contains(op.result(i))) return true;
    }
    return false;
  }

  void Mark() {
    Walk(function_->body(), [&](Op* op) {
      if (IsControl(op)) {
        for (Value* v : ControlOperands(*op)) Need(v);
      } else if (!IsRemovable(*op) && (!op->info()->has(kTerminator) || TargetOf(*op) == nullptr)) {
        for (int i = 0; i < op->num_operands(); ++i) Need(op->operand(i));
      }
    });
    while (!open_.empty()) {
      Value* v = open_.back();
      open_.pop_back();
      if (v->def() == nullptr) {
        NeedSourcesOfArgument(v);
      } else {
        NeedSourcesOfResult(v->def(), v->index());
      }
    }
  }

  void NeedFrom(const Op* target, bool continues, int i) {
    for (const Op* branch : branches_[target]) {
      if (ContinueOp::Is(branch) == continues) Need(branch->operand(i));
    }
  }

  void NeedSourcesOfArgument(const Value* arg) {
    const auto loop = CarryingLoop::Around(arg);
    if (!loop || loop->carried_by(arg) < 0) return;
    Need(loop->init(loop->carried_by(arg)));
    NeedFrom(&loop->op(), true, loop->carried_by(arg));
  }

  void NeedSourcesOfResult(Op* op, int i) {
    if (ForOp::Is(op)) return Need(CarryingLoop(*op).arg(i));
    if (IsControl(op)) return NeedFrom(op, false, i);
    for (int k = 0; k < op->num_operands(); ++k) Need(op->operand(k));
    for (const Op* end : branches_[op]) {  // of a body that combines elements
      for (int k = 0; k < end->num_operands(); ++k) Need(end->operand(k));
    }
  }

  // The op without what is not needed. Whether there was any.
  bool Narrow(Op* op) {
    std::vector<bool> results, carried;
    for (int i = 0; i < op->num_results(); ++i) results.push_back(needed_.contains(op->result(i)));
    if (IsLoop(op)) {
      const CarryingLoop loop(*op);
      for (int i = 0; i < loop.num_carried(); ++i) {
        carried.push_back(needed_.contains(loop.arg(i)) || (loop.counts() && results[static_cast<size_t>(i)]));
      }
      if (loop.counts()) results = carried;
    }
    const auto all = [](const std::vector<bool>& kept) {
      return std::find(kept.begin(), kept.end(), false) == kept.end();
    };
    bool changed = false;
    if (!all(results) || !all(carried)) {
      op = Rebuild(op, results, carried);
      changed = true;
    }
    if (!IsEmpty(*op)) return changed;
    op->Erase();
    return true;
  }

  // Does nothing and comes to an end.
  static bool IsEmpty(const Op& op) {
    if (op.num_results() > 0 || LoopOp::Is(&op)) return false;
    for (int r = 0; r < op.num_regions(); ++r) {
      const Block* region = op.region(r);
      if (region == nullptr || region->empty()) continue;
      const Op* only = region->front();
      if (only != region->back() || TargetOf(*only) != &op) return false;
    }
    return true;
  }

  static std::vector<Value*> Kept(const Op& op, const std::vector<bool>& kept) {
    std::vector<Value*> values;
    for (size_t i = 0; i < kept.size(); ++i) {
      if (kept[i]) values.push_back(op.operand(static_cast<int>(i)));
    }
    return values;
  }

  Op* Rebuild(Op* op, const std::vector<bool>& results, const std::vector<bool>& carried) {
    std::vector<Type> types;
    for (size_t i = 0; i < results.size(); ++i) {
      if (results[i]) types.push_back(op->result(static_cast<int>(i))->type());
    }
    std::vector<Value*> inits;
    for (size_t i = 0; i < carried.size(); ++i) {
      if (carried[i]) inits.push_back(CarryingLoop(*op).init(static_cast<int>(i)));
    }
    Op* narrow = nullptr;
    WriteBefore(module_, op, [&](Builder& b) {
      if (const auto branch = As<IfOp>(op)) {
        narrow = b.Create(Opcode::kIf, {{branch->condition()}}, types);
      } else if (const auto loop = As<ForOp>(op)) {
        narrow = b.Create(Opcode::kFor, {{loop->lower_bound()}, {loop->upper_bound()}, {loop->step()}, inits}, types,
                          {{"unsigned_cmp", Attr::Flag(loop->unsigned_cmp())}});
      } else {
        narrow = b.Create(Opcode::kLoop, {inits}, types);
      }
    });
    for (int i = 0, k = 0; i < op->num_results(); ++i) {
      if (!results[static_cast<size_t>(i)]) continue;
      narrow->result(k)->name = op->result(i)->name;
      op->result(i)->ReplaceAllUsesWith(narrow->result(k++));
    }
    for (Op* branch : branches_[op]) {
      const std::vector<Value*> operands = Kept(*branch, ContinueOp::Is(branch) ? carried : results);
      Op* shorter = nullptr;
      WriteBefore(module_, branch, [&](Builder& b) { shorter = b.Create(branch->opcode(), {operands}, {}); });
      branch->Erase();
      branches_[narrow].push_back(shorter);
    }
    for (int r = 0; r < op->num_regions(); ++r) MoveRegion(op, narrow, r, carried);
    // What still uses a result goes with the next operation around.
    op->DropOperands();
    op->Unlink();
    return narrow;
  }

  void MoveRegion(Op* from, Op* to, int r, const std::vector<bool>& carried) {
    Block* old = from->region(r);
    if (old == nullptr) return;
    const int first = IsLoop(from) ? CarryingLoop(*from).first_arg() : 0;
    const auto stays = [&](int arg) { return arg < first || carried[static_cast<size_t>(arg - first)]; };
    std::vector<Type> types;
    for (int i = 0; i < old->num_args(); ++i) {
      if (stays(i)) types.push_back(old->arg(i)->type());
    }
    Block* block = module_->CreateBlock(types);
    to->set_region(r, block);
    for (int i = 0, k = 0; i < old->num_args(); ++i) {
      if (!stays(i)) continue;
      block->arg(k)->name = old->arg(i)->name;
      old->arg(i)->ReplaceAllUsesWith(block->arg(k++));
    }
    while (!old->empty()) {
      Op* op = old->front();
      op->Unlink();
      module_->Append(block, op);
    }
  }

  Module* module_;
  Function* function_;
  absl::flat_hash_map<const Op*, std::vector<Op*>> branches_;  // by what they give their operands to
  absl::flat_hash_set<const Value*> needed_;
  std::vector<Value*> open_;
};

}  // namespace

bool RemoveUnused(Module* module, Function* function) {
  bool changed = false;
  // What decided over a branch that went is needed no more.
  while (UnusedRemover(module, function).Run()) changed = true;
  return changed;
}

}  // namespace tile::ir

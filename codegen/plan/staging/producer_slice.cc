#include "codegen/plan/staging/producer_slice.h"

#include <utility>
#include <vector>

#include "codegen/plan/staging/staging.h"
#include "ir/loops.h"

namespace tile::codegen {
namespace {

using ir::Op;
using ir::Value;

constexpr int kDepth = 64;

bool StandsIn(const Op& op, const Op& in) {
  const Op* at = op.parent();
  while (at != nullptr && at != &in) at = at->parent();
  return at != nullptr;
}

bool IsControl(const Op& op) { return ir::ForOp::Is(&op) || ir::LoopOp::Is(&op) || ir::IfOp::Is(&op); }

// Branches in the regions of the operation that hand values to it, or lead past it: those of its own, and others behind which it does not go on.
std::vector<Op*> BranchesIn(const Op& op) {
  std::vector<Op*> branches;
  for (int r = 0; r < op.num_regions(); ++r) {
    if (op.region(r) == nullptr) continue;
    ir::Walk(op.region(r), [&](Op* inside) {
      if (!inside->info()->has(ir::kTerminator)) return;
      const Op* to = ir::TargetOf(*inside);
      const bool within = to != nullptr && StandsIn(*to, op);
      if (!within) branches.push_back(inside);
    });
  }
  return branches;
}

// The values that result or argument `v` of this operation may be.
std::vector<const Value*> SourcesOf(const Op& op, const Value* v) {
  std::vector<const Value*> sources;
  if (ir::IsLoop(&op)) {
    const ir::CarryingLoop loop(op);
    const int i = v->def() == nullptr ? loop.carried_by(v) : loop.counts() ? v->index() : -1;
    if (i >= 0) sources.push_back(loop.init(i));
    if (i >= 0) v = loop.arg(i);
  }
  for (const Op* branch : BranchesIn(op)) {
    for (int i = 0; ir::TargetOf(*branch) == &op && i < branch->num_operands(); ++i) {
      if (ir::ReceiverOf(*branch, i) == v) sources.push_back(branch->operand(i));
    }
  }
  return sources;
}

// What decides which way control flow takes.
std::vector<const Value*> DeciderOf(const Op& op) {
  if (ir::IfOp::Is(&op)) return {op.operand(0)};
  if (!ir::ForOp::Is(&op)) return {};
  const auto bounds = ir::BoundsOf(ir::ForOp(&op));
  return {bounds.begin(), bounds.end()};
}

// Control flow between a branch and where it leads, or what it ends.
std::vector<const Op*> Around(const Op& branch, const Op& op) {
  std::vector<const Op*> around;
  for (const Op* at = branch.parent(); at != nullptr && at != &op; at = at->parent()) around.push_back(at);
  return around;
}

// One question: everything that it takes must be sliceable, so what was asked before counts as such.
class Question {
 public:
  bool Has(const Value* v, int depth = 0) {
    if (depth > kDepth) return false;
    if (!values_.insert(v).second) return true;
    const Op* def = v->def();
    if (def == nullptr) {
      if (v->block()->parent() == nullptr) return true;
      const auto loop = ir::CarryingLoop::Around(v);
      return loop && (loop->index() == v || (v->type().is_scalar() && HasAll(SourcesOf(loop->op(), v), depth)));
    }
    if (IsControl(*def)) return v->type().is_scalar() && Runs(*def, depth) && HasAll(SourcesOf(*def, v), depth);
    if (def->num_regions() > 0 || !(IsLoad(*def) || def->info()->has(ir::kPure))) return false;
    if (v->type().is_tile() && !v->type().is_scalar()) {
      const bool takes = IsLoad(*def) || ir::ExtractOp::Is(def) || ir::ReshapeOp::Is(def);
      if (!takes || v->type().num_elements() > kMostSliced) return false;
    }
    for (int i = 0; i < def->num_operands(); ++i) {
      if (!Has(def->operand(i), depth + 1)) return false;
    }
    return true;
  }

  // It goes where the other warps do.
  bool Runs(const Op& op, int depth = 0) {
    if (!IsControl(op)) return false;
    if (!ops_.insert(&op).second) return true;
    for (const Op* branch : BranchesIn(op)) {
      if (ir::ReturnOp::Is(branch)) return false;
      for (const Op* around : Around(*branch, op)) {
        if (!Runs(*around, depth + 1)) return false;
      }
    }
    return HasAll(DeciderOf(op), depth);
  }

 private:
  static bool IsLoad(const Op& op) {
    return op.info()->is_load() && ir::OrderingOf(op) == ir::MemoryOrdering::kWeak &&
           ir::AccessOp(op).token() == nullptr;
  }

  bool HasAll(const std::vector<const Value*>& values, int depth) {
    for (const Value* v : values) {
      if (!Has(v, depth + 1)) return false;
    }
    return true;
  }

  absl::flat_hash_set<const Value*> values_;
  absl::flat_hash_set<const Op*> ops_;
};

class Marker {
 public:
  // What the value is computed from.
  void Mark(const Value* v) {
    const Op* def = v->def() != nullptr ? v->def() : v->block()->parent();
    if (def == nullptr) return;
    if (IsControl(*def)) return Run(def);
    if (!ops_.insert(def).second) return;
    for (int i = 0; i < def->num_operands(); ++i) Mark(def->operand(i));
  }

  // Control flow, with what of its values is sliceable.
  void Run(const Op* op) {
    if (!ops_.insert(op).second) return;
    for (const Value* v : DeciderOf(*op)) Mark(v);
    for (int i = 0; i < op->num_results(); ++i) MarkSources(*op, op->result(i));
    if (ir::IsLoop(op)) {
      for (const Value* v : op->region(0)->args()) MarkSources(*op, v);
    }
    for (const Op* branch : BranchesIn(*op)) {
      for (const Op* around : Around(*branch, *op)) Run(around);
    }
  }

  // A loop that fetches: where it begins and ends, and where its loads do.
  void Fetches(const Op& loop) {
    ops_.insert(&loop);
    for (const Value* v : DeciderOf(loop)) Mark(v);
    for (const Op* op = loop.parent(); op != nullptr; op = op->parent()) Run(op);
    const ir::Block* region = FetchIn(loop)->region(0);
    for (const Op* op : *region) {
      for (int i = 0; i < op->num_operands(); ++i) {
        const Value* v = op->operand(i);
        if (v->def() != nullptr && v->def()->block() != region) Mark(v);
      }
    }
  }

  absl::flat_hash_set<const Op*> Take() { return std::move(ops_); }

 private:
  void MarkSources(const Op& op, const Value* v) {
    if (!v->type().is_tile() || !IsSliceable(v)) return;
    for (const Value* source : SourcesOf(op, v)) Mark(source);
  }

  absl::flat_hash_set<const Op*> ops_;
};

}  // namespace

bool IsSliceable(const Value* v) { return Question().Has(v); }

bool IsSliceableLoop(const Op& loop) {
  Question question;
  for (const Value* v : DeciderOf(loop)) {
    if (!question.Has(v)) return false;
  }
  for (const Op* op = loop.parent(); op != nullptr; op = op->parent()) {
    if (!question.Runs(*op)) return false;
  }
  return ir::ForOp::Is(&loop);
}

absl::flat_hash_set<const Op*> ProducerOps(const ir::Function& function) {
  Marker marker;
  ir::Walk(function.body(), [&](const Op* loop) {
    if (ir::ForOp::Is(loop) && FetchIn(*loop) != nullptr) marker.Fetches(*loop);
  });
  return marker.Take();
}

}  // namespace tile::codegen

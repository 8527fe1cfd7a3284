#include "codegen/passes/canonical/merge_peeled_loops.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "codegen/analysis/facts.h"
#include "codegen/analysis/product_chain.h"
#include "codegen/passes/equivalence.h"
#include "ir/create_like.h"
#include "ir/loops.h"
#include "ir/op_views.h"
#include "ir/ops.h"
#include "ir/passes/common.h"
#include "ir/passes/rewrite.h"

namespace tile::codegen {
namespace {

namespace op = ir::ops;

using ir::Builder;
using ir::Op;
using ir::Value;

bool HasEffects(const Op& op) { return !op.info()->has(ir::kPure) && !MayLoadOnce(op); }

// Whether the two loops compute the same, and where the second one does more.
class Comparison {
 public:
  Comparison(const Op& first, const Op& second, bool counts_from_zero)
      : first_(first), second_(second), counts_from_zero_(counts_from_zero) {
    Pair(first.region(0)->arg(0), second.region(0)->arg(0));
  }

  void Pair(const Value* a, const Value* b) { partner_[b] = a; }

  // In the iterations of the first loop, b is what a is there, if what `skipped` says is done.
  bool Same(const Value* a, const Value* b) {
    const auto partner = partner_.find(b);
    if (partner != partner_.end()) return partner->second == a;
    if (!IsHere(a, first_) || !IsHere(b, second_)) return alike_(a, b);
    const auto [known, is_new] = failed_.insert({a, b});
    if (!is_new) return false;
    if (!SameOperation(a, b) && !SameAsOperand(a, b)) return false;
    failed_.erase({a, b});
    // Meanwhile it may have become that of another one.
    return partner_.try_emplace(b, a).first->second == a;
  }

  bool has(const Value* b) const { return partner_.contains(b); }
  // Values of the second loop that are one of their operands in the iterations of the first.
  const std::vector<std::pair<Value*, Value*>>& skipped() const { return skipped_; }

 private:
  static bool IsHere(const Value* v, const Op& loop) {
    return v->def() != nullptr ? v->def()->parent() == &loop : v->block() == loop.region(0);
  }

  bool SameOperation(const Value* a, const Value* b) {
    const Op *x = a->def(), *y = b->def();
    if (x == nullptr || y == nullptr || a->index() != b->index()) return false;
    if (SameShift(*x, *y)) return true;
    if (!ir::AreAlike(*x, *y)) return false;
    for (int i = 0; i < x->num_operands(); ++i) {
      if (!Same(x->operand(i), y->operand(i))) return false;
    }
    for (int i = 0; i < x->num_regions(); ++i) {
      if (!SameRegion(x->region(i), y->region(i))) return false;
    }
    return true;
  }

  // The index divided by a power of two, which is not negative in the first loop.
  bool SameShift(const Op& x, const Op& y) const {
    if (!counts_from_zero_ || !ir::ShriOp::Is(&x) || x.operand(0) != first_.region(0)->arg(0)) return false;
    const auto shift = ir::SplatOf(x.operand(1));
    if (!shift || *shift > 30 || x.result(0)->type() != y.result(0)->type()) return false;
    const auto by = ir::SplatOf(y.operand(1));
    if (!by || y.operand(0) != second_.region(0)->arg(0)) return false;
    if (ir::ShriOp::Is(&y)) return by == shift;
    const auto div = ir::As<ir::DiviOp>(&y);
    return div && div->signedness() == ir::Signedness::kSigned && *by == uint64_t{1} << *shift &&
           div->rounding() == ir::Rounding::kNegativeInf;
  }

  // One operation after another, which may use values of outside.
  bool SameRegion(const ir::Block* p, const ir::Block* q) {
    if (p == nullptr || q == nullptr) return p == q;
    if (p->args().size() != q->args().size()) return false;
    absl::flat_hash_map<const Value*, const Value*> inner;
    for (size_t i = 0; i < p->args().size(); ++i) inner[p->arg(static_cast<int>(i))] = q->arg(static_cast<int>(i));
    const Op *x = p->front(), *y = q->front();
    for (; x != nullptr && y != nullptr; x = x->next(), y = y->next()) {
      if (x->num_regions() > 0 || !ir::AreAlike(*x, *y)) return false;
      for (int i = 0; i < x->num_operands(); ++i) {
        const auto at = inner.find(x->operand(i));
        if (at == inner.end() ? !Same(x->operand(i), y->operand(i)) : at->second != y->operand(i)) return false;
      }
      for (int i = 0; i < x->num_results(); ++i) inner[x->result(i)] = y->result(i);
    }
    return x == y;
  }

  bool SameAsOperand(const Value* a, const Value* b) {
    const Op* y = b->def();
    if (y == nullptr || !b->type().is_tile() || y->num_results() != 1 || !y->info()->has(ir::kElementwise))
      return false;
    for (int i = 0; i < y->num_operands(); ++i) {
      if (y->operand(i)->type() != b->type() || !Same(a, y->operand(i))) continue;
      skipped_.emplace_back(const_cast<Value*>(b), y->operand(i));
      return true;
    }
    return false;
  }

  const Op &first_, &second_;
  const bool counts_from_zero_;
  Equivalence alike_;
  absl::flat_hash_map<const Value*, const Value*> partner_;  // of a value of the second loop that of the first
  absl::flat_hash_set<std::pair<const Value*, const Value*>> failed_;
  std::vector<std::pair<Value*, Value*>> skipped_;
};

// From where to where the one loop goes, and from which index on it is the second one.
struct Bounds {
  Value *lower, *border, *upper;
  bool known;  // no bound is beyond another
};

class Fuser {
 public:
  Fuser(Program& p, Op* first, Op* second) : p_(p), module_(p.module.get()), first_(first), second_(second) {}

  bool Run() {
    const std::optional<Bounds> bounds = FindBounds();
    if (!bounds || !AreNeighbours()) return false;
    Comparison comparison(*first_, *second_, Facts().RangeOf(first_->operand(0)).lower >= 0);
    if (!BodiesAgree(&comparison) || !Takes()) return false;
    Rewrite(*bounds, comparison);
    return true;
  }

 private:
  std::optional<Bounds> FindBounds() {
    const ir::ForOp a(first_), b(second_);
    const auto step = ir::SplatOf(a.step());
    const int width = ir::WidthOf(a.step());
    if (!step || ir::SplatOf(b.step()) != step || a.unsigned_cmp() || b.unsigned_cmp() ||
        ir::WidthOf(b.step()) != width || ir::AsSigned(*step, width) <= 0)
      return std::nullopt;
    Equivalence alike;
    const Op *least = a.upper_bound()->def(), *most = b.lower_bound()->def();
    if (*step == 1 && ir::MiniOp::Is(least) && ir::MaxiOp::Is(most) &&
        ir::MiniOp(least).signedness() == ir::Signedness::kSigned &&
        ir::MaxiOp(most).signedness() == ir::Signedness::kSigned) {
      for (int i = 0; i < 4; ++i) {
        Value *end = least->operand(i & 1), *border = least->operand(1 - (i & 1));
        if (alike(end, b.upper_bound()) && alike(most->operand(i >> 1), a.lower_bound()) &&
            alike(most->operand(1 - (i >> 1)), border))
          return Bounds{a.lower_bound(), border, b.upper_bound(), true};
      }
    }
    Facts facts;
    const auto is_multiple = [&](const Value* v) { return ir::IsSplat(v, 0) || facts.Divisor(v) % *step == 0; };
    if (!alike(a.upper_bound(), b.lower_bound())) return std::nullopt;
    if (*step != 1 && (!is_multiple(a.lower_bound()) || !is_multiple(a.upper_bound()))) return std::nullopt;
    return Bounds{a.lower_bound(), a.upper_bound(), b.upper_bound(), false};
  }

  // Nothing between them has an effect, and what the first one makes goes to the second one, in the same places, and to nobody else.
  bool AreNeighbours() {
    if (first_->block() != second_->block()) return false;
    for (const Op* op = first_->next(); op != second_; op = op->next()) {
      if (op == nullptr || HasEffects(*op) || op->num_regions() > 0) return false;
    }
    const ir::CarryingLoop a(*first_), b(*second_);
    if (a.num_carried() != b.num_carried() || a.latch() == nullptr || b.latch() == nullptr) return false;
    for (int i = 0; i < a.num_carried(); ++i) {
      if (IsOnlyCarried(a, i) && IsOnlyCarried(b, i)) continue;
      const ir::Use* use = a.result(i)->uses();
      if (b.init(i) != a.result(i) || use == nullptr || use->next != nullptr) return false;
      carried_.push_back(i);
    }
    return !carried_.empty();
  }

  // A number that the index has replaced: nobody but its own next one needs it.
  static bool IsOnlyCarried(const ir::CarryingLoop& loop, int i) {
    if (loop.result(i)->uses() != nullptr) return false;
    const Op* next = loop.next(i)->def();
    const ir::Use* after = loop.next(i)->uses();
    if (next == nullptr || !next->info()->has(ir::kPure) || after == nullptr || after->next != nullptr) return false;
    for (const ir::Use* use = loop.arg(i)->uses(); use != nullptr; use = use->next) {
      if (use->owner != next) return false;
    }
    return true;
  }

  bool BodiesAgree(Comparison* comparison) {
    const ir::CarryingLoop a(*first_), b(*second_);
    for (const Op* loop : {first_, second_}) {
      for (const Op* op : *loop->region(0)) {
        if (op != loop->region(0)->back() && HasEffects(*op)) return false;
      }
    }
    for (int i : carried_) comparison->Pair(a.arg(i), b.arg(i));
    for (int i : carried_) {
      if (!comparison->Same(a.next(i), b.next(i))) return false;
    }
    // What the program does not load in the first iterations is not loaded there.
    for (const Op* op : *second_->region(0)) {
      if (op->info()->is_load() && !comparison->has(op->result(0))) return false;
    }
    return true;
  }

  bool Takes() {
    const std::string where = module_->Where(second_->loc, second_->pos);
    if (!p_.trace().TakesStep("merge-peeled-loops", absl::StrCat("for at ", where))) return false;
    if (p_.trace().on_remark)
      p_.trace().on_remark(absl::StrCat(where, ": remark[merge-peeled-loops]: for: goes on with the loop before"));
    return true;
  }

  void Rewrite(const Bounds& bounds, const Comparison& comparison) {
    Value *lower = bounds.lower, *upper = bounds.upper;
    Facts facts;
    const bool in_order = facts.RangeOf(lower).upper <= facts.RangeOf(bounds.border).lower;
    ir::WriteBefore(module_, second_, [&](Builder& b) {
      if (bounds.known) return;
      if (!in_order) lower = op::Mini(b, lower, bounds.border, ir::Signedness::kSigned);
      upper = op::Maxi(b, upper, bounds.border, ir::Signedness::kSigned);
    });
    const ir::CarryingLoop a(*first_), b(*second_);
    for (int i : carried_) second_->set_operand(b.init_at(i), a.init(i));
    second_->set_operand(0, lower);
    second_->set_operand(1, upper);
    Value* first = nullptr;
    if (!comparison.skipped().empty()) {
      ir::WriteBefore(module_, second_->region(0)->front(), [&](Builder& b) {
        first = op::CmpI(b, ir::ComparisonPredicate::kLessThan, second_->region(0)->arg(0), bounds.border,
                         ir::Signedness::kSigned);
      });
    }
    for (const auto& [value, same] : comparison.skipped()) Skip(value, same, first);
    first_->Erase();
  }

  // What nobody needs but v, in order, v's own operation last.
  std::vector<Op*> OnlyFor(Value* v, const Value* same) const {
    std::vector<Op*> all = {v->def()};
    absl::flat_hash_set<const Op*> in = {v->def()};
    for (Op* op = v->def()->prev(); op != nullptr; op = op->prev()) {
      const bool plain = op->info()->has(ir::kPure) && op->num_regions() == 0 && op->num_results() == 1 &&
                         !IsProduct(*op) && op->result(0) != same;
      bool needed = plain && op->result(0)->uses() != nullptr;
      for (const ir::Use* use = plain ? op->result(0)->uses() : nullptr; use != nullptr; use = use->next)
        needed = needed && in.contains(use->owner);
      if (!needed) continue;
      in.insert(op);
      all.push_back(op);
    }
    std::reverse(all.begin(), all.end());
    return all;
  }

  // `value` is `same` in iterations of the first loop; what leads to it alone is computed in the others.
  void Skip(Value* value, Value* same, Value* first) {
    Op* def = value->def();
    const std::vector<Op*> all = OnlyFor(value, same);
    Value* result = nullptr;
    ir::WriteBefore(module_, def, [&](Builder& b) {
      result = op::If(
          b, first, [&]() -> op::Values { return {same}; },
          [&]() -> op::Values {
            ir::ValueMap copies;
            for (const Op* op : all) module_->Append(b.block(), ir::CopyOp(module_, *op, &copies));
            return {copies[value]};
          })[0];
    });
    ir::ReplaceOp(def, result);
    for (size_t i = all.size() - 1; i-- > 0;) all[i]->Erase();
  }

  Program& p_;
  ir::Module* const module_;
  Op *const first_, *const second_;
  std::vector<int> carried_;  // that are more than carried
};

}  // namespace

absl::Status MergePeeledLoops(Program& p) {
  std::vector<Op*> loops;
  ir::Walk(p.function->body(), [&](Op* op) {
    if (ir::ForOp::Is(op) && op->region(0) != nullptr && Multiplies(*op)) loops.push_back(op);
  });
  for (size_t i = 0; i + 1 < loops.size(); ++i) Fuser(p, loops[i], loops[i + 1]).Run();
  return absl::OkStatus();
}

}  // namespace tile::codegen

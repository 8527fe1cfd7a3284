#include "codegen/passes/canonical/flat_loop.h"

#include "codegen/analysis/product_chain.h"
#include "ir/op_views.h"
#include "ir/passes/common.h"

namespace tile::codegen {

using ir::Op;
using ir::Value;

Shifted ShiftedOf(Value* v) {
  Shifted sum = {v, 0};
  while (sum.base != nullptr) {
    if (const auto constant = ir::SplatOf(sum.base))
      return {nullptr, sum.by + ir::AsSigned(*constant, ir::WidthOf(sum.base))};
    const Op* def = sum.base->def();
    const bool adds = ir::AddiOp::Is(def), subtracts = ir::SubiOp::Is(def);
    if (!adds && !subtracts) break;
    const auto by = ir::SplatOf(def->operand(1));
    if (!by) break;
    const int64_t amount = ir::AsSigned(*by, ir::WidthOf(sum.base));
    sum = {def->operand(0), sum.by + (adds ? amount : -amount)};
  }
  return sum;
}

bool IsCheap(const Op& op) {
  const uint16_t other = ir::kReads | ir::kWrites | ir::kEffect | ir::kTerminator | ir::kRegions | ir::kProduct;
  return op.info()->has(ir::kPure) && (op.info()->traits & other) == 0 && !ir::MmaScaledOp::Is(&op);
}

std::vector<Value*> UsedInRegions(const Op& op) {
  std::vector<Value*> used;
  for (int r = 0; r < op.num_regions(); ++r) {
    ir::Walk(op.region(r), [&](Op* inner) {
      for (int i = 0; i < inner->num_operands(); ++i) {
        if (!ir::IsInside(inner->operand(i), &op)) used.push_back(inner->operand(i));
      }
    });
  }
  return used;
}

namespace {

// Nothing but its end, and what may be computed once more.
bool IsPlain(const ir::Block* region, bool with_operations) {
  if (region == nullptr) return true;
  for (const Op* op : *region) {
    if (op == region->back()) return ir::YieldOp::Is(op);
    if (!with_operations || !IsCheap(*op)) return false;
  }
  return true;
}

bool IsNumber(const Value* v, ir::Elem elem) {
  return v->type().is_tile() && v->type().is_scalar() && v->type().elem() == elem;
}

}  // namespace

bool FlatLoop::Counts() {
  const Op& op = loop_.op();
  if (!ir::ForOp::Is(&op) || op.region(0) == nullptr || loop_.latch() == nullptr || !Multiplies(op)) return false;
  const ir::ForOp counted(&op);
  if (!IsNumber(loop_.index(), ir::Elem::kI32) || !ir::IsSplat(counted.lower_bound(), 0) ||
      !ir::IsSplat(counted.step(), 1) || counted.unsigned_cmp())
    return false;
  for (int i = 0; i < loop_.num_carried(); ++i) {
    if (FindCounter(i)) return true;
  }
  return false;
}

// %next = select (%arg equal %last), 0, %arg + 1. It begins with 0, and %arg is the number of the part; or with what the first one goes on
// to 0 from, and %next is.
bool FlatLoop::FindCounter(int i) {
  const Value* arg = loop_.arg(i);
  if (!IsNumber(arg, ir::Elem::kI32)) return false;
  const auto choice = ir::DefAs<ir::SelectOp>(loop_.next(i));
  const auto test = choice ? ir::DefAs<ir::CmpIOp>(choice->cond()) : std::nullopt;
  if (!test) return false;
  const bool is_equal = test->predicate() == ir::ComparisonPredicate::kEqual;
  if (!is_equal && test->predicate() != ir::ComparisonPredicate::kNotEqual) return false;
  const Shifted more = ShiftedOf(is_equal ? choice->val_if_false() : choice->val_if_true());
  if (!ir::IsSplat(is_equal ? choice->val_if_true() : choice->val_if_false(), 0) || more.base != arg || more.by != 1)
    return false;
  Shifted number = ShiftedOf(test->lhs()), last = ShiftedOf(test->rhs());
  if (number.base != arg) std::swap(number, last);
  if (number.base != arg || (last.base != nullptr && !Follows(last.base))) return false;
  last_ = {last.base, last.by - number.by};
  const Shifted init = ShiftedOf(loop_.init(i));
  if (init.base == nullptr && init.by == 0) {
    position_ = arg;
  } else if (((init.base == nullptr && init.by == -1) || IsLast(init)) &&
             ServesCounterOnly(arg, &test->op(), &choice->op())) {
    position_ = loop_.next(i);
    counting_.insert(&test->op());
    for (const ir::Use* use = arg->uses(); use != nullptr; use = use->next) counting_.insert(use->owner);
  } else {
    return false;
  }
  counter_ = i;
  return true;
}

bool FlatLoop::ServesCounterOnly(const Value* arg, const Op* condition, const Op* next) const {
  const auto by_these = [&](const Value* v, bool also_condition) {
    for (const ir::Use* use = v->uses(); use != nullptr; use = use->next) {
      if (use->owner != next && !(also_condition && use->owner == condition)) return false;
    }
    return true;
  };
  for (const ir::Use* use = arg->uses(); use != nullptr; use = use->next) {
    if (use->owner->num_results() != 1 || !by_these(use->owner->result(0), use->owner != condition)) return false;
  }
  return by_these(condition->result(0), false);
}

// Computed in front of the loop, or by arithmetic from what is.
bool FlatLoop::Follows(const Value* v) const {
  if (!IsInBody(v)) return true;
  const Op* def = v->def();
  if (def == nullptr || !IsCheap(*def) || !ir::IsScalarLike(*v)) return false;
  for (int i = 0; i < def->num_operands(); ++i) {
    if (!Follows(def->operand(i))) return false;
  }
  return true;
}

FlatLoop::Flag FlatLoop::FlagOf(const Op& op) {
  if (!ir::IfOp::Is(&op) && !ir::SelectOp::Is(&op)) return Flag::kNone;
  const auto known = flags_.find(&op);
  if (known != flags_.end()) return known->second;
  Flag& flag = flags_[&op] = Flag::kNone;
  const Value* condition = op.operand(0);
  while (condition->def() != nullptr && (ir::BroadcastOp::Is(condition->def()) || ir::ReshapeOp::Is(condition->def())))
    condition = condition->def()->operand(0);
  const auto test = ir::DefAs<ir::CmpIOp>(condition);
  if (!test || test->lhs()->type() != loop_.index()->type()) return flag;
  const bool is_equal = test->predicate() == ir::ComparisonPredicate::kEqual;
  if (!is_equal && test->predicate() != ir::ComparisonPredicate::kNotEqual) return flag;
  // ShiftedOf would look through a position that is itself a sum.
  const auto shifted = [&](Value* v) { return v == position_ ? Shifted{v, 0} : ShiftedOf(v); };
  Shifted number = shifted(test->lhs()), with = shifted(test->rhs());
  if (number.base != position_) std::swap(number, with);
  if (number.base != position_) return flag;
  with.by -= number.by;
  if (IsLast(with)) return flag = is_equal ? Flag::kLast : Flag::kNotLast;
  if (with.base == nullptr && with.by == 0) flag = is_equal ? Flag::kFirst : Flag::kNotFirst;
  return flag;
}

const ir::Block* FlatLoop::Region(const Op& op, bool marked) {
  const Flag flag = FlagOf(op);
  const bool by_true = flag == Flag::kFirst || flag == Flag::kLast;
  return op.region(by_true == marked ? 0 : 1);
}

Value* FlatLoop::Operand(const Op& op, bool marked) {
  const Flag flag = FlagOf(op);
  const bool by_true = flag == Flag::kFirst || flag == Flag::kLast;
  return op.operand(by_true == marked ? 1 : 2);
}

const Value* FlatLoop::EnteringOf(int carried) const {
  const auto at = entering_.find(carried);
  return at == entering_.end() ? nullptr : at->second;
}

// The operation of the body that it stands in, or is.
const Op* FlatLoop::InBody(const Op* op) const {
  while (op->block() != loop_.body()) op = op->parent();
  return op;
}

std::string FlatLoop::WhyNot() {
  if (!IsAlone()) return "an iteration may end before its end";
  if (loop_.op().result(counter_)->has_uses()) return "the number that counts is used behind the loop";
  std::string why = FindHeads();
  if (why.empty()) why = FindTails();
  if (why.empty() && heads_.empty() && tails_.empty()) why = "nothing is done in the first or last part only";
  return why;
}

bool FlatLoop::IsAlone() const {
  bool alone = true;
  ir::Walk(loop_.body(), [&](Op* op) {
    if (ir::ReturnOp::Is(op)) alone = false;
    if ((ir::ContinueOp::Is(op) || ir::BreakOp::Is(op)) && op != loop_.latch() && ir::TargetOf(*op) == &loop_.op())
      alone = false;
  });
  return alone;
}

std::string FlatLoop::FindHeads() {
  bool behind_effects = false;
  for (const Op* op : *loop_.body()) {
    if (op == loop_.latch()) break;
    const Flag flag = FlagOf(*op);
    if ((flag == Flag::kFirst || flag == Flag::kNotFirst) && (!behind_effects || ir::SelectOp::Is(op))) {
      if (TakeHead(*op)) continue;
      if (ir::IfOp::Is(op))
        return "what the first part does needs more than carried values, or gives others something else";
    } else if (ir::IfOp::Is(op) && (flag == Flag::kFirst || flag == Flag::kNotFirst)) {
      return "what the first part does stands behind an operation with an effect";
    }
    behind_effects = behind_effects || (!IsCheap(*op) && !IsProduct(*op));
  }
  const Op* end = loop_.latch();
  for (const Op* op = end->prev(); op != nullptr; op = op->prev()) {
    if (!heads_.contains(op) && IsCheap(*op) && !op->unused() && ServesOnly(*op, heads_, nullptr))
      for_heads_.insert(op);
  }
  for (const auto& [carried, entering] : entering_) {
    for (const ir::Use* use = loop_.arg(carried)->uses(); use != nullptr; use = use->next) {
      const Op* user = InBody(use->owner);
      if (!heads_.contains(user) && !for_heads_.contains(user))
        return "a value from before the first part is used in others";
    }
  }
  return "";
}

bool FlatLoop::TakeHead(const Op& op) {
  std::map<int, const Value*> entering;
  const bool is_if = ir::IfOp::Is(&op);
  const ir::Block* other = is_if ? Region(op, false) : nullptr;
  if (is_if && !IsPlain(other, false)) return false;
  for (int k = 0; k < op.num_results(); ++k) {
    if (!op.result(k)->has_uses()) continue;
    const Value* kept = is_if ? other->back()->operand(k) : Operand(op, false);
    const int carried = kept->def() != nullptr ? -1 : loop_.carried_by(kept);
    if (carried < 0 || carried == counter_ || entering_.contains(carried) ||
        !entering.try_emplace(carried, op.result(k)).second)
      return false;
  }
  if (is_if) {
    for (const Value* v : UsedInRegions(op)) {
      if (!IsBefore(v)) return false;
    }
  } else if (!IsBefore(Operand(op, true))) {
    return false;
  }
  heads_.insert(&op);
  entering_.insert(entering.begin(), entering.end());
  return true;
}

// It can be computed in front of the first part.
bool FlatLoop::IsBefore(const Value* v) const {
  if (v == position_ || !IsInBody(v)) return true;
  const Op* def = v->def();
  if (def == nullptr) return v->block() == loop_.body() && v != loop_.arg(counter_);
  if (heads_.contains(def)) return true;
  if (!IsCheap(*def) || def->block() != loop_.body()) return false;
  for (int i = 0; i < def->num_operands(); ++i) {
    if (!IsBefore(def->operand(i))) return false;
  }
  return true;
}

bool FlatLoop::ServesOnly(const Op& op, const absl::flat_hash_set<const Op*>& these, const Op* end) const {
  for (int k = 0; k < op.num_results(); ++k) {
    for (const ir::Use* use = op.result(k)->uses(); use != nullptr; use = use->next) {
      const Op* user = InBody(use->owner);
      if (user != end && !these.contains(user) && !for_heads_.contains(user)) return false;
    }
  }
  return true;
}

std::string FlatLoop::FindTails() {
  absl::flat_hash_set<const Op*> sinks;
  bool before_effects = false;
  for (const Op* op = loop_.latch()->prev(); op != nullptr; op = op->prev()) {
    if (heads_.contains(op)) continue;
    const Flag flag = FlagOf(*op);
    const bool marked = flag == Flag::kLast || flag == Flag::kNotLast;
    const bool serves = ServesOnly(*op, sinks, loop_.latch());
    if (IsCheap(*op)) {
      if (!serves) continue;
      sinks.insert(op);
      if (marked && op->result(0) != loop_.next(counter_)) tails_.insert(op);
    } else if (ir::IfOp::Is(op) && marked) {
      if (before_effects || !serves || !IsPlain(Region(*op, false), true))
        return "what the last part does stands in front of an operation with an effect, or gives a value to one";
      sinks.insert(op);
      tails_.insert(op);
    } else {
      before_effects = before_effects || !IsProduct(*op);
    }
  }
  FindChanges(sinks);
  for (const Op* op : tails_) {
    if (!ir::IfOp::Is(op)) continue;
    for (Value* v : UsedInRegions(*op)) {
      if (!IsBehind(v)) return "what the last part does needs a value that the loop does not carry";
    }
  }
  for (int i = 0; i < loop_.num_carried(); ++i) {
    if (i != counter_ && Changes(loop_.next(i)) && !Resets(i) && !IsBehind(loop_.next(i)))
      return "what the last part hands on needs a value that the loop does not carry";
  }
  return "";
}

void FlatLoop::FindChanges(const absl::flat_hash_set<const Op*>& sinks) {
  for (const Op* op : *loop_.body()) {
    if (!sinks.contains(op)) continue;
    bool changes = tails_.contains(op) && op->num_results() > 0;
    for (int i = 0; i < op->num_operands(); ++i) changes = changes || Changes(op->operand(i));
    for (const Value* v : UsedInRegions(*op)) changes = changes || Changes(v);
    if (changes) changes_.insert(op);
  }
}

Value* FlatLoop::Given(Value* v, bool in_last) {
  while (v->def() != nullptr && tails_.contains(v->def())) {
    const Op& tail = *v->def();
    v = ir::IfOp::Is(&tail) ? Region(tail, in_last)->back()->operand(v->index()) : Operand(tail, in_last);
  }
  return v;
}

bool FlatLoop::Stays(int carried) {
  const Value* now = EnteringOf(carried);
  return Given(loop_.next(carried), false) == (now != nullptr ? now : loop_.arg(carried));
}

bool FlatLoop::Resets(int carried) {
  Value* next = loop_.next(carried);
  return EnteringOf(carried) == nullptr && Changes(next) && next->def() != nullptr && tails_.contains(next->def()) &&
         !loop_.op().result(carried)->has_uses() && Same(Given(next, true), loop_.init(carried));
}

int FlatLoop::CarriedWith(const Value* token) {
  for (int i = 0; i < loop_.num_carried(); ++i) {
    if (!loop_.arg(i)->type().is_token()) continue;
    std::vector<Value*> open = {Given(loop_.next(i), false)};
    while (!open.empty()) {
      Value* v = open.back();
      open.pop_back();
      if (v == token) return i;
      const Op* def = v->def();
      if (!ir::JoinTokensOp::Is(def) || !IsInBody(v)) continue;
      for (int k = 0; k < def->num_operands(); ++k) open.push_back(Given(def->operand(k), false));
    }
  }
  return -1;
}

// The carried value is a token, and what a part hands on is one that comes after what it got.
bool FlatLoop::IsLaterToken(int carried) {
  const Value* arg = loop_.arg(carried);
  if (!arg->type().is_token()) return false;
  absl::flat_hash_set<const Value*> seen;
  std::vector<Value*> open = {Given(loop_.next(carried), false)};
  while (!open.empty()) {
    Value* v = open.back();
    open.pop_back();
    if (v == arg) return true;
    if (!seen.insert(v).second || !IsInBody(v) || v->def() == nullptr || v->def()->num_regions() > 0) continue;
    for (int k = 0; k < v->def()->num_operands(); ++k) {
      if (v->def()->operand(k)->type().is_token()) open.push_back(Given(v->def()->operand(k), false));
    }
  }
  return false;
}

// It can be had behind the inner loop: what that carries, or what follows from it.
bool FlatLoop::IsBehind(Value* v) {
  if (!IsInBody(v) || v == position_ || v == loop_.index()) return true;
  const auto [known, is_new] = behind_.try_emplace(v, true);
  if (!is_new) return known->second;
  const auto find = [&] {
    for (int i = 0; i < loop_.num_carried(); ++i) {
      if (i == counter_) continue;
      // What changes in the last part is not what the inner loop ends with.
      if ((Given(loop_.next(i), false) == v && !Changes(v)) ||
          (v == loop_.arg(i) && EnteringOf(i) == nullptr && (Stays(i) || IsLaterToken(i))))
        return true;
    }
    if (v->type().is_token() && !Changes(v) && CarriedWith(v) >= 0) return true;
    const Op* def = v->def();
    if (def == nullptr || def->block() != loop_.body()) return false;
    if (heads_.contains(def)) {
      // In the last part others than the first have what the part before gave.
      for (const auto& [carried, entering] : entering_) {
        if (entering == v) return Stays(carried);
      }
      return false;
    }
    if (ir::IfOp::Is(def)) return tails_.contains(def);  // whose values are asked for by themselves
    if (!IsCheap(*def)) return false;
    for (int i = 0; i < def->num_operands(); ++i) {
      if (!IsBehind(def->operand(i))) return false;
    }
    return true;
  };
  const bool found = find();
  return behind_[v] = found;
}

}  // namespace tile::codegen

#include "ir/passes/counters.h"

#include <utility>
#include <vector>

#include "ir/loops.h"
#include "ir/ops.h"
#include "ir/passes/rewrite.h"

namespace tile::ir {
namespace {

// A carried number and how it changes.
struct Counter {
  int carried = 0;
  Op* update = nullptr;  // addi, subi
  Value* amount = nullptr;
};

bool IsIntegerScalar(const Value* v) {
  const Type t = v->type();
  return t.is_tile() && t.is_scalar() && !t.element().is_pointer() && IsInt(t.elem()) && WidthOf(v) >= 8;
}

// Its only way on is the end of the body.
bool HasOneLatch(const CarryingLoop& loop) {
  bool one = loop.latch() != nullptr;
  Walk(loop.body(),
       [&](Op* op) { one = one && (!ContinueOp::Is(op) || op == loop.latch() || TargetOf(*op) != &loop.op()); });
  return one;
}

std::optional<Counter> FindCounter(const CarryingLoop& loop, int i) {
  const Value* arg = loop.arg(i);
  if (!IsIntegerScalar(arg)) return std::nullopt;
  Op* update = loop.next(i)->def();
  if (!AddiOp::Is(update) && !SubiOp::Is(update)) return std::nullopt;
  for (int k : {0, 1}) {
    if (update->operand(k) != arg || (k == 1 && SubiOp::Is(update))) continue;
    Value* amount = update->operand(1 - k);
    if (SplatOf(amount) || !IsInside(amount, &loop.op())) return Counter{i, update, amount};
  }
  return std::nullopt;
}

// Of the iteration: (index - first) / step. The difference is less than the range of the type, read without sign.
Value* Iteration(Builder& b, const CarryingLoop& loop, uint64_t step) {
  Value* n = loop.index();
  if (!IsSplat(loop.op().operand(0), 0)) n = ops::Subi(b, n, loop.op().operand(0));
  if (step == 1) return n;
  if ((step & (step - 1)) == 0)
    return ops::Shri(b, n, ops::Integer(b, n->type(), __builtin_ctzll(step)), Signedness::kUnsigned);
  return ops::Divi(b, n, ops::Integer(b, n->type(), static_cast<int64_t>(step)), Signedness::kUnsigned);
}

// It begins with the lower bound divided by the step, downwards, and counts iterations: it is the index divided by the step.
bool IsQuotient(const CarryingLoop& loop, const Counter& c, uint64_t step) {
  const Op* init = loop.init(c.carried)->def();
  const auto div = As<DiviOp>(init);
  return div && AddiOp::Is(c.update) && IsSplat(c.amount, 1) && div->lhs() == loop.op().operand(0) &&
         IsSplat(div->rhs(), static_cast<int64_t>(step)) && div->signedness() == Signedness::kSigned &&
         div->rounding() == Rounding::kNegativeInf && !ForOp(&loop.op()).unsigned_cmp();
}

bool Compute(Module* module, const CarryingLoop& loop, const Counter& c, uint64_t step) {
  Value* arg = loop.arg(c.carried);
  std::vector<std::pair<Op*, int>> uses;
  for (const Use* use = arg->uses(); use != nullptr; use = use->next) {
    if (use->owner == c.update) continue;
    for (int k = 0; k < use->owner->num_operands(); ++k) {
      if (use->owner->operand(k) == arg) uses.emplace_back(use->owner, k);
    }
  }
  if (uses.empty()) return false;
  Value* now = nullptr;
  WriteBefore(module, loop.body()->front(), [&](Builder& b) {
    if (IsQuotient(loop, c, step)) {
      now = ops::Divi(b, loop.index(), loop.op().operand(2), Signedness::kSigned, Rounding::kNegativeInf);
      return;
    }
    Value* n = Iteration(b, loop, step);
    if (WidthOf(n) > WidthOf(arg)) n = ops::Trunci(b, arg->type(), n);
    if (WidthOf(n) < WidthOf(arg)) n = ops::Exti(b, arg->type(), n, Signedness::kUnsigned);
    if (!IsSplat(c.amount, 1)) {
      const std::optional<uint64_t> amount = SplatOf(c.amount);
      n = ops::Muli(b, n, amount ? ops::Integer(b, arg->type(), AsSigned(*amount, WidthOf(arg))) : c.amount);
    }
    Value* init = loop.init(c.carried);
    now = AddiOp::Is(c.update) ? (IsSplat(init, 0) ? n : ops::Addi(b, init, n)) : ops::Subi(b, init, n);
  });
  for (const auto& [op, k] : uses) op->set_operand(k, now);
  return true;
}

}  // namespace

bool ComputeCounters(Module* module, Function* function) {
  std::vector<Op*> loops;
  Walk(function->body(), [&](Op* op) {
    if (ForOp::Is(op) && op->region(0) != nullptr) loops.push_back(op);
  });
  bool changed = false;
  for (Op* op : loops) {
    const CarryingLoop loop(*op);
    const std::optional<uint64_t> step = SplatOf(op->operand(2));
    if (!step || AsSigned(*step, WidthOf(op->operand(2))) <= 0 || !HasOneLatch(loop)) continue;
    for (int i = 0; i < loop.num_carried(); ++i) {
      if (const std::optional<Counter> c = FindCounter(loop, i)) changed = Compute(module, loop, *c, *step) || changed;
    }
  }
  return changed;
}

}  // namespace tile::ir

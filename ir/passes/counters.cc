#include "ir/passes/counters.h"

#include <set>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "ir/create_like.h"
#include "ir/loops.h"
#include "ir/ops.h"
#include "ir/passes/common.h"
#include "ir/passes/rewrite.h"

namespace tile::ir {
namespace {

// A carried number and how it changes.
struct Counter {
  int carried = 0;
  Op* update = nullptr;  // addi, subi
  Value* amount = nullptr;
};

// A number, or a tile of numbers that all grow alike or each by its own amount.
bool IsInteger(const Value* v) {
  const Type t = v->type();
  return t.is_tile() && !t.element().is_pointer() && IsInt(t.elem()) && WidthOf(v) >= 8;
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
  if (!IsInteger(arg)) return std::nullopt;
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

Type ScalarOf(Builder& b, const Value* v) { return b.types().Scalar(v->type().elem()); }

// The scalar in all elements of the tile that a counter is.
Value* Spread(Builder& b, Value* scalar, Type tile) {
  if (tile.is_scalar()) return scalar;
  const std::vector<int64_t> ones(static_cast<size_t>(tile.rank()), 1);
  return ops::Broadcast(b, tile, ops::Reshape(b, b.types().Tile(tile.element(), ones), scalar));
}

// It begins with the lower bound divided by the step, downwards, and counts iterations: it is the index divided by the step.
bool IsQuotient(const CarryingLoop& loop, const Counter& c, uint64_t step) {
  const Op* init = loop.init(c.carried)->def();
  const auto div = As<DiviOp>(init);
  return div && AddiOp::Is(c.update) && IsSplat(c.amount, 1) && div->lhs() == loop.op().operand(0) &&
         IsSplat(div->rhs(), static_cast<int64_t>(step)) && div->signedness() == Signedness::kSigned &&
         div->rounding() == Rounding::kNegativeInf && !ForOp(&loop.op()).unsigned_cmp();
}

// Where the argument of the body is read, but for its update.
std::vector<std::pair<Op*, int>> UsesBeside(const Value* arg, const Op* update) {
  std::vector<std::pair<Op*, int>> uses;
  for (const Use* use = arg->uses(); use != nullptr; use = use->next) {
    for (int k = 0; use->owner != update && k < use->owner->num_operands(); ++k) {
      if (use->owner->operand(k) == arg) uses.emplace_back(use->owner, k);
    }
  }
  return uses;
}

bool Compute(Module* module, const CarryingLoop& loop, const Counter& c, uint64_t step) {
  Value* arg = loop.arg(c.carried);
  const std::vector<std::pair<Op*, int>> uses = UsesBeside(arg, c.update);
  if (uses.empty()) return false;
  Value* now = nullptr;
  WriteBefore(module, loop.body()->front(), [&](Builder& b) {
    if (IsQuotient(loop, c, step)) {
      now = ops::Divi(b, loop.index(), loop.op().operand(2), Signedness::kSigned, Rounding::kNegativeInf);
      return;
    }
    Value* n = Iteration(b, loop, step);
    const Type scalar = ScalarOf(b, arg);
    if (WidthOf(n) > WidthOf(arg)) n = ops::Trunci(b, scalar, n);
    if (WidthOf(n) < WidthOf(arg)) n = ops::Exti(b, scalar, n, Signedness::kUnsigned);
    const std::optional<uint64_t> amount = SplatOf(c.amount);
    if (amount && *amount != 1) n = ops::Muli(b, n, ops::Integer(b, scalar, AsSigned(*amount, WidthOf(arg))));
    n = Spread(b, n, arg->type());
    if (!amount) n = ops::Muli(b, n, c.amount);
    Value* init = loop.init(c.carried);
    now = AddiOp::Is(c.update) ? (IsSplat(init, 0) ? n : ops::Addi(b, init, n)) : ops::Subi(b, init, n);
  });
  for (const auto& [op, k] : uses) op->set_operand(k, now);
  return true;
}

// A carried scalar pointer that every iteration moves on by the same offset: where it is after as many of them, in 64 bits, which do not wrap.
bool ComputePointer(Module* module, const CarryingLoop& loop, int carried, uint64_t step) {
  Value* arg = loop.arg(carried);
  const Type type = arg->type();
  const Op* update = loop.next(carried)->def();
  if (!type.is_tile() || !type.is_scalar() || !type.element().is_pointer() || !OffsetOp::Is(update)) return false;
  Value* amount = update->operand(1);
  if (update->operand(0) != arg || (IsInside(amount, &loop.op()) && !SplatOf(amount))) return false;
  const std::vector<std::pair<Op*, int>> uses = UsesBeside(arg, update);
  if (uses.empty()) return false;
  Value* now = nullptr;
  WriteBefore(module, loop.body()->front(), [&](Builder& b) {
    const Type wide = b.types().Scalar(Elem::kI64);
    const auto widened = [&](Value* v, Signedness sign) { return WidthOf(v) < 64 ? ops::Exti(b, wide, v, sign) : v; };
    const std::optional<uint64_t> known = SplatOf(amount);
    Value* each =
        known ? ops::Integer(b, wide, AsSigned(*known, WidthOf(amount))) : widened(amount, Signedness::kSigned);
    Value* n = widened(Iteration(b, loop, step), Signedness::kUnsigned);
    now = ops::Offset(b, loop.init(carried), ops::Muli(b, n, each));
  });
  for (const auto& [op, k] : uses) op->set_operand(k, now);
  return true;
}

// The values that a loop carries, by what they begin with and what they are next: thousands may be carried.
class CarriedPairs {
 public:
  explicit CarriedPairs(const CarryingLoop& loop) {
    for (int i = 0; i < loop.num_carried(); ++i) places_[{loop.init(i), loop.next(i)}].insert(i);
  }
  // The first with these but `own`; -1 if there is none.
  int Other(const Value* init, const Value* next, int own) const {
    const auto it = places_.find({init, next});
    if (it == places_.end()) return -1;
    for (int i : it->second) {
      if (i != own) return i;
    }
    return -1;
  }
  // Carried value i is `to` next, instead of `from`.
  void Move(int i, const Value* init, const Value* from, const Value* to) {
    places_[{init, from}].erase(i);
    places_[{init, to}].insert(i);
  }

 private:
  absl::flat_hash_map<std::pair<const Value*, const Value*>, std::set<int>> places_;
};

constexpr int kMostOps = 64;  // that one carried value is computed again by

// A carried value is computed of another one, in front of the loop of its first value as in the body of its next one.
class CarriedFunction {
 public:
  CarriedFunction(Module* module, const CarryingLoop& loop, CarriedPairs* pairs, int carried)
      : module_(module), loop_(loop), pairs_(*pairs), own_(carried) {}

  bool Rewrite() {
    Value* arg = loop_.arg(own_);
    if (!arg->has_uses() || !arg->type().is_tile() || !IsSame(loop_.init(own_), loop_.next(own_)) || !of_carried_)
      return false;
    WriteBefore(module_, loop_.body()->front(), [&](Builder& b) { ReplaceBy(Again(b, loop_.next(own_))); });
    return true;
  }

 private:
  void ReplaceBy(Value* now) {
    Value* arg = loop_.arg(own_);
    bool is_next = false;  // of any carried value
    for (const Use* use = arg->uses(); use != nullptr; use = use->next) is_next |= use->owner == loop_.latch();
    for (int i = 0; is_next && i < loop_.num_carried(); ++i) {
      if (loop_.next(i) == arg) pairs_.Move(i, loop_.init(i), arg, now);
    }
    arg->ReplaceAllUsesWith(now);
  }

  // What `next` is of the next values of the loop, `init` is of the first ones.
  bool IsSame(const Value* init, const Value* next) {
    if (const int i = pairs_.Other(init, next, own_); i >= 0) {
      carried_[next] = loop_.arg(i);
      return of_carried_ = true;
    }
    if (init == next) return true;
    const Op *x = init->def(), *y = next->def();
    if (x == nullptr || y == nullptr || ++ops_ > kMostOps || init->index() != next->index() || !AreAlike(*x, *y))
      return false;
    if (!y->info()->has(kPure) || y->num_regions() > 0 || x->num_operands() != y->num_operands()) return false;
    for (int i = 0; i < y->num_operands(); ++i) {
      if (!IsSame(x->operand(i), y->operand(i))) return false;
    }
    return true;
  }

  // The same of the values of this iteration.
  Value* Again(Builder& b, Value* next) {
    if (const auto it = carried_.find(next); it != carried_.end()) return it->second;
    if (!IsInside(next, &loop_.op())) return next;
    std::vector<Value*> operands;
    for (int i = 0; i < next->def()->num_operands(); ++i) operands.push_back(Again(b, next->def()->operand(i)));
    Op* made = CreateLike(module_, *next->def(), operands, ResultTypesOf(*next->def()));
    module_->Append(b.block(), made);
    return carried_[next] = made->result(next->index());
  }

  Module* module_;
  const CarryingLoop& loop_;
  CarriedPairs& pairs_;
  const int own_;
  int ops_ = 0;
  bool of_carried_ = false;
  absl::flat_hash_map<const Value*, Value*> carried_;
};

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
    CarriedPairs pairs(loop);
    for (int i = 0; i < loop.num_carried(); ++i)
      changed = CarriedFunction(module, loop, &pairs, i).Rewrite() || changed;
    for (int i = 0; i < loop.num_carried(); ++i) {
      if (const std::optional<Counter> c = FindCounter(loop, i)) changed = Compute(module, loop, *c, *step) || changed;
      changed = ComputePointer(module, loop, i, *step) || changed;
    }
  }
  return changed;
}

}  // namespace tile::ir

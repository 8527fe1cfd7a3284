#include "ir/passes/raise_loops.h"

#include <optional>
#include <utility>

#include "ir/loops.h"
#include "ir/ops.h"
#include "ir/passes/hoist.h"
#include "ir/passes/ranges.h"
#include "ir/passes/rewrite.h"
#include "ir/passes/rotate_loop.h"
#include "ir/passes/simplify.h"

namespace tile::ir {
namespace {

using Pred = ComparisonPredicate;

// a `p` b does not hold.
Pred Opposite(Pred p) {
  constexpr Pred kOpposites[] = {Pred::kNotEqual,    Pred::kEqual,           Pred::kGreaterThanOrEqual,
                                 Pred::kGreaterThan, Pred::kLessThanOrEqual, Pred::kLessThan};
  return kOpposites[static_cast<size_t>(p)];
}

// b `p` a holds where a `Swapped(p)` b does.
Pred Swapped(Pred p) {
  constexpr Pred kSwapped[] = {Pred::kEqual,    Pred::kNotEqual,       Pred::kGreaterThan, Pred::kGreaterThanOrEqual,
                               Pred::kLessThan, Pred::kLessThanOrEqual};
  return kSwapped[static_cast<size_t>(p)];
}

class Raiser {
 public:
  Raiser(Module* module, Op* op) : module_(module), op_(op), loop_(*op) {}

  // Why the loop stays; "" if a `for` took its place.
  std::string Run() {
    std::string why = FindBranches();
    if (why.empty()) why = FindTest();
    if (why.empty()) why = FindCounter();
    if (why.empty()) why = FindStep();
    if (why.empty()) why = ShowThatItEnds();
    if (why.empty()) Rewrite();
    return why;
  }

 private:
  std::string FindBranches() {
    bool returns = false;
    Walk(loop_.body(), [&](Op* op) {
      returns = returns || ReturnOp::Is(op);
      if (ContinueOp::Is(op) && TargetOf(*op) == op_) latches_.push_back(op);
      if (BreakOp::Is(op) && TargetOf(*op) == op_) {
        several_ = leave_ != nullptr;
        leave_ = op;
      }
    });
    for (int i = 0; i < loop_.num_carried(); ++i) {
      if (!loop_.arg(i)->type().is_tile() && !loop_.arg(i)->type().is_token()) return "it carries a view";
    }
    if (returns) return "the kernel returns inside of it";
    if (leave_ == nullptr) return "nothing leaves it";
    if (several_) return "it is left in several places";
    return latches_.empty() ? "it does not repeat" : "";
  }

  // The `if` at the head, one side of which leaves; the other stays, and ends in the continue of the body.
  std::string FindTest() {
    static constexpr char kNotFirst[] = "something is done before it is tested whether it ends";
    test_ = FirstImpure(loop_.body());
    if (!IfOp::Is(test_)) return kNotFirst;
    const bool leaves_behind = leave_ == loop_.body()->back();
    bool found = false;
    for (int r = 0; r < 2 && !found; ++r) {
      leaving_ = test_->region(r);
      staying_ = test_->region(1 - r);
      leaves_if_ = r == 0;
      found = leaves_behind ? Falls(leaving_) && EndsInLatch(staying_) : leave_->block() == leaving_;
    }
    if (!found) return kNotFirst;
    const bool repeats = EndsInLatch(staying_) || (Falls(staying_) && EndsInLatch(loop_.body()));
    return repeats ? "" : "its body does not end in a continue";
  }

  bool EndsInLatch(const Block* block) const {
    return block != nullptr && ContinueOp::Is(block->back()) && TargetOf(*block->back()) == op_;
  }
  static bool Falls(const Block* region) {
    return region == nullptr || region->terminator() == nullptr || YieldOp::Is(region->terminator());
  }

  std::string FindCounter() {
    const auto cmp = DefAs<CmpIOp>(IfOp(test_).condition());
    if (!cmp) return "its test is not one comparison of integers";
    predicate_ = leaves_if_ ? Opposite(cmp->predicate()) : cmp->predicate();
    signedness_ = cmp->signedness();
    for (const bool swapped : {false, true}) {
      const Value* counter = swapped ? cmp->rhs() : cmp->lhs();
      Value* end = swapped ? cmp->lhs() : cmp->rhs();
      if (counter->block() != loop_.body() || IsInside(end, op_)) continue;
      counter_ = loop_.carried_by(counter);
      end_ = end;
      if (swapped) predicate_ = Swapped(predicate_);
      return "";
    }
    return "its test does not compare what it carries with what it does not change";
  }

  // The same amount in every iteration.
  std::string FindStep() {
    static constexpr char kUneven[] = "what it tests does not rise or fall by the same amount in every iteration";
    static constexpr char kUnknown[] = "it is not known whether what it tests rises or falls";
    promised_ = true;
    std::optional<int64_t> constant;
    for (const Op* latch : latches_) {
      const Op* sum = latch->operand(counter_)->def();
      if (!AddiOp::Is(sum) && !SubiOp::Is(sum)) return kUneven;
      const int at = sum->operand(0) == loop_.arg(counter_) ? 1 : 0;
      Value* by = sum->operand(at);
      if (sum->operand(1 - at) != loop_.arg(counter_) || IsInside(by, op_)) return kUneven;
      std::optional<int64_t> number;
      if (const std::optional<uint64_t> bits = SplatOf(by)) number = AsSigned(*bits, WidthOf(by));
      if (SubiOp::Is(sum)) {
        // The least number has no negative.
        if (at != 1 || !number || *number == RangeOfWidth(WidthOf(by)).lower) return kUneven;
        number = -*number;
      }
      if (latch != latches_[0] && (number != constant || (!number && by != step_))) return kUneven;
      constant = number;
      step_ = by;
      const Overflow promise = OverflowOp(sum).overflow();
      const Overflow wanted = signedness_ == Signedness::kSigned ? Overflow::kNoSignedWrap : Overflow::kNoUnsignedWrap;
      promised_ = promised_ && (promise == wanted || promise == Overflow::kNoWrap);
    }
    by_ = constant ? Range{*constant, *constant} : RangeOf(step_);
    if (by_.lower == RangeOfWidth(WidthOf(step_)).lower) return kUnknown;
    if (by_.lower <= 0 && by_.upper >= 0) return kUnknown;
    falls_ = by_.upper < 0;
    // Only a constant is negated.
    return falls_ && !constant ? "it falls by what is no constant" : "";
  }

  // In numbers that rise: of what falls, the complement.
  Range Rising(const Value* v) const {
    const Range r = RangeOf(v);
    return falls_ ? Range{~r.upper, ~r.lower} : r;
  }

  std::string ShowThatItEnds() {
    const Range all = RangeOfWidth(WidthOf(end_)), end = Rising(end_);
    const bool is_signed = signedness_ == Signedness::kSigned;
    const bool by_one = by_.lower == by_.upper && (by_.lower == 1 || by_.lower == -1);
    const int64_t most_step = falls_ ? -by_.lower : by_.upper;
    const Pred predicate = falls_ ? Swapped(predicate_) : predicate_;
    // An unsigned number that falls is a sum that wraps, whatever is promised of it.
    const bool promised = promised_ && (is_signed || !falls_);
    // Between numbers that are not negative, signed and unsigned order are one.
    const bool is_known = is_signed || end.lower >= 0;
    const auto fits = [&](int64_t beyond) {
      return promised || (is_known && static_cast<__int128>(end.upper) - beyond + most_step <= all.upper);
    };
    static constexpr char kWraps[] = "what it tests may wrap before it reaches the end";
    if (predicate == Pred::kLessThan) {
      return by_one || fits(1) ? "" : kWraps;
    }
    if (predicate == Pred::kLessThanOrEqual) {
      inclusive_ = true;
      return fits(0) ? "" : kWraps;
    }
    if (predicate != Pred::kNotEqual) return "its test does not end it when enough is counted";
    if (!by_one) return "its test for equality may step over the end";
    signedness_ = Signedness::kSigned;  // as good as unsigned, where the first number is below the end
    const bool signed_promise = promised_ && is_signed;
    return signed_promise || Rising(loop_.init(counter_)).upper <= end.lower ? "" : kWraps;
  }

  void Rewrite() {
    const int n = loop_.num_carried();
    std::vector<Value*> inits;
    std::vector<Type> results, args = {end_->type()};
    for (int i = 0; i < n; ++i) {
      inits.push_back(loop_.init(i));
      results.push_back(loop_.arg(i)->type());
      args.push_back(loop_.arg(i)->type());
    }
    Op* raised = nullptr;
    WriteBefore(module_, op_, [&](Builder& b) {
      const Type t = end_->type();
      const auto number = [&](int64_t k) { return ops::Integer(b, t, k); };
      Value *first = loop_.init(counter_), *end = end_, *step = step_;
      if (falls_) {
        first = ops::Xori(b, first, number(-1));
        end = ops::Xori(b, end, number(-1));
        step = number(-by_.lower);
      } else if (by_.lower == by_.upper && !IsSplat(step, by_.lower)) {
        step = number(by_.lower);
      }
      if (inclusive_) end = ops::Addi(b, end, number(1));
      raised = b.Create(Opcode::kFor, {{first}, {end}, {step}, inits}, results,
                        {{"unsigned_cmp", Attr::Flag(signedness_ == Signedness::kUnsigned)}});
    });
    Block* body = module_->CreateBlock(args);
    raised->set_region(0, body);
    ValueMap after;
    for (int i = 0; i < n; ++i) {
      body->arg(1 + i)->name = loop_.arg(i)->name;
      after[loop_.arg(i)] = raised->result(i);
    }
    LeaveBehind(&after);
    TakeStayingSide();
    Value* index = body->arg(0);
    if (falls_) {
      WriteBefore(module_, loop_.body()->front(),
                  [&](Builder& b) { index = ops::Xori(b, index, ops::Integer(b, index->type(), -1)); });
    }
    index->name = loop_.arg(counter_)->name;
    body->arg(1 + counter_)->name = "";
    for (int i = 0; i < n; ++i) {
      loop_.arg(i)->ReplaceAllUsesWith(i == counter_ ? index : body->arg(1 + i));
    }
    while (!loop_.body()->empty()) {
      Op* op = loop_.body()->front();
      op->Unlink();
      module_->Append(body, op);
    }
    op_->Erase();
  }

  // What the way out does, behind the loop, and what the loop gives.
  void LeaveBehind(ValueMap* after) {
    const auto now = [&](Value* v) {
      const auto it = after->find(v);
      return it == after->end() ? v : it->second;
    };
    for (Op* op = loop_.body()->front(); op != test_; op = op->next()) CopyBefore(module_, *op, op_, after);
    if (leaving_ != nullptr) {
      const Op* end = leaving_->terminator();
      for (const Op* op : *leaving_) {
        if (op != end) CopyBefore(module_, *op, op_, after);
      }
      if (YieldOp::Is(end)) {
        for (int i = 0; i < test_->num_results(); ++i) (*after)[test_->result(i)] = now(end->operand(i));
      }
    }
    if (leave_->block() == loop_.body()) {
      for (Op* op = test_->next(); op != leave_; op = op->next()) CopyBefore(module_, *op, op_, after);
    }
    for (int i = 0; i < op_->num_results(); ++i) Replace(op_->result(i), now(leave_->operand(i)));
  }

  // The body without the test: what stands on the side that stays, and behind the `if` where that goes on there.
  void TakeStayingSide() {
    const bool goes_on = !EndsInLatch(staying_);
    if (!goes_on) {
      while (test_->next() != nullptr) loop_.body()->back()->Erase();
    }
    if (staying_ != nullptr) {
      Op* end = staying_->terminator();
      MoveBodyBefore(module_, staying_, test_);
      if (goes_on) {
        for (int i = 0; i < test_->num_results(); ++i) Replace(test_->result(i), end->operand(i));
      } else {
        MoveBefore(module_, end, test_);
      }
    }
    test_->Erase();
  }

  Module* module_;
  Op* op_;
  const CarryingLoop loop_;
  std::vector<Op*> latches_;
  Op* leave_ = nullptr;  // the break
  bool several_ = false;
  Op* test_ = nullptr;  // the `if`
  Block *leaving_ = nullptr, *staying_ = nullptr;
  bool leaves_if_ = false;  // the condition holds when the loop ends
  int counter_ = -1;        // which carried value
  Value *end_ = nullptr, *step_ = nullptr;
  Pred predicate_ = Pred::kEqual;  // counter `predicate_` end: the loop goes on
  Signedness signedness_ = Signedness::kSigned;
  Range by_ = {0, 0};      // of the step
  bool falls_ = false;     // by a constant
  bool promised_ = false;  // the sum does not wrap
  bool inclusive_ = false;
};

std::vector<Op*> LoopsOf(Function* function) {
  std::vector<Op*> loops;
  Walk(function->body(), [&](Op* op) {
    if (LoopOp::Is(op)) loops.push_back(op);
  });
  return loops;
}

}  // namespace

RaisedLoops RaiseLoops(Module* module, Function* function) {
  RaisedLoops result;
  bool changed = false;
  const auto clean = [&] {
    if (!changed) return;
    Simplify(module, function);
    HoistInvariants(module, function, Share::kScalars);
    result.changed = true;
    changed = false;
  };
  std::vector<Op*> loops = LoopsOf(function);
  for (auto it = loops.rbegin(); it != loops.rend(); ++it) changed = RotateLoop(module, *it) || changed;
  clean();
  // The inner ones first: an outer one may copy them.
  loops = LoopsOf(function);
  for (auto it = loops.rbegin(); it != loops.rend(); ++it) {
    std::string why = Raiser(module, *it).Run();
    if (why.empty()) {
      changed = true;
    } else {
      result.stay.push_back({*it, std::move(why)});
    }
  }
  clean();
  return result;
}

}  // namespace tile::ir

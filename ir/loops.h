// What goes around a loop. A `for` and a `loop` carry values: the i-th one enters as init(i), is arg(i) inside of the
// body, is what a continue hands on as its operand i, and leaves a `for` as result(i). (What leaves a `loop` is what
// its break says.)
//
//   const CarryingLoop loop(op);                    // for or loop
//   for (int i = 0; i < loop.num_carried(); ++i) Join(loop.init(i), loop.arg(i), loop.next(i));
//   loop.carried_by_operand(operand);               // -1: a bound or the step
//   loop.carried_by(arg);                           // -1: the induction variable
//
//   ReceiverOf(*branch, i);                         // the value that gets operand i of yield, continue or break
#ifndef TILE_IR_LOOPS_H_
#define TILE_IR_LOOPS_H_

#include <array>
#include <optional>

#include "ir/op_views.h"

namespace tile::ir {

inline bool IsLoop(const Op* op) { return op != nullptr && op->info()->has(kLoop); }

class CarryingLoop {
 public:
  explicit CarryingLoop(const Op& op) : view_(op), inits_(view_.init_values()) {}
  // Of the loop whose body has this argument; nullopt for other values.
  static std::optional<CarryingLoop> Around(const Value* arg) {
    const Op* parent = arg->block() == nullptr ? nullptr : arg->block()->parent();
    return IsLoop(parent) ? std::optional<CarryingLoop>(*parent) : std::nullopt;
  }

  const Op& op() const { return view_.op(); }
  Block* body() const { return op().region(0); }
  bool counts() const { return ForOp::Is(&op()); }
  // The induction variable; null if it is a `loop`.
  Value* index() const { return counts() ? body()->arg(0) : nullptr; }

  int num_carried() const { return static_cast<int>(inits_.size()); }
  Value* init(int i) const { return inits_[static_cast<size_t>(i)]; }
  int init_at(int i) const { return inits_.first() + i; }  // position among the operands
  int first_arg() const { return counts() ? 1 : 0; }  // position of the first carried one among the body's arguments
  Value* arg(int i) const { return body()->arg(first_arg() + i); }
  Value* result(int i) const {
    TILE_CHECK(counts(), "what leaves a loop is what its break says");
    return op().result(i);
  }
  // The continue that ends the body; null if the body ends in another way.
  Op* latch() const {
    Op* end = body()->back();
    return ContinueOp::Is(end) ? end : nullptr;
  }
  // What that continue hands on.
  Value* next(int i) const { return latch()->operand(i); }

  // Which carried value it is; -1 if it is none.
  int carried_by_operand(int operand) const { return operand < inits_.first() ? -1 : operand - inits_.first(); }
  int carried_by(const Value* arg) const { return arg->block() != body() ? -1 : arg->index() - first_arg(); }

 private:
  OpView<WithTraits<kLoop>> view_;
  OperandRange inits_;
};

// What decides which values the induction variable has.
inline std::array<Value*, 3> BoundsOf(const ForOp& loop) {
  return {loop.lower_bound(), loop.upper_bound(), loop.step()};
}

// The operation that a yield, continue or break gives its operands to; null for a return.
inline Op* TargetOf(const Op& branch) {
  Op* to = branch.parent();
  if (ContinueOp::Is(&branch) || BreakOp::Is(&branch)) {
    while (to != nullptr && !IsLoop(to)) to = to->parent();
  }
  return ReturnOp::Is(&branch) ? nullptr : to;
}

// The value that gets operand i of a yield, continue or break: a result, or an argument of the loop's body.
inline Value* ReceiverOf(const Op& branch, int i) {
  const Op* to = TargetOf(branch);
  return ContinueOp::Is(&branch) ? CarryingLoop(*to).arg(i) : to->result(i);
}

}  // namespace tile::ir

#endif  // TILE_IR_LOOPS_H_

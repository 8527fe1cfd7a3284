#include "codegen/passes/slicing/slice_carry.h"

#include <utility>

#include "codegen/analysis/reduce_body.h"
#include "ir/op_views.h"

namespace tile::codegen {
namespace {

namespace op = ir::ops;
using ir::Op;
using ir::Opcode;
using ir::Value;

constexpr int kExactBits = 32;  // floats of fewer bits lose small terms soon

// Minima and maxima are exact.
bool Rounds(const ir::Block& body) {
  for (const Op* inside : body) {
    if (inside != body.back() && inside->opcode() != Opcode::kMinf && inside->opcode() != Opcode::kMaxf) return true;
  }
  return false;
}

bool IsBalanced(const Op& op) {
  for (int i = 0; i < op.num_operands(); ++i) {
    const ir::Elem elem = op.operand(i)->type().elem();
    if (ir::IsFloat(elem) && ir::ElemInfoOf(elem).bits < kExactBits) return Rounds(*op.region(0));
  }
  return false;
}

int Log2(int64_t n) { return 63 - __builtin_clzll(static_cast<uint64_t>(n)); }

Value* And(ir::Builder& b, Value* x, Value* y) { return x == nullptr ? y : op::Andi(b, x, y); }

Value* Compare(ir::Builder& b, ir::ComparisonPredicate how, Value* x, int64_t n) {
  return op::CmpI(b, how, x, op::Integer(b, x->type(), n), ir::Signedness::kUnsigned);
}

}  // namespace

Value* HasBit(ir::Builder& b, Value* number, int64_t n) {
  return Compare(b, ir::ComparisonPredicate::kNotEqual,
                 op::Andi(b, number, op::Integer(b, number->type(), int64_t{1} << n)), 0);
}
Value* IsZero(ir::Builder& b, Value* number) { return Compare(b, ir::ComparisonPredicate::kEqual, number, 0); }

bool CarriesElements(const Op& reduce) { return IsCommutative(*reduce.region(0)) && !IsBalanced(reduce); }

int64_t TotalsOf(const Op& op, int64_t slices) {
  // A reduce ends with the total of all, which is one level more.
  return IsBalanced(op) ? Log2(slices) + (op.opcode() == Opcode::kReduce ? 1 : 0) : 1;
}

Totals::Totals(const Op& op, int64_t slices, std::vector<ir::Type> types)
    : op_(op), types_(std::move(types)), levels_(TotalsOf(op, slices)) {}

Values Totals::Init(ir::Builder& b) const {
  const auto identities = ir::FoldOp(op_).identities();
  Values values;
  for (int64_t level = 0; level < levels_; ++level) {
    for (size_t i = 0; i < types_.size(); ++i) values.push_back(Number(b, types_[i], identities[i]));
  }
  return values;
}

Values Totals::Level(const Values& carried, int64_t level) const {
  const auto first = carried.begin() + static_cast<std::ptrdiff_t>(static_cast<size_t>(level) * types_.size());
  return Values(first, first + static_cast<std::ptrdiff_t>(types_.size()));
}

Values Totals::Join(ir::Builder& b, const Values& before, const Values& behind) const {
  Values args;
  for (size_t i = 0; i < before.size(); ++i) {
    args.push_back(behind[i]);  // element
    args.push_back(before[i]);  // accumulator
  }
  return OnTiles(b, *op_.region(0), args, before[0]->type().shape());
}

// The slices before iteration 0b1101 are the totals of eight, four and one slice, in this order.
Values Totals::Before(ir::Builder& b, Value* iteration, const Values& carried) const {
  Values sum = Level(carried, levels_ - 1);
  if (!IsBalanced(op_)) return sum;
  Value* any = HasBit(b, iteration, levels_ - 1);
  for (int64_t level = levels_ - 2; level >= 0; --level) {
    const Values own = Level(carried, level), joined = Join(b, sum, own);
    Value* set = HasBit(b, iteration, level);
    for (size_t i = 0; i < sum.size(); ++i) sum[i] = Choose(b, set, Choose(b, any, joined[i], own[i]), sum[i]);
    any = op::Ori(b, any, set);
  }
  return sum;
}

// As one is added to a binary number: totals of equal size join, up to the first bit that is not set.
Values Totals::After(ir::Builder& b, Value* iteration, const Values& carried, const Values& total) const {
  if (!IsBalanced(op_)) {
    const Values joined = Join(b, carried, total);
    Value* first = IsZero(b, iteration);
    Values next;
    for (size_t i = 0; i < joined.size(); ++i) next.push_back(Choose(b, first, total[i], joined[i]));
    return next;
  }
  Values next, sum = total;
  Value* on = nullptr;  // all lower bits are set
  for (int64_t level = 0; level < levels_; ++level) {
    const Values own = Level(carried, level);
    Value* set = HasBit(b, iteration, level);
    Value* ends = And(b, on, IsZero(b, op::Andi(b, iteration, op::Integer(b, iteration->type(), int64_t{1} << level))));
    for (size_t i = 0; i < sum.size(); ++i) next.push_back(Choose(b, ends, sum[i], own[i]));
    on = And(b, on, set);
    // Behind the end of the carry sums are not used.
    if (level + 1 < levels_) sum = Join(b, own, sum);
  }
  return next;
}

}  // namespace tile::codegen

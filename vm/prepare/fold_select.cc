#include "vm/prepare/fold_select.h"

#include <array>
#include <optional>
#include <vector>

#include "ir/op_views.h"

namespace tile::vm {
namespace {

using ir::Op;
using ir::Opcode;
using ir::Value;

using CmpOp = ir::OpView<ir::AnyOf<Opcode::kCmpI, Opcode::kCmpF>>;
using LogicOp = ir::OpView<ir::AnyOf<Opcode::kAndi, Opcode::kOri, Opcode::kXori>>;

// How an element compares with its accumulator.
enum Outcome { kLess, kEqual, kGreater, kUnordered, kOutcomes };
constexpr int kMaxStreams = 3;
using Outcomes = std::array<int, kMaxStreams>;  // by operand of the fold

// What a value of the body is: a truth value, or one side of an operand.
struct Meaning {
  enum Kind { kFalse, kTrue, kElement, kAccumulator } kind = kFalse;
  int stream = 0;  // of the last two
};

class Body {
 public:
  explicit Body(const Op& fold) : fold_(fold), body_(fold.region(0)), signedness_(kMaxStreams, -1) {}

  // true: yields all elements; false: all accumulators; neither, or something else than choosing: nullopt.
  std::optional<bool> Takes(const Outcomes& outcomes) {
    known_.clear();
    for (int i = 0; i < fold_.num_operands(); ++i) {
      known_.push_back({body_->arg(2 * i), {Meaning::kElement, i}});
      known_.push_back({body_->arg(2 * i + 1), {Meaning::kAccumulator, i}});
    }
    for (const Op* op : *body_) {
      if (op->opcode() == Opcode::kYield) return Yielded(*op);
      const std::optional<Meaning> result = Evaluate(*op, outcomes);
      if (!result) return std::nullopt;
      known_.push_back({op->result(0), *result});
    }
    return std::nullopt;
  }

 private:
  std::optional<Meaning> Find(const Value* v) const {
    for (const auto& [value, meaning] : known_) {
      if (value == v) return meaning;
    }
    return std::nullopt;  // from outside of the body
  }

  std::optional<bool> Yielded(const Op& yield) const {
    std::optional<bool> takes;
    for (int i = 0; i < yield.num_operands(); ++i) {
      const std::optional<Meaning> m = Find(yield.operand(i));
      if (!m || m->kind < Meaning::kElement || m->stream != i) return std::nullopt;
      const bool element = m->kind == Meaning::kElement;
      if (takes && *takes != element) return std::nullopt;
      takes = element;
    }
    return takes;
  }

  std::optional<Meaning> Evaluate(const Op& op, const Outcomes& outcomes) {
    const auto truth = [](bool b) { return Meaning{b ? Meaning::kTrue : Meaning::kFalse, 0}; };
    const auto operand = [&](int i) { return Find(op.operand(i)); };
    if (const auto cmp = ir::As<CmpOp>(&op)) {
      const std::optional<bool> holds = Compare(*cmp, operand(0), operand(1), outcomes);
      return holds ? std::optional(truth(*holds)) : std::nullopt;
    }
    if (ir::Is<LogicOp>(&op)) {
      const auto a = operand(0), b = operand(1);
      if (!a || !b || a->kind > Meaning::kTrue || b->kind > Meaning::kTrue) return std::nullopt;
      const bool x = a->kind == Meaning::kTrue, y = b->kind == Meaning::kTrue;
      return truth(ir::AndiOp::Is(&op) ? x && y : ir::OriOp::Is(&op) ? x || y : x != y);
    }
    if (const auto select = ir::As<ir::SelectOp>(&op)) {
      const auto condition = Find(select->cond());
      if (!condition || condition->kind > Meaning::kTrue) return std::nullopt;
      return Find(condition->kind == Meaning::kTrue ? select->val_if_true() : select->val_if_false());
    }
    return std::nullopt;
  }

  std::optional<bool> Compare(const CmpOp& cmp, std::optional<Meaning> a, std::optional<Meaning> b,
                              const Outcomes& outcomes) {
    if (!a || !b || a->kind < Meaning::kElement || b->kind < Meaning::kElement) return std::nullopt;
    if (a->stream != b->stream || a->kind == b->kind) return std::nullopt;
    int outcome = outcomes[static_cast<size_t>(a->stream)];
    if (a->kind == Meaning::kAccumulator && outcome != kUnordered) outcome = kGreater - outcome;
    const ir::ComparisonPredicate predicate = cmp.predicate();
    if (const auto floats = ir::As<ir::CmpFOp>(&cmp.op())) {
      if (outcome == kUnordered) return floats->ordering() == ir::ComparisonOrdering::kUnordered;
    } else if (predicate != ir::ComparisonPredicate::kEqual && predicate != ir::ComparisonPredicate::kNotEqual) {
      // Signed and unsigned numbers have different orders: one of them an operand.
      int& signedness = signedness_[static_cast<size_t>(a->stream)];
      const int here = static_cast<int>(ir::CmpIOp(cmp.op()).signedness());
      if (signedness >= 0 && signedness != here) return std::nullopt;
      signedness = here;
    }
    switch (predicate) {
      case ir::ComparisonPredicate::kEqual: return outcome == kEqual;
      case ir::ComparisonPredicate::kNotEqual: return outcome != kEqual;
      case ir::ComparisonPredicate::kLessThan: return outcome == kLess;
      case ir::ComparisonPredicate::kLessThanOrEqual: return outcome != kGreater;
      case ir::ComparisonPredicate::kGreaterThan: return outcome == kGreater;
      case ir::ComparisonPredicate::kGreaterThanOrEqual: return outcome != kLess;
    }
    return std::nullopt;
  }

  const Op& fold_;
  const ir::Block* body_;
  std::vector<int> signedness_;  // by operand of the fold; -1: not yet seen
  std::vector<std::pair<const Value*, Meaning>> known_;
};

// An order of pairs: an element is taken if operand `first` is on the side `better`, or equal and operand `second` (-1:
// none) is on the side `earlier`. An element that equals the accumulator is taken if `equals`.
struct PairOrder {
  int first, better, second, earlier;
  bool equals;
  bool Takes(const Outcomes& o) const {
    if (o[static_cast<size_t>(first)] == better) return true;
    if (o[static_cast<size_t>(first)] != kEqual) return false;
    if (second < 0) return equals;
    return o[static_cast<size_t>(second)] == earlier || (equals && o[static_cast<size_t>(second)] == kEqual);
  }
};

std::vector<PairOrder> AllOrders(const Op& fold) {
  std::vector<PairOrder> all;
  const auto add = [&all](int first, int better, int second, int earlier) {
    for (const bool equals : {false, true}) all.push_back({first, better, second, earlier, equals});
  };
  for (int first = 0; first < fold.num_operands(); ++first) {
    for (const int better : {kLess, kGreater}) {
      add(first, better, -1, 0);
      for (int second = 0; second < fold.num_operands(); ++second) {
        // A NaN that decides a tie would make the order depend on the way.
        if (second == first || ir::IsFloat(fold.operand(second)->type().elem())) continue;
        for (const int earlier : {kLess, kGreater}) add(first, better, second, earlier);
      }
    }
  }
  return all;
}

}  // namespace

Kept SideKept(const Op& fold) {
  const int streams = fold.num_operands();
  if (streams > kMaxStreams) return Kept::kNeither;
  std::array<bool, kMaxStreams> is_float{};
  for (int i = 0; i < streams; ++i) {
    const ir::Type t = fold.operand(i)->type();
    if (t.element().is_pointer()) return Kept::kNeither;
    const auto u = static_cast<size_t>(i);
    is_float[u] = ir::IsFloat(t.elem());
  }
  Body body(fold);
  std::vector<PairOrder> orders = AllOrders(fold);
  Outcomes o{};
  while (true) {
    const std::optional<bool> takes = body.Takes(o);
    if (!takes) return Kept::kNeither;
    std::erase_if(orders, [&](const PairOrder& order) { return order.Takes(o) != *takes; });
    if (orders.empty()) return Kept::kNeither;
    // The next combination.
    int i = 0;
    for (; i < streams; ++i) {
      const auto u = static_cast<size_t>(i);
      if (++o[u] < (is_float[u] ? kOutcomes : kUnordered)) break;
      o[u] = 0;
    }
    if (i == streams) return orders.front().equals ? Kept::kRightmost : Kept::kLeftmost;
  }
}

}  // namespace tile::vm

// Divisors, and what all facts share: how they go through loops and branches.
#include "codegen/analysis/facts.h"

#include <algorithm>

#include "codegen/analysis/facts_internal.h"
#include "codegen/analysis/op_rules.h"
#include "codegen/gpu/ops.h"
#include "ir/bits.h"
#include "ir/loops.h"

namespace tile::codegen {
namespace {

using ir::Op;
using ir::Value;

constexpr int kDepth = 200;                    // operations that one fact may follow from, in a chain
constexpr int64_t kLooked = int64_t{1} << 20;  // operations that are looked at in all
constexpr int kIterations = 8;                 // attempts at an argument of a loop

uint64_t DivisorOfConstant(const ir::Dense& d) {
  if (!ir::IsInt(d.elem)) return 1;
  uint64_t least = Facts::kMax;
  for (size_t i = 0; i < NumElements(d); ++i) least = std::min(least, PowerOfTwoIn(ElementAt(d, i)));
  return least;
}

}  // namespace

uint64_t PowerOfTwoIn(uint64_t n) { return n == 0 ? Facts::kMax : std::min(Facts::kMax, ir::LowestBit(n)); }

// --- loops and branches ---------------------------------------------------------------------------------------------

template <class Fact>
void Facts::Remember(Known<Fact>& known, Key key, const Fact& fact) {
  known[key] = fact;
  found_.push_back({key, KindOf(&fact)});
}

// What was assumed before the mark of another kind of fact about the same value stays: it would be looked for again, and again without end.
void Facts::ForgetSince(size_t mark) {
  for (size_t i = mark; i < found_.size(); ++i) {
    const auto& [key, kind] = found_[i];
    switch (kind) {
      case Kind::kMultiple: multiples_.erase(key); break;
      case Kind::kRange: ranges_.erase(key); break;
      case Kind::kLine: lines_.erase(key); break;
    }
  }
  found_.resize(mark);
}

template <class Fact>
Fact Facts::Find(Known<Fact>& known, Key key, int depth) {
  if (auto it = known.find(key); it != known.end()) return it->second;
  if (depth > kDepth || ++looked_ > kLooked) return Nothing(*key.first, static_cast<const Fact*>(nullptr));
  const Op* op = key.first->def();
  const Fact fact = op == nullptr                        ? OfArgument(known, key, depth)
                    : ir::IsLoop(op) || ir::IfOp::Is(op) ? OfResult(known, key, depth)
                                                         : ByRule(key, depth, static_cast<const Fact*>(nullptr));
  Remember(known, key, fact);
  return fact;
}

template <class Fact>
Fact Facts::OfArgument(Known<Fact>& known, Key key, int depth) {
  // What is fetched ahead is what iterations load.
  const Op* around = key.first->block() != nullptr ? key.first->block()->parent() : nullptr;
  if (IsFetch(around)) return Find(known, {around->operand(key.first->index()), key.second}, depth + 1);
  const auto loop = ir::CarryingLoop::Around(key.first);
  if (!loop) return Nothing(*key.first, static_cast<const Fact*>(nullptr));
  const int i = loop->carried_by(key.first);
  if (i < 0) return OfInduction(loop->op(), depth, static_cast<const Fact*>(nullptr));
  return OfCarried(known, key, loop->op(), i, depth);
}

const std::vector<const Op*>& Facts::EndsOf(const Op& op) {
  const auto [it, first] = ends_.try_emplace(&op);
  for (int r = 0; first && r < op.num_regions(); ++r) {
    if (op.region(r) == nullptr) continue;
    ir::Walk(op.region(r), [&](Op* end) {
      const bool hands_on = ir::YieldOp::Is(end) || ir::ContinueOp::Is(end) || ir::BreakOp::Is(end);
      if (hands_on && ir::TargetOf(*end) == &op) it->second.push_back(end);
    });
  }
  return it->second;
}

// The fact of the first value, if it follows for the next value where it is assumed of this one; else a weaker one.
template <class Fact>
Fact Facts::OfCarried(Known<Fact>& known, Key key, const Op& op, int i, int depth) {
  const std::vector<const Op*> ends = EndsOf(op);
  Fact fact = Find(known, {ir::CarryingLoop(op).init(i), key.second}, depth + 1);
  for (int n = 0; n < kIterations; ++n) {
    // What follows from the assumption is forgotten with it.
    const size_t mark = found_.size();
    Remember(known, key, fact);
    Fact next = fact;
    for (const Op* end : ends) {
      if (ir::ContinueOp::Is(end))
        next = Either(*key.first, next, Find(known, {end->operand(i), key.second}, depth + 1));
    }
    if (next == fact) return fact;
    ForgetSince(mark);
    fact = Widened(*key.first, fact, next);
  }
  return Nothing(*key.first, static_cast<const Fact*>(nullptr));
}

// Of an if, a for or a loop: what holds of all that may come out.
template <class Fact>
Fact Facts::OfResult(Known<Fact>& known, Key key, int depth) {
  const Op& op = *key.first->def();
  const int i = key.first->index();
  if (ir::ForOp::Is(&op)) return Find(known, {ir::CarryingLoop(op).arg(i), key.second}, depth + 1);
  const std::vector<const Op*> ends = EndsOf(op);
  Fact fact = Nothing(*key.first, static_cast<const Fact*>(nullptr));
  bool first = true;
  for (const Op* end : ends) {
    if (ir::ContinueOp::Is(end)) continue;
    const Fact f = Find(known, {end->operand(i), key.second}, depth + 1);
    fact = first ? f : Either(*key.first, fact, f);
    first = false;
  }
  return fact;
}

// --- divisors -------------------------------------------------------------------------------------------------------

Facts::Multiple Facts::OfInduction(const Op& loop, int depth, const Multiple*) {
  const ir::ForOp counted(loop);
  return {std::min(Find(multiples_, {counted.lower_bound(), 0}, depth + 1).of,
                   Find(multiples_, {counted.step(), 0}, depth + 1).of)};
}

Facts::Multiple Facts::Either(const Value&, const Multiple& a, const Multiple& b) { return {std::min(a.of, b.of)}; }

// Divisibility by a power of two survives wrapping, and does not ask for the sign.
Facts::Multiple Facts::ByRule(Key key, int depth, const Multiple*) {
  const Op* op = key.first->def();
  auto of = [&](int i) { return DivisorAt(*op, i, depth); };
  switch (RuleOf(*op).divisor) {
    case DivisorRule::kUnknown: return {1};
    case DivisorRule::kConstant: return {DivisorOfConstant(ir::ConstantOp(op).value())};
    case DivisorRule::kAssume: {
      const ir::Predicate& p = ir::AssumeOp(op).predicate();
      if (p.kind != ir::Predicate::Kind::kDivBy || p.every.has_value()) return {of(0)};
      return {std::max(of(0), PowerOfTwoIn(p.divisor))};
    }
    case DivisorRule::kLeast: return {std::min(of(0), of(1))};
    case DivisorRule::kProduct: return {std::min(kMax, of(0) * of(1))};
    case DivisorRule::kMost: return {std::max(of(0), of(1))};
    case DivisorRule::kShift: {
      const Range by = RangeAt(*op, 1, depth);
      return {by.negative() ? of(0) : by.lower >= 20 ? kMax : std::min(kMax, of(0) << by.lower)};
    }
    case DivisorRule::kShiftRight: {
      const Range by = RangeAt(*op, 1, depth);
      return {by.negative() || by.upper >= 20 ? 1 : std::max<uint64_t>(1, of(0) >> by.upper)};
    }
    case DivisorRule::kQuotient: {
      // By a power of two that divides: nothing is rounded.
      const Range by = RangeAt(*op, 1, depth);
      if (by.lower != by.upper || by.lower <= 0) return {1};
      const auto n = static_cast<uint64_t>(by.lower);
      return {(n & (n - 1)) == 0 ? std::max<uint64_t>(1, of(0) / n) : 1};
    }
    case DivisorRule::kSource: return {of(0)};
    case DivisorRule::kOffset: return {std::min(of(0), std::min(kMax, of(1) * UnitOf(*key.first)))};
    case DivisorRule::kChoice: return {std::min(of(1), of(2))};
    case DivisorRule::kAlignment:
      return {PowerOfTwoIn(static_cast<uint64_t>(ir::OpView<ir::WithFields<ir::Field::kAlignment>>(op).alignment()))};
  }
  return {1};
}

template Facts::Multiple Facts::Find(Known<Multiple>&, Key, int);
template Facts::Range Facts::Find(Known<Range>&, Key, int);
template Facts::Line Facts::Find(Known<Line>&, Key, int);

}  // namespace tile::codegen

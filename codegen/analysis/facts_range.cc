// The bounds of integers. Results that may leave their type have its whole range, unless a promise forbids it.
#include <algorithm>

#include "codegen/analysis/facts.h"
#include "codegen/analysis/facts_internal.h"
#include "codegen/analysis/op_rules.h"
#include "ir/bits.h"

namespace tile::codegen {
namespace {

using ir::Op;
using ir::Value;
using Range = Facts::Range;
using Wide = __int128;

Range OfBits(int bits) {
  if (bits >= 64) return {};
  return {-(int64_t{1} << (bits - 1)), (int64_t{1} << (bits - 1)) - 1};
}

Range Whole(const Value& v) { return OfBits(BitsOf(v)); }

bool Fits(Wide lower, Wide upper, const Range& in) { return lower >= in.lower && upper <= in.upper; }

// Of a result that is between these if nothing overflows; where that is promised, what overflows does not happen.
Range Result(const Value& v, Wide lower, Wide upper, ir::Overflow promise) {
  const Range whole = Whole(v);
  if (Fits(lower, upper, whole)) return {static_cast<int64_t>(lower), static_cast<int64_t>(upper)};
  if (promise != ir::Overflow::kNoSignedWrap && promise != ir::Overflow::kNoWrap) return whole;
  const Range r{static_cast<int64_t>(std::max<Wide>(lower, whole.lower)),
                static_cast<int64_t>(std::min<Wide>(upper, whole.upper))};
  return r.lower <= r.upper ? r : whole;
}

// The multiples in it: what begins a block of 128 is at most 2^31 - 128, so that the numbers of the block don't overflow.
Range InSteps(const Range& r, uint64_t divisor) {
  const auto step = static_cast<int64_t>(divisor);
  const auto rest = [&](int64_t n) { return ((n % step) + step) % step; };
  const Wide lower = Wide{r.lower} + rest(-rest(r.lower)), upper = Wide{r.upper} - rest(r.upper);
  return lower <= upper ? Range{static_cast<int64_t>(lower), static_cast<int64_t>(upper)} : r;
}

// All numbers from 0 with as many bits as either.
int64_t OnesUpTo(int64_t n) {
  uint64_t ones = static_cast<uint64_t>(n);
  for (int shift = 1; shift < 64; shift *= 2) ones |= ones >> shift;
  return static_cast<int64_t>(ones);
}

Range OfConstant(const Value& v, const ir::Dense& d) {
  if (!IsInteger(v)) return {};
  Range r{INT64_MAX, INT64_MIN};
  for (size_t i = 0; i < NumElements(d); ++i) {
    const int64_t n = ir::SignExtend(ElementAt(d, i), BitsOf(v));
    r = {std::min(r.lower, n), std::max(r.upper, n)};
  }
  return r.lower <= r.upper ? r : Whole(v);
}

// a / b for b > 0, as the operation rounds.
int64_t Quotient(int64_t a, int64_t b, ir::Rounding rounding) {
  const int64_t q = a / b, rest = a % b;
  if (rounding == ir::Rounding::kPositiveInf) return q + (rest > 0);
  if (rounding == ir::Rounding::kNegativeInf) return q - (rest < 0);
  return q;
}

// The divisor is above 0. A quotient rises with the dividend, and is nearer to 0 for a larger divisor.
Range OfDivision(const Value& v, const Range& a, const Range& b, ir::Signedness sign, ir::Rounding rounding) {
  if (sign == ir::Signedness::kSigned || !a.negative()) {
    return {Quotient(a.lower, a.lower < 0 ? b.lower : b.upper, rounding),
            Quotient(a.upper, a.upper < 0 ? b.upper : b.lower, rounding)};
  }
  // Without a sign the dividend may be as large as its bits allow.
  const Wide up = rounding == ir::Rounding::kPositiveInf ? b.lower - 1 : 0;
  const Wide upper = (((Wide{1} << BitsOf(v)) - 1) + up) / b.lower;
  const Range whole = Whole(v);
  return Fits(0, upper, whole) ? Range{0, static_cast<int64_t>(upper)} : whole;
}

// A remainder is nearer to 0 than both. With a sign it has the dividend's, whichever the divisor has.
Range OfRemainder(const Value& v, const Range& a, const Range& b, ir::Signedness sign) {
  if (b.lower <= 0) {
    if (sign == ir::Signedness::kUnsigned && a.negative()) return Whole(v);
    return {std::min<int64_t>(a.lower, 0), std::max<int64_t>(a.upper, 0)};
  }
  const int64_t most = b.upper - 1;
  if (sign == ir::Signedness::kUnsigned) return {0, a.negative() ? most : std::min(a.upper, most)};
  return {std::clamp<int64_t>(a.lower, -most, 0), std::clamp<int64_t>(a.upper, 0, most)};
}

}  // namespace

Range Facts::Nothing(const Value& v, const Range*) { return Whole(v); }

Range Facts::Either(const Value&, const Range& a, const Range& b) {
  return {std::min(a.lower, b.lower), std::max(a.upper, b.upper)};
}

// A bound that moves is given up at once: it would move with every iteration.
Range Facts::Widened(const Value& v, const Range& old, const Range& next) {
  const Range whole = Whole(v);
  return {next.lower < old.lower ? whole.lower : old.lower, next.upper > old.upper ? whole.upper : old.upper};
}

Range Facts::OfInduction(const Op& loop, int depth, const Range*) {
  const ir::ForOp counted(loop);
  const Range from = Find(ranges_, {counted.lower_bound(), 0}, depth + 1);
  const Range to = Find(ranges_, {counted.upper_bound(), 0}, depth + 1);
  const Range whole = Whole(*counted.lower_bound());
  if (counted.unsigned_cmp() && (from.negative() || to.negative())) return whole;
  // In a loop that runs, the first value is below the end.
  if (from.lower >= to.upper) return whole;
  return {from.lower, to.upper - 1};
}

Range Facts::RangeOfBinary(const Op& op, int depth) {
  const Value& v = *op.result(0);
  const Range a = InSteps(RangeAt(op, 0, depth), DivisorAt(op, 0, depth));
  const Range b = InSteps(RangeAt(op, 1, depth), DivisorAt(op, 1, depth));
  const ir::Overflow promise = ir::OverflowOp(op).overflow();
  if (ir::AddiOp::Is(&op)) return Result(v, Wide{a.lower} + b.lower, Wide{a.upper} + b.upper, promise);
  if (ir::SubiOp::Is(&op)) return Result(v, Wide{a.lower} - b.upper, Wide{a.upper} - b.lower, promise);
  if (ir::ShliOp::Is(&op)) {
    if (b.lower != b.upper || b.negative() || b.upper >= BitsOf(v) - 1) return Whole(v);
    return Result(v, Wide{a.lower} * (Wide{1} << b.lower), Wide{a.upper} * (Wide{1} << b.lower), promise);
  }
  const Wide corners[] = {Wide{a.lower} * b.lower, Wide{a.lower} * b.upper, Wide{a.upper} * b.lower,
                          Wide{a.upper} * b.upper};
  return Result(v, *std::min_element(corners, corners + 4), *std::max_element(corners, corners + 4), promise);
}

Range Facts::RangeOfQuotient(const Op& op, int depth) {
  const Value& v = *op.result(0);
  const Range a = RangeAt(op, 0, depth), b = RangeAt(op, 1, depth);
  if (ir::ShriOp::Is(&op)) {
    if (b.negative() || a.negative()) return Whole(v);
    return {b.upper >= 63 ? 0 : a.lower >> b.upper, b.lower >= 63 ? 0 : a.upper >> b.lower};
  }
  const ir::Signedness sign = ir::SignednessOp(op).signedness();
  if (ir::RemiOp::Is(&op)) return OfRemainder(v, a, b, sign);
  if (b.lower <= 0) return Whole(v);
  return OfDivision(v, a, b, sign, ir::DiviOp(op).rounding());
}

Range Facts::RangeOfAssume(const Op& op, int depth) {
  const ir::Predicate& p = ir::AssumeOp(op).predicate();
  const Range r = RangeAt(op, 0, depth);
  if (p.kind != ir::Predicate::Kind::kBounded) return r;
  const Range both{std::max(r.lower, p.lower.value_or(r.lower)), std::min(r.upper, p.upper.value_or(r.upper))};
  return both.lower <= both.upper ? both : r;
}

Range Facts::ByRule(Key key, int depth, const Range*) {
  const Value& v = *key.first;
  const Op& op = *v.def();
  const Range whole = Whole(v);
  if (!IsInteger(v)) return whole;
  auto of = [&](int i) { return RangeAt(op, i, depth); };
  switch (RuleOf(op).range) {
    case RangeRule::kUnknown: return whole;
    case RangeRule::kConstant: return OfConstant(v, ir::ConstantOp(op).value());
    case RangeRule::kIota: {
      const int64_t last = v.type().shape()[0] - 1;
      return last <= whole.upper ? Range{0, last} : whole;
    }
    case RangeRule::kCount: return {0, whole.upper};
    case RangeRule::kAssume: return RangeOfAssume(op, depth);
    case RangeRule::kSource: return of(0);
    case RangeRule::kExtend: {
      const Range r = of(0);
      if (ir::ExtiOp(op).signedness() == ir::Signedness::kSigned || !r.negative()) return r;
      return {0, static_cast<int64_t>((uint64_t{1} << BitsOf(*op.operand(0))) - 1)};
    }
    case RangeRule::kTruncate: {
      const Range r = of(0);
      return Fits(r.lower, r.upper, whole) ? r : whole;
    }
    case RangeRule::kArithmetic: return RangeOfBinary(op, depth);
    case RangeRule::kQuotient: return RangeOfQuotient(op, depth);
    case RangeRule::kSmaller:
    case RangeRule::kLarger: {
      const Range a = of(0), b = of(1);
      const auto sign = ir::SignednessOp(op).signedness();
      if (sign == ir::Signedness::kUnsigned && (a.negative() || b.negative())) return Either(v, a, b);
      if (RuleOf(op).range == RangeRule::kSmaller) return {std::min(a.lower, b.lower), std::min(a.upper, b.upper)};
      return {std::max(a.lower, b.lower), std::max(a.upper, b.upper)};
    }
    case RangeRule::kAnd: {
      const Range a = of(0), b = of(1);
      if (a.negative() && b.negative()) return whole;
      return {0, std::min(a.negative() ? INT64_MAX : a.upper, b.negative() ? INT64_MAX : b.upper)};
    }
    case RangeRule::kOr: {
      const Range a = of(0), b = of(1);
      if (a.negative() || b.negative()) return whole;
      return {0, OnesUpTo(std::max(a.upper, b.upper))};
    }
    case RangeRule::kChoice: return Either(v, of(1), of(2));
  }
  return whole;
}

}  // namespace tile::codegen

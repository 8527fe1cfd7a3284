// Which neighbours along a dimension rise by one step, and which are equal.
//
// Sums rise modulo 2^n whatever happens, but what is extended to more bits must not have wrapped around. In a group that begins
// at a multiple of its length nothing wraps: only the low bits count up. Elsewhere a promise or the range of the sum says so,
// or `wraps` stays for a test at run time.
#include <algorithm>

#include "codegen/analysis/facts.h"
#include "codegen/analysis/facts_internal.h"
#include "codegen/analysis/op_rules.h"

namespace tile::codegen {
namespace {

using ir::Op;
using ir::Value;
using Line = Facts::Line;
using Range = Facts::Range;
using Wide = __int128;

uint64_t Capped(uint64_t n) { return std::min(Facts::kMax, n); }

// Groups of at most n neighbours.
Line InGroups(Line l, uint64_t n, uint64_t unit) {
  if (l.rising > n) l = {n, l.equal, std::min(l.start, Capped(n * unit)), l.wraps, l.wraps_unsigned};
  return l;
}

// What follows for every line: a group is no longer than numbers of so many bits count, and does not wrap where it is aligned.
Line Settled(Line l, const Value& v) {
  const uint64_t unit = UnitOf(v);
  const int bits = BitsOf(v);
  if (bits < 32) l = InGroups(l, uint64_t{1} << (bits - 1), unit);
  if (l.rising == 1 || l.start >= Capped(l.rising * unit)) l.wraps = l.wraps_unsigned = false;
  return l;
}

bool Promises(const Op& op, ir::Overflow what) {
  if (!ir::OverflowOp::Is(&op)) return false;
  const ir::Overflow promise = ir::OverflowOp(op).overflow();
  return promise == what || promise == ir::Overflow::kNoWrap;
}

// A sum or difference that stays within its type, by its range before anything overflows.
void NoteWraps(const Op& op, const Range& a, const Range& b, Line* l) {
  const int bits = BitsOf(*op.result(0));
  if (bits >= 64) return;  // nothing extends it any further
  const bool difference = ir::SubiOp::Is(&op);
  const Wide lower = Wide{a.lower} + (difference ? -Wide{b.upper} : Wide{b.lower});
  const Wide upper = Wide{a.upper} + (difference ? -Wide{b.lower} : Wide{b.upper});
  const Wide end = Wide{1} << (bits - 1);
  const bool fits = lower >= -end && upper < end;
  l->wraps |= !fits && !Promises(op, ir::Overflow::kNoSignedWrap);
  // The same numbers without a sign, if none has one.
  const bool without_sign = fits && lower >= 0 && !a.negative() && !b.negative();
  l->wraps_unsigned |= !without_sign && !Promises(op, ir::Overflow::kNoUnsignedWrap);
}

bool IsZero(const Value* v) {
  const auto def = ir::DefAs<ir::ConstantOp>(v);
  return def && def->value().splat && ElementAt(def->value(), 0) == 0;
}

// v is `x < 0`.
bool TestsSign(const Value* v, const Value* x) {
  const auto test = ir::DefAs<ir::CmpIOp>(v);
  return test && test->predicate() == ir::ComparisonPredicate::kLessThan && test->lhs() == x && IsZero(test->rhs()) &&
         test->signedness() == ir::Signedness::kSigned;
}

// The remainder that has the sign of the divisor, as Python has it: r = x rem n, and r + n where the signs of r and n differ
// and r is not 0. Null for other choices.
const Op* FlooredRemainder(const ir::SelectOp& choice) {
  const auto rem = ir::DefAs<ir::RemiOp>(choice.val_if_false());
  const auto sum = ir::DefAs<ir::AddiOp>(choice.val_if_true());
  const auto both = ir::DefAs<ir::AndiOp>(choice.cond());
  if (!rem || !sum || !both || rem->signedness() != ir::Signedness::kSigned) return nullptr;
  const auto differ = ir::DefAs<ir::XoriOp>(both->lhs());
  const auto some = ir::DefAs<ir::CmpIOp>(both->rhs());
  const Value *r = rem->result(), *n = rem->rhs();
  const bool matches = sum->lhs() == r && sum->rhs() == n && differ && some && TestsSign(differ->lhs(), r) &&
                       TestsSign(differ->rhs(), n) && some->predicate() == ir::ComparisonPredicate::kNotEqual &&
                       some->lhs() == r && IsZero(some->rhs());
  return matches ? &rem->op() : nullptr;
}

}  // namespace

Line Facts::Nothing(const Value&, const Line*) { return {}; }

Line Facts::Either(const Value& v, const Line& a, const Line& b) {
  const uint64_t unit = UnitOf(v), rising = std::min(a.rising, b.rising);
  Line l = InGroups(a, rising, unit);
  const Line other = InGroups(b, rising, unit);
  l.start = std::min(l.start, other.start);
  l.equal = std::min(a.equal, b.equal);
  l.wraps |= other.wraps;
  l.wraps_unsigned |= other.wraps_unsigned;
  return l;
}

Line Facts::OfInduction(const Op&, int, const Line*) { return {}; }

// A dimension of the result runs through memory order as the source's dimension of the same stride does, as far as that goes.
Line Facts::LineOfReshape(const Op& op, int dim, int depth) {
  const auto from = op.operand(0)->type().shape(), to = op.result(0)->type().shape();
  const auto u = static_cast<size_t>(dim);
  for (size_t a = 0; a < from.size(); ++a) {
    if (from[a] == 1 || SpacingOf(from, a) != SpacingOf(to, u)) continue;
    const auto n = static_cast<uint64_t>(std::min(from[a], to[u]));
    Line l = InGroups(LineAt(op, 0, static_cast<int>(a), depth), n, UnitOf(*op.result(0)));
    l.equal = std::min(l.equal, n);
    return l;
  }
  return {};
}

Line Facts::LineOfAssume(const Op& op, int dim, int depth) {
  Line l = LineAt(op, 0, dim, depth);
  const ir::Predicate& p = ir::AssumeOp(op).predicate();
  if (p.kind == ir::Predicate::Kind::kDivBy && p.along.has_value() && *p.along == dim && *p.every > 1) {
    const uint64_t n = PowerOfTwoIn(static_cast<uint64_t>(*p.every)), start = PowerOfTwoIn(p.divisor);
    // Groups of 12 begin at multiples of 4 elements.
    const uint64_t own =
        static_cast<uint64_t>(*p.every) == n ? start : std::min(start, Capped(n * UnitOf(*op.result(0))));
    if (n >= l.rising) {
      l = {n, l.equal, own, false, own < n};
    } else {  // a longer group begins where one of these does
      l.start = std::max(l.start, own);
    }
  } else if (p.kind == ir::Predicate::Kind::kDivBy && !p.every.has_value()) {
    l.start = std::max(l.start, PowerOfTwoIn(p.divisor));
  } else if (p.kind == ir::Predicate::Kind::kSameElements && p.groups[static_cast<size_t>(dim)] > 1) {
    l.equal = std::max(l.equal, PowerOfTwoIn(static_cast<uint64_t>(p.groups[static_cast<size_t>(dim)])));
  }
  return l;
}

Line Facts::LineOfExtend(const Op& op, int dim, int depth) {
  Line l = LineAt(op, 0, dim, depth);
  const Range r = RangeAt(op, 0, depth);
  const bool as_unsigned = ir::ExtiOp(op).signedness() == ir::Signedness::kUnsigned;
  // What it is now: a group that wrapped does not rise, one that did not goes through zero at most.
  if (as_unsigned) {
    l.wraps = l.wraps_unsigned = l.wraps_unsigned && (l.wraps || r.negative());
  } else {
    l.wraps = l.wraps && (l.wraps_unsigned || r.negative());
    l.wraps_unsigned = l.wraps || r.negative();
  }
  return l;
}

Line Facts::LineOfTruncate(const Op& op, int dim, int depth) {
  Line l = LineAt(op, 0, dim, depth);
  const Range r = RangeAt(op, 0, depth);
  const int64_t end = int64_t{1} << (BitsOf(*op.result(0)) - 1);
  const bool fits = r.lower >= -end && r.upper < end;
  l.wraps |= !fits;
  l.wraps_unsigned |= !fits || r.negative();
  return l;
}

Line Facts::LineOfSum(const Op& op, int dim, int depth) {
  const Value& v = *op.result(0);
  const bool is_pointer = ir::OffsetOp::Is(&op);
  const uint64_t unit = UnitOf(v);
  const Line a = LineAt(op, 0, dim, depth), b = LineAt(op, 1, dim, depth);
  Line l;
  l.equal = std::min(a.equal, b.equal);
  l.rising = std::max(std::min(a.rising, b.equal), std::min(a.equal, b.rising));
  l.start = std::min({a.start, Capped(b.start * unit), Capped(l.rising * unit)});
  l.wraps = a.wraps || b.wraps;
  l.wraps_unsigned = a.wraps_unsigned || b.wraps_unsigned;
  if (is_pointer) l.wraps_unsigned = l.wraps;
  if (!is_pointer && l.rising > 1 && l.start < l.rising)
    NoteWraps(op, RangeAt(op, 0, depth), RangeAt(op, 1, depth), &l);
  return l;
}

Line Facts::LineOfDifference(const Op& op, int dim, int depth) {
  const Line a = LineAt(op, 0, dim, depth), b = LineAt(op, 1, dim, depth);
  Line l{std::min(a.rising, b.equal), std::min(a.equal, b.equal), 1, a.wraps, a.wraps_unsigned};
  l.start = std::min({a.start, b.start, l.rising});
  // Both rise: the distance stays.
  l.equal = std::max(l.equal, std::min(a.aligned(), b.aligned()));
  if (l.rising > 1 && l.start < l.rising) NoteWraps(op, RangeAt(op, 0, depth), RangeAt(op, 1, depth), &l);
  return l;
}

Line Facts::LineOfProduct(const Op& op, int dim, int depth, Line otherwise) {
  const int one = ir::ShliOp::Is(&op) ? 0 : 1;  // a shift by nothing
  for (int i = 1; i >= (ir::MuliOp::Is(&op) ? 0 : 1); --i) {
    if (RangeAt(op, i, depth).is(one)) return LineAt(op, 1 - i, dim, depth);
  }
  return otherwise;
}

// Divided by a multiple of the group, aligned groups give one quotient, and remainders that rise as they do.
Line Facts::LineOfQuotient(const Op& op, int dim, int depth, Line otherwise) {
  const Line a = LineAt(op, 0, dim, depth), b = LineAt(op, 1, dim, depth);
  if (ir::ShriOp::Is(&op)) {
    const Range by = RangeAt(op, 1, depth);
    if (by.is(0)) return a;
    const uint64_t n = by.negative() ? 1 : by.lower >= 20 ? kMax : uint64_t{1} << by.lower;
    otherwise.equal = std::max(otherwise.equal, std::min({a.aligned(), b.equal, n}));
    return otherwise;
  }
  const Range x = RangeAt(op, 0, depth), y = RangeAt(op, 1, depth);
  const bool as_unsigned = ir::SignednessOp(op).signedness() == ir::Signedness::kUnsigned;
  const uint64_t n = std::min({a.aligned(), b.equal, DivisorAt(op, 1, depth)});
  if (ir::RemiOp::Is(&op)) {
    if ((as_unsigned || !x.negative()) && n > 1) {
      otherwise = {n, otherwise.equal, std::max(n, std::min(a.start, DivisorAt(op, 1, depth))), false, false};
    }
    return otherwise;
  }
  if (y.is(1)) return a;
  const ir::Rounding rounding = ir::DiviOp(op).rounding();
  // A dividend that is not negative is rounded towards zero, whichever sign the divisor has.
  const bool towards_zero = !x.negative() && rounding == ir::Rounding::kZero;
  const bool down =
      as_unsigned || towards_zero || (y.lower > 0 && (!x.negative() || rounding == ir::Rounding::kNegativeInf));
  if (down && rounding != ir::Rounding::kPositiveInf) otherwise.equal = std::max(otherwise.equal, n);
  return otherwise;
}

// One side counts in its low bits, in which the other has only zeros, or, for `and`, only zeros or only ones.
Line Facts::LineOfBits(const Op& op, int dim, int depth, Line otherwise) {
  for (int i = 0; i < 2; ++i) {
    const Line a = LineAt(op, i, dim, depth), b = LineAt(op, 1 - i, dim, depth);
    const uint64_t n = std::min(a.aligned(), b.equal);
    const uint64_t zeros = std::min(n, DivisorAt(op, 1 - i, depth));
    uint64_t rising = zeros;
    if (ir::AndiOp::Is(&op)) {
      otherwise.equal = std::max(otherwise.equal, zeros);
      const Range mask = RangeAt(op, 1 - i, depth);
      rising = mask.lower == mask.upper ? std::min(n, PowerOfTwoIn(static_cast<uint64_t>(mask.lower) + 1)) : 1;
    }
    if (rising > otherwise.rising) otherwise = {rising, otherwise.equal, rising, false, false};
  }
  return otherwise;
}

Line Facts::LineOfCompare(const Op& op, int dim, int depth, Line otherwise) {
  const Line a = LineAt(op, 0, dim, depth), b = LineAt(op, 1, dim, depth);
  const ir::CmpIOp compare(op);
  const Range x = RangeAt(op, 0, depth), y = RangeAt(op, 1, depth);
  // Decided by the ranges alone.
  const bool signs = compare.signedness() == ir::Signedness::kSigned || (!x.negative() && !y.negative());
  using P = ir::ComparisonPredicate;
  const P p = compare.predicate();
  const bool strict = p == P::kLessThan || p == P::kGreaterThanOrEqual;      // a < b, or not
  const bool with_equal = p == P::kLessThanOrEqual || p == P::kGreaterThan;  // b < a, or not
  const auto size = static_cast<uint64_t>(op.result(0)->type().shape()[static_cast<size_t>(dim)]);
  const bool apart = x.upper < y.lower || y.upper < x.lower;
  if (signs && (apart || (strict && y.upper <= x.lower) || (with_equal && x.upper <= y.lower))) {
    otherwise.equal = size;
    return otherwise;
  }
  // Rising numbers below a bound: all or none, if both begin at multiples of the group.
  uint64_t n = 1;
  if (strict) n = std::min({a.aligned(), b.equal, DivisorAt(op, 1, depth)});
  if (with_equal) n = std::min({b.aligned(), a.equal, DivisorAt(op, 0, depth)});
  // Two that rise alike keep their order.
  n = std::max(n, std::min(a.aligned(), b.aligned()));
  otherwise.equal = std::max(otherwise.equal, n);
  return otherwise;
}

Line Facts::LineOfChoice(const Op& op, int dim, int depth) {
  const Line cond = LineAt(op, 0, dim, depth);
  Line l = Either(*op.result(0), LineAt(op, 1, dim, depth), LineAt(op, 2, dim, depth));
  l = InGroups(l, cond.equal, UnitOf(*op.result(0)));
  l.equal = std::min(l.equal, cond.equal);
  const Op* rem = FlooredRemainder(ir::SelectOp(op));
  if (rem == nullptr || RangeAt(*rem, 1, depth).lower <= 0) return l;
  // Aligned groups have one quotient, rounded down, whatever their sign.
  const Line x = LineAt(*rem, 0, dim, depth);
  const uint64_t n = std::min({x.aligned(), LineAt(*rem, 1, dim, depth).equal, DivisorAt(*rem, 1, depth)});
  if (n > l.rising) l = {n, l.equal, n, false, false};
  return l;
}

Line Facts::ByRule(Key key, int depth, const Line*) {
  const auto [v, dim] = key;
  const Op& op = *v->def();
  if (!v->type().is_tile() || dim >= v->type().rank()) return {};
  const auto u = static_cast<size_t>(dim);
  const auto size = static_cast<uint64_t>(v->type().shape()[u]);
  const Line uniform{1, size, Find(multiples_, {v, 0}, depth + 1).of, false, false};
  if (size == 1) return uniform;
  const Line nothing{1, 1, uniform.start, false, false};
  Line equal = uniform;  // equal elements give equal elements
  for (int i = 0; RuleOf(op).line != LineRule::kBroadcast && op.info()->has(ir::kElementwise) && i < op.num_operands();
       ++i)
    equal.equal = std::min(equal.equal, LineAt(op, i, dim, depth).equal);
  Line l = [&]() -> Line {
    switch (RuleOf(op).line) {
      case LineRule::kUnknown: return nothing;
      case LineRule::kElementwise: return equal;
      case LineRule::kConstant: return ir::ConstantOp(op).value().splat ? uniform : nothing;
      case LineRule::kIota: return {size, 1, kMax, false, false};
      case LineRule::kSource: return LineAt(op, 0, dim, depth);
      case LineRule::kBroadcast: return op.operand(0)->type().shape()[u] == 1 ? uniform : LineAt(op, 0, dim, depth);
      case LineRule::kPermute: return LineAt(op, 0, static_cast<int>(ir::PermuteOp(op).permutation()[u]), depth);
      case LineRule::kReshape: return LineOfReshape(op, dim, depth);
      case LineRule::kAssume: return LineOfAssume(op, dim, depth);
      case LineRule::kExtend: return LineOfExtend(op, dim, depth);
      case LineRule::kTruncate: return LineOfTruncate(op, dim, depth);
      case LineRule::kPointer: return UnitOf(*v) == UnitOf(*op.operand(0)) ? LineAt(op, 0, dim, depth) : equal;
      case LineRule::kSum: return LineOfSum(op, dim, depth);
      case LineRule::kDifference: return LineOfDifference(op, dim, depth);
      case LineRule::kProduct: return LineOfProduct(op, dim, depth, equal);
      case LineRule::kQuotient: return LineOfQuotient(op, dim, depth, equal);
      case LineRule::kBits: return LineOfBits(op, dim, depth, equal);
      case LineRule::kCompare: return LineOfCompare(op, dim, depth, equal);
      case LineRule::kChoice: return LineOfChoice(op, dim, depth);
    }
    return {};
  }();
  if (l.rising == 1) l.start = uniform.start;
  return Settled(l, *v);
}

}  // namespace tile::codegen

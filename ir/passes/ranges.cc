#include "ir/passes/ranges.h"

#include <algorithm>

#include "ir/loops.h"
#include "ir/passes/rewrite.h"

namespace tile::ir {
namespace {

constexpr int kDepth = 12;
constexpr int64_t kMostBlocks = (1 << 24) - 1;  // of a grid, along each axis

Range Find(const Value* v, int depth);

// A result that exceeds the type has wrapped, unless the program promises that it does not.
Range Fitted(__int128 lower, __int128 upper, const Op& op) {
  const Range all = RangeOfWidth(WidthOf(op.result(0)));
  if (lower >= all.lower && upper <= all.upper) return {static_cast<int64_t>(lower), static_cast<int64_t>(upper)};
  const Overflow promise = OverflowOp(op).overflow();
  if (promise != Overflow::kNoSignedWrap && promise != Overflow::kNoWrap) return all;
  const auto clamp = [&](__int128 n) { return static_cast<int64_t>(std::clamp<__int128>(n, all.lower, all.upper)); };
  return {clamp(lower), clamp(upper)};
}

Range OfArithmetic(const Op& op, int depth) {
  const Range a = Find(op.operand(0), depth), b = Find(op.operand(1), depth);
  using Wide = __int128;
  if (AddiOp::Is(&op)) return Fitted(Wide{a.lower} + b.lower, Wide{a.upper} + b.upper, op);
  if (SubiOp::Is(&op)) return Fitted(Wide{a.lower} - b.upper, Wide{a.upper} - b.lower, op);
  const auto [least, most] =
      std::minmax({Wide{a.lower} * b.lower, Wide{a.lower} * b.upper, Wide{a.upper} * b.lower, Wide{a.upper} * b.upper});
  return Fitted(least, most, op);
}

// By a positive constant.
Range OfDivision(const Op& op, Range all, int depth) {
  const std::optional<uint64_t> bits = SplatOf(op.operand(1));
  const bool is_signed = SignednessOp(op).signedness() == Signedness::kSigned;
  const Range a = Find(op.operand(0), depth);
  if (!bits || (!is_signed && a.lower < 0)) return all;
  const int64_t by = AsSigned(*bits, WidthOf(op.operand(1)));
  if (by <= 0) return all;
  if (DiviOp::Is(&op) && by == 1) return a;
  if (DiviOp::Is(&op)) return {a.lower / by - (a.lower < 0 ? 1 : 0), a.upper / by + (a.upper > 0 ? 1 : 0)};
  return {a.lower >= 0 ? 0 : std::max(a.lower, 1 - by), std::max<int64_t>(0, std::min(a.upper, by - 1))};
}

Range OfAssume(const AssumeOp& assume, int depth) {
  Range r = Find(assume.value(), depth);
  const Predicate& p = assume.predicate();
  if (p.kind != Predicate::Kind::kBounded) return r;
  if (p.lower) r.lower = std::max(r.lower, *p.lower);
  if (p.upper) r.upper = std::min(r.upper, *p.upper);
  return r;
}

Range OfExtension(const ExtiOp& exti, int depth) {
  const Range r = Find(exti.from(), depth);
  if (exti.signedness() == Signedness::kSigned || r.lower >= 0) return r;
  const int width = WidthOf(exti.from());
  return {0, width >= 63 ? RangeOfWidth(64).upper : (int64_t{1} << width) - 1};
}

Range OfArgument(const Value* arg, Range all, int depth) {
  const Op* parent = arg->block()->parent();
  if (!ForOp::Is(parent) || arg->index() != 0) return all;
  const ForOp loop(parent);
  const Range first = Find(loop.lower_bound(), depth), end = Find(loop.upper_bound(), depth);
  if (end.upper == all.lower || (loop.unsigned_cmp() && (first.lower < 0 || end.lower < 0))) return all;
  return {first.lower, std::max(first.lower, end.upper - 1)};
}

Range Find(const Value* v, int depth) {
  const Range all = RangeOfWidth(WidthOf(v));
  if (const std::optional<uint64_t> bits = SplatOf(v)) {
    const int64_t n = AsSigned(*bits, WidthOf(v));
    return {n, n};
  }
  if (depth >= kDepth) return all;
  const Op* op = v->def();
  if (op == nullptr) return OfArgument(v, all, depth + 1);
  if (GetTileBlockIdOp::Is(op)) return {0, kMostBlocks - 1};
  if (GetNumTileBlocksOp::Is(op)) return {1, kMostBlocks};
  if (const auto assume = As<AssumeOp>(op)) return OfAssume(*assume, depth + 1);
  if (const auto exti = As<ExtiOp>(op); exti && exti->from()->type().elem() != Elem::kI4) {
    return OfExtension(*exti, depth + 1);
  }
  if (AddiOp::Is(op) || SubiOp::Is(op) || MuliOp::Is(op)) return OfArithmetic(*op, depth + 1);
  if (DiviOp::Is(op) || RemiOp::Is(op)) return OfDivision(*op, all, depth + 1);
  const auto select = As<SelectOp>(op);
  const bool least = MiniOp::Is(op), most = MaxiOp::Is(op);
  if (select || least || most) {
    const int first = select ? 1 : 0;
    const Range a = Find(op->operand(first), depth + 1), b = Find(op->operand(first + 1), depth + 1);
    const bool apart = !select && SignednessOp(op).signedness() == Signedness::kUnsigned;
    if (select || apart) return {std::min(a.lower, b.lower), std::max(a.upper, b.upper)};
    if (least) return {std::min(a.lower, b.lower), std::min(a.upper, b.upper)};
    return {std::max(a.lower, b.lower), std::max(a.upper, b.upper)};
  }
  return all;
}

}  // namespace

Range RangeOfWidth(int width) {
  const auto least = static_cast<int64_t>(~uint64_t{0} << (width - 1));
  return {least, ~least};
}

Range RangeOf(const Value* v) { return Find(v, 0); }

}  // namespace tile::ir

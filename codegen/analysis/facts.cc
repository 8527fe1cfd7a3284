#include "codegen/analysis/facts.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include "codegen/analysis/op_rules.h"
#include "ir/loops.h"

namespace tile::codegen {
namespace {

using ir::Op;
using ir::Value;

constexpr int kDepth = 48;

uint64_t PointeeBytes(const Value* pointer) {
  return static_cast<uint64_t>(std::max(1, ir::MemoryBits(pointer->type().element().pointee) / 8));
}

uint64_t ElementAt(const ir::Dense& d, size_t i) {
  const size_t bytes = static_cast<size_t>(ir::StorageBytes(d.elem));
  uint64_t bits = 0;
  std::memcpy(&bits, d.bytes.data() + i * bytes, bytes);
  return bits;
}

uint64_t DivisorOfConstant(const ir::Dense& d) {
  if (!ir::IsInt(d.elem)) return 1;
  const size_t n = d.splat ? 1 : d.bytes.size() / static_cast<size_t>(ir::StorageBytes(d.elem));
  uint64_t least = Facts::kMax;
  for (size_t i = 0; i < n; ++i) least = std::min(least, PowerOfTwoIn(ElementAt(d, i)));
  return least;
}

bool NoWrap(const Op& op) {
  if (!ir::AddiOp::Is(&op)) return true;
  // What is extended with its sign must not wrap as a signed number.
  const ir::Overflow promise = ir::AddiOp(op).overflow();
  return op.result(0)->type().elem() == ir::Elem::kI64 || promise == ir::Overflow::kNoSignedWrap ||
         promise == ir::Overflow::kNoWrap;
}

}  // namespace

uint64_t PowerOfTwoIn(uint64_t n) { return n == 0 ? Facts::kMax : std::min(Facts::kMax, n & (~n + 1)); }

uint64_t Facts::Divisor(const Value* v) { return Find(v, 0); }

uint64_t Facts::Find(const Value* v, int depth) {
  if (auto it = known_.find(v); it != known_.end()) return it->second;
  if (depth > kDepth) return 1;
  const Op* op = v->def();
  if (op == nullptr) return Carried(v, depth);
  auto of = [&](int i) { return Find(op->operand(i), depth + 1); };
  uint64_t d = 1;
  // Divisibility by a power of two survives wrapping, and does not ask for the sign.
  switch (RuleOf(*op).divisor) {
    case DivisorRule::kUnknown: break;
    case DivisorRule::kConstant: d = DivisorOfConstant(ir::ConstantOp(op).value()); break;
    case DivisorRule::kAssume: {
      const ir::Predicate& p = ir::AssumeOp(op).predicate();
      d = of(0);
      if (p.kind == ir::Predicate::Kind::kDivBy && !p.every.has_value()) d = std::max(d, PowerOfTwoIn(p.divisor));
      break;
    }
    case DivisorRule::kLeast: d = std::min(of(0), of(1)); break;
    case DivisorRule::kProduct: d = std::min(kMax, of(0) * of(1)); break;
    case DivisorRule::kMost: d = std::max(of(0), of(1)); break;
    case DivisorRule::kShift: {
      const auto by = ir::DefAs<ir::ConstantOp>(ir::ShliOp(op).rhs());
      d = of(0);
      if (by && by->value().splat) {
        const uint64_t n = ElementAt(by->value(), 0);
        d = n >= 20 ? kMax : std::min(kMax, d << n);
      }
      break;
    }
    case DivisorRule::kSource: d = of(0); break;
    case DivisorRule::kOffset: d = std::min(of(0), std::min(kMax, of(1) * PointeeBytes(v))); break;
    case DivisorRule::kChoice: d = std::min(of(1), of(2)); break;
    case DivisorRule::kAlignment:
      d = PowerOfTwoIn(static_cast<uint64_t>(ir::OpView<ir::WithFields<ir::Field::kAlignment>>(op).alignment()));
      break;
  }
  return known_[v] = d;
}

// An argument of a loop: divisible by what divides its first value, as long as every way round the loop keeps that.
uint64_t Facts::Carried(const Value* arg, int depth) {
  const auto loop = ir::CarryingLoop::Around(arg);
  if (!loop) return 1;
  const int i = loop->carried_by(arg);
  if (i < 0) {
    const ir::ForOp counted(loop->op());
    return known_[arg] = std::min(Find(counted.lower_bound(), depth + 1), Find(counted.step(), depth + 1));
  }
  std::vector<const Op*> ways;
  ir::Walk(loop->body(), [&](Op* op) {
    if (ir::ContinueOp::Is(op) && ir::TargetOf(*op) == &loop->op()) ways.push_back(op);
  });
  uint64_t d = Find(loop->init(i), depth + 1);
  while (d > 1) {
    // What follows from the assumption is forgotten with it.
    const absl::flat_hash_map<const Value*, uint64_t> before = known_;
    known_[arg] = d;
    uint64_t next = d;
    for (const Op* way : ways) next = std::min(next, Find(way->operand(i), depth + 1));
    if (next == d) break;
    known_ = before;
    d = next;
  }
  return known_[arg] = d;
}

Facts::Line Facts::LineOf(const Value* v, int dim, int depth) {
  const ir::Type type = v->type();
  const auto u = static_cast<size_t>(dim);
  const auto size = static_cast<uint64_t>(type.shape()[u]);
  const Op* op = v->def();
  if (op == nullptr || depth > kDepth) return {};
  auto of = [&](int i) { return LineOf(op->operand(i), dim, depth + 1); };
  Line uniform{1, size, Divisor(v), false};
  if (size == 1) return uniform;
  switch (RuleOf(*op).line) {
    case LineRule::kUnknown: return {};
    case LineRule::kConstant: return ir::ConstantOp(op).value().splat ? uniform : Line{};
    case LineRule::kIota: return {size, 1, kMax, false};
    case LineRule::kSource: return of(0);
    case LineRule::kBroadcast: return op->operand(0)->type().shape()[u] == 1 ? uniform : of(0);
    case LineRule::kPermute:
      return LineOf(op->operand(0), static_cast<int>(ir::PermuteOp(op).permutation()[u]), depth + 1);
    case LineRule::kReshape: {
      // Dimensions of size 1 that come and go.
      const auto from = op->operand(0)->type().shape();
      size_t a = 0;
      for (size_t b = 0; b < static_cast<size_t>(type.rank()); ++b) {
        if (type.shape()[b] == 1) continue;
        while (a < from.size() && from[a] == 1) ++a;
        if (a == from.size() || from[a] != type.shape()[b]) return {};
        if (b == u) return LineOf(op->operand(0), static_cast<int>(a), depth + 1);
        ++a;
      }
      return {};
    }
    case LineRule::kAssume: {
      Line l = of(0);
      const ir::Predicate& p = ir::AssumeOp(op).predicate();
      if (p.kind == ir::Predicate::Kind::kDivBy && p.along.has_value() && *p.along == dim && *p.every > 1) {
        const uint64_t n = PowerOfTwoIn(static_cast<uint64_t>(*p.every));
        if (n >= l.rising) l = {n, l.equal, PowerOfTwoIn(p.divisor), false};
      } else if (p.kind == ir::Predicate::Kind::kDivBy && !p.every.has_value()) {
        l.start = std::max(l.start, PowerOfTwoIn(p.divisor));
      } else if (p.kind == ir::Predicate::Kind::kSameElements && p.groups[u] > 1) {
        l.equal = std::max(l.equal, PowerOfTwoIn(static_cast<uint64_t>(p.groups[u])));
      }
      return l;
    }
    case LineRule::kExtend: {
      Line l = of(0);
      // A sum that may not overflow as a signed number may still do so as an unsigned one.
      const bool zeros = ir::ExtiOp(op).signedness() == ir::Signedness::kUnsigned;
      if (zeros && l.start < l.rising) l.wraps = true;
      return l;
    }
    case LineRule::kPointer: {
      Line l = of(0);
      if (PointeeBytes(v) != PointeeBytes(op->operand(0))) l.rising = 1;
      return l;
    }
    case LineRule::kSum: {
      const bool is_pointer = ir::OffsetOp::Is(op);
      const uint64_t unit = is_pointer ? PointeeBytes(v) : 1;
      Line a = of(0), b = of(1);
      b.start = std::min(kMax, b.start * unit);
      Line l;
      l.equal = std::min(a.equal, b.equal);
      const uint64_t left = std::min(a.rising, b.equal), right = std::min(a.equal, b.rising);
      l.rising = std::max(left, right);
      l.start = std::min({a.start, b.start, std::min(kMax, l.rising * unit)});
      l.wraps = a.wraps || b.wraps;
      // An aligned group never reaches the end of the numbers.
      if (!is_pointer && l.rising > 1 && l.start < l.rising && !NoWrap(*op)) l.wraps = true;
      return l;
    }
    case LineRule::kCompare: {
      // Rising indices below a bound: all or none, if both begin at multiples of the group.
      const Line a = of(0), b = of(1);
      const ir::ComparisonPredicate p = ir::CmpIOp(op).predicate();
      Line l{1, std::min(a.equal, b.equal), 1, false};
      if (p == ir::ComparisonPredicate::kLessThan || p == ir::ComparisonPredicate::kGreaterThanOrEqual) {
        if (!a.wraps) l.equal = std::max(l.equal, std::min({a.rising, a.start, b.equal, Divisor(op->operand(1))}));
      }
      return l;
    }
    case LineRule::kElementwise: {
      Line l = uniform;
      for (int i = 0; i < op->num_operands(); ++i) l.equal = std::min(l.equal, of(i).equal);
      return l;
    }
  }
  return {};
}

}  // namespace tile::codegen

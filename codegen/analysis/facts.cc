#include "codegen/analysis/facts.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include "codegen/target/gpu_ops.h"

namespace tile::codegen {
namespace {

using ir::Op;
using ir::Opcode;
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
  if (op.opcode() != Opcode::kAddi && op.opcode() != Opcode::kSubi) return true;
  // What is extended with its sign must not wrap as a signed number.
  const auto promise = op.attr("overflow").as_enum<ir::Overflow>();
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
  if (op->opcode() == static_cast<Opcode>(GpuOpcode::kConvertLayout)) return of(0);
  // Divisibility by a power of two survives wrapping, and does not ask for the sign.
  switch (op->opcode()) {
    case Opcode::kConstant: d = DivisorOfConstant(op->attr("value").dense()); break;
    case Opcode::kAssume: {
      const ir::Predicate& p = op->attr("predicate").predicate();
      d = of(0);
      if (p.kind == ir::Predicate::Kind::kDivBy && !p.every.has_value()) d = std::max(d, PowerOfTwoIn(p.divisor));
      break;
    }
    case Opcode::kAddi:
    case Opcode::kSubi:
    case Opcode::kMaxi:
    case Opcode::kMini: d = std::min(of(0), of(1)); break;
    case Opcode::kMuli: d = std::min(kMax, of(0) * of(1)); break;
    case Opcode::kAndi: d = std::max(of(0), of(1)); break;
    case Opcode::kOri:
    case Opcode::kXori: d = std::min(of(0), of(1)); break;
    case Opcode::kShli: {
      const Op* by = op->operand(1)->def();
      d = of(0);
      if (by != nullptr && by->opcode() == Opcode::kConstant && by->attr("value").dense().splat) {
        const uint64_t n = ElementAt(by->attr("value").dense(), 0);
        d = n >= 20 ? kMax : std::min(kMax, d << n);
      }
      break;
    }
    case Opcode::kNegi:
    case Opcode::kExti:
    case Opcode::kTrunci:
    case Opcode::kIntToPtr:
    case Opcode::kPtrToInt:
    case Opcode::kPtrToPtr:
    case Opcode::kReshape:
    case Opcode::kBroadcast:
    case Opcode::kPermute:
    case Opcode::kMakeTensorView:
    case Opcode::kMakePartitionView:
    case Opcode::kMakeStridedView:
    case Opcode::kMakeGatherScatterView: d = of(0); break;
    case Opcode::kOffset: d = std::min(of(0), std::min(kMax, of(1) * PointeeBytes(v))); break;
    case Opcode::kSelect: d = std::min(of(1), of(2)); break;
    case Opcode::kAlloca:
    case Opcode::kAllocShared: d = PowerOfTwoIn(static_cast<uint64_t>(op->attr("alignment").as_int())); break;
    default: break;
  }
  return known_[v] = d;
}

// An argument of a loop: divisible by what divides its first value, as long as every way round the loop keeps that.
uint64_t Facts::Carried(const Value* arg, int depth) {
  const Op* loop = arg->block()->parent();
  if (loop == nullptr) return 1;
  const bool is_for = loop->opcode() == Opcode::kFor;
  if (!is_for && loop->opcode() != Opcode::kLoop) return 1;
  if (is_for && arg->index() == 0) {
    return known_[arg] = std::min(Find(loop->operand(0), depth + 1), Find(loop->operand(2), depth + 1));
  }
  const int i = arg->index() - (is_for ? 1 : 0);
  std::vector<const Op*> ways;
  ir::Walk(loop->region(0), [&](Op* op) {
    if (op->opcode() != Opcode::kContinue) return;
    const Op* to = op->parent();
    while (to->opcode() == Opcode::kIf) to = to->parent();
    if (to == loop) ways.push_back(op);
  });
  uint64_t d = Find(loop->operand(i + (is_for ? 3 : 0)), depth + 1);
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
  if (op->opcode() == static_cast<Opcode>(GpuOpcode::kConvertLayout)) return of(0);
  switch (op->opcode()) {
    case Opcode::kConstant: return op->attr("value").dense().splat ? uniform : Line{};
    case Opcode::kIota: return {size, 1, kMax, false};
    case Opcode::kBroadcast: return op->operand(0)->type().shape()[u] == 1 ? uniform : of(0);
    case Opcode::kPermute: return LineOf(op->operand(0), static_cast<int>(op->attr("permutation").ints()[u]), depth + 1);
    case Opcode::kReshape: {
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
    case Opcode::kAssume: {
      Line l = of(0);
      const ir::Predicate& p = op->attr("predicate").predicate();
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
    case Opcode::kExti: {
      Line l = of(0);
      // A sum that may not overflow as a signed number may still do so as an unsigned one.
      const bool zeros = op->attr("signedness").as_enum<ir::Signedness>() == ir::Signedness::kUnsigned;
      if (zeros && l.start < l.rising) l.wraps = true;
      return l;
    }
    case Opcode::kPtrToPtr: {
      Line l = of(0);
      if (PointeeBytes(v) != PointeeBytes(op->operand(0))) l.rising = 1;
      return l;
    }
    case Opcode::kAddi:
    case Opcode::kOffset: {
      const bool is_pointer = op->opcode() == Opcode::kOffset;
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
    case Opcode::kCmpI: {
      // Rising indices below a bound: all or none, if both begin at multiples of the group.
      const Line a = of(0), b = of(1);
      const auto p = op->attr("predicate").as_enum<ir::ComparisonPredicate>();
      Line l{1, std::min(a.equal, b.equal), 1, false};
      if (p == ir::ComparisonPredicate::kLessThan || p == ir::ComparisonPredicate::kGreaterThanOrEqual) {
        if (!a.wraps) l.equal = std::max(l.equal, std::min({a.rising, a.start, b.equal, Divisor(op->operand(1))}));
      }
      return l;
    }
    default: {
      // Equal elements give equal elements.
      if (!op->info()->has(ir::kElementwise)) return {};
      Line l = uniform;
      for (int i = 0; i < op->num_operands(); ++i) l.equal = std::min(l.equal, of(i).equal);
      return l;
    }
  }
}

}  // namespace tile::codegen

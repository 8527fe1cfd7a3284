#include "codegen/analysis/uniform_iterations.h"

#include <algorithm>
#include <cstdlib>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "ir/op_views.h"
#include "ir/passes/rewrite.h"

namespace tile::codegen {
namespace {

using ir::Op;
using ir::Value;
using Predicate = ir::ComparisonPredicate;

constexpr int kDepth = 24;                // operations looked back
constexpr int64_t kMostFactor = 1 << 20;  // so that eight terms of 32 bits stay below 2^55
constexpr int64_t kMostConstant = int64_t{1} << 40;
constexpr size_t kMostTerms = 8;

// step * index + terms + an amount from least to most.
struct Position {
  int64_t step = 0, least = 0, most = 0;
  std::vector<std::pair<Value*, int64_t>> terms;

  bool is_constant() const { return step == 0 && terms.empty() && least == most; }
  bool fits() const {
    const auto small = [](int64_t n, int64_t most) { return n >= -most && n <= most; };
    return small(step, kMostFactor) && small(least, kMostConstant) && small(most, kMostConstant) &&
           terms.size() <= kMostTerms &&
           std::all_of(terms.begin(), terms.end(), [&](const auto& term) { return small(term.second, kMostFactor); });
  }
};

Position Scaled(const Position& p, int64_t by) {
  Position result{p.step * by, std::min(p.least * by, p.most * by), std::max(p.least * by, p.most * by), {}};
  for (const auto& [scalar, factor] : p.terms) {
    if (by != 0) result.terms.emplace_back(scalar, factor * by);
  }
  return result;
}

Position Sum(Position a, const Position& b) {
  a.step += b.step;
  a.least += b.least;
  a.most += b.most;
  for (const auto& [scalar, factor] : b.terms) {
    const auto same = std::find_if(a.terms.begin(), a.terms.end(), [&](const auto& t) { return t.first == scalar; });
    if (same == a.terms.end()) {
      a.terms.emplace_back(scalar, factor);
    } else if ((same->second += factor) == 0) {
      a.terms.erase(same);
    }
  }
  return a;
}

// What masks of one loop say of its iterations. Each value is followed once.
class Limits {
 public:
  explicit Limits(const Op& loop) : loop_(loop) {}

  // Adds what must hold where the mask `is`; false: it does not follow from such limits.
  bool Add(const Value& mask, bool is, int depth = 0);

  std::vector<IterationLimit> found;

 private:
  bool AddComparison(const ir::CmpIOp& cmp, bool is);
  std::optional<Position> OfArithmetic(const Op& op, int depth);
  std::optional<Position> Find(const Value* v, int depth);
  std::optional<Position> PositionOf(const Value* v, int depth) {
    if (const auto it = known_.find(v); it != known_.end()) return it->second;
    const std::optional<Position> p = Find(v, depth);
    known_.emplace(v, p);
    return p;
  }

  const Op& loop_;
  absl::flat_hash_map<const Value*, std::optional<Position>> known_;
  absl::flat_hash_set<std::pair<const Value*, bool>> added_;
};

std::optional<Position> Limits::OfArithmetic(const Op& op, int depth) {
  const std::optional<Position> a = PositionOf(op.operand(0), depth);
  const std::optional<Position> b = a ? PositionOf(op.operand(1), depth) : std::nullopt;
  if (!a || !b) return std::nullopt;
  if (ir::AddiOp::Is(&op)) return Sum(*a, *b);
  if (ir::SubiOp::Is(&op)) return Sum(*a, Scaled(*b, -1));
  const Position& by = b->is_constant() ? *b : *a;
  const Position& scaled = b->is_constant() ? *a : *b;
  if (!by.is_constant() || std::abs(by.least) > kMostFactor) return std::nullopt;
  return Scaled(scaled, by.least);
}

std::optional<Position> Limits::Find(const Value* v, int depth) {
  if (depth > kDepth || !v->type().is_tile() || !ir::IsInt(v->type().elem())) return std::nullopt;
  Position p;
  if (const std::optional<uint64_t> bits = ir::SplatOf(v)) {
    p.least = p.most = ir::AsSigned(*bits, ir::WidthOf(v));
    return p;
  }
  if (v == loop_.region(0)->arg(0)) {
    p.step = 1;
    return p;
  }
  if (v->type().is_scalar() && !ir::IsInside(v, &loop_)) {
    p.terms.emplace_back(const_cast<Value*>(v), 1);
    return p;
  }
  const Op* op = v->def();
  if (op == nullptr) return std::nullopt;
  if (ir::IotaOp::Is(op)) {
    p.most = v->type().num_elements() - 1;
    return p;
  }
  std::optional<Position> found;
  if (ir::BroadcastOp::Is(op) || ir::ReshapeOp::Is(op) || ir::PermuteOp::Is(op) || ir::AssumeOp::Is(op)) {
    found = PositionOf(op->operand(0), depth + 1);
  } else if (ir::AddiOp::Is(op) || ir::SubiOp::Is(op) || ir::MuliOp::Is(op)) {
    found = OfArithmetic(*op, depth + 1);
  }
  return found && found->fits() ? found : std::nullopt;
}

IterationLimit NotBelow(const Position& p, int64_t least) { return {p.step, p.least - least, p.terms}; }
IterationLimit NotAbove(const Position& p, int64_t most) {
  const Position negative = Scaled(p, -1);
  return {negative.step, most - p.most, negative.terms};
}

Predicate Opposite(Predicate p) {
  switch (p) {
    case Predicate::kLessThan: return Predicate::kGreaterThanOrEqual;
    case Predicate::kLessThanOrEqual: return Predicate::kGreaterThan;
    case Predicate::kGreaterThan: return Predicate::kLessThanOrEqual;
    case Predicate::kGreaterThanOrEqual: return Predicate::kLessThan;
    default: return p == Predicate::kEqual ? Predicate::kNotEqual : Predicate::kEqual;
  }
}

bool Limits::AddComparison(const ir::CmpIOp& cmp, bool is) {
  const Predicate predicate = is ? cmp.predicate() : Opposite(cmp.predicate());
  const int width = ir::WidthOf(cmp.lhs());
  if (width != 32 || predicate == Predicate::kEqual || predicate == Predicate::kNotEqual) return false;
  const bool less = predicate == Predicate::kLessThan || predicate == Predicate::kLessThanOrEqual;
  const bool equal = predicate == Predicate::kLessThanOrEqual || predicate == Predicate::kGreaterThanOrEqual;
  const auto more = PositionOf(less ? cmp.rhs() : cmp.lhs(), 0);
  const auto fewer = PositionOf(less ? cmp.lhs() : cmp.rhs(), 0);
  if (!more || !fewer) return false;
  const Position difference = Sum(*more, Scaled(*fewer, -1));
  if (!difference.fits()) return false;
  found.push_back(NotBelow(difference, equal ? 0 : 1));
  // The smaller side is below the greater one then, so these are in the type's bounds as well, from the other end.
  const bool has_sign = cmp.signedness() == ir::Signedness::kSigned;
  found.push_back(NotBelow(*fewer, has_sign ? INT32_MIN : 0));
  found.push_back(NotAbove(*more, has_sign ? INT32_MAX : int64_t{UINT32_MAX}));
  return true;
}

bool Limits::Add(const Value& mask, bool is, int depth) {
  if (depth > kDepth) return false;
  if (!added_.insert({&mask, is}).second) return true;  // or the search has ended
  if (const auto bit = ir::SplatOf(&mask)) return (*bit != 0) == is;
  const Op* op = mask.def();
  if (op == nullptr) return false;
  if (const auto cmp = ir::As<ir::CmpIOp>(op)) return AddComparison(*cmp, is);
  if (ir::BroadcastOp::Is(op) || ir::ReshapeOp::Is(op) || ir::PermuteOp::Is(op))
    return Add(*op->operand(0), is, depth + 1);
  // All of both: of `or` where none is true.
  if (is ? ir::AndiOp::Is(op) : ir::OriOp::Is(op)) {
    return Add(*op->operand(0), is, depth + 1) && Add(*op->operand(1), is, depth + 1);
  }
  for (const int i : {0, 1}) {
    if (ir::XoriOp::Is(op) && ir::IsSplat(op->operand(i), -1)) return Add(*op->operand(1 - i), !is, depth + 1);
  }
  return false;
}

bool IsKnown(const IterationLimit& limit) { return limit.step == 0 && limit.terms.empty(); }

}  // namespace

std::optional<std::vector<IterationLimit>> IterationsWhere(const Value& mask, const Op& loop, bool is) {
  if (!ir::ForOp::Is(&loop) || ir::ForOp(&loop).unsigned_cmp() || ir::WidthOf(loop.region(0)->arg(0)) != 32)
    return std::nullopt;
  Limits of_mask(loop);
  if (!of_mask.Add(mask, is)) return std::nullopt;
  std::vector<IterationLimit> limits = std::move(of_mask.found);
  for (const IterationLimit& limit : limits) {
    if (IsKnown(limit) && limit.constant < 0) return std::nullopt;  // never
  }
  limits.erase(std::remove_if(limits.begin(), limits.end(), IsKnown), limits.end());
  return limits;
}

}  // namespace tile::codegen

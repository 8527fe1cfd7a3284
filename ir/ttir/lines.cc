#include "ir/ttir/lines.h"

#include <algorithm>

#include "ir/bits.h"
#include "ir/op_views.h"
#include "ir/ttir/translator.h"

namespace tile::ir::ttir {
namespace {

constexpr int64_t kMost = 65536;
constexpr int kDepth = 32;  // operations that a fact may follow from, in a chain

int64_t PowerOfTwoIn(uint64_t n) { return n == 0 ? kMost : std::min(kMost, static_cast<int64_t>(LowestBit(n))); }

int64_t DivisorOf(const Value* v, int depth);

// Of a loop's induction variable.
int64_t DivisorOfArgument(const Value* v, int depth) {
  const Op* around = v->block() != nullptr ? v->block()->parent() : nullptr;
  if (around == nullptr || !ForOp::Is(around) || v->index() != 0) return 1;
  const ForOp loop(*around);
  return std::min(DivisorOf(loop.lower_bound(), depth + 1), DivisorOf(loop.step(), depth + 1));
}

int64_t DivisorOf(const Value* v, int depth) {
  if (depth > kDepth || !v->type().is_tile() || !IsInt(v->type().elem())) return 1;
  const Op* op = v->def();
  if (op == nullptr) return DivisorOfArgument(v, depth);
  const auto of = [&](int i) { return DivisorOf(op->operand(i), depth + 1); };
  if (const auto n = IntegerIn(v)) return PowerOfTwoIn(static_cast<uint64_t>(*n));
  if (AssumeOp::Is(op)) {
    const Predicate& p = AssumeOp(*op).predicate();
    const bool of_all = p.kind == Predicate::Kind::kDivBy && !p.every.has_value();
    return of_all ? std::max(of(0), PowerOfTwoIn(p.divisor)) : of(0);
  }
  if (MuliOp::Is(op)) return std::min(kMost, of(0) * of(1));
  if (AddiOp::Is(op) || SubiOp::Is(op)) return std::min(of(0), of(1));
  return BroadcastOp::Is(op) || ReshapeOp::Is(op) || ExtiOp::Is(op) ? of(0) : 1;
}

bool EqualAlong(const Value* v, int dim, int depth) {
  if (depth > kDepth || !v->type().is_tile()) return false;
  if (v->type().shape()[static_cast<size_t>(dim)] == 1) return true;
  const Op* op = v->def();
  if (op == nullptr) return false;
  if (ConstantOp::Is(op)) return ConstantOp(*op).value().splat;
  if (AssumeOp::Is(op) || ExtiOp::Is(op)) return EqualAlong(op->operand(0), dim, depth + 1);
  if (BroadcastOp::Is(op)) {
    const Value* from = op->operand(0);
    return from->type().rank() == v->type().rank() && EqualAlong(from, dim, depth + 1);
  }
  const bool arithmetic = AddiOp::Is(op) || SubiOp::Is(op) || MuliOp::Is(op);
  return arithmetic && EqualAlong(op->operand(0), dim, depth + 1) && EqualAlong(op->operand(1), dim, depth + 1);
}

std::optional<int64_t> RisingFrom(const Value* v, int dim, int depth) {
  const Op* op = v->def();
  if (op == nullptr || depth > kDepth || !v->type().is_tile()) return std::nullopt;
  const int64_t size = v->type().shape()[static_cast<size_t>(dim)];
  if (size == 1) return std::nullopt;
  const auto of = [&](int i, int d) { return RisingFrom(op->operand(i), d, depth + 1); };
  if (IotaOp::Is(op)) return kMost;
  if (AssumeOp::Is(op) || ExtiOp::Is(op)) return of(0, dim);
  if (BroadcastOp::Is(op)) return op->operand(0)->type().rank() == v->type().rank() ? of(0, dim) : std::nullopt;
  if (ReshapeOp::Is(op)) {  // of a line of elements
    const Type from = op->operand(0)->type();
    const bool line = from.rank() == 1 && from.shape()[0] == size && v->type().num_elements() == size;
    return line ? of(0, 0) : std::nullopt;
  }
  const bool sum = AddiOp::Is(op) || OffsetOp::Is(op);
  if (!sum && !SubiOp::Is(op)) return std::nullopt;
  for (int i = 0; i < (sum ? 2 : 1); ++i) {
    const Value* other = op->operand(1 - i);
    if (!EqualAlong(other, dim, depth + 1)) continue;
    if (const auto start = of(i, dim)) return std::min(*start, DivisorOf(other, depth + 1));
  }
  return std::nullopt;
}

}  // namespace

int64_t SeenDivisor(const Value* v) { return DivisorOf(v, 0); }

bool SeenEqual(const Value* v, int dim) { return EqualAlong(v, dim, 0); }

std::optional<int64_t> StartOfRising(const Value* v, int dim) { return RisingFrom(v, dim, 0); }

}  // namespace tile::ir::ttir

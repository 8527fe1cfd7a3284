#include "codegen/analysis/stride.h"

#include <cstddef>

#include "codegen/analysis/facts_internal.h"
#include "codegen/analysis/op_rules.h"
#include "codegen/analysis/tile_value.h"
#include "codegen/gpu/ops.h"
#include "ir/loops.h"

namespace tile::codegen {
namespace {

using ir::Op;
using ir::Value;
using Stride = Strides::Stride;

constexpr int kDepth = 200;  // operations in a chain

Stride Times(Stride a, std::optional<int64_t> factor) {
  if (!a || *a == 0) return a;
  int64_t product;
  const bool known = *a != Strides::kAny && factor && !__builtin_mul_overflow(*a, *factor, &product);
  return known ? product : Strides::kAny;
}

Stride Plus(Stride a, Stride b) {
  if (!a || !b) return std::nullopt;
  if (*a == 0) return b;
  if (*b == 0) return a;
  int64_t sum;
  const bool known = *a != Strides::kAny && *b != Strides::kAny && !__builtin_add_overflow(*a, *b, &sum);
  return known ? sum : Strides::kAny;
}

}  // namespace

std::optional<int64_t> Strides::Number(const Value* v) {
  const Facts::Range r = facts_.RangeOf(v);
  return r.lower == r.upper ? std::optional<int64_t>(r.lower) : std::nullopt;
}

Stride Strides::Find(const Value* v, int dim, int depth) {
  if (!IsTile(v) || dim >= v->type().rank() || v->type().shape()[static_cast<size_t>(dim)] == 1) return 0;
  if (const auto it = known_.find({v, dim}); it != known_.end()) return it->second;
  if (depth > kDepth) return std::nullopt;
  known_[{v, dim}] = std::nullopt;  // where a value depends on itself
  const Stride found = v->def() == nullptr ? OfArgument(v, dim, depth) : OfResult(*v->def(), dim, depth);
  return known_[{v, dim}] = found;
}

// What a loop carries has the stride that it begins with: pointers are moved as a whole.
Stride Strides::OfArgument(const Value* v, int dim, int depth) {
  const Op* around = v->block() != nullptr ? v->block()->parent() : nullptr;
  if (IsFetch(around)) return At(*around, v->index(), dim, depth);
  const auto loop = ir::CarryingLoop::Around(v);
  const int i = loop ? loop->carried_by(v) : -1;
  return i < 0 ? std::nullopt : Find(loop->init(i), dim, depth + 1);
}

// A dimension of the result takes every n-th element of a dimension of the source, if it lies within that.
Stride Strides::OfReshape(const Op& op, int dim, int depth) {
  const auto from = op.operand(0)->type().shape(), to = op.result(0)->type().shape();
  const auto d = static_cast<size_t>(dim);
  for (size_t a = 0; a < from.size(); ++a) {
    const int64_t own = SpacingOf(to, d), of_source = SpacingOf(from, a);
    const bool within = own % of_source == 0 && own * to[d] <= of_source * from[a];
    if (from[a] > 1 && within) return Times(At(op, 0, static_cast<int>(a), depth), own / of_source);
  }
  return std::nullopt;
}

Stride Strides::OfProduct(const Op& op, int dim, int depth) {
  const Stride a = At(op, 0, dim, depth), b = At(op, 1, dim, depth);
  if (!a || !b || (*a != 0 && *b != 0)) return std::nullopt;
  if (ir::ShliOp::Is(&op)) {
    if (*b != 0) return std::nullopt;
    const std::optional<int64_t> by = Number(op.operand(1));
    return Times(a, by && *by >= 0 && *by < 62 ? std::optional<int64_t>(int64_t{1} << *by) : std::nullopt);
  }
  return *a == 0 ? Times(b, Number(op.operand(0))) : Times(a, Number(op.operand(1)));
}

// A remainder rises with its dividend, from one multiple of the divisor to the next. A quotient of what rises does not rise evenly.
Stride Strides::OfQuotient(const Op& op, int dim, int depth) {
  const Stride a = At(op, 0, dim, depth), b = At(op, 1, dim, depth);
  if (!a || !b || *b != 0) return std::nullopt;
  if (*a == 0 || ir::RemiOp::Is(&op)) return a;
  return std::nullopt;
}

Stride Strides::OfResult(const Op& op, int dim, int depth) {
  const auto unit = [](const Value* v) { return static_cast<int64_t>(UnitOf(*v)); };
  switch (RuleOf(op).line) {
    case LineRule::kIota: return 1;
    case LineRule::kConstant: return ir::ConstantOp(op).value().splat ? Stride(0) : std::nullopt;
    case LineRule::kSource:
    case LineRule::kBroadcast:
    case LineRule::kAssume:
    case LineRule::kExtend:
    case LineRule::kTruncate:
    case LineRule::kPointer: return At(op, 0, dim, depth);
    case LineRule::kPermute:
      return At(op, 0, static_cast<int>(ir::PermuteOp(op).permutation()[static_cast<size_t>(dim)]), depth);
    case LineRule::kReshape: return OfReshape(op, dim, depth);
    case LineRule::kSum:
      return Plus(At(op, 0, dim, depth), Times(At(op, 1, dim, depth), ir::OffsetOp::Is(&op) ? unit(op.result(0)) : 1));
    case LineRule::kDifference: return Plus(At(op, 0, dim, depth), Times(At(op, 1, dim, depth), -1));
    case LineRule::kProduct: return OfProduct(op, dim, depth);
    case LineRule::kQuotient: return OfQuotient(op, dim, depth);
    case LineRule::kChoice: {
      const Stride a = At(op, 1, dim, depth), b = At(op, 2, dim, depth);
      return a == b ? a : std::nullopt;
    }
    default: break;
  }
  // Equal elements give equal elements.
  if (!op.info()->has(ir::kElementwise)) return std::nullopt;
  for (int i = 0; i < op.num_operands(); ++i) {
    if (At(op, i, dim, depth) != Stride(0)) return std::nullopt;
  }
  return 0;
}

}  // namespace tile::codegen

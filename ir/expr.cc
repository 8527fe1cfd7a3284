#include "ir/expr.h"

#include <algorithm>
#include <limits>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "ir/bits.h"

namespace tile::ir {
namespace {

// Of two operands. Divisions round down or up.
absl::StatusOr<int64_t> Apply(ExprOp op, int64_t a, int64_t b) {
  int64_t r = 0;
  bool overflow = false;
  switch (op) {
    case ExprOp::kAdd: overflow = __builtin_add_overflow(a, b, &r); break;
    case ExprOp::kSub: overflow = __builtin_sub_overflow(a, b, &r); break;
    case ExprOp::kMul: overflow = __builtin_mul_overflow(a, b, &r); break;
    case ExprOp::kDiv:
    case ExprOp::kCeilDiv:
    case ExprOp::kMod: {
      if (b == 0 || (b == -1 && a == std::numeric_limits<int64_t>::min())) {
        return absl::InvalidArgumentError(absl::StrCat("divides ", a, " by ", b));
      }
      const int64_t quotient = a / b, rest = a % b;
      const bool below = rest != 0 && (rest < 0) != (b < 0), above = rest != 0 && (rest < 0) == (b < 0);
      r = op == ExprOp::kDiv ? quotient - below : op == ExprOp::kCeilDiv ? quotient + above : below ? rest + b : rest;
      break;
    }
    case ExprOp::kMin: r = std::min(a, b); break;
    case ExprOp::kMax: r = std::max(a, b); break;
    case ExprOp::kLess: r = a < b; break;
    case ExprOp::kEqual: r = a == b; break;
    default: return absl::InvalidArgumentError("has an unknown operator");
  }
  if (overflow) return absl::InvalidArgumentError("overflows 64 bits");
  return r;
}

}  // namespace

absl::StatusOr<int64_t> EvaluateExpr(const Expr& e, ExprLeaf leaf) {
  std::vector<int64_t> stack;
  const auto malformed = [] { return absl::InvalidArgumentError("is no expression: operands do not match operators"); };
  for (const ExprNode& n : e) {
    const size_t operands = n.op == ExprOp::kSelect ? 3 : n.op >= ExprOp::kAdd ? 2 : 0;
    if (stack.size() < operands) return malformed();
    if (n.op == ExprOp::kConst) {
      stack.push_back(n.value);
    } else if (operands == 0) {
      absl::StatusOr<int64_t> v = leaf(n);
      if (!v.ok()) return v;
      stack.push_back(*v);
    } else if (operands == 3) {
      const int64_t *top = &stack.back(), chosen = top[-2] != 0 ? top[-1] : top[0];
      stack.resize(stack.size() - 2);
      stack.back() = chosen;
    } else {
      absl::StatusOr<int64_t> v = Apply(n.op, stack[stack.size() - 2], stack.back());
      if (!v.ok()) return v;
      stack.pop_back();
      stack.back() = *v;
    }
  }
  if (stack.size() != 1) return malformed();
  return stack[0];
}

int64_t AlignmentOf(uint64_t address) {
  return address == 0 ? 4096 : static_cast<int64_t>(std::min<uint64_t>(4096, LowestBit(address)));
}

}  // namespace tile::ir

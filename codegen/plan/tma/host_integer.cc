#include "codegen/plan/tma/host_integer.h"

#include <cstring>

#include "codegen/analysis/origin.h"
#include "ir/op_views.h"

namespace tile::codegen {
namespace {

using ir::Expr;
using ir::ExprOp;
using ir::Value;

constexpr int kMostFactors = 2;  // each has 32 bits at most: the host's 64 bits hold the product

std::optional<Expr> Find(const Value* v, std::vector<Expr>* products, int factors) {
  v = Assumed(v);
  if (const auto extended = ir::DefAs<ir::ExtiOp>(v)) return Find(extended->from(), products, factors);
  // A size that is taken for zero below zero: every size must be above it.
  if (const auto clamped = ir::DefAs<ir::MaxiOp>(v); clamped && clamped->signedness() == ir::Signedness::kSigned) {
    if (factors < kMostFactors) return std::nullopt;
    const auto bound = Find(clamped->rhs(), products, factors);
    const bool zero = bound && bound->size() == 1 && bound->front().op == ExprOp::kConst && bound->front().value == 0;
    return zero ? Find(clamped->lhs(), products, factors) : std::nullopt;
  }
  if (const auto product = ir::DefAs<ir::MuliOp>(v)) {
    if (factors < kMostFactors || v->type().elem() != ir::Elem::kI32) return std::nullopt;
    const auto lhs = Find(product->lhs(), products, 1), rhs = Find(product->rhs(), products, 1);
    if (!lhs || !rhs) return std::nullopt;
    products->push_back(host::Join(*lhs, *rhs, host::Node(ExprOp::kMul)));
    return products->back();
  }
  if (IsParameter(v)) return Expr{{ExprOp::kScalar, v->index(), 0, 0}};
  const auto constant = ir::DefAs<ir::ConstantOp>(v);
  if (!constant) return std::nullopt;
  const ir::Dense& d = constant->value();
  uint64_t bits = 0;
  std::memcpy(&bits, d.bytes.data(), static_cast<size_t>(ir::StorageBytes(d.elem)));
  return Expr{host::Const(static_cast<int64_t>(bits))};
}

}  // namespace

std::optional<Expr> HostInteger(const Value* v, std::vector<Expr>* products) { return Find(v, products, kMostFactors); }

namespace host {

Expr Join(Expr a, const Expr& b, ir::ExprNode op) {
  a.insert(a.end(), b.begin(), b.end());
  a.push_back(op);
  return a;
}

}  // namespace host
}  // namespace tile::codegen

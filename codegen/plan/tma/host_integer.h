// Integers that the host knows when a kernel is launched.
//
//   std::vector<ir::Expr> products;
//   if (const auto size = HostInteger(view_size, &products)) …   // an expression of ir/tbc/image.h
#ifndef TILE_CODEGEN_PLAN_TMA_HOST_INTEGER_H_
#define TILE_CODEGEN_PLAN_TMA_HOST_INTEGER_H_

#include <optional>
#include <vector>

#include "ir/interface.h"
#include "ir/module.h"

namespace tile::codegen {

// A parameter or a constant, perhaps extended, or a product of two of 32 bits, as strides are, which must not wrap around: `products` gets
// those. nullopt: only the kernel knows it.
std::optional<ir::Expr> HostInteger(const ir::Value* v, std::vector<ir::Expr>* products);

// Pieces of such expressions.
namespace host {

// The size of the launch's grid in a dimension.
inline ir::ExprNode Grid(int d) { return {ir::ExprOp::kShape, -1, d, 0}; }
inline ir::ExprNode Const(int64_t v) { return {ir::ExprOp::kConst, 0, 0, v}; }
inline ir::ExprNode Node(ir::ExprOp op) { return {op, 0, 0, 0}; }
ir::Expr Join(ir::Expr a, const ir::Expr& b, ir::ExprNode op);

}  // namespace host

}  // namespace tile::codegen

#endif  // TILE_CODEGEN_PLAN_TMA_HOST_INTEGER_H_

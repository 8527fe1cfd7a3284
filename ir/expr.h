// Evaluates expressions of interfaces and images (ir/interface.h).
//
//   EvaluateExpr(e, [&](const ExprNode& n) -> absl::StatusOr<int64_t> { … value of a leaf … });
//
// Pure and thread-safe; time in proportion to the number of nodes. Errors are InvalidArgument: division by zero, a value
// beyond 64 bits, nodes that form no expression, whatever `leaf` returns.
#ifndef TILE_IR_EXPR_H_
#define TILE_IR_EXPR_H_

#include <cstdint>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "ir/interface.h"

namespace tile::ir {

// `leaf` gives the values of all nodes without operands but constants.
using ExprLeaf = absl::FunctionRef<absl::StatusOr<int64_t>(const ExprNode&)>;

absl::StatusOr<int64_t> EvaluateExpr(const Expr& e, ExprLeaf leaf);

// The largest power of two, at most 4096, that divides an address.
int64_t AlignmentOf(uint64_t address);

}  // namespace tile::ir

#endif  // TILE_IR_EXPR_H_

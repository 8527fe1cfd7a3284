// How the launch rule's expressions are spelled: one row per operator or function. Shared by the parser and the
// printer.
#ifndef TILE_IR_TEXT_EXPR_OPS_H_
#define TILE_IR_TEXT_EXPR_OPS_H_

#include "absl/strings/string_view.h"
#include "ir/module.h"

namespace tile::ir::text {

inline constexpr int kTightest = 9;  // functions and operands

struct ExprOpInfo {
  ExprOp op;
  const char* text;  // an infix operator, or the name of a function
  size_t arity;
  int binds;  // infix operators: the larger, the tighter; all of them group to the left
};
inline constexpr ExprOpInfo kExprOps[] = {
    {ExprOp::kEqual, "==", 2, 1},
    {ExprOp::kLess, "<", 2, 2},
    {ExprOp::kAdd, "+", 2, 3},
    {ExprOp::kSub, "-", 2, 3},
    {ExprOp::kMul, "*", 2, 4},
    {ExprOp::kDiv, "/", 2, 4},
    {ExprOp::kMod, "%", 2, 4},
    {ExprOp::kCeilDiv, "ceildiv", 2, kTightest},
    {ExprOp::kMin, "min", 2, kTightest},
    {ExprOp::kMax, "max", 2, kTightest},
    {ExprOp::kSelect, "select", 3, kTightest},
};
const ExprOpInfo* FindExprOp(ExprOp op);  // null for operands

inline constexpr const char* kDirections[] = {"in", "out", "inout"};  // of Direction

// Words that name something else in an interface: an array called so is written in quotes.
bool IsReservedInExpr(absl::string_view name);

// Element type of a scalar argument's default value: that of its parameter.
Elem DefaultElem(const Function& f, const ScalarArg& a);

}  // namespace tile::ir::text

#endif  // TILE_IR_TEXT_EXPR_OPS_H_

#include "ir/text/expr_ops.h"

namespace tile::ir::text {

Elem DefaultElem(const Function& f, const ScalarArg& a) {
  const bool tile = a.param >= 0 && a.param < f.num_params() && f.param(a.param)->type().is_tile();
  return tile ? f.param(a.param)->type().elem() : Elem::kI64;
}

const ExprOpInfo* FindExprOp(ExprOp op) {
  for (const ExprOpInfo& info : kExprOps) {
    if (info.op == op) return &info;
  }
  return nullptr;
}

bool IsReservedInExpr(absl::string_view name) {
  for (const ExprOpInfo& info : kExprOps) {
    if (name == info.text) return true;
  }
  for (absl::string_view word : {"num_sms", "in", "out", "inout", "scalar", "workspace", "grid", "at", "init",
                                 "strides", "value", "default", "zero"}) {
    if (name == word) return true;
  }
  return false;
}

}  // namespace tile::ir::text

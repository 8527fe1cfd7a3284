#include "codegen/analysis/guarded_loop.h"

#include "ir/op_views.h"

namespace tile::codegen {

bool IsGuarded(const ir::Op& op) {
  const auto loop = ir::As<ir::ForOp>(&op);
  const auto guard = ir::As<ir::IfOp>(op.parent());
  if (!loop || !guard || op.block() != guard->op().region(0)) return false;
  const auto asks = ir::DefAs<ir::CmpIOp>(guard->condition());
  const ir::Signedness sign = loop->unsigned_cmp() ? ir::Signedness::kUnsigned : ir::Signedness::kSigned;
  return asks && asks->predicate() == ir::ComparisonPredicate::kLessThan && asks->signedness() == sign &&
         asks->lhs() == loop->lower_bound() && asks->rhs() == loop->upper_bound();
}

}  // namespace tile::codegen

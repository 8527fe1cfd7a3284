#include "codegen/analysis/iterations.h"

#include "ir/op_views.h"
#include "ir/passes/rewrite.h"

namespace tile::codegen {

int64_t IterationsOf(const ir::Op& loop) {
  if (!ir::ForOp::Is(&loop)) return 0;
  const ir::ForOp counted(&loop);
  const auto begin = ir::SplatOf(counted.lower_bound()), end = ir::SplatOf(counted.upper_bound()),
             step = ir::SplatOf(counted.step());
  if (!begin || !end || !step || *step == 0) return 0;
  const int width = ir::WidthOf(counted.upper_bound());
  const int64_t distance = ir::AsSigned(*end, width) - ir::AsSigned(*begin, width), by = ir::AsSigned(*step, width);
  return distance <= 0 || by <= 0 ? 0 : (distance + by - 1) / by;
}

}  // namespace tile::codegen

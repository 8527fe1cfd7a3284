#include "codegen/analysis/all_iterations.h"

#include "ir/loops.h"
#include "ir/op_views.h"

namespace tile::codegen {

bool AllIterationsEnd(const ir::Op& loop) {
  const ir::Op* end = ir::CarryingLoop(loop).latch();
  bool all = end != nullptr;
  ir::Walk(loop.region(0), [&](const ir::Op* op) {
    const bool branches = ir::BreakOp::Is(op) || ir::ContinueOp::Is(op);
    all = all && !ir::ReturnOp::Is(op) && !(branches && op != end && ir::TargetOf(*op) == &loop);
  });
  return all;
}

}  // namespace tile::codegen

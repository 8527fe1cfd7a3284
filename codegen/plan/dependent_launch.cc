#include "codegen/plan/dependent_launch.h"

#include "ir/op_views.h"
#include "ir/passes/rewrite.h"

namespace tile::codegen {

bool HasDependentLaunch(const Target& target, const ir::Function& function) {
  bool says_itself = false;
  ir::Walk(function.body(), [&](const ir::Op* op) {
    says_itself = says_itself || ir::GdcWaitOp::Is(op) || ir::GdcLaunchDependentsOp::Is(op);
  });
  return target.has(kCluster) && !says_itself;
}

}  // namespace tile::codegen

// Products that run while their warp executes other instructions.
#include <utility>

#include "codegen/emit/context/emitter.h"
#include "codegen/emit/pipeline/async_products.h"
#include "codegen/gpu/op_views.h"

namespace tile::codegen {

void LowerMmaWait(Emitter& e, const ir::Op& op) {
  const gpu::MmaWaitOp wait(op);
  Registers all;
  for (const ir::Value* sums : wait.sums()) all.insert(all.end(), e.regs(sums).begin(), e.regs(sums).end());
  all = WaitForProducts(e, static_cast<int>(wait.pending()), std::move(all));
  auto at = all.begin();
  for (int i = 0; i < op.num_results(); ++i) {
    const auto n = static_cast<int64_t>(e.regs(op.operand(i)).size());
    e.Set(op.result(i), Registers(at, at + n));
    at += n;
  }
}

}  // namespace tile::codegen

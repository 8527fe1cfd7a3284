// The program of the warps that hold tiles, where loops fetch ahead: they run all of it. Before and after, for such a
// loop:
//
//   %s = for %i in (%a to %b, step %c) iter_values(%acc = %zero) {
//     %x, %y = fetch_ahead … { … }
//     %n = mmaf %x, %y, %acc {async}
//     continue %n
//   }
//
//   %runs = cmpi less_than %a, %b, signed
//   %s, %at, %phase = if %runs {
//     %f:5 = for %i in (%a to %b, step %c) iter_values(%acc = %zero, %stage = 0, %p = 0, %before = 0, %any = false) {
//       barrier_wait %full[%stage], %p
//       %x = stage_tile …
//       %n = mmaf %x, %y, %acc {async}
//       mma_wait pending = 1                      // those of the previous iteration have ended
//       barrier_arrive %free[%before], %any       // so its stage is free
//       continue %n, <the next stage and phase>, %stage, true
//     }
//     %sum = mma_wait %f#0 pending = 0
//     barrier_arrive %free[%f#3], true
//     yield %sum, %f#1, %f#2
//   } else {
//     yield %zero, 0, 0
//   }
//
// Products of one iteration run while the next begins, because they are asynchronous. A warp that has begun the
// products of an iteration waits for those of the previous one. The last ones are awaited directly after the loop,
// before control flow joins. Their sums must not be moved to before that wait.
#ifndef TILE_CODEGEN_PASSES_EXPAND_WORKER_ROLE_H_
#define TILE_CODEGEN_PASSES_EXPAND_WORKER_ROLE_H_

#include <vector>

#include "codegen/gpu/ops.h"
#include "codegen/passes/expand/role_copy.h"

namespace tile::codegen {

class WorkerRole : public RoleCopy {
 public:
  using RoleCopy::RoleCopy;

 protected:
  bool Runs(const ir::Op& op) const override { return !IsGpuOp(&op, GpuOpcode::kKernel); }
  bool Has(const ir::Value*) const override { return true; }
  void CopyFetchLoop(ir::Builder& b, const ir::ForOp& loop, size_t ring) override;
  void CopyFetch(ir::Builder& b, const ir::Op& fetch, size_t ring) override;
  ir::ops::Values EndIteration(ir::Builder& b, const ir::Op& loop, size_t ring) override;

 private:
  // The sums of the loop's asynchronous products among its carried values, in the order of the products.
  std::vector<int> AsyncSums(const ir::Op& loop, size_t ring) const;
  void Release(ir::Builder& b, size_t ring, ir::Value* stage, ir::Value* if_true);

  // The stage of the previous iteration, in the loop that is being copied, and whether there was one.
  ir::Value *before_ = nullptr, *any_ = nullptr;
};

}  // namespace tile::codegen

#endif  // TILE_CODEGEN_PASSES_EXPAND_WORKER_ROLE_H_

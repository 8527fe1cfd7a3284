// What the warps that hold tiles run of a program whose loops fetch ahead: all of it. Before and after, of such a loop:
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
//       mma_wait pending = 1                      // those of the iteration before have ended
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
// Products of one iteration run while the next begins, because they are asynchronous: a warp that has begun those of an iteration waits for those
// of the one before. The last ones are awaited where the loop ran, before control flow joins: their sums must not be moved before.
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
  // Sums of the loop's asynchronous products among what it carries, in the order of the products.
  std::vector<int> AsyncSums(const ir::Op& loop, size_t ring) const;
  void Release(ir::Builder& b, size_t ring, ir::Value* stage, ir::Value* if_true);

  // Of the iteration before, in the loop that is being copied: its stage, and whether there was one.
  ir::Value *before_ = nullptr, *any_ = nullptr;
};

}  // namespace tile::codegen

#endif  // TILE_CODEGEN_PASSES_EXPAND_WORKER_ROLE_H_

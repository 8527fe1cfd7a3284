// The program of the warps that hold tiles, where loops fetch ahead and the sums of products are in tensor memory.
// These warps run the whole program except those products. One thread of the first warp begins the products. Before and
// after, for such a loop:
//
//   %s = for %i in (%a to %b, step %c) iter_values(%acc = %zero) {
//     %x, %y = fetch_ahead … { … }
//     %n = mmaf %x, %y, %acc {async}
//     continue %n
//   }
//
//   %runs = cmpi less_than %a, %b, signed
//   %s, … = if %runs {
//     warp { barrier_wait %loaded[0], <the phase before>; fence_columns_after }     // all warps have loaded the previous loop's sums
//     %f:3 = for %i in (%a to %b, step %c) iter_values(%stage = 0, %p = 0, %any = false) {
//       warp {
//         barrier_wait %full[%stage], %p
//         elect {
//           %x = stage_tile …
//           %acc = column_sums %any, %columns, %zero
//           %n = mmaf %x, %y, %acc {async}
//           mma_commit %free[%stage], true                  // the stage is free when the products have ended
//         }
//       }
//       continue <the next stage and phase>, true
//     }
//     warp { elect { mma_commit %ended[0], true } }
//     barrier_wait %ended[0], <its phase>
//     fence_columns_after
//     %sum = load_columns %columns, %zero
//     fence_columns_before
//     barrier_arrive %loaded[0], true
//     yield %sum, …
//   } else {
//     yield %zero, …
//   }
//
// The barriers of the sums, ended and loaded, belong to a ring of one stage. Its phase continues from one execution of
// a loop to the next.
#ifndef TILE_CODEGEN_PASSES_EXPAND_COLUMN_WORKER_ROLE_H_
#define TILE_CODEGEN_PASSES_EXPAND_COLUMN_WORKER_ROLE_H_

#include <vector>

#include "absl/container/flat_hash_map.h"
#include "codegen/passes/expand/column_memory.h"
#include "codegen/passes/expand/role_copy.h"
#include "codegen/plan/schedule.h"

namespace tile::codegen {

// The first column of the sums of each product.
using SumColumns = absl::flat_hash_map<const ir::Op*, ir::Value*>;

// Allocates the barriers of each ring's sums, in the order of the rings, as rings of one stage without memory.
std::vector<FetchRing> AllocateSums(ir::Builder& b, const Schedule& schedule, const std::vector<FetchRing>& rings);
// The number of columns that all sums take, and the first column of each sum.
int64_t ColumnsOfSums(const std::vector<FetchRing>& rings);
SumColumns PlaceSums(ir::Builder& b, const std::vector<FetchRing>& rings, const ColumnMemory& memory);

class ColumnWorkerRole : public RoleCopy {
 public:
  // `rings` has the rings of the fetches, then those of their sums.
  ColumnWorkerRole(const std::vector<FetchRing>& rings, const SumColumns& columns, const ir::Function& function);

 protected:
  bool Runs(const ir::Op& op) const override;
  bool Has(const ir::Value* v) const override { return !in_columns_.contains(v); }
  void CopyFetchLoop(ir::Builder& b, const ir::ForOp& loop, size_t ring) override;
  void CopyFetch(ir::Builder& b, const ir::Op& fetch, size_t ring) override;
  ir::ops::Values EndIteration(ir::Builder& b, const ir::Op& loop, size_t ring) override;

 private:
  // Results of the copied loop in the order of the old ones; those in tensor memory are null.
  ir::ops::Values LoopAndSums(ir::Builder& b, const ir::ForOp& loop, size_t ring);
  void LoadSums(ir::Builder& b, const ir::ForOp& loop, size_t ring, ir::ops::Values* results);
  void Product(ir::Builder& b, const ir::Op& mma);

  const size_t fetches_;
  const SumColumns& columns_;
  absl::flat_hash_map<const ir::Value*, const ir::Op*>
      in_columns_;            // the sums that loops carry, and the product that adds to each
  ir::Value* any_ = nullptr;  // in the loop that is being copied: there was a previous iteration
};

}  // namespace tile::codegen

#endif  // TILE_CODEGEN_PASSES_EXPAND_COLUMN_WORKER_ROLE_H_

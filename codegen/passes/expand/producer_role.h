// The producer's program, where loops fetch ahead: the operations that the loads need (plan/staging/producer_slice.h),
// and the control flow around them. A loop that fetches becomes
//
//   for %i in (%a to %b, step %c) iter_values(%stage = 0, %p = 1) {
//     barrier_wait %free[%stage], %p
//     elect {
//       barrier_expect %full[%stage], bytes = 32768
//       tma_load %view[%i, %n], %address, %full[%stage] …
//     }
//     continue <the next stage and phase>
//   }
//
// The producer is ahead of the workers by up to one turn of the ring. Descriptors of tensors that the host does not
// know are made before the loop, while the workers still multiply earlier tiles.
#ifndef TILE_CODEGEN_PASSES_EXPAND_PRODUCER_ROLE_H_
#define TILE_CODEGEN_PASSES_EXPAND_PRODUCER_ROLE_H_

#include <vector>

#include "absl/container/flat_hash_set.h"
#include "codegen/passes/expand/role_copy.h"

namespace tile::codegen {

class ProducerRole : public RoleCopy {
 public:
  ProducerRole(const std::vector<FetchRing>& rings, const ir::Function& function);

  // Waits until all warps have read the copied tiles, also those of other blocks of the cluster. So a block stays until
  // no other accesses its memory, and the blocks need no barrier at their end.
  void AwaitReleases(ir::Builder& b);

 protected:
  bool Runs(const ir::Op& op) const override { return ops_.contains(&op); }
  bool Has(const ir::Value* v) const override;
  void CopyFetchLoop(ir::Builder& b, const ir::ForOp& loop, size_t ring) override;
  void CopyFetch(ir::Builder& b, const ir::Op& fetch, size_t ring) override;
  ir::ops::Values EndIteration(ir::Builder& b, const ir::Op& loop, size_t ring) override;
  void AwaitLoads(ir::Builder& b, size_t ring) override;

 private:
  const absl::flat_hash_set<const ir::Op*> ops_;
};

}  // namespace tile::codegen

#endif  // TILE_CODEGEN_PASSES_EXPAND_PRODUCER_ROLE_H_

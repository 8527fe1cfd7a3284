// What the producer runs of a program whose loops fetch ahead: what the loads need (plan/staging/producer_slice.h), and the control flow
// around them. Of a loop that fetches it makes
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
// It is ahead of the workers by up to one turn of the ring. It makes the descriptors of tensors that the host does not know before the loop, while the
// workers still multiply earlier tiles.
#ifndef TILE_CODEGEN_PASSES_EXPAND_PRODUCER_ROLE_H_
#define TILE_CODEGEN_PASSES_EXPAND_PRODUCER_ROLE_H_

#include <vector>

#include "absl/container/flat_hash_set.h"
#include "codegen/passes/expand/role_copy.h"

namespace tile::codegen {

class ProducerRole : public RoleCopy {
 public:
  ProducerRole(const std::vector<FetchRing>& rings, const ir::Function& function);

  // Waits until all warps that read what it brought are done with it, those of other blocks of the cluster, too. So a block stays until nobody
  // reaches into its memory any more, and the blocks need not meet at their end.
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

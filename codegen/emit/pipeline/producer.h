// The producer: the last warp of a block whose loops fetch ahead. It runs what the loads need of the program (scalars, views,
// control flow around them: plan/staging/producer_slice.h), waits for free stages and starts TMA copies into them, as far ahead of the other warps as
// there are stages (ring.h). Descriptors of tensors that the host does not know it makes itself (device_tensor_maps.h), while the others still work on
// what it brought before.
#ifndef TILE_CODEGEN_EMIT_PIPELINE_PRODUCER_H_
#define TILE_CODEGEN_EMIT_PIPELINE_PRODUCER_H_

#include <utility>
#include <vector>

#include "codegen/emit/context/emitter.h"
#include "codegen/emit/pipeline/ring.h"
#include "codegen/plan/staging/staging.h"
#include "ir/op_views.h"

namespace tile::codegen {

// Starts the copies of a tile to shared memory (i32 address), which count their bytes at the barrier; the thread does that is `mine`.
void LoadByTma(Emitter& e, const ir::Op& load, const StagedTile& tile, llvm::Value* to, llvm::Value* barrier,
               llvm::Value* mine);

class Producer {
 public:
  explicit Producer(Emitter& e) : e_(e) {}

  // What it does for one tile block, of which this is the body.
  void EmitBlock(const ir::Block& block);
  // Behind the last one: waits until all warps that read what it brought are done with it, those of other blocks of the cluster, too. So a
  // block stays until nobody reaches into its memory any more, and the blocks need not meet at their end.
  void AwaitReleases();

 private:
  // The ring of a loop, and the stage to fill next, with its phase (variables).
  struct FilledRing {
    RingPlace place;
    llvm::AllocaInst *stage, *phase;

    // Returns the stage.
    llvm::Value* AwaitFree(Emitter& e) const;
    // All copies that were begun have come.
    void AwaitFull(Emitter& e) const;
    void Move(Emitter& e) const;
  };

  void EmitFetches(const ir::Op& loop);
  void EmitLoop(const ir::Op& op);
  void EmitIf(const ir::Op& op);
  // For values of control flow that the producer has, else none.
  Phis PhisFor(absl::Span<ir::Value* const> values);
  void AddIncoming(const Phis& phis, absl::Span<ir::Value* const> values, llvm::BasicBlock* from);
  // The next value of the induction variable, and whether there is one.
  std::pair<llvm::Value*, llvm::Value*> StepOf(const ir::ForOp& loop, llvm::Value* iv);
  llvm::Value* Begins(const ir::ForOp& loop);

  Emitter& e_;
  std::vector<FilledRing> filled_;
};

}  // namespace tile::codegen

#endif  // TILE_CODEGEN_EMIT_PIPELINE_PRODUCER_H_

// The ring of shared-memory stages behind a fetch_ahead (codegen/gpu_ops.def): who fills a stage, who waits for it, when it
// is filled again.
//
//   Ring ring(e, loop, fetch);
//   ring.Begin(lower, upper, step, less);   // before the loop: the first stages - 1 values are on their way
//   …   ring.Await();                       // in the body, where fetch_ahead stands: this value's stage is full
//   …   ring.Refill();                      // where the body ends: the stage of the round before is filled again
//   ring.End();                             // behind the loop: accumulators of products under way are final
//
// Stage s has an mbarrier that counts the bytes of its TMA copies; one thread starts them. Products of one round run while
// the next round begins (wgmma is asynchronous), so a stage is free one round after it was read: a round waits for the
// products of the round before in every warp, then for all warps. Where the ring stands is kept over executions of the
// loop: it is never initialised again.
#ifndef TILE_CODEGEN_EMIT_RING_H_
#define TILE_CODEGEN_EMIT_RING_H_

#include <vector>

#include "codegen/emit/emitter.h"
#include "codegen/staging.h"

namespace tile::codegen {

class Ring {
 public:
  // The loop that stands around `fetch` must be the one that is being emitted.
  Ring(Emitter& e, const ir::Op& loop, const ir::Op& fetch);

  void Begin(llvm::Value* lower, llvm::Value* upper, llvm::Value* step, llvm::Value* runs);
  void Await();
  void Refill();
  void End();

  const StageLayout& stage() const { return stage_; }
  // Address in shared memory (i32) of result i of the fetch in the stage that was awaited.
  llvm::Value* Slot(int i);
  // The product goes around the loop unfinished: nobody reads its result before the loop ends.
  bool IsAsync(const ir::Op& mma) const;

 private:
  llvm::Value* StageAddress(llvm::Value* stage, int64_t offset);
  llvm::Value* Barrier(llvm::Value* stage);
  llvm::Value* Next(llvm::Value* stage);
  void Fetch(llvm::Value* iv, llvm::Value* stage, llvm::Value* runs);
  void Copy(const ir::Op& load, const StagedTile& tile, llvm::Value* to, llvm::Value* barrier, llvm::Value* mine);
  void Advance();

  Emitter& e_;
  const ir::Op& loop_;
  const ir::Op& fetch_;
  StageLayout stage_;
  int stages_ = 0;
  int async_ = 0;                          // products of a round that go around unfinished
  llvm::Value* memory_ = nullptr;          // i32
  llvm::Value* barriers_ = nullptr;        // i32
  // Slots on the stack, which become registers: the stage to read and its phase, the one to fill, what to fill it with.
  llvm::AllocaInst *read_, *phase_, *fill_, *ahead_, *more_;
  llvm::Value *upper_ = nullptr, *step_ = nullptr;
};

// wgmma over the stage that `ring` awaited; acc and the result are those of the thread.
Registers MultiplyStaged(Emitter& e, const Ring& ring, const ir::Op& mma, llvm::Value* a, llvm::Value* b, Registers acc);
// Waits until at most `pending` groups of products run; the registers are valid in what it returns.
Registers WaitForProducts(Emitter& e, int pending, Registers acc);

}  // namespace tile::codegen

#endif  // TILE_CODEGEN_EMIT_RING_H_

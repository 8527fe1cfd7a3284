// The ring of shared-memory stages that a fetch_ahead fills (codegen/gpu/ops.def): its memory, and how the warps that
// multiply (all but one) use it. The last warp of the block, the producer, fills it: producer.h.
//
//   Ring ring(e, loop, fetch);
//   …   ring.Await();      // in the body, at fetch_ahead: this value's stage is full
//   …   ring.EndIteration();   // where the body ends: the stage of the iteration before is free again
//   ring.Drain(&values);   // after the last iteration: what the loop carries is final, all stages are free
//
// A stage has two mbarriers: "full" counts the bytes of its TMA copies, "free" the warps that are done with it. Products of
// one iteration run while the next begins, because wgmma is asynchronous: a warp that has started those of iteration r waits for
// those of r - 1 and releases their stage. In a cluster, blocks bring their share of a tile to all of them at once, and a
// stage is free when the warps of all blocks say so. Position and phase of the ring persist across
// executions of the loop, so barriers are initialised once.
#ifndef TILE_CODEGEN_EMIT_PIPELINE_RING_H_
#define TILE_CODEGEN_EMIT_PIPELINE_RING_H_

#include <vector>

#include "codegen/emit/context/emitter.h"
#include "codegen/emit/context/fragment_source.h"
#include "codegen/plan/mma/wgmma_plan.h"
#include "codegen/plan/staging/staging.h"

namespace tile::codegen {

// The memory of a fetch_ahead's ring.
class RingPlace {
 public:
  // Of all that ask for this fetch the same; the first reserves it and initialises its barriers, at the entry.
  RingPlace(Emitter& e, const ir::Op& fetch);

  const StageLayout& stage() const { return stage_; }
  int stages() const { return stages_; }
  // Addresses in shared memory (i32) of what belongs to stage number `stage` (i32).
  llvm::Value* Slot(llvm::Value* stage, int i) const;
  llvm::Value* Full(llvm::Value* stage) const;
  llvm::Value* Free(llvm::Value* stage) const;
  // The number of the stage after it, and the phase that goes with that.
  llvm::Value* Next(llvm::Value* stage) const;
  llvm::Value* NextPhase(llvm::Value* phase, llvm::Value* next) const;

 private:
  Emitter& e_;
  StageLayout stage_;
  int stages_;
  llvm::Value *memory_, *barriers_;
};

class Ring {
 public:
  // The loop that stands around `fetch` must be the one that is being emitted.
  Ring(Emitter& e, const ir::Op& loop, const ir::Op& fetch);

  void Await();
  void EndIteration();
  void Drain(std::vector<Registers>* carried);

  const StageLayout& stage() const { return place_.stage(); }
  // Address in shared memory (i32) of result i of the fetch in the stage that was awaited.
  llvm::Value* Slot(int i);
  // The product goes around the loop unfinished: nobody reads its result before the loop ends.
  bool IsAsync(const ir::Op& mma) const;

 private:
  void Release(llvm::Value* if_true);

  Emitter& e_;
  const ir::Op& loop_;
  const ir::Op& fetch_;
  RingPlace place_;
  int async_ = 0;  // products of an iteration that go around unfinished
  // Variables, which become registers: the stage to read and its phase, the one before; whether there was one before.
  llvm::AllocaInst *read_, *phase_, *done_, *any_;
};

// Waits until an mbarrier in shared memory has left the phase (i32: 0, 1).
void AwaitPhase(Emitter& e, llvm::Value* barrier, llvm::Value* phase);
void SynchronizeWarp(Emitter& e);
// PTX with effects that all lanes must execute together.
void ExecuteTogether(Emitter& e, absl::string_view text, absl::string_view constraints, Operands in);

// At the entry, behind the initialisation of all rings: every thread announces it, and waits for the others before it uses a ring. What
// is computed in between costs nothing.
void AnnounceRings(Emitter& e);
void AwaitRings(Emitter& e);

}  // namespace tile::codegen

#endif  // TILE_CODEGEN_EMIT_PIPELINE_RING_H_

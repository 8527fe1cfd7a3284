// Threads widen what TMA has brought to a stage, into places from which products read it (codegen/plan/staging/conversion_buffers.h).
//
//   ConversionBuffers wide(e, stage, memory);      // before the loop
//   wide.Turn();                            // an iteration begins: the next place is its own
//   wide.Load(slots);                       // from these slots of its stage, which is full, to registers, as far as there are some
//   wide.Store();                           // widened, to its place
//   wide.Fill();                            // this warp has
//   wide.Await(before);  … wide.Slot(i, before);      // in the place of this iteration, or of the one before, all warps have done that
//   wide.Release(if_true, before);          // this warp is done with it
//
// Everyone widens a part, and everyone reads all. Stores and products go different ways to memory, so each thread fences its stores before its
// warp reports them. ptxas makes a MEMBAR of that fence, which waits for the stores: a later fence waits less. Reads by products have ended when
// their warp releases the place. Places are taken in turn and all that is widened must be released, like stages (tma_stages.h).
#ifndef TILE_CODEGEN_EMIT_PIPELINE_CONVERSION_BUFFERS_H_
#define TILE_CODEGEN_EMIT_PIPELINE_CONVERSION_BUFFERS_H_

#include <functional>
#include <vector>

#include "codegen/emit/context/emitter.h"
#include "codegen/emit/pipeline/tma_stages.h"
#include "codegen/plan/staging/staging.h"

namespace tile::codegen {

// 16 bytes' worth of what is loaded, in the type of what the product reads (StagedTile::rounded).
Registers Converted(Emitter& e, const StagedTile& tile, const Registers& values);

class ConversionBuffers {
 public:
  ConversionBuffers(Emitter& e, const StageLayout& stage, llvm::Value* memory);

  void Turn();
  // `slots`: where result i lies in the stage. Waits for the place, too.
  void Load(const std::function<llvm::Value*(int)>& slots);
  void Store();
  void Fill();
  // Ends a basic block, within which ptxas would move waits for products to the front: waits for what has come already.
  void EndBlock();
  void Await(bool before);
  void Release(llvm::Value* if_true, bool before);
  llvm::Value* Slot(int i, bool before) const;

 private:
  // A place and its phase, as those who fill it count (variables).
  struct Position {
    llvm::AllocaInst *place, *phase;
  };
  // 16 elements of a thread: the register that holds the first in WideningLayout.
  struct Vector {
    int result, reg;
    llvm::Value* at;  // in the stage
  };
  llvm::Value* Now(llvm::AllocaInst* variable) const;
  Registers LoadOne(const Vector& v) const;

  Emitter& e_;
  const StageLayout& stage_;
  llvm::Value* memory_;
  TmaStages places_;
  Position before_, current_, next_;
  std::vector<Vector> vectors_;  // of this iteration
  std::vector<Registers> held_;  // the first of them
};

}  // namespace tile::codegen

#endif  // TILE_CODEGEN_EMIT_PIPELINE_CONVERSION_BUFFERS_H_

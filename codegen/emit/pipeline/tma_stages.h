// The barriers of a ring that TMA fills without a producer warp. One thread of warp 0 starts the copies of a stage, once all warps are done
// with its earlier contents. Every warp waits for the stages that it reads, and for no other warp.
//
//   TmaStages stages(e, 4);                                         // before the loop
//   llvm::Value* full = stages.Begin(stage, phase, mine, bytes);    // in warp 0: the stage is free; copies that `mine` starts count at `full`
//   stages.Await(stage, phase);                                     // it is full
//   stages.Release(stage, if_true);                                 // this warp is done with it
//
// A stage has two mbarriers: "full" counts the bytes of its copies, "free" the warps that are done with it. Their phases persist across
// executions of the loop: all that is filled must be awaited and released. Stages are taken in turn; the phase, which is kFirstFill in the
// first turn of those who fill and kFirstRead in that of those who read, is the other one in each next turn.
#ifndef TILE_CODEGEN_EMIT_PIPELINE_TMA_STAGES_H_
#define TILE_CODEGEN_EMIT_PIPELINE_TMA_STAGES_H_

#include "codegen/emit/context/emitter.h"

namespace tile::codegen {

class TmaStages {
 public:
  // `fillers`: who say that a stage is full, beside the bytes that are counted: one thread, or each warp.
  TmaStages(Emitter& e, int stages, int fillers = 1);

  static constexpr int kFirstFill = 1, kFirstRead = 0;

  // `bytes` that copies bring.
  llvm::Value* Begin(llvm::Value* stage, llvm::Value* phase, llvm::Value* mine, int64_t bytes);
  void Await(llvm::Value* stage, llvm::Value* phase);
  // For stages that warps fill by stores: waits until the stage is free; says that this warp has stored its part. A product may read when all have.
  void AwaitFree(llvm::Value* stage, llvm::Value* phase);
  void Filled(llvm::Value* stage);
  void Release(llvm::Value* stage, llvm::Value* if_true);

 private:
  llvm::Value* Full(llvm::Value* stage);
  llvm::Value* Free(llvm::Value* stage);

  Emitter& e_;
  const int stages_;
  llvm::Value* barriers_;
};

}  // namespace tile::codegen

#endif  // TILE_CODEGEN_EMIT_PIPELINE_TMA_STAGES_H_

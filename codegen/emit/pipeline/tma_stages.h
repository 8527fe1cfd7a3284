// The barriers of a ring that TMA fills without a producer warp: one thread of warp 0 starts the copies of a stage, once all warps are done
// with what lay there; every warp waits for the stages that it reads, and for no other warp.
//
//   TmaStages stages(e, 4);                           // before the loop
//   llvm::Value* full = stages.Begin(mine, bytes);    // in warp 0: the stage is free; copies that `mine` starts count at `full`
//   stages.Filled();                                  // in all warps, behind that
//   stages.Await();                                   // the next stage is full
//   stages.Release(if_true);                          // this warp is done with the oldest one
//
// A stage has two mbarriers: "full" counts the bytes of its copies, "free" the warps that are done with it. Positions and phases persist
// across executions of the loop: all that is filled must be awaited and released.
#ifndef TILE_CODEGEN_EMIT_PIPELINE_TMA_STAGES_H_
#define TILE_CODEGEN_EMIT_PIPELINE_TMA_STAGES_H_

#include "codegen/emit/context/emitter.h"

namespace tile::codegen {

class TmaStages {
 public:
  TmaStages(Emitter& e, int stages);

  // `bytes` that copies bring.
  llvm::Value* Begin(llvm::Value* mine, int64_t bytes);
  void Filled() { Move(fill_, fill_phase_); }
  void Await();
  void Release(llvm::Value* if_true);

 private:
  llvm::Value* Full(llvm::Value* stage);
  llvm::Value* Free(llvm::Value* stage);
  void Move(llvm::AllocaInst* stage, llvm::AllocaInst* phase, llvm::Value* if_true = nullptr);

  Emitter& e_;
  const int stages_;
  llvm::Value* barriers_;
  // Variables, which become registers: stages and the phases that are waited for there.
  llvm::AllocaInst *fill_, *fill_phase_, *await_, *await_phase_, *release_;
};

}  // namespace tile::codegen

#endif  // TILE_CODEGEN_EMIT_PIPELINE_TMA_STAGES_H_

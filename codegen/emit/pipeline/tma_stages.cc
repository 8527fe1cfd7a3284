#include "codegen/emit/pipeline/tma_stages.h"

#include "absl/strings/str_cat.h"
#include "codegen/emit/pipeline/mbarrier.h"
#include "codegen/plan/tma/tensor_maps.h"
#include "llvm/IR/IntrinsicsNVPTX.h"

namespace tile::codegen {

TmaStages::TmaStages(Emitter& e, int stages, int fillers) : e_(e), stages_(stages) {
  auto& b = e.b();
  const uint32_t at = e.shared().Reserve(CopyBarrierBytes(stages), 8);
  barriers_ = b.CreateTrunc(b.CreatePtrToInt(e.shared().Address(e.I32(at)), b.getInt64Ty()), b.getInt32Ty());
  e.AtEntry([&] {
    llvm::Value* first = b.CreateICmpEQ(e.threads().number(), e.I32(0));
    llvm::Value* memory =
        b.CreateTrunc(b.CreatePtrToInt(e.shared().Address(e.I32(at)), b.getInt64Ty()), b.getInt32Ty());
    for (int s = 0; s < stages; ++s) {
      ExecuteTogether(e, absl::StrCat("@$1 mbarrier.init.shared::cta.b64 [$0], ", fillers, ";"), "r,b",
                      {b.CreateAdd(memory, e.I32(8 * s)), first});
      ExecuteTogether(e, "@$2 mbarrier.init.shared::cta.b64 [$0], $1;", "r,r,b",
                      {b.CreateAdd(memory, e.I32(8 * (stages + s))), e.I32(e.num_warps()), first});
    }
    ExecuteTogether(e, "fence.mbarrier_init.release.cluster;", "", {});
    b.CreateIntrinsic(llvm::Intrinsic::nvvm_barrier_cta_sync_aligned_all, {e.I32(0)});
  });
}

llvm::Value* TmaStages::Full(llvm::Value* stage) {
  auto& b = e_.b();
  return b.CreateAdd(barriers_, b.CreateShl(stage, 3));
}

llvm::Value* TmaStages::Free(llvm::Value* stage) { return e_.b().CreateAdd(Full(stage), e_.I32(8 * stages_)); }

llvm::Value* TmaStages::Begin(llvm::Value* stage, llvm::Value* phase, llvm::Value* mine, int64_t bytes) {
  AwaitFree(stage, phase);
  llvm::Value* full = Full(stage);
  ExecuteTogether(e_, "@$2 mbarrier.arrive.expect_tx.shared::cta.b64 _, [$0], $1;", "r,r,b",
                  {full, e_.I32(bytes), mine});
  return full;
}

void TmaStages::AwaitFree(llvm::Value* stage, llvm::Value* phase) { AwaitPhase(e_, Free(stage), phase); }

void TmaStages::Filled(llvm::Value* stage) {
  ExecuteTogether(e_, "fence.proxy.async.shared::cta;", "", {});
  SynchronizeWarp(e_);
  ExecuteTogether(e_, "@$1 mbarrier.arrive.shared::cta.b64 _, [$0];", "r,b",
                  {Full(stage), e_.b().CreateICmpEQ(e_.threads().lane(), e_.I32(0))});
}

void TmaStages::Await(llvm::Value* stage, llvm::Value* phase) { AwaitPhase(e_, Full(stage), phase); }

void TmaStages::Release(llvm::Value* stage, llvm::Value* if_true) {
  auto& b = e_.b();
  // Other lanes may have read it one by one.
  SynchronizeWarp(e_);
  ExecuteTogether(e_, "@$1 mbarrier.arrive.shared::cta.b64 _, [$0];", "r,b",
                  {Free(stage), b.CreateAnd(if_true, b.CreateICmpEQ(e_.threads().lane(), e_.I32(0)))});
}

}  // namespace tile::codegen

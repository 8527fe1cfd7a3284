#include "codegen/emit/pipeline/tma_stages.h"

#include "codegen/emit/pipeline/ring.h"
#include "codegen/plan/tensor_maps.h"
#include "llvm/IR/IntrinsicsNVPTX.h"

namespace tile::codegen {

TmaStages::TmaStages(Emitter& e, int stages) : e_(e), stages_(stages) {
  auto& b = e.b();
  const uint32_t at = e.shared().Reserve(CopyBarrierBytes(stages), 8);
  barriers_ = b.CreateTrunc(b.CreatePtrToInt(e.shared().Address(e.I32(at)), b.getInt64Ty()), b.getInt32Ty());
  e.AtEntry([&] {
    llvm::Value* first = b.CreateICmpEQ(e.threads().number(), e.I32(0));
    llvm::Value* memory =
        b.CreateTrunc(b.CreatePtrToInt(e.shared().Address(e.I32(at)), b.getInt64Ty()), b.getInt32Ty());
    for (int s = 0; s < stages; ++s) {
      ExecuteTogether(e, "@$1 mbarrier.init.shared::cta.b64 [$0], 1;", "r,b",
                      {b.CreateAdd(memory, e.I32(8 * s)), first});
      ExecuteTogether(e, "@$2 mbarrier.init.shared::cta.b64 [$0], $1;", "r,r,b",
                      {b.CreateAdd(memory, e.I32(8 * (stages + s))), e.I32(e.num_warps()), first});
    }
    ExecuteTogether(e, "fence.mbarrier_init.release.cluster;", "", {});
    b.CreateIntrinsic(llvm::Intrinsic::nvvm_barrier_cta_sync_aligned_all, {e.I32(0)});
  });
  fill_ = e.Variable(b.getInt32Ty(), e.I32(0));
  fill_phase_ = e.Variable(b.getInt32Ty(), e.I32(1));  // of a stage that nobody has had before
  await_ = e.Variable(b.getInt32Ty(), e.I32(0));
  await_phase_ = e.Variable(b.getInt32Ty(), e.I32(0));
  release_ = e.Variable(b.getInt32Ty(), e.I32(0));
}

llvm::Value* TmaStages::Full(llvm::Value* stage) {
  auto& b = e_.b();
  return b.CreateAdd(barriers_, b.CreateShl(stage, 3));
}

llvm::Value* TmaStages::Free(llvm::Value* stage) { return e_.b().CreateAdd(Full(stage), e_.I32(8 * stages_)); }

void TmaStages::Move(llvm::AllocaInst* stage, llvm::AllocaInst* phase, llvm::Value* if_true) {
  auto& b = e_.b();
  llvm::Value* by = if_true == nullptr ? e_.I32(1) : b.CreateZExt(if_true, b.getInt32Ty());
  llvm::Value* next = b.CreateAdd(b.CreateLoad(b.getInt32Ty(), stage), by);
  llvm::Value* wraps = b.CreateICmpEQ(next, e_.I32(stages_));
  b.CreateStore(b.CreateSelect(wraps, e_.I32(0), next), stage);
  if (phase == nullptr) return;
  b.CreateStore(b.CreateXor(b.CreateLoad(b.getInt32Ty(), phase), b.CreateZExt(wraps, b.getInt32Ty())), phase);
}

llvm::Value* TmaStages::Begin(llvm::Value* mine, int64_t bytes) {
  auto& b = e_.b();
  llvm::Value* stage = b.CreateLoad(b.getInt32Ty(), fill_);
  AwaitPhase(e_, Free(stage), b.CreateLoad(b.getInt32Ty(), fill_phase_));
  llvm::Value* full = Full(stage);
  ExecuteTogether(e_, "@$2 mbarrier.arrive.expect_tx.shared::cta.b64 _, [$0], $1;", "r,r,b",
                  {full, e_.I32(bytes), mine});
  return full;
}

void TmaStages::Await() {
  auto& b = e_.b();
  AwaitPhase(e_, Full(b.CreateLoad(b.getInt32Ty(), await_)), b.CreateLoad(b.getInt32Ty(), await_phase_));
  Move(await_, await_phase_);
}

void TmaStages::Release(llvm::Value* if_true) {
  auto& b = e_.b();
  // Other lanes may have read it one by one.
  b.CreateIntrinsic(llvm::Intrinsic::nvvm_bar_warp_sync, {e_.I32(-1)});
  ExecuteTogether(e_, "@$1 mbarrier.arrive.shared::cta.b64 _, [$0];", "r,b",
                  {Free(b.CreateLoad(b.getInt32Ty(), release_)),
                   b.CreateAnd(if_true, b.CreateICmpEQ(e_.threads().lane(), e_.I32(0)))});
  Move(release_, nullptr, if_true);
}

}  // namespace tile::codegen

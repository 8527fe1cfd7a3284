// Barriers: mbarriers in shared memory, those of a block and of a cluster.
#include "absl/strings/str_cat.h"
#include "codegen/emit/context/emitter.h"
#include "codegen/emit/gpu/elected.h"
#include "codegen/emit/pipeline/mbarrier.h"
#include "codegen/gpu/op_views.h"
#include "ir/passes/rewrite.h"
#include "llvm/IR/IntrinsicsNVPTX.h"

namespace tile::codegen {

void LowerBarrierWait(Emitter& e, const ir::Op& op) {
  const gpu::BarrierWaitOp wait(op);
  AwaitPhase(e, BarrierAt(e, wait.barriers(), wait.number()), e.scalar(wait.phase()));
}

// Lane i arrives at the barrier of block i.
void LowerBarrierArrive(Emitter& e, const ir::Op& op) {
  const gpu::BarrierArriveOp arrive(op);
  auto& b = e.b();
  llvm::Value* barrier = BarrierAt(e, arrive.barriers(), arrive.number());
  llvm::Value* blocks = arrive.of_cluster() ? e.blocks().ClusterSize() : e.I32(1);
  llvm::Value* mine = b.CreateAnd(e.scalar(arrive.condition()), b.CreateICmpULT(e.threads().lane(), blocks));
  if (!arrive.of_cluster())
    return ExecuteTogether(e, "@$1 mbarrier.arrive.shared::cta.b64 _, [$0];", "r,b", {barrier, mine});
  ExecuteTogether(e,
                  "{ .reg .b32 there; @$2 mapa.shared::cluster.u32 there, $0, $1; "
                  "@$2 mbarrier.arrive.shared::cluster.b64 _, [there]; }",
                  "r,r,b", {barrier, e.threads().lane(), mine});
}

void LowerBarrierExpect(Emitter& e, const ir::Op& op) {
  const gpu::BarrierExpectOp expect(op);
  ExecuteTogether(e, "@$2 mbarrier.arrive.expect_tx.shared::cta.b64 _, [$0], $1;", "r,r,b",
                  {BarrierAt(e, expect.barriers(), expect.number()), e.I32(expect.bytes()), Elected(e)});
}

void LowerFenceBarriers(Emitter& e, const ir::Op&) {
  ExecuteTogether(e, "fence.mbarrier_init.release.cluster;", "", {});
}

void LowerFenceProxyAsync(Emitter& e, const ir::Op&) { FenceProxyAsync(e); }

void LowerSyncWarp(Emitter& e, const ir::Op&) { SynchronizeWarp(e); }

void LowerBlockBarrier(Emitter& e, const ir::Op&) {
  e.b().CreateIntrinsic(llvm::Intrinsic::nvvm_barrier_cta_sync_aligned_all, {e.I32(0)});
}

// fence_barriers orders what was written, so the barrier need not: as a release it waits for the L2.
void LowerClusterArrive(Emitter& e, const ir::Op&) {
  ExecuteTogether(e, "barrier.cluster.arrive.relaxed.aligned;", "", {});
}

void LowerClusterWait(Emitter& e, const ir::Op&) {
  ExecuteTogether(e, "barrier.cluster.wait.acquire.aligned;", "", {});
}

void LowerWorkerBarrier(Emitter& e, const ir::Op&) { e.Barrier(); }

namespace {

// Turns are named barriers, one for each warpgroup, where that one waits and the other one arrives: both are its 256 threads.
constexpr int kFirstTurn = 2;

// Of the warpgroup that the operand says: waits for its own turn, or arrives at that of the other one.
void Turn(Emitter& e, const ir::Op& op, bool waits) {
  const int group = static_cast<int>(*ir::SplatOf(op.operand(0))), turn = waits ? group : 1 - group;
  ExecuteTogether(
      e, absl::StrCat(group == 0 ? "@$0" : "@!$0", " bar.", waits ? "sync " : "arrive ", kFirstTurn + turn, ", 256;"),
      "b", {e.b().CreateICmpEQ(e.threads().Warpgroup(), e.I32(0))});
}

}  // namespace

void LowerTurnWait(Emitter& e, const ir::Op& op) { Turn(e, op, true); }

void LowerTurnPass(Emitter& e, const ir::Op& op) { Turn(e, op, false); }

}  // namespace tile::codegen

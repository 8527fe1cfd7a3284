#include "codegen/emit/pipeline/mbarrier.h"

#include "llvm/IR/IntrinsicsNVPTX.h"

namespace tile::codegen {

void SynchronizeWarp(Emitter& e) { e.b().CreateIntrinsic(llvm::Intrinsic::nvvm_bar_warp_sync, {e.I32(-1)}); }

void FenceProxyAsync(Emitter& e) { e.Ptx(e.b().getVoidTy(), "fence.proxy.async.shared::cta;", "", {}, true); }

void ExecuteTogether(Emitter& e, absl::string_view text, absl::string_view constraints, Operands in) {
  llvm::cast<llvm::CallInst>(e.Ptx(e.b().getVoidTy(), text, constraints, in, true))->setConvergent();
}

void AwaitPhase(Emitter& e, llvm::Value* barrier, llvm::Value* phase) {
  ExecuteTogether(e,
                  "{ .reg .pred done; again: mbarrier.try_wait.parity.shared::cta.b64 done, [$0], $1; @done bra ready; "
                  "bra again; ready: }",
                  "r,r", {barrier, phase});
}

}  // namespace tile::codegen

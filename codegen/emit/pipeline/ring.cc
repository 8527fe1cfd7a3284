#include "codegen/emit/pipeline/ring.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "codegen/analysis/product_chain.h"
#include "codegen/emit/pipeline/async_products.h"
#include "codegen/target/decisions.h"
#include "llvm/IR/IntrinsicsNVPTX.h"

namespace tile::codegen {

void SynchronizeWarp(Emitter& e) { e.b().CreateIntrinsic(llvm::Intrinsic::nvvm_bar_warp_sync, {e.I32(-1)}); }

void ExecuteTogether(Emitter& e, absl::string_view text, absl::string_view constraints, Operands in) {
  llvm::cast<llvm::CallInst>(e.Ptx(e.b().getVoidTy(), text, constraints, in, true))->setConvergent();
}

void AwaitPhase(Emitter& e, llvm::Value* barrier, llvm::Value* phase) {
  ExecuteTogether(e,
                  "{ .reg .pred done; again: mbarrier.try_wait.parity.shared::cta.b64 done, [$0], $1; @done bra ready; "
                  "bra again; ready: }",
                  "r,r", {barrier, phase});
}

// --- its memory ----------------------------------------------------------------------------------------------------

RingPlace::RingPlace(Emitter& e, const ir::Op& fetch) : e_(e), stage_(StageOf(fetch)), stages_(e.plan().stages) {
  auto& b = e.b();
  const SharedMemory::Ring place =
      e.shared().ReserveRing(fetch, static_cast<uint64_t>(stage_.bytes * stages_), static_cast<uint64_t>(16 * stages_));
  const auto address = [&](llvm::Value* pointer) {
    return b.CreateTrunc(b.CreatePtrToInt(pointer, b.getInt64Ty()), b.getInt32Ty());
  };
  memory_ = address(place.stages);
  barriers_ = address(e.shared().Address(e.I32(place.barriers)));
  if (!place.is_new) return;
  e.AtEntry([&] {
    llvm::Value* first = b.CreateICmpEQ(e.threads().number(), e.I32(0));
    llvm::Value* warps = e.I32(e.num_warps());
    if (e.plan().cluster) warps = b.CreateMul(e.blocks().ClusterSize(), warps);
    for (int s = 0; s < stages_; ++s) {
      ExecuteTogether(e, "@$1 mbarrier.init.shared::cta.b64 [$0], 1;", "r,b", {Full(e.I32(s)), first});
      ExecuteTogether(e, "@$2 mbarrier.init.shared::cta.b64 [$0], $1;", "r,r,b", {Free(e.I32(s)), warps, first});
    }
  });
}

void AnnounceRings(Emitter& e) {
  ExecuteTogether(e, "fence.mbarrier_init.release.cluster;", "", {});
  // The fence orders what was written, so the barrier need not: as a release it waits for the L2.
  if (e.plan().cluster) ExecuteTogether(e, "barrier.cluster.arrive.relaxed.aligned;", "", {});
}

void AwaitRings(Emitter& e) {
  if (e.plan().cluster) return ExecuteTogether(e, "barrier.cluster.wait.acquire.aligned;", "", {});
  e.b().CreateIntrinsic(llvm::Intrinsic::nvvm_barrier_cta_sync_aligned_all, {e.I32(0)});
}

llvm::Value* RingPlace::Slot(llvm::Value* stage, int i) const {
  auto& b = e_.b();
  return b.CreateAdd(b.CreateAdd(memory_, e_.I32(stage_.offsets[static_cast<size_t>(i)])),
                     b.CreateMul(stage, e_.I32(stage_.bytes)));
}

llvm::Value* RingPlace::Full(llvm::Value* stage) const {
  auto& b = e_.b();
  return b.CreateAdd(barriers_, b.CreateShl(stage, 3));
}

llvm::Value* RingPlace::Free(llvm::Value* stage) const { return e_.b().CreateAdd(Full(stage), e_.I32(8 * stages_)); }

llvm::Value* RingPlace::Next(llvm::Value* stage) const {
  auto& b = e_.b();
  llvm::Value* next = b.CreateAdd(stage, e_.I32(1));
  return b.CreateSelect(b.CreateICmpEQ(next, e_.I32(stages_)), e_.I32(0), next);
}

llvm::Value* RingPlace::NextPhase(llvm::Value* phase, llvm::Value* next) const {
  auto& b = e_.b();
  return b.CreateXor(phase, b.CreateZExt(b.CreateICmpEQ(next, e_.I32(0)), b.getInt32Ty()));
}

// --- how it is read -------------------------------------------------------------------------------------------------

Ring::Ring(Emitter& e, const ir::Op& loop, const ir::Op& fetch) : e_(e), loop_(loop), fetch_(fetch), place_(e, fetch) {
  auto& b = e.b();
  for (const ir::Op* op : *loop.region(0)) {
    if (IsProduct(*op) && IsAsync(*op)) ++async_;
  }
  read_ = e.Variable(b.getInt32Ty(), e.I32(0));
  phase_ = e.Variable(b.getInt32Ty(), e.I32(0));
  done_ = e.Variable(b.getInt32Ty(), e.I32(0));
  any_ = e.Variable(b.getInt1Ty(), nullptr);
  b.CreateStore(b.getFalse(), any_);
}

bool Ring::IsAsync(const ir::Op& mma) const { return FetchOf(mma) == &fetch_ && DecisionOf<Decision::kAsync>(mma); }

llvm::Value* Ring::Slot(int i) { return place_.Slot(e_.b().CreateLoad(e_.b().getInt32Ty(), read_), i); }

void Ring::Await() {
  auto& b = e_.b();
  AwaitPhase(e_, place_.Full(b.CreateLoad(b.getInt32Ty(), read_)), b.CreateLoad(b.getInt32Ty(), phase_));
}

void Ring::EndIteration() {
  auto& b = e_.b();
  if (async_ > 0) WaitForProducts(e_, async_, {});
  Release(b.CreateLoad(b.getInt1Ty(), any_));
  llvm::Value *read = b.CreateLoad(b.getInt32Ty(), read_), *next = place_.Next(read);
  b.CreateStore(place_.NextPhase(b.CreateLoad(b.getInt32Ty(), phase_), next), phase_);
  b.CreateStore(read, done_);
  b.CreateStore(next, read_);
  b.CreateStore(b.getTrue(), any_);
}

// Every warp says, to every block of the cluster, that it is done with the stage of the iteration before.
void Ring::Release(llvm::Value* if_true) {
  auto& b = e_.b();
  llvm::Value* free = place_.Free(b.CreateLoad(b.getInt32Ty(), done_));
  llvm::Value* blocks = e_.plan().cluster ? e_.blocks().ClusterSize() : e_.I32(1);
  llvm::Value* mine = b.CreateAnd(if_true, b.CreateICmpULT(e_.threads().lane(), blocks));
  if (!e_.plan().cluster)
    return ExecuteTogether(e_, "@$1 mbarrier.arrive.shared::cta.b64 _, [$0];", "r,b", {free, mine});
  ExecuteTogether(e_,
                  "{ .reg .b32 there; @$2 mapa.shared::cluster.u32 there, $0, $1; "
                  "@$2 mbarrier.arrive.shared::cluster.b64 _, [there]; }",
                  "r,r,b", {free, e_.threads().lane(), mine});
}

void Ring::Drain(std::vector<Registers>* carried) {
  std::vector<const ir::Op*> products;
  for (const ir::Op* op : *loop_.region(0)) {
    if (IsProduct(*op) && IsAsync(*op)) products.push_back(op);
  }
  DrainProducts(e_, products, carried);
  Release(e_.b().getTrue());
}

void LowerFetchAhead(Emitter& e, const ir::Op&) { e.control().rings.back()->Await(); }

}  // namespace tile::codegen

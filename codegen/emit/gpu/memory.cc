// Shared memory: stages, mbarriers, descriptors that the kernel makes, and operands that lie in a stage.
#include <vector>

#include "absl/strings/str_cat.h"
#include "codegen/emit/context/emitter.h"
#include "codegen/emit/pipeline/device_tensor_maps.h"
#include "codegen/emit/pipeline/mbarrier.h"
#include "codegen/emit/pipeline/staged_operand.h"
#include "codegen/gpu/op_views.h"
#include "codegen/plan/mma/staged_mma.h"
#include "codegen/plan/resources/shared_use.h"
#include "codegen/plan/staging/shared_account.h"
#include "codegen/target/decisions.h"
#include "ir/passes/rewrite.h"

namespace tile::codegen {
namespace {

constexpr int kBarrierBytes = 8, kColumnsBytes = 4, kWarp = 32;

llvm::Value* AddressOf(Emitter& e, llvm::Value* pointer) {
  return e.b().CreateTrunc(e.b().CreatePtrToInt(pointer, e.b().getInt64Ty()), e.b().getInt32Ty());
}

llvm::Value* MemoryOf(Emitter& e, const ir::Op& op, uint64_t bytes) {
  return e.shared().Address(e.I32(e.shared().PlaceOf(op, bytes)));
}

}  // namespace

void LowerAllocStages(Emitter& e, const ir::Op& op) {
  const gpu::AllocStagesOp alloc(op);
  const auto bytes = static_cast<uint64_t>(alloc.bytes() * alloc.stages());
  e.SetScalar(alloc.address(), AddressOf(e, MemoryOf(e, op, bytes)));
}

void LowerOverlayStages(Emitter& e, const ir::Op& op) {
  const gpu::OverlayStagesOp stages(op);
  const int64_t begin = BeginInOverlay(op);
  llvm::Value* memory = MemoryOf(e, op, static_cast<uint64_t>(begin + stages.bytes() * stages.stages()));
  if (begin > 0) memory = e.b().CreateGEP(e.b().getInt8Ty(), memory, e.I32(begin));
  e.SetScalar(stages.address(), AddressOf(e, memory));
}

// Where nobody has used the memory, the first copies of TMA need not wait for what threads load meanwhile, as they would behind this fence.
void LowerClaimStages(Emitter& e, const ir::Op& op) {
  const bool waits = e.shared().account().IsClaimedAgain(op) || OutermostOf(&op) != &op || e.order().NeedsBarrier(op);
  if (!waits) return;
  if (DecisionOf<Decision::kProxyFence>(op)) FenceProxyAsync(e);
  e.Barrier();
}

void LowerStageOperand(Emitter& e, const ir::Op& op) {
  const ir::Value* source = gpu::StageOperandOp(op).source();
  llvm::Value* memory = MemoryOf(e, op, static_cast<uint64_t>(BytesOfOperand(op)));
  if (e.shared().account().PlaceOf(op)->is_first) {
    if (StoresScales(op)) {
      StoreScales(e, source, memory);
    } else {
      StoreOperand(e, source, TileOfOperand(op), memory);
    }
  }
  e.SetScalar(op.result(0), e.b().CreatePtrToInt(memory, e.b().getInt32Ty()));
}

void LowerAllocBarriers(Emitter& e, const ir::Op& op) {
  const gpu::AllocBarriersOp alloc(op);
  auto& b = e.b();
  llvm::Value* barriers = AddressOf(e, MemoryOf(e, op, static_cast<uint64_t>(kBarrierBytes * alloc.count())));
  e.SetScalar(alloc.address(), barriers);
  llvm::Value *first = b.CreateICmpEQ(e.threads().number(), e.I32(0)), *arrivals = e.I32(alloc.arrivals());
  if (alloc.of_cluster()) arrivals = b.CreateMul(e.blocks().ClusterSize(), arrivals);
  for (int i = 0; i < alloc.count(); ++i) {
    llvm::Value* barrier = b.CreateAdd(barriers, e.I32(kBarrierBytes * i));
    if (alloc.arrivals() == 1 && !alloc.of_cluster()) {
      ExecuteTogether(e, "@$1 mbarrier.init.shared::cta.b64 [$0], 1;", "r,b", {barrier, first});
    } else {
      ExecuteTogether(e, "@$2 mbarrier.init.shared::cta.b64 [$0], $1;", "r,r,b", {barrier, arrivals, first});
    }
  }
}

void LowerAllocTensorMap(Emitter& e, const ir::Op& op) {
  const gpu::AllocTensorMapOp alloc(op);
  DeviceTensorMap map;
  for (const int64_t size : alloc.box()) map.box.push_back(static_cast<uint32_t>(size));
  map.element = *ir::FindElem(alloc.element());
  map.swizzle = static_cast<int>(alloc.swizzle());
  llvm::Value* memory = MemoryOf(e, op, kDeviceTensorMapBytes);
  DescriptorMaker(e, map, memory, nullptr).WriteFixed(static_cast<int>(alloc.warp()));
  e.SetScalar(alloc.map(), AddressOf(e, memory));
  e.SetScalar(alloc.place(), e.workspace().Reserve(kMapBytes, kMapBytes));
}

// The first warp does it. Another block on the multiprocessor may have to wait for columns, but not for the permission to ask.
void LowerAllocColumns(Emitter& e, const ir::Op& op) {
  llvm::Value* place = AddressOf(e, MemoryOf(e, op, kColumnsBytes));
  e.SetScalar(op.result(0), place);
  ExecuteTogether(
      e,
      absl::StrCat("@$1 tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [$0], ", *ir::SplatOf(op.operand(0)),
                   "; @$1 tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned;"),
      "r,b", {place, e.b().CreateICmpULT(e.threads().number(), e.I32(kWarp))});
}

// The product reads it there (plan/staging/staging.h).
void LowerStageTile(Emitter&, const ir::Op&) {}

}  // namespace tile::codegen

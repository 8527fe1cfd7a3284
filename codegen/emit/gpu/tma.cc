// Copies by TMA, and the descriptors that they read.
#include <vector>

#include "codegen/emit/context/emitter.h"
#include "codegen/emit/gpu/elected.h"
#include "codegen/emit/pipeline/device_tensor_maps.h"
#include "codegen/emit/pipeline/mbarrier.h"
#include "codegen/emit/pipeline/tma.h"
#include "codegen/gpu/op_views.h"
#include "codegen/plan/staging/staging.h"

namespace tile::codegen {
namespace {

// What an alloc_tensor_map reserved.
llvm::Value* MemoryOf(Emitter& e, const ir::Value* map) {
  return e.b().CreateIntToPtr(e.scalar(map), e.b().getPtrTy(3));
}

DescriptorMaker MakerOf(Emitter& e, const ir::Value* view, llvm::Value* memory, llvm::Value* place) {
  DescriptorMaker maker(e, TensorPartOf(view), memory, place);
  maker.FindTensor();
  return maker;
}

}  // namespace

void LowerPrefetchTensorMaps(Emitter& e, const ir::Op&) { PrefetchTensorMaps(e, e.function()); }

void LowerTmaLoad(Emitter& e, const ir::Op& op) {
  const gpu::TmaLoadOp load(op);
  if (const ir::Value* place = load.place())
    e.SetDeviceTensorMap(op, MakerOf(e, load.view(), nullptr, e.scalar(place)).value());
  LoadByTma(e, op, TileOfLoad(op), e.scalar(load.address()), BarrierAt(e, load.barriers(), load.number()), Elected(e));
}

void LowerTensorMapHolds(Emitter& e, const ir::Op& op) {
  const gpu::TensorMapHoldsOp holds(op);
  DescriptorMaker maker = MakerOf(e, holds.view(), MemoryOf(e, holds.map()), e.I64(0));
  e.SetScalar(holds.result(), maker.IsOfTensor());
}

void LowerWriteTensorMaps(Emitter& e, const ir::Op& op) {
  const gpu::WriteTensorMapsOp write(op);
  std::vector<DescriptorMaker> makers;
  for (size_t i = 0; i < write.maps().size(); ++i) {
    makers.push_back(MakerOf(e, write.views()[i], MemoryOf(e, write.maps()[i]), e.scalar(write.places()[i])));
  }
  SynchronizeWarp(e);  // all lanes have read what was there
  WriteTensorMaps(e, absl::MakeSpan(makers));
}

}  // namespace tile::codegen

// TMA descriptors that the kernel makes itself (plan/tma/device_tensor_map.h), in front of the loop whose loads use them.
//
//   DescriptorMaker maker(e, map, memory, place);
//   maker.WriteFixed(warp);                        // at the entry; a barrier follows
//   maker.FindTensor();                            // in front of the loop
//   WriteTensorMaps(e, {&maker, 1});               // unless maker.IsOfTensor()
//
// A descriptor is made in shared memory. What stays the same is written at the entry; the rest by the warp that starts the copies. Since TMA reads
// descriptors in global memory, it has them copied to the block's workspace, and tells TMA that there may be others at these addresses
// (fence.proxy.tensormap): about a microsecond in all. So what a descriptor was made of stands beside it, and a loop that meets the same tensors
// again, as blocks that walk over the tiles of a matrix do, makes nothing. No copy that reads the descriptors is on its way
// meanwhile: warp 0 has awaited all that its loops began, and a producer, which has not, does so before it makes others (codegen/gpu/ops.def).
#ifndef TILE_CODEGEN_EMIT_PIPELINE_DEVICE_TENSOR_MAPS_H_
#define TILE_CODEGEN_EMIT_PIPELINE_DEVICE_TENSOR_MAPS_H_

#include <vector>

#include "codegen/emit/context/emitter.h"
#include "codegen/plan/staging/staging.h"
#include "codegen/plan/tma/device_tensor_map.h"

namespace tile::codegen {

// One of them.
class DescriptorMaker {
 public:
  // `memory`: its place in shared memory, kDeviceTensorMapBytes from there on. `place`: where TMA reads it (i64).
  DescriptorMaker(Emitter& e, DeviceTensorMap map, llvm::Value* memory, llvm::Value* place);

  // At the entry, by this warp.
  void WriteFixed(int warp);
  // What the tensor is now.
  void FindTensor();
  // From then on: where TMA reads it, and whether the tensor is empty (i1; null: it is not).
  Emitter::DeviceTensorMapValue value() const { return {global_, empty_}; }
  // In the warp that starts copies. Whether (i1) the descriptor was made of it.
  llvm::Value* IsOfTensor();
  void WriteTensor();
  void CopyToWorkspace();
  void Fence();

 private:
  llvm::Value* At(uint32_t offset);
  llvm::Value* Descriptor();  // its address in shared memory (i32)
  llvm::Value* WordAt(size_t i);

  Emitter& e_;
  const DeviceTensorMap map_;
  llvm::Value *memory_, *global_, *base_ = nullptr, *empty_ = nullptr;
  Registers sizes_, strides_;  // i32; i64, bytes, from dimension 1 on
  Registers words_;            // what it is made of, behind one that says that it was
};

// The warp that is here makes all of them.
void WriteTensorMaps(Emitter& e, absl::Span<DescriptorMaker> makers);

}  // namespace tile::codegen

#endif  // TILE_CODEGEN_EMIT_PIPELINE_DEVICE_TENSOR_MAPS_H_

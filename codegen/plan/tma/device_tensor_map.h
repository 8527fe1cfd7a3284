// TMA descriptors that the kernel makes itself, of tensors that the host does not know: their addresses, sizes or strides are loaded from
// memory or computed, as those of cuTile's lists of arrays are.
//
//   absl::Status s = WhyNotMade(load, tile, loop);   // FailedPrecondition: it can't, and why
//   DeviceTensorMapOf(load, tile).box                        // of a load for which that was decided (Decision::kDeviceTensorMap)
//
// What the host tests before a launch (plan/tma/tensor_map.h) must be known of the program here: that the address and strides are multiples of 16
// bytes, and between which bounds strides lie. Sizes may be anything below 2^31; of an empty tensor all lies outside. Only tensors that
// stay the same in the loop around the load. Pure functions.
#ifndef TILE_CODEGEN_PLAN_TMA_DEVICE_TENSOR_MAP_H_
#define TILE_CODEGEN_PLAN_TMA_DEVICE_TENSOR_MAP_H_

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "codegen/plan/staging/staging.h"
#include "ir/module.h"

namespace tile::codegen {

struct DeviceTensorMap {
  const ir::Op* tensor = nullptr;  // the make_tensor_view
  std::vector<int> order;          // its dimensions as the descriptor lists them
  std::vector<uint32_t> box;       // in that order
  ir::Elem element;
  int element_bytes = 0;
  int swizzle = 0;  // bytes
};

absl::Status WhyNotMade(const ir::Op& load, const StagedTile& tile, const ir::Op& loop);
DeviceTensorMap DeviceTensorMapOf(const ir::Op& load, const StagedTile& tile);
// What of it depends on the tensor under the view; there is no box.
DeviceTensorMap TensorPartOf(const ir::Value* view);

bool HostKnows(const StagedTile& tile);
// Neither the host nor the kernel can make a descriptor for the load of this tile in the loop, and why.
absl::Status WhyNotMapped(const StagedTile& tile, const ir::Op& loop);

// What is kept in shared memory of a descriptor with so many dimensions: itself, and what it was made of.
inline constexpr uint64_t kMapBytes = 128, kDeviceTensorMapBytes = 2 * kMapBytes;

}  // namespace tile::codegen

#endif  // TILE_CODEGEN_PLAN_TMA_DEVICE_TENSOR_MAP_H_

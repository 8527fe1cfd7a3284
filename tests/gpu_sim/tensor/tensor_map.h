// A tensor map: what cuTensorMapEncodeTiled writes into 128 bytes and TMA instructions read. NVIDIA keeps the bytes secret; these
// are ours.
//
//   absl::Status s = CheckTensorMap(map);          // what the driver refuses, and what the simulator does not know
//   EncodeTensorMap(map, bytes);                   // 128 bytes
//   absl::Status r = ReplaceInTensorMap("box_dim", 1, 64, bytes);   // as tensormap.replace does, of a map or of zeros
//   absl::StatusOr<TensorMap> map = DecodeTensorMap(bytes);   // error: no map was encoded there
//
// Dimension 0 is the contiguous one. Thread-safe.
#ifndef TILE_TESTS_GPU_SIM_TENSOR_TENSOR_MAP_H_
#define TILE_TESTS_GPU_SIM_TENSOR_TENSOR_MAP_H_

#include <array>
#include <cstdint>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace tile::gpu_sim {

inline constexpr int kTensorMapBytes = 128;
inline constexpr int kTensorMapAlignment = 64;  // of its address

struct TensorMap {
  int type = 0;  // CUtensorMapDataType
  int rank = 0;  // 1 to 5
  uint64_t address = 0;
  std::array<uint64_t, 5> sizes = {};    // elements
  std::array<uint64_t, 4> strides = {};  // bytes, of dimension 1 and on
  std::array<uint32_t, 5> box = {};      // elements
  std::array<uint32_t, 5> element_strides = {1, 1, 1, 1, 1};
  int interleave = 0;  // CUtensorMapInterleave
  int swizzle = 0;     // CUtensorMapSwizzle: 0 none, 1 of 32 bytes, 2 of 64, 3 of 128
  int fill = 0;        // CUtensorMapFloatOOBfill: 0 zeros, 1 NaN

  int element_bytes() const;
  bool rounds_to_tf32() const;  // what it loads, from f32, to the nearest, ties to even
  int swizzle_bytes() const { return 16 << swizzle; }
  uint32_t box_bytes() const;  // what a copy adds to a barrier's transactions, whatever lies outside of the tensor
};

absl::Status CheckTensorMap(const TensorMap& map);
void EncodeTensorMap(const TensorMap& map, void* bytes);
absl::Status ReplaceInTensorMap(absl::string_view field, size_t dimension, uint64_t value, void* bytes);
absl::StatusOr<TensorMap> DecodeTensorMap(const void* bytes);

}  // namespace tile::gpu_sim

#endif  // TILE_TESTS_GPU_SIM_TENSOR_TENSOR_MAP_H_

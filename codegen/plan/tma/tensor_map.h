// TMA descriptors: what the host must encode before a launch so that a load or store can be done by TMA, and what must hold
// for it.
//
//   absl::StatusOr<TensorMap> map = MapTensor(load, tile, parts);   // FailedPrecondition: it can't be, and why
//
// It can if no hint forbids it and the host knows the tensor: its address is a parameter of the kernel, sizes and strides are
// parameters or constants. What must hold and follows from constants alone is found out here, the rest before every launch.
// Pure functions.
#ifndef TILE_CODEGEN_PLAN_TMA_TENSOR_MAP_H_
#define TILE_CODEGEN_PLAN_TMA_TENSOR_MAP_H_

#include <vector>

#include "absl/status/statusor.h"
#include "codegen/plan/staging/staging.h"
#include "ir/tbc/image.h"

namespace tile::codegen {

struct TensorMap {
  ir::TmaDescriptor descriptor;
  std::vector<ir::ImageRequirement> requirements;
};

// `parts`: how many blocks of a cluster bring a part of the tile each (1, 2).
absl::StatusOr<TensorMap> MapTensor(const ir::Op& access, const StagedTile& tile, int parts);

// What both that and a descriptor of the kernel's own (plan/tma/device_tensor_map.h) ask of the access.
absl::Status WhyNotDescribed(const ir::Op& access, const StagedTile& tile);
inline constexpr int64_t kTmaAlignment = 16;  // bytes, of addresses and strides
// What the descriptor takes the elements for.
ir::Elem MapElement(const ir::Op& access, const StagedTile& tile);
// Elements of a copy along a dimension of the tensor.
int64_t BoxSize(const ir::Op& access, const StagedTile& tile, int dim, int parts);
// 32, 64 or 128 bytes, as CUDA and PTX number them.
inline int SwizzleMode(int bytes) { return bytes == 32 ? 1 : bytes == 64 ? 2 : 3; }

// False if the access has the hint `allow_tma = false` (of `default`, as the pass `hints` leaves them).
bool AllowsTma(const ir::Op& access);

// The tensor's dimensions as the descriptor lists them, the contiguous one first.
std::vector<int> MapOrder(const ir::Op& access);
std::vector<int> MapOrder(ir::Type view);
// Rows of a chunk that one copy brings. Whole chunks make parts if they can.
inline int64_t BoxRows(const StagedTile& tile, int parts) {
  const int64_t rows = tile.chunks() % parts == 0 ? tile.rows() : tile.rows() / parts;
  return rows < 256 ? rows : 256;
}

}  // namespace tile::codegen

#endif  // TILE_CODEGEN_PLAN_TMA_TENSOR_MAP_H_

// cp.async.bulk.tensor: a box of a tensor between global and shared memory, swizzled there.
//
//   absl::StatusOr<TensorCopyKind> kind = ParseTensorCopy(opcode);
//   absl::Status s = LoadBox(map, coordinates, offset, shared, global);    // to shared memory
//   absl::Status s = StoreBox(map, coordinates, offset, shared, global);   // from it
//
// These copy at once; when, what barrier learns of it (map.box_bytes()), and to which blocks of a cluster is the caller's matter.
// Errors: an offset that is misaligned or outside of the block's shared memory, a store to a column that is no multiple of 16 bytes,
// global memory that `global` refuses. Thread-safe.
#ifndef TILE_TESTS_GPU_SIM_TENSOR_TENSOR_COPY_H_
#define TILE_TESTS_GPU_SIM_TENSOR_TENSOR_COPY_H_

#include <cstdint>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "tests/gpu_sim/tensor/opcode.h"
#include "tests/gpu_sim/tensor/tensor_map.h"

namespace tile::gpu_sim {

struct TensorCopyKind {
  int rank = 0;
  bool to_shared = false;  // with a barrier; else it belongs to a bulk group
  bool multicast = false;  // has a mask of blocks behind the barrier
  bool has_hint = false;   // a cache policy is its last operand
  bool of_pair = false;    // .cta_group::2: the barrier may be in the other block of the pair
};
absl::StatusOr<TensorCopyKind> ParseTensorCopy(Opcode opcode);

// The memory behind `bytes` bytes from a global address on; an error if they are not in one allocation.
using GlobalAccess = absl::FunctionRef<absl::StatusOr<uint8_t*>(uint64_t address, uint64_t bytes)>;

// `coordinates`: as many as the map's rank, dimension 0 first, of the box's first element; they may be negative. What lies outside of
// the tensor is filled in shared memory.
absl::Status LoadBox(const TensorMap& map, absl::Span<const int32_t> coordinates, uint32_t offset,
                     absl::Span<uint8_t> shared, GlobalAccess global);
// What lies outside of the tensor is not written, except that along dimension 0 memory is written by 16 bytes.
absl::Status StoreBox(const TensorMap& map, absl::Span<const int32_t> coordinates, uint32_t offset,
                      absl::Span<const uint8_t> shared, GlobalAccess global);

}  // namespace tile::gpu_sim

#endif  // TILE_TESTS_GPU_SIM_TENSOR_TENSOR_COPY_H_

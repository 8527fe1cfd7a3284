// The tensor memory of one block (sm_100 and newer): 128 lanes of 512 columns of 32 bits, and which columns are allocated.
//
//   TensorMemory memory;
//   absl::StatusOr<uint32_t> column = memory.Allocate({.columns = 64, .group = 1, .line = 12}, dice, pattern);
//   absl::StatusOr<uint32_t*> row = memory.Row(lane, *column, 64);      // cells of one lane; an error if they are not allocated
//   absl::Status s = memory.Free(*column, 64, 1);
//
// An address has the lane in bits 31-16 and the column in bits 15-0. The dice choose among the free places, as another block on the
// multiprocessor may have taken the first ones. Errors say which rule of the PTX ISA (9.7.16.7) is broken. Not thread-safe.
#ifndef TILE_TESTS_GPU_SIM_TENSOR_TENSOR_MEMORY_H_
#define TILE_TESTS_GPU_SIM_TENSOR_TENSOR_MEMORY_H_

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace tile::gpu_sim {

struct TensorAddress {
  uint32_t lane = 0, column = 0;
};
inline TensorAddress TensorAddressOf(uint32_t bits) { return {bits >> 16, bits & 0xFFFF}; }

class TensorMemory {
 public:
  static constexpr uint32_t kLanes = 128, kColumns = 512;

  struct Request {
    uint32_t columns = 0;
    int group = 1;  // .cta_group
    int line = 0;   // of the instruction, for the message about a leak
  };
  // The columns from which on an allocation fits; empty if there is no room now. Errors: a number of columns that alloc does not take, a
  // second cta_group in the kernel, a block that has relinquished its permit.
  absl::StatusOr<std::vector<uint32_t>> Places(const Request& request);
  // At one of these places; the columns are filled with the pattern, as their contents are undefined.
  void Take(uint32_t column, const Request& request, uint8_t pattern);
  absl::Status Free(uint32_t address, uint32_t columns, int group);
  absl::Status Relinquish(int group);
  // Why the block may not end yet.
  absl::Status CheckEnd() const;

  // The cells of columns [column, column + n) in one lane.
  absl::StatusOr<uint32_t*> Row(uint32_t lane, uint32_t column, uint32_t n);

  // All instructions of a kernel have the same .cta_group.
  absl::Status CheckGroup(int group);

 private:
  struct Allocation {
    uint32_t column = 0;
    Request request;
  };
  std::string Describe() const;

  std::vector<uint32_t> cells_;  // [lane][column]; none before the first allocation
  std::array<bool, kColumns> taken_ = {};
  std::vector<Allocation> allocations_;
  bool relinquished_ = false;
  int group_ = 0;  // of the block's instructions so far
};

}  // namespace tile::gpu_sim

#endif  // TILE_TESTS_GPU_SIM_TENSOR_TENSOR_MEMORY_H_

// Memory that kernels may touch: addresses of the device are the host's, inside of known allocations.
//
//   DeviceMemory memory;
//   absl::StatusOr<uint64_t> address = memory.Allocate(1000);   // filled with a pattern
//   uint8_t* p = memory.Find(*address + 16, 4);                  // null: not inside of one allocation
//
// Shared and local memory have addresses of their own space, and places in the generic one that no host address has. Not
// thread-safe.
#ifndef TILE_TESTS_GPU_SIM_MACHINE_MEMORY_H_
#define TILE_TESTS_GPU_SIM_MACHINE_MEMORY_H_

#include <cstdint>
#include <map>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace tile::gpu_sim {

// Generic addresses: the space in the upper 16 bits.
inline constexpr uint64_t kSharedWindow = uint64_t{0x5A00} << 48, kLocalWindow = uint64_t{0x6B00} << 48;
inline constexpr uint64_t kWindowMask = uint64_t{0xFFFF} << 48;
// Shared memory: the block's rank in its cluster from bit 24 on, then the offset. What the hardware keeps for itself comes first.
inline constexpr int kRankShift = 24;
inline constexpr uint32_t kOffsetMask = (1u << kRankShift) - 1;
inline constexpr uint32_t kSharedBase = 1024;

class DeviceMemory {
 public:
  ~DeviceMemory();
  absl::StatusOr<uint64_t> Allocate(uint64_t bytes, uint8_t pattern);
  bool Free(uint64_t address);  // false: not the address of an allocation
  // Memory of others.
  void Add(uint64_t address, uint64_t bytes) { ranges_[address] = {bytes, false}; }
  void Remove(uint64_t address) { ranges_.erase(address); }

  uint8_t* Find(uint64_t address, uint64_t bytes) const;
  // "16 bytes behind the end of an allocation of 1000 bytes", for messages.
  std::string Describe(uint64_t address, uint64_t bytes) const;
  size_t size() const { return ranges_.size(); }

 private:
  struct Range {
    uint64_t bytes;
    bool owned;
  };
  std::map<uint64_t, Range> ranges_;
};

}  // namespace tile::gpu_sim

#endif  // TILE_TESTS_GPU_SIM_MACHINE_MEMORY_H_

// The swizzle of TMA, wgmma and tcgen05: of an address in shared memory, the number of the 16-byte piece in a row of 32, 64 or 128 bytes is
// XORed with the number of the 128-byte line. It is a matter of addresses, not of offsets in a buffer.
#ifndef TILE_TESTS_GPU_SIM_TENSOR_SWIZZLE_H_
#define TILE_TESTS_GPU_SIM_TENSOR_SWIZZLE_H_

#include <cstdint>

namespace tile::gpu_sim {

// `span`: 16 (none), 32, 64, 128.
inline uint32_t SwizzleAddress(uint32_t address, int span) {
  const uint32_t pieces = static_cast<uint32_t>(span) / 16 - 1;
  return address ^ ((address >> 7 & pieces) << 4);
}

// 128 bytes by pieces of 32 (CU_TENSOR_MAP_SWIZZLE_128B_ATOM_32B).
inline uint32_t SwizzleWideAddress(uint32_t address) { return address ^ ((address >> 7 & 3) << 5); }

}  // namespace tile::gpu_sim

#endif  // TILE_TESTS_GPU_SIM_TENSOR_SWIZZLE_H_

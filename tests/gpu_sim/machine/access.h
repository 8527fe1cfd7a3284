// From addresses of instructions to memory, with the checks that the hardware makes, and stricter ones: an access stays inside of one
// allocation, and of the shared memory that the launch asked for.
#ifndef TILE_TESTS_GPU_SIM_MACHINE_ACCESS_H_
#define TILE_TESTS_GPU_SIM_MACHINE_ACCESS_H_

#include "tests/gpu_sim/machine/form.h"
#include "tests/gpu_sim/machine/state.h"

namespace tile::gpu_sim {

enum class AddressSpace : uint8_t { kGeneric, kGlobal, kShared, kSharedCluster, kLocal, kParam };

// The suffixes of a space: "global", "shared::cta", … ; none: generic.
AddressSpace TakeSpace(Form& f);

// The block of the cluster whose shared memory this is, and the offset in it; null if there is none.
Block* BlockOf(const Thread& t, uint64_t shared_address);

// Null after a fault.
uint8_t* Access(Thread& t, const Instr& i, AddressSpace space, uint64_t address, uint64_t bytes, uint64_t alignment);

// The same for a write by the thread.
uint8_t* WriteAccess(Thread& t, const Instr& i, AddressSpace space, uint64_t address, uint64_t bytes,
                     uint64_t alignment);

inline uint64_t AddressOf(const Thread& t, const Place& p) {
  const uint64_t address = t.r[p.slot] + static_cast<uint64_t>(p.offset);
  return p.narrow ? static_cast<uint32_t>(address) : address;
}

}  // namespace tile::gpu_sim

#endif  // TILE_TESTS_GPU_SIM_MACHINE_ACCESS_H_

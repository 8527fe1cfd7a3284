// Which bytes of shared memory threads have written, and tensor cores and TMA need not see yet.
//
// Threads access memory by the generic proxy, TMA and tcgen05 by the async proxy. What a thread has written is visible to an asynchronous
// read if a fence.proxy.async stands between, on the way from the write to the instruction that starts the read (PTX ISA 8.11, proxies): by
// the writer, or by the starter after the writer has arrived at a barrier. Everything else is an error that names both lines.
#ifndef TILE_TESTS_GPU_SIM_MACHINE_PROXY_SHADOW_H_
#define TILE_TESTS_GPU_SIM_MACHINE_PROXY_SHADOW_H_

#include <vector>

#include "tests/gpu_sim/machine/state.h"

namespace tile::gpu_sim {

// Times are numbers of events of the launch: writes, fences, arrivals, starts of asynchronous reads.
struct ProxyShadow {
  // The last write of a thread to these four bytes; no writer: nobody has, or an asynchronous copy has since.
  struct Write {
    const Thread* writer = nullptr;
    int line = 0;
    uint64_t time = 0;
  };
  std::vector<Write> writes;
  // By thread of the block.
  std::vector<std::vector<uint64_t>> fences, arrivals;
};
inline constexpr uint32_t kShadowBytes = 4;  // of one Write

void MakeShadow(Block& block);

// A thread writes shared memory of this block, at an offset of its memory.
void NoteWrite(const Thread& t, const Instr& i, Block& block, uint64_t offset, uint64_t bytes);
// The same by an asynchronous copy.
void NoteAsyncWrite(Block& block, uint64_t offset, uint64_t bytes);
void NoteFence(const Thread& t);
// At a barrier, of whichever kind.
void NoteArrival(const Thread& t);

// Whoever starts an asynchronous read, and when.
struct AsyncReader {
  const Thread* starter = nullptr;
  uint64_t time = 0;
};
AsyncReader AsyncReaderOf(const Thread& starter);
absl::Status CheckProxy(const Block& block, const AsyncReader& reader, uint64_t offset, uint64_t bytes);

}  // namespace tile::gpu_sim

#endif  // TILE_TESTS_GPU_SIM_MACHINE_PROXY_SHADOW_H_

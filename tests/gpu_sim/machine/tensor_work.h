// Work of tensor cores between its instruction and the wait for it.
//
// Products and copies of one thread keep their order (PTX ISA 9.7.16.6.2); tcgen05.commit makes an mbarrier wait for those before it. Loads
// and stores of tensor memory belong to a warp, which waits for them by tcgen05.wait. The seed decides whether work happens at once or
// when it is waited for, with the memory as it is then.
#ifndef TILE_TESTS_GPU_SIM_MACHINE_TENSOR_WORK_H_
#define TILE_TESTS_GPU_SIM_MACHINE_TENSOR_WORK_H_

#include <deque>
#include <string>
#include <vector>

#include "tests/gpu_sim/machine/state.h"

namespace tile::gpu_sim {

// Products and copies that one thread has started.
struct TensorQueue {
  std::deque<Deferred> work;
  uint64_t started = 0, ended = 0;
};

// Loads and stores of one warp.
struct TensorAccesses {
  DeferredGroup loads, stores;
  std::vector<bool> pending;  // registers that loads have yet to bring
};

// `instruction` begins the message of what may go wrong later: "tcgen05.mma of line 40".
absl::Status StartTensorWork(Thread& t, const Instr& i, absl::string_view instruction, Deferred work);
// The first `n` that the thread has started end.
absl::Status FinishTensorWork(Thread& t, uint64_t n);
uint64_t TensorWorkOf(const Thread& t);  // how much it has started

// A load into these registers of all lanes.
absl::Status StartTensorLoad(Warp& w, const Instr& i, Deferred load);
absl::Status StartTensorStore(Warp& w, Deferred store);
absl::Status FinishTensorLoads(Warp& w);
absl::Status FinishTensorStores(Warp& w);
// Whether the instruction uses registers that a load has yet to bring, which is an error; or, where the program leaves this wait to ptxas,
// the loads end.
absl::Status CheckPendingLoads(Thread& t, const Instr& i);

// What is under way in the block ends, and its tensor memory has to be free.
absl::Status EndTensorWork(Block& block);

}  // namespace tile::gpu_sim

#endif  // TILE_TESTS_GPU_SIM_MACHINE_TENSOR_WORK_H_

// The mbarrier object: 64 bits in shared memory that count arrivals and bytes of a phase.
//
//   Mbarrier b(&word);                    // a view of the 64 bits
//   absl::Status s = b.Init(count);
//   s = b.ExpectTx(bytes); s = b.Arrive(1);   // mbarrier.arrive.expect_tx: both, in this order
//   s = b.CompleteTx(bytes);              // a copy's data have come
//   absl::StatusOr<bool> done = b.PhaseDone(parity);   // mbarrier.try_wait.parity
//
// A phase ends when all arrivals have come and the bytes that came are those expected; the next one begins with it. The bits are
// ours, PTX leaves them open. Errors: an object that was not initialised, counts out of range. Not thread-safe.
#ifndef TILE_TESTS_GPU_SIM_TENSOR_MBARRIER_H_
#define TILE_TESTS_GPU_SIM_TENSOR_MBARRIER_H_

#include <cstdint>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace tile::gpu_sim {

class Mbarrier {
 public:
  static constexpr uint32_t kMostCount = (1u << 20) - 1;  // of arrivals, and of bytes either way

  explicit Mbarrier(uint64_t* word) : word_(word) {}

  absl::Status Init(uint32_t count);
  // Nobody may use the object any more.
  absl::Status Invalidate();
  bool IsInvalidated() const;
  absl::Status Arrive(uint32_t count);
  absl::Status ExpectTx(uint32_t bytes);
  absl::Status CompleteTx(uint32_t bytes);
  // True when the phase of this parity (0 for the first, then 1, 0, …) has ended: it is not the current one.
  absl::StatusOr<bool> PhaseDone(uint32_t parity) const;
  // The parity of the current phase, which is what an arrival gives as the state.
  absl::StatusOr<uint32_t> Phase() const;

 private:
  struct State;
  absl::StatusOr<State> Read() const;
  absl::Status Write(State s);  // ends the phase if nothing is missing

  uint64_t* word_;
};

}  // namespace tile::gpu_sim

#endif  // TILE_TESTS_GPU_SIM_TENSOR_MBARRIER_H_

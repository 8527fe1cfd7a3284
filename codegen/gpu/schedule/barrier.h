// An mbarrier, as PTX defines it: a phase ends when N arrivals and all expected bytes have come. Whoever waits for a
// phase waits by its parity, so a barrier tells two phases apart and no more.
//
//   Barrier full(1);                              // one arrival a phase
//   full.Expect(8192);                            // that arrival; copies of this phase bring 8192 bytes
//   full.CopyBegins();  …  full.CopyLands(8192);
//   full.Passed(0)                                // the first phase, of parity 0, has ended
//
// What would be undefined behaviour is a fault.
#ifndef TILE_CODEGEN_GPU_SCHEDULE_BARRIER_H_
#define TILE_CODEGEN_GPU_SCHEDULE_BARRIER_H_

#include <cstdint>
#include <string>

#include "codegen/gpu/schedule/fault.h"

namespace tile::codegen::schedule {

class Barrier {
 public:
  explicit Barrier(int arrivals) : arrivals_(arrivals), missing_(arrivals) {}

  Fault Arrive();
  Fault Expect(int64_t bytes);
  void CopyBegins() { ++copies_; }
  Fault CopyLands(int64_t bytes);
  // Whoever arrives has used tensor memory: what waits here and uses it, too, needs a fence.
  void OrderColumns() { orders_columns_ = true; }
  bool orders_columns() const { return orders_columns_; }
  // Before the first phase ends, the phase of parity 1 counts as the one before it.
  bool Passed(int64_t parity) const { return (phase_ & 1) != (parity & 1); }
  std::string ToString() const;  // "2 of 4 arrivals are missing, and 4096 bytes"

 private:
  Fault EndPhase();

  const int arrivals_;
  int missing_;        // arrivals of this phase
  int copies_ = 0;     // on their way
  int64_t bytes_ = 0;  // still expected; below zero: they came before they were
  int64_t phase_ = 0;
  bool orders_columns_ = false;
};

}  // namespace tile::codegen::schedule

#endif  // TILE_CODEGEN_GPU_SCHEDULE_BARRIER_H_

// A time after which this program ends, whatever it is at: no library call needs to look at a clock.
//
//   TimeLimit limit(10);                          // for all; 0: so many for each kernel and GPU as hardly any takes
//   limit.Begin();                                // a kernel for a GPU
//   limit.At("@k for sm_90a: ptxas", "the largest tile is at k.tile:3:4: scan of tile<65536xf32>");
//   …work…
//   limit.Lift();                                 // before outputs are written: those are never cut off
//
// At its end stderr says what it was at, children and temporary files are gone, and the exit code is that of the
// environment. Thread-safe.
#ifndef TILE_TOOLS_TILEC_TIME_LIMIT_H_
#define TILE_TOOLS_TILEC_TIME_LIMIT_H_

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <string>
#include <thread>

#include "absl/base/thread_annotations.h"

namespace tile::tools {

class TimeLimit {
 public:
  static constexpr int64_t kSecondsOfKernel = 120;

  explicit TimeLimit(int64_t seconds);
  TimeLimit(const TimeLimit&) = delete;
  TimeLimit& operator=(const TimeLimit&) = delete;
  ~TimeLimit() { Lift(); }

  void Begin();
  // `what` is being done; `why`: what probably makes it long, may be empty.
  void At(std::string what, std::string why);
  void Lift();

 private:
  using Clock = std::chrono::steady_clock;
  void Wait();

  const bool for_all_;
  const int64_t seconds_;
  std::thread thread_;
  Clock::time_point end_ ABSL_GUARDED_BY(mutex_);
  std::mutex mutex_;
  std::condition_variable lifted_;
  bool is_lifted_ ABSL_GUARDED_BY(mutex_) = false;
  std::string what_ ABSL_GUARDED_BY(mutex_), why_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace tile::tools

#endif  // TILE_TOOLS_TILEC_TIME_LIMIT_H_

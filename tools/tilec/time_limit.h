// A time after which this program ends, whatever it is at: no library call needs to look at a clock.
//
//   TimeLimit limit(seconds);                     // 0: none
//   limit.At("@k for sm_90a: ptxas", "k.tile:3:4: scan of tile<65536xf32>");
//   …work…
//   limit.Lift();                                 // before outputs are written: those are never cut off
//
// At its end stderr says what it was at, children and temporary files are gone, and the exit code is that of the
// environment. Thread-safe.
#ifndef TILE_TOOLS_TILEC_TIME_LIMIT_H_
#define TILE_TOOLS_TILEC_TIME_LIMIT_H_

#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <string>
#include <thread>

#include "absl/base/thread_annotations.h"

namespace tile::tools {

class TimeLimit {
 public:
  explicit TimeLimit(int64_t seconds);
  TimeLimit(const TimeLimit&) = delete;
  TimeLimit& operator=(const TimeLimit&) = delete;
  ~TimeLimit() { Lift(); }

  // `what` is being done; `largest`: what probably makes it long, may be empty.
  void At(std::string what, std::string largest);
  void Lift();

 private:
  void Wait(int64_t seconds);

  std::thread thread_;
  std::mutex mutex_;
  std::condition_variable lifted_;
  bool is_lifted_ ABSL_GUARDED_BY(mutex_) = false;
  std::string what_ ABSL_GUARDED_BY(mutex_), largest_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace tile::tools

#endif  // TILE_TOOLS_TILEC_TIME_LIMIT_H_

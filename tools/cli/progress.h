// A progress bar on stderr for what takes more than two seconds, on a terminal only:
//
//   ######----------------------  21%  matmul: 860 of 4096 blocks
//
//   Progress progress(!options.has("json"));
//   progress.Begin("matmul", 0, 1, blocks);    // this launch is all there is
//   launch.blocks_done = progress.done();      // counted by the VM, looked at ten times a second
//   …run…
//   progress.End();                            // the line is gone; others may print
//
// Without a terminal it does nothing at all. Begin, End and Print are for one thread, but for Print inside a launch.
#ifndef TILE_TOOLS_CLI_PROGRESS_H_
#define TILE_TOOLS_CLI_PROGRESS_H_

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <string>
#include <thread>

#include "absl/base/thread_annotations.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"

namespace tile::tools {

class Progress {
 public:
  explicit Progress(bool wanted);
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  ~Progress();

  bool active() const { return active_; }
  std::atomic<int64_t>* done() { return &done_; }

  // A launch of `total` blocks (or other units; 0: nothing that is counted), which is the part from `from` to `to` (0 to 1)
  // of everything. Ends what was begun before without erasing the line, so that many short launches show one bar.
  void Begin(absl::string_view what, double from, double to, int64_t total, absl::string_view unit = "blocks");
  void End();
  // Text of the kernel for stdout: the bar makes room.
  void Print(absl::string_view text);

 private:
  void Loop();
  void Draw() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Clear() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const bool active_;
  const absl::Time start_;
  std::atomic<int64_t> done_{0};
  std::thread thread_;
  std::mutex mutex_;
  std::condition_variable changed_;  // quit_
  std::string what_ ABSL_GUARDED_BY(mutex_), unit_ ABSL_GUARDED_BY(mutex_);
  double from_ ABSL_GUARDED_BY(mutex_) = 0, to_ ABSL_GUARDED_BY(mutex_) = 1;
  int64_t total_ ABSL_GUARDED_BY(mutex_) = 0;
  bool running_ ABSL_GUARDED_BY(mutex_) = false;    // between Begin and End
  bool shown_ ABSL_GUARDED_BY(mutex_) = false;      // the line is on the terminal
  bool line_open_ ABSL_GUARDED_BY(mutex_) = false;  // the kernel's text does not end with a line break: leave it alone
  bool quit_ ABSL_GUARDED_BY(mutex_) = false;
};

}  // namespace tile::tools

#endif  // TILE_TOOLS_CLI_PROGRESS_H_

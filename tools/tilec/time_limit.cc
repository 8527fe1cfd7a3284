#include "tools/tilec/time_limit.h"

#include <unistd.h>

#include <cstdio>
#include <utility>

#include "absl/strings/str_cat.h"
#include "codegen/assemble/child_process.h"
#include "tools/cli/report.h"

namespace tile::tools {

TimeLimit::TimeLimit(int64_t seconds)
    : for_all_(seconds > 0),
      seconds_(for_all_ ? seconds : kSecondsOfKernel),
      end_(Clock::now() + std::chrono::seconds(seconds_)) {
  thread_ = std::thread([this] { Wait(); });
}

void TimeLimit::Begin() {
  if (for_all_) return;
  std::lock_guard<std::mutex> lock(mutex_);
  end_ = Clock::now() + std::chrono::seconds(seconds_);
}

void TimeLimit::At(std::string what, std::string why) {
  std::lock_guard<std::mutex> lock(mutex_);
  what_ = std::move(what);
  why_ = std::move(why);
}

void TimeLimit::Lift() {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    is_lifted_ = true;
  }
  lifted_.notify_all();
  if (thread_.joinable()) thread_.join();
}

void TimeLimit::Wait() {
  std::unique_lock<std::mutex> lock(mutex_);
  while (Clock::now() < end_) {
    const Clock::time_point end = end_;
    if (lifted_.wait_until(lock, end, [this] { return is_lifted_; })) return;
  }
  codegen::CleanUpNow();
  const int exit = Fail(kEnvironment, "compile.time",
                        absl::StrCat(what_.empty() ? "" : absl::StrCat(what_, ": "), "not done after the ", seconds_,
                                     seconds_ == 1 ? " second" : " seconds",
                                     for_all_ ? " that --time-limit allows" : " that a kernel may take for a GPU",
                                     why_.empty() ? "" : absl::StrCat("; ", why_)),
                        absl::StrCat("use smaller tiles, split the kernel, use a lower -O, or ",
                                     for_all_ ? "a longer limit" : "say --time-limit=SECONDS"));
  std::fflush(nullptr);
  _exit(exit);
}

}  // namespace tile::tools

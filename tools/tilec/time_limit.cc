#include "tools/tilec/time_limit.h"

#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <utility>

#include "absl/strings/str_cat.h"
#include "codegen/assemble/child_process.h"
#include "tools/cli/report.h"

namespace tile::tools {

TimeLimit::TimeLimit(int64_t seconds) {
  if (seconds > 0) thread_ = std::thread([this, seconds] { Wait(seconds); });
}

void TimeLimit::At(std::string what, std::string largest) {
  std::lock_guard<std::mutex> lock(mutex_);
  what_ = std::move(what);
  largest_ = std::move(largest);
}

void TimeLimit::Lift() {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    is_lifted_ = true;
  }
  lifted_.notify_all();
  if (thread_.joinable()) thread_.join();
}

void TimeLimit::Wait(int64_t seconds) {
  std::unique_lock<std::mutex> lock(mutex_);
  if (lifted_.wait_for(lock, std::chrono::seconds(seconds), [this] { return is_lifted_; })) return;
  codegen::CleanUpNow();
  const int exit = Fail(kEnvironment, "compile.time",
                        absl::StrCat(what_.empty() ? "" : absl::StrCat(what_, ": "), "not done after the ", seconds,
                                     seconds == 1 ? " second" : " seconds", " that --time-limit allows",
                                     largest_.empty() ? "" : absl::StrCat("; the largest tile is at ", largest_)),
                        "use smaller tiles, a lower -O, or a longer limit");
  std::fflush(nullptr);
  _exit(exit);
}

}  // namespace tile::tools

#include "tools/cli/progress.h"

#include <sys/ioctl.h>
#include <unistd.h>
#include <mutex>

#include <algorithm>
#include <cstdio>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/time/clock.h"
#include "ir/escape.h"
#include "tools/cli/report.h"

namespace tile::tools {
namespace {

constexpr absl::Duration kPatience = absl::Seconds(2), kBetween = absl::Milliseconds(100);
constexpr int kBar = 28;
constexpr double kKnown = 0.01;  // part of the work after which the time that is left can be told

size_t Columns() {
  winsize size = {};
  return ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}

// Names come from files: nothing of them may steer the terminal.
std::string Plain(absl::string_view name) {
  std::string s(name);
  for (char& c : s) {
    if (static_cast<unsigned char>(c) < 0x20 || static_cast<unsigned char>(c) > 0x7E) c = '?';
  }
  return s;
}

// "1:05", "1:00:05".
std::string Clock(absl::Duration d) {
  const auto seconds = static_cast<long long>(absl::ToInt64Seconds(d + absl::Milliseconds(500)));
  return seconds < 3600 ? absl::StrFormat("%d:%02d", seconds / 60, seconds % 60)
                        : absl::StrFormat("%d:%02d:%02d", seconds / 3600, seconds / 60 % 60, seconds % 60);
}

}  // namespace

Progress::Progress(bool wanted) : active_(wanted && CanDraw()), start_(absl::Now()) {
  if (active_) thread_ = std::thread([this] { Loop(); });
}

Progress::~Progress() {
  if (!active_) return;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    Clear();
    quit_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void Progress::Begin(absl::string_view what, double from, double to, int64_t total, absl::string_view unit) {
  if (!active_) return;
  std::lock_guard<std::mutex> lock(mutex_);
  done_.store(0, std::memory_order_relaxed);
  what_ = Plain(what);
  unit_ = Plain(unit);
  from_ = from;
  to_ = to;
  total_ = total;
  running_ = true;
}

void Progress::End() {
  if (!active_) return;
  std::lock_guard<std::mutex> lock(mutex_);
  Clear();
  running_ = false;
}

void Progress::Print(absl::string_view text) {
  std::lock_guard<std::mutex> lock(mutex_);
  Clear();
  ir::WritePrinted(text, stdout);
  if (!active_ || text.empty()) return;
  std::fflush(stdout);  // it is above the bar
  line_open_ = text.back() != '\n';
}

void Progress::Loop() {
  std::unique_lock<std::mutex> lock(mutex_);
  const auto quit = [this] { return quit_; };
  changed_.wait_until(lock, absl::ToChronoTime(start_ + kPatience), quit);
  while (!quit_) {
    if (running_ && !line_open_) Draw();
    changed_.wait_for(lock, absl::ToChronoMilliseconds(kBetween), quit);
  }
}

void Progress::Draw() {
  const int64_t done = std::min(done_.load(std::memory_order_relaxed), total_);
  const double here = total_ > 0 ? static_cast<double>(done) / static_cast<double>(total_) : 1;
  const double all = std::clamp(from_ + (to_ - from_) * here, 0.0, 1.0);
  const int full = static_cast<int>(all * kBar);
  std::string bar(static_cast<size_t>(full), '#'), rest(static_cast<size_t>(kBar - full), '-');
  std::string text = absl::StrCat("  ", static_cast<int>(all * 100), "%  ", what_);
  if (total_ > 0) absl::StrAppend(&text, ": ", done, " of ", total_, " ", unit_);
  const absl::Duration elapsed = absl::Now() - start_;
  absl::StrAppend(&text, ", ", Clock(elapsed));
  if (all > kKnown) absl::StrAppend(&text, ", ", Clock(elapsed * ((1 - all) / all)), " left");
  const size_t columns = Columns();
  const size_t room = columns > kBar + 1 ? columns - kBar - 1 : 0;  // a full line would wrap
  if (room < 8) return;
  if (text.size() > room) text.resize(room);
  const bool color = UseColor();
  const std::string line =
      absl::StrCat("\r", color ? "\033[32m" : "", bar, color ? "\033[0m" : "", rest, text, "\033[K");
  std::fwrite(line.data(), 1, line.size(), stderr);
  std::fflush(stderr);
  shown_ = true;
}

void Progress::Clear() {
  if (!shown_) return;
  std::fputs("\r\033[K", stderr);
  std::fflush(stderr);
  shown_ = false;
}

}  // namespace tile::tools

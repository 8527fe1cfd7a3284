#include "vm/schedule/thread_plan.h"

#include <algorithm>

namespace tile::vm {
namespace {

// Work of so many nanoseconds is worth a thread. To start one takes 10 to 20 microseconds of the caller, and about as long
// again until it runs.
constexpr int64_t kWorthAThread = 30'000;
constexpr int64_t kForever = int64_t{1} << 60;

// Of all blocks on one thread.
int64_t ExpectedNs(int64_t block_ns, int64_t blocks) {
  int64_t ns = 0;
  return block_ns <= 0 || __builtin_mul_overflow(block_ns, blocks, &ns) ? kForever : std::min(ns, kForever);
}

}  // namespace

ThreadPlan PlanThreads(int64_t block_ns, int64_t blocks, int threads) {
  ThreadPlan plan;
  plan.all = static_cast<int>(std::clamp<int64_t>(blocks, 1, std::max(threads, 1)));
  const int64_t expected = ExpectedNs(block_ns, blocks);
  plan.first = static_cast<int>(std::clamp<int64_t>(expected / kWorthAThread, 1, plan.all));
  plan.late_after_ns = 2 * (expected / plan.first) + kWorthAThread;
  return plan;
}

int64_t ThoughtBlockNs(int64_t before_ns, int64_t measured_ns) {
  if (before_ns > 0 && measured_ns / 4 > before_ns) measured_ns = 4 * before_ns;
  return std::max<int64_t>(measured_ns, 1);
}

}  // namespace tile::vm

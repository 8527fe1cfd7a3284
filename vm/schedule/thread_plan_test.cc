// What a launch decides from durations that the test states: no clock is asked.
#include "vm/schedule/thread_plan.h"

#include <cstdint>
#include <limits>

#include "gtest/gtest.h"

namespace tile::vm {
namespace {

constexpr int64_t kMicrosecond = 1000;

TEST(ThreadPlan, AllBeginWhereNothingIsKnown) {
  EXPECT_EQ(PlanThreads(0, 4, 4).first, 4);
  EXPECT_EQ(PlanThreads(0, 1'000'000, 16).first, 16);
}

TEST(ThreadPlan, OneThreadForLittleWork) {
  EXPECT_EQ(PlanThreads(1, 4, 4).first, 1);
  EXPECT_EQ(PlanThreads(7 * kMicrosecond, 4, 4).first, 1);
}

TEST(ThreadPlan, AsManyAsTheWorkIsWorth) {
  EXPECT_EQ(PlanThreads(15 * kMicrosecond, 4, 4).first, 2);
  EXPECT_EQ(PlanThreads(25 * kMicrosecond, 4, 4).first, 3);
  EXPECT_EQ(PlanThreads(30 * kMicrosecond, 4, 4).first, 4);
  EXPECT_EQ(PlanThreads(kMicrosecond, 1'000'000, 16).first, 16);
}

TEST(ThreadPlan, NeverMoreThanBlocksOrThanThreads) {
  EXPECT_EQ(PlanThreads(1'000'000 * kMicrosecond, 3, 16).all, 3);
  EXPECT_EQ(PlanThreads(1'000'000 * kMicrosecond, 3, 16).first, 3);
  EXPECT_EQ(PlanThreads(1'000'000 * kMicrosecond, 100, 2).first, 2);
  EXPECT_EQ(PlanThreads(0, 0, 4).first, 1);
  EXPECT_EQ(PlanThreads(0, 4, 0).first, 1);
}

TEST(ThreadPlan, TheOthersStartAfterTwiceWhatWasThought) {
  const ThreadPlan little = PlanThreads(1, 4, 4);
  EXPECT_EQ(little.first, 1);
  EXPECT_EQ(little.all, 4);
  EXPECT_GE(little.late_after_ns, 8);
  EXPECT_LT(little.late_after_ns, 100 * kMicrosecond);
  const ThreadPlan two = PlanThreads(15 * kMicrosecond, 4, 4);  // each has 30 microseconds to do
  EXPECT_GE(two.late_after_ns, 60 * kMicrosecond);
  EXPECT_LT(two.late_after_ns, 120 * kMicrosecond);
}

TEST(ThreadPlan, HugeDurationsDoNotOverflow) {
  const int64_t most = std::numeric_limits<int64_t>::max();
  EXPECT_EQ(PlanThreads(most, most, 4).first, 4);
  EXPECT_GT(PlanThreads(most, most, 4).late_after_ns, 0);
  EXPECT_GT(PlanThreads(most, 1, 4).late_after_ns, 0);
  EXPECT_EQ(ThoughtBlockNs(most / 2, most), most);
}

TEST(ThreadPlan, ABlockIsThoughtToTakeWhatItTook) {
  EXPECT_EQ(ThoughtBlockNs(0, 1'000'000), 1'000'000);
  EXPECT_EQ(ThoughtBlockNs(1'000'000, 10), 10);
  EXPECT_EQ(ThoughtBlockNs(100, 300), 300);
  EXPECT_EQ(ThoughtBlockNs(100, 0), 1);  // 0 would mean that nothing is known
}

TEST(ThreadPlan, OneSlowLaunchCountsAtMostFourTimes) {
  EXPECT_EQ(ThoughtBlockNs(100, 1'000'000), 400);
  // What stays slow is believed after a few launches.
  int64_t thought = 100;
  for (int i = 0; i < 7; ++i) thought = ThoughtBlockNs(thought, 1'000'000);
  EXPECT_EQ(thought, 1'000'000);
}

}  // namespace
}  // namespace tile::vm

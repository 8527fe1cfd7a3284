#include "tests/gpu_sim/tensor/mbarrier.h"

#include "gtest/gtest.h"

namespace tile::gpu_sim {
namespace {

bool Done(const Mbarrier& b, uint32_t parity) {
  const absl::StatusOr<bool> done = b.PhaseDone(parity);
  EXPECT_TRUE(done.ok()) << done.status();
  return done.value_or(false);
}

TEST(Mbarrier, PhasesEndWithTheLastArrival) {
  uint64_t word = 0;
  Mbarrier b(&word);
  ASSERT_TRUE(b.Init(3).ok());
  // The phase before the first one counts as done.
  EXPECT_TRUE(Done(b, 1));
  for (uint32_t phase = 0; phase < 4; ++phase) {
    EXPECT_FALSE(Done(b, phase % 2));
    ASSERT_TRUE(b.Arrive(2).ok());
    EXPECT_FALSE(Done(b, phase % 2));
    ASSERT_TRUE(b.Arrive(1).ok());
    EXPECT_TRUE(Done(b, phase % 2));
    EXPECT_FALSE(Done(b, 1 - phase % 2));
  }
}

TEST(Mbarrier, PhasesWaitForBytes) {
  uint64_t word = 0;
  Mbarrier b(&word);
  ASSERT_TRUE(b.Init(1).ok());
  ASSERT_TRUE(b.ExpectTx(4096).ok());
  ASSERT_TRUE(b.Arrive(1).ok());
  ASSERT_TRUE(b.CompleteTx(4000).ok());
  EXPECT_FALSE(Done(b, 0));
  ASSERT_TRUE(b.CompleteTx(96).ok());
  EXPECT_TRUE(Done(b, 0));
  // Bytes may come before they are expected, while an arrival is missing.
  ASSERT_TRUE(b.CompleteTx(64).ok());
  EXPECT_FALSE(Done(b, 1));
  ASSERT_TRUE(b.ExpectTx(64).ok());
  EXPECT_FALSE(Done(b, 1));
  ASSERT_TRUE(b.Arrive(1).ok());
  EXPECT_TRUE(Done(b, 1));
}

TEST(Mbarrier, Errors) {
  uint64_t word = 0;
  Mbarrier b(&word);
  EXPECT_FALSE(b.Arrive(1).ok());
  EXPECT_FALSE(b.PhaseDone(0).ok());
  EXPECT_FALSE(b.Init(0).ok());
  EXPECT_FALSE(b.Init(1 << 20).ok());
  ASSERT_TRUE(b.Init(Mbarrier::kMostCount).ok());
  EXPECT_FALSE(b.PhaseDone(2).ok());
  ASSERT_TRUE(b.Arrive(Mbarrier::kMostCount - 1).ok());
  EXPECT_FALSE(b.Arrive(2).ok());
  EXPECT_FALSE(b.ExpectTx(1 << 20).ok());
  ASSERT_TRUE(b.CompleteTx(Mbarrier::kMostCount).ok());
  EXPECT_FALSE(b.CompleteTx(1).ok());
  EXPECT_FALSE(b.IsInvalidated());
  ASSERT_TRUE(b.Invalidate().ok());
  EXPECT_TRUE(b.IsInvalidated());
  EXPECT_FALSE(b.Arrive(1).ok());
}

}  // namespace
}  // namespace tile::gpu_sim

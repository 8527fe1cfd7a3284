#include "codegen/gpu/schedule/barrier.h"

#include "gtest/gtest.h"

namespace tile::codegen::schedule {
namespace {

TEST(Barrier, EndsPhasesInTurn) {
  Barrier barrier(2);
  EXPECT_TRUE(barrier.Passed(1)) << "the phase before the first one";
  EXPECT_FALSE(barrier.Passed(0));
  EXPECT_FALSE(barrier.Arrive().found());
  EXPECT_FALSE(barrier.Passed(0));
  EXPECT_FALSE(barrier.Arrive().found());
  EXPECT_TRUE(barrier.Passed(0));
  EXPECT_FALSE(barrier.Passed(1));
}

TEST(Barrier, WaitsForBytes) {
  Barrier barrier(1);
  barrier.CopyBegins();
  EXPECT_FALSE(barrier.Expect(64).found());
  EXPECT_FALSE(barrier.Passed(0));
  EXPECT_FALSE(barrier.CopyLands(64).found());
  EXPECT_TRUE(barrier.Passed(0));
}

// The copy of another block may land before this block expects it.
TEST(Barrier, TakesBytesBeforeTheyAreExpected) {
  Barrier barrier(1);
  barrier.CopyBegins();
  EXPECT_FALSE(barrier.CopyLands(64).found());
  EXPECT_FALSE(barrier.Passed(0));
  EXPECT_FALSE(barrier.Expect(64).found());
  EXPECT_TRUE(barrier.Passed(0));
}

TEST(Barrier, CountsNoMoreThanItsArrivals) {
  Barrier barrier(1);
  EXPECT_FALSE(barrier.Expect(64).found());
  EXPECT_EQ(barrier.Arrive().kind, FaultKind::kArrivals);
}

TEST(Barrier, KnowsCopiesThatAreNotExpected) {
  Barrier barrier(1);
  barrier.CopyBegins();
  barrier.CopyBegins();
  EXPECT_FALSE(barrier.Expect(64).found());
  EXPECT_EQ(barrier.CopyLands(64).kind, FaultKind::kBytes);
}

}  // namespace
}  // namespace tile::codegen::schedule

#include "codegen/llvm/large_stack.h"

#include <sys/resource.h>

#include "gtest/gtest.h"

namespace tile::codegen {
namespace {

// Calls itself `depth` times, with 1 KiB of stack or more each time.
int Deep(int depth) {  // NOLINT(misc-no-recursion)
  volatile char room[1024];
  room[depth % 1024] = static_cast<char>(depth);
  return depth == 0 ? 0 : Deep(depth - 1) + (room[depth % 1024] == static_cast<char>(depth) ? 1 : 0);
}

TEST(LargeStack, IsThereForTheFirstThread) {
  rlimit limit = {};
  ASSERT_EQ(getrlimit(RLIMIT_STACK, &limit), 0);
  if (limit.rlim_max < kStackBytes) GTEST_SKIP() << "the system allows less";
  limit.rlim_cur = 8 << 20;
  ASSERT_EQ(setrlimit(RLIMIT_STACK, &limit), 0);
  TakeLargeStack();
  EXPECT_EQ(Deep(48 << 10), 48 << 10);
}

TEST(LargeStack, WhatIsLargerStays) {
  rlimit limit = {}, now = {};
  ASSERT_EQ(getrlimit(RLIMIT_STACK, &limit), 0);
  if (limit.rlim_max < 2 * kStackBytes) GTEST_SKIP() << "the system allows less";
  limit.rlim_cur = 2 * kStackBytes;
  ASSERT_EQ(setrlimit(RLIMIT_STACK, &limit), 0);
  TakeLargeStack();
  ASSERT_EQ(getrlimit(RLIMIT_STACK, &now), 0);
  EXPECT_EQ(now.rlim_cur, 2 * kStackBytes);
}

}  // namespace
}  // namespace tile::codegen

#include "vm/machine/start_order.h"

#include <algorithm>
#include <vector>

#include "gtest/gtest.h"

namespace tile::vm {
namespace {

std::vector<int64_t> Blocks(const StartOrder& order, int64_t total) {
  const BlockSequence sequence(order, total);
  std::vector<int64_t> blocks;
  for (int64_t n = 0; n < total; ++n) blocks.push_back(sequence[n]);
  return blocks;
}

TEST(StartOrder, TextAndBack) {
  for (const char* text : {"linear", "reverse", "random:0", "random:7", "random:18446744073709551615"}) {
    const auto order = ParseStartOrder(text);
    ASSERT_TRUE(order.ok()) << text;
    EXPECT_EQ(ToString(*order), text);
  }
  EXPECT_EQ(ToString(*ParseStartOrder("random")), "random:0");
  for (const char* text :
       {"", "Linear", "random:", "random:-1", "random:x", "random:18446744073709551616", "reverse:1"}) {
    EXPECT_EQ(ParseStartOrder(text).status().code(), absl::StatusCode::kInvalidArgument) << text;
  }
}

TEST(BlockSequence, LinearAndReverse) {
  EXPECT_EQ(Blocks({}, 4), (std::vector<int64_t>{0, 1, 2, 3}));
  EXPECT_EQ(Blocks({StartOrder::Kind::kReverse}, 4), (std::vector<int64_t>{3, 2, 1, 0}));
}

TEST(BlockSequence, RandomIsAPermutation) {
  for (const int64_t total : {1, 2, 3, 4, 5, 16, 17, 1000, 4097}) {
    for (const uint64_t seed : {0, 1, 7}) {
      std::vector<int64_t> blocks = Blocks({StartOrder::Kind::kRandom, seed}, total);
      std::sort(blocks.begin(), blocks.end());
      EXPECT_EQ(blocks, Blocks({}, total)) << total << " blocks, seed " << seed;
    }
  }
}

TEST(BlockSequence, SeedsDifferAndShuffle) {
  const std::vector<int64_t> one = Blocks({StartOrder::Kind::kRandom, 1}, 1000);
  EXPECT_EQ(one, Blocks({StartOrder::Kind::kRandom, 1}, 1000));
  EXPECT_NE(one, Blocks({StartOrder::Kind::kRandom, 2}, 1000));
  // About half of the neighbours come in falling order.
  int falling = 0;
  for (size_t i = 1; i < one.size(); ++i) falling += one[i] < one[i - 1];
  EXPECT_GT(falling, 400);
  EXPECT_LT(falling, 600);
}

TEST(BlockSequence, TheLargestGrid) {
  const int64_t total = int64_t{9'000'000'000'000'000'000};
  const BlockSequence sequence({StartOrder::Kind::kRandom, 3}, total);
  for (int64_t n = 0; n < 100; ++n) {
    EXPECT_GE(sequence[n], 0);
    EXPECT_LT(sequence[n], total);
  }
}

}  // namespace
}  // namespace tile::vm

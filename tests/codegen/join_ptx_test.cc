// Blocks of attention that become one although the place in the grid is in numbers (codegen/passes/grid/coarsen_by_rows.h): when, and for which grids.
#include <array>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_replace.h"
#include "codegen/build_image.h"
#include "gtest/gtest.h"
#include "ir/expr.h"
#include "tests/codegen/ptx_testing.h"
#include "tests/harness/tile_files.h"

namespace tile::codegen {
namespace {

std::string Attention() { return ReadFile("tests/codegen/regressions/attention_joined.tile"); }

bool EndsSooner(const ir::Image& image, int64_t blocks, int64_t multiprocessors) {
  return *ir::EvaluateExpr(image.requirements.back().condition, [&](const ir::ExprNode& n) -> absl::StatusOr<int64_t> {
    return n.op == ir::ExprOp::kNumSms ? multiprocessors : n.b == 0 ? blocks : 1;
  }) != 0;
}

TEST(JoinPtx, TwoBlocksOfAttentionAreOneOfTwoWarpgroups) {
  const std::vector<BuiltImage> images = Images(Attention());
  ASSERT_GE(images.size(), 3u);
  const BuiltImage& joined = images[0];
  EXPECT_EQ(joined.compiled.joined, (std::array<int64_t, 2>{2, 1}));
  EXPECT_EQ(joined.image.threads, 256u);
  EXPECT_FALSE(joined.compiled.persistent);
  ASSERT_GE(joined.image.requirements.size(), 3u);
  const auto& needs = joined.image.requirements;
  EXPECT_EQ(needs[needs.size() - 3].text, "the grid's size in dimension 0 is a multiple of 2");
  EXPECT_EQ(needs[needs.size() - 2].text, "the grid's size in dimension 0 is at least 64, so that joining blocks pays");
  // Half a block takes 0.94 of the time of one.
  EXPECT_FALSE(EndsSooner(joined.image, 132, 132));
  EXPECT_TRUE(EndsSooner(joined.image, 264, 132));
  EXPECT_FALSE(EndsSooner(joined.image, 396, 132));
  EXPECT_TRUE(EndsSooner(joined.image, 528, 132));
  ASSERT_EQ(joined.image.grid.size(), 3u);
  const auto grid = [](const ir::Expr& e) {
    return *ir::EvaluateExpr(e, [](const ir::ExprNode& n) -> absl::StatusOr<int64_t> { return n.b == 0 ? 40 : 30; });
  };
  EXPECT_EQ(grid(joined.image.grid[0]), 20);
  EXPECT_EQ(grid(joined.image.grid[1]), 30);
  EXPECT_EQ(images[1].compiled.joined, (std::array<int64_t, 2>{1, 1}));
  EXPECT_EQ(images[1].image.threads, 128u);
}

TEST(JoinPtx, AttentionThatIsNotJoined) {
  const auto joins = [](const std::vector<std::pair<std::string, std::string>>& changes) {
    std::string text = Attention();
    for (const auto& [from, to] : changes) {
      EXPECT_NE(text.find(from), std::string::npos) << from;
      text = absl::StrReplaceAll(text, {{from, to}});
    }
    return Images(text)[0].compiled.joined[0] == 2;
  };
  EXPECT_TRUE(joins({}));
  // A tile that begins at a number of the place; two iterations at a time; no loop that begins at the same iteration for both blocks.
  EXPECT_FALSE(joins({{"%qv[%x, 0]", "%qv[%first, 0]"}}));
  EXPECT_FALSE(joins({{"(%i to %x, step %one)", "(%i to %x, step %two)"},
                      {"  %n = constant", "  %two = constant <i32: 2> : tile<i32>\n  %n = constant"}}));
  EXPECT_FALSE(joins({{"(%i to %x, step %one)", "(%x to %end, step %one)"}}));
  // What the kernel stores is of all blocks.
  EXPECT_FALSE(joins({{"%yv[%x, 0]", "%yv[%i, 0]"}}));
}

}  // namespace
}  // namespace tile::codegen

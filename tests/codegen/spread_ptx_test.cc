// Blocks that walk over tiles, in an image in which each tile has a block (codegen/passes/grid/unpersist_grid.h): when, and for which launches.
#include <cstdint>
#include <map>
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

using Changes = std::vector<std::pair<std::string, std::string>>;

std::string Changed(std::string text, const Changes& changes) {
  for (const auto& [from, to] : changes) {
    EXPECT_NE(text.find(from), std::string::npos) << from;
    text = absl::StrReplaceAll(text, {{from, to}});
  }
  return text;
}

std::string Rows(const Changes& changes = {}) {
  return Changed(ReadFile("tests/passes/unpersist-grid/rows.tile"), changes);
}
std::string Pointers(const Changes& changes = {}) {
  return Changed(ReadFile("tests/passes/unpersist-grid/pointers.tile"), changes);
}

bool Spreads(const std::string& text) {
  const std::vector<BuiltImage> images = Images(text);
  return !images.empty() && !images[0].compiled.spread.empty();
}

constexpr char kWalks[] = "blocks walk over several tiles each, and what they store lies apart";
constexpr char kMore[] = "there are more tiles than multiprocessors";

struct Launch {
  int64_t blocks = 2, multiprocessors = 4;
  std::map<int, int64_t> parameters;
};

int64_t Value(const ir::Expr& e, const Launch& launch) {
  return *ir::EvaluateExpr(e, [&](const ir::ExprNode& n) -> absl::StatusOr<int64_t> {
    if (n.op == ir::ExprOp::kNumSms) return launch.multiprocessors;
    if (n.op == ir::ExprOp::kShape) return n.b == 0 ? launch.blocks : 1;
    if (n.op == ir::ExprOp::kAlign) return 4096;
    return launch.parameters.at(n.a);
  });
}

// What does not hold; "" if all does.
std::string WhyNot(const ir::Image& image, const Launch& launch) {
  for (const ir::ImageRequirement& needs : image.requirements) {
    if (Value(needs.condition, launch) == 0) return needs.text;
  }
  return "";
}

TEST(SpreadPtx, TheHostKnowsHowManyBlocks) {
  const std::vector<BuiltImage> images = Images(Rows());
  ASSERT_GE(images.size(), 2u);
  const ir::Image& image = images[0].image;
  ASSERT_EQ(image.grid.size(), 3u);
  EXPECT_EQ(Value(image.grid[0], {.parameters = {{4, 45}}}), 24);
  EXPECT_EQ(Value(image.grid[0], {.parameters = {{4, 48}}}), 24);
  EXPECT_EQ(Value(image.grid[0], {.parameters = {{4, 4000}}}), 2000);
  EXPECT_EQ(WhyNot(image, {.parameters = {{4, 48}}}), "");
  // Blocks that have a tile each already; a number of rows that 32 bits could not go on from; fewer blocks than multiprocessors.
  EXPECT_EQ(WhyNot(image, {.blocks = 12, .parameters = {{4, 48}}}), kWalks);
  EXPECT_EQ(WhyNot(image, {.parameters = {{4, (int64_t{1} << 31) - 16}}}), kWalks);
  EXPECT_EQ(WhyNot(image, {.parameters = {{4, -16}}}), kWalks);
  EXPECT_EQ(WhyNot(image, {.multiprocessors = 132, .parameters = {{4, 48}}}), kMore);
  // All others walk.
  EXPECT_TRUE(images[1].image.grid.empty());
}

TEST(SpreadPtx, StepsOfANumberOfBlocks) {
  const std::vector<BuiltImage> images = Images(Rows({{"step %blocks", "step 2"}}));
  ASSERT_FALSE(images.empty());
  EXPECT_EQ(WhyNot(images[0].image, {.blocks = 2, .parameters = {{4, 48}}}), "");
  EXPECT_EQ(WhyNot(images[0].image, {.blocks = 1, .parameters = {{4, 48}}}), kWalks);
}

TEST(SpreadPtx, RowsOfPointersMustLieApart) {
  const std::vector<BuiltImage> images = Images(Pointers());
  ASSERT_FALSE(images.empty());
  const ir::Image& image = images[0].image;
  EXPECT_EQ(Value(image.grid[0], {}), 3);
  EXPECT_EQ(WhyNot(image, {.multiprocessors = 2, .parameters = {{2, 16}, {3, 16}}}), "");
  EXPECT_EQ(WhyNot(image, {.multiprocessors = 2, .parameters = {{2, 16}, {3, 32}}}), kWalks);
  EXPECT_EQ(WhyNot(image, {.multiprocessors = 2, .parameters = {{2, 0}, {3, -16}}}), kWalks);
}

TEST(SpreadPtx, BlocksThatGoOnWalking) {
  EXPECT_TRUE(Spreads(Rows()));
  // Something else asks for the block; it begins elsewhere; nobody knows the end; more is done than the loop.
  EXPECT_FALSE(Spreads(Rows({{"store_view_tko weak %sum, %sv[%i]", "store_view_tko weak %sum, %sv[%block]"}})));
  EXPECT_FALSE(Spreads(Rows({{"(%block to", "(%by to"}})));
  EXPECT_FALSE(Spreads(Rows({{"addi %n, 3", "muli %n, %n"}})));
  EXPECT_FALSE(Spreads(Rows({{"%all = broadcast", "store_view_tko weak %weights, %wv[0]\n  %all = broadcast"}})));
  // What is loaded in front of the loop comes before what it stores.
  EXPECT_FALSE(
      Spreads(Rows({{"%weights = load_view_tko weak %wv[0]", "%weights, %order = load_view_tko weak %wv[0]"},
                    {"store_view_tko weak %out, %yv[%i, 0]", "store_view_tko weak %out, %yv[%i, 0] token = %order"}})));
  // A value goes from one iteration to the next.
  EXPECT_TRUE(Spreads(Pointers()));
  // A load waits for what the iteration before stored; so does the store for its load; the mask tells nothing of the columns.
  EXPECT_FALSE(Spreads(Pointers(
      {{"load_ptr_tko weak %from, %inside token = %start", "load_ptr_tko weak %from, %inside token = %token"}})));
  EXPECT_FALSE(Spreads(Pointers({{"continue %stored", "%both = join_tokens %stored, %loaded\n    continue %both"}})));
  EXPECT_FALSE(Spreads(Pointers({{"less_than %column, %nall, unsigned", "less_than %column, %nall, signed"}})));
  // Rows begin at a place that moves by itself.
  EXPECT_FALSE(Spreads(Pointers({{"    %to = offset %yall",
                                  "    %ym = offset %y, %i : tile<ptr<f32>>, tile<i32>\n"
                                  "    %ym1 = reshape %ym : tile<ptr<f32>> -> tile<1xptr<f32>>\n"
                                  "    %ymall = broadcast %ym1 : tile<1xptr<f32>> -> tile<8xptr<f32>>\n"
                                  "    %to = offset %ymall"}})));
  EXPECT_FALSE(Spreads(Pointers({{"muli %iall, %sall", "muli %sall, %sall"}})));
}

}  // namespace
}  // namespace tile::codegen

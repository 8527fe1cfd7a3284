// Blocks of tensors, as descriptors are in tile code, become accesses through views (codegen/passes/canonical/raise_views.h): what the host and the
// code do for them.
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "codegen/build_image.h"
#include "gtest/gtest.h"
#include "tests/codegen/ptx_testing.h"
#include "tests/harness/tile_files.h"

namespace tile::codegen {
namespace {

std::string Product() { return ReadFile("tests/codegen/regressions/copies_of_descriptors.tile"); }

std::vector<ir::Image> ImagesOf(const std::string& text, int sm) {
  ir::Diagnostics diags;
  const auto m = ir::Parse(text, "test.tile", &diags);
  EXPECT_NE(m, nullptr) << diags.ToString();
  if (m == nullptr) return {};
  CompileOptions options;
  options.target = FindTarget(sm);
  const auto images = BuildImages(*m, *m->functions[0], options, ir::ImageKind::kPtx);
  EXPECT_TRUE(images.ok()) << images.status();
  std::vector<ir::Image> out;
  for (const auto& i : *images) out.push_back(i.image);
  return out;
}

TEST(BlockPtx, TheHostDescribesTensorsByParameters) {
  const std::vector<ir::Image> images = ImagesOf(Product(), 90);
  ASSERT_GE(images.size(), 2u);
  const ir::Image& fast = images[0];
  ASSERT_EQ(fast.tma.size(), 3u);
  for (size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(fast.tma[i].base_param, 5 * i);
    // Columns, then rows, each a parameter behind the address.
    ASSERT_EQ(fast.tma[i].sizes.size(), 2u);
    for (const auto& [size, param] :
         {std::pair(fast.tma[i].sizes[0], 5 * i + 2), std::pair(fast.tma[i].sizes[1], 5 * i + 1)}) {
      ASSERT_EQ(size.size(), 1u);
      EXPECT_EQ(size[0].op, ir::ExprOp::kScalar);
      EXPECT_EQ(size[0].a, static_cast<int>(param));
    }
  }
  // Two blocks bring a half each.
  EXPECT_EQ(fast.tma[0].box, (std::vector<uint32_t>{32, 32}));
  EXPECT_EQ(fast.tma[1].box, (std::vector<uint32_t>{64, 16}));
  std::string texts;
  for (const auto& r : fast.requirements) absl::StrAppend(&texts, r.text, "\n");
  EXPECT_TRUE(absl::StrContains(texts, "stride 0 of the tensor at parameter 5 is a multiple of 16 bytes")) << texts;
  EXPECT_TRUE(images.back().tma.empty());  // for the other launches
}

// A size that counts as zero below zero: the host asks for one above it.
TEST(BlockPtx, SizesOfUnknownSign) {
  const std::string text = absl::StrReplaceAll(
      Product(),
      {{"%assume_1 = assume bounded<1, ?>, %a.rows : tile<i64>", "%assume_1 = assume div_by<1>, %a.rows : tile<i64>"},
       {"%6 = cmpi less_than %5, %bcast_3, unsigned : tile<64x1xi64> -> tile<64x1xi1>",
        "%6.zero = constant <i64: 0> : tile<64x1xi64>\n"
        "%6.above = cmpi greater_than_or_equal %5, %6.zero, signed : tile<64x1xi64> -> tile<64x1xi1>\n"
        "%6.below = cmpi less_than %5, %bcast_3, signed : tile<64x1xi64> -> tile<64x1xi1>\n"
        "%6 = andi %6.above, %6.below : tile<64x1xi1>"}});
  const std::vector<ir::Image> images = ImagesOf(text, 90);
  ASSERT_GE(images.size(), 2u);
  ASSERT_EQ(images[0].tma.size(), 3u);
  EXPECT_EQ(images[0].tma[0].sizes[1].size(), 1u);
  std::string texts;
  for (const auto& r : images[0].requirements) absl::StrAppend(&texts, r.text, "\n");
  EXPECT_TRUE(absl::StrContains(texts, "size 0 of the tensor at parameter 0 is not 0")) << texts;
}

// Hardware takes no box that begins between multiples of 16 bytes: a block that may do is copied by threads.
TEST(BlockPtx, TmaBeginsAtMultiplesOfSixteenBytes) {
  const std::string text = absl::StrReplaceAll(
      Product(), {{"    %1 = exti %i signed",
                   "    %three = constant <i32: 3> : tile<i32>\n    %behind = addi %i, %three : tile<i32>\n"
                   "    %1 = exti %behind signed"}});
  ASSERT_NE(text, Product());
  for (const ir::Image& image : ImagesOf(text, 90)) {
    for (const ir::TmaDescriptor& tma : image.tma) EXPECT_EQ(tma.base_param, 10u);  // of the result
  }
}

// A mask that says something else than what lies inside of the tensor, or pointers that go elsewhere, stay what they are.
TEST(BlockPtx, OnlyBlocksOfTensors) {
  const auto raised = [](const std::string& text) {
    int n = 0;
    for (const std::string& remark : CompileText(text, 90).remarks)
      n += absl::StrContains(remark, "remark[raise-views]");
    return n;
  };
  EXPECT_EQ(raised(Product()), 3);
  const auto without_one = [&](absl::string_view from, absl::string_view to) {
    const std::string text = absl::StrReplaceAll(Product(), {{from, to}});
    EXPECT_NE(text, Product()) << from;
    EXPECT_EQ(raised(text), 2) << to;
  };
  without_one("cmpi less_than %12, %bcast_8", "cmpi less_than_or_equal %12, %bcast_8");
  without_one("cmpi less_than %12, %bcast_8, unsigned", "cmpi less_than %12, %bcast_8, signed");
  without_one("%14 = andi %bcast_4, %bcast_9", "%14 = andi %bcast_4, %bcast_4");
  without_one("%14 = andi %bcast_4, %bcast_9", "%14 = ori %bcast_4, %bcast_9");
  without_one("%11 = addi %4, %10", "%11 = addi %1, %10");                // the column twice
  without_one("%10 = muli %1, %assume_4", "%10 = muli %1, %assume_3");    // by another stride
  without_one("%21 = muli %17, %assume_8", "%21 = muli %18, %assume_8");  // from another row
  without_one("weak %16, %14, %cst_0_f16", "relaxed device %16, %14, %cst_0_f16");
  without_one("%cst_0_f16 = constant <f16: 0.0", "%cst_0_f16 = constant <f16: 1.0");
}

}  // namespace
}  // namespace tile::codegen

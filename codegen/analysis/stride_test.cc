#include "codegen/analysis/stride.h"

#include <optional>
#include <string>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "ir/module.h"
#include "ir/text/parser.h"

namespace tile::codegen {
namespace {

constexpr char kNumbers[] =
    "  %i = iota : tile<64xi32>\n"
    "  %three = constant <i32: 3> : tile<64xi32>\n"
    "  %n1 = reshape %n : tile<i32> -> tile<1xi32>\n"
    "  %ns = broadcast %n1 : tile<1xi32> -> tile<64xi32>\n"
    "  %x1 = reshape %x : tile<ptr<f32>> -> tile<1xptr<f32>>\n"
    "  %xs = broadcast %x1 : tile<1xptr<f32>> -> tile<64xptr<f32>>\n"
    "  %threes = muli %i, %three : tile<64xi32>\n"
    "  %any = muli %i, %ns : tile<64xi32>\n";

// The stride of the last operation's result.
Strides::Stride Of(const std::string& body, int dim = 0) {
  ir::Diagnostics d;
  const auto module = ir::Parse(
      absl::StrCat("entry @k(%x: tile<ptr<f32>>, %n: tile<i32>) {\n", kNumbers, body, "  return\n}\n"), "k.tile", &d);
  EXPECT_TRUE(d.ok()) << d.ToString();
  if (module == nullptr) return std::nullopt;
  Facts facts;
  return Strides(&facts).Of(module->FindFunction("k")->body()->back()->prev()->result(0), dim);
}

TEST(Strides, SumsAndProducts) {
  EXPECT_EQ(Of("  %v = addi %threes, %ns : tile<64xi32>\n"), 3);
  EXPECT_EQ(Of("  %v = subi %i, %threes : tile<64xi32>\n"), -2);
  EXPECT_EQ(Of("  %v = shli %threes, %three : tile<64xi32>\n"), 24);
  EXPECT_EQ(Of("  %v = muli %ns, %three : tile<64xi32>\n"), 0);
  EXPECT_EQ(Of("  %v = addi %any, %i : tile<64xi32>\n"), Strides::kAny);
  EXPECT_EQ(Of("  %v = muli %i, %i : tile<64xi32>\n"), std::nullopt);
}

TEST(Strides, PointersAreBytesApart) {
  EXPECT_EQ(Of("  %v = offset %xs, %threes : tile<64xptr<f32>>, tile<64xi32> -> tile<64xptr<f32>>\n"), 12);
  EXPECT_EQ(Of("  %v = offset %xs, %any : tile<64xptr<f32>>, tile<64xi32> -> tile<64xptr<f32>>\n"), Strides::kAny);
  EXPECT_EQ(Of("  %p = offset %xs, %i : tile<64xptr<f32>>, tile<64xi32> -> tile<64xptr<f32>>\n"
               "  %l, %t = load_ptr_tko weak %p : tile<64xptr<f32>> -> tile<64xf32>, token\n"
               "  %j = ftoi %l signed : tile<64xf32> -> tile<64xi32>\n"
               "  %v = offset %xs, %j : tile<64xptr<f32>>, tile<64xi32> -> tile<64xptr<f32>>\n"),
            std::nullopt);
}

TEST(Strides, QuotientsAndRemainders) {
  EXPECT_EQ(Of("  %v = remi %threes, %ns signed : tile<64xi32>\n"), 3);
  EXPECT_EQ(Of("  %v = remi %ns, %three signed : tile<64xi32>\n"), 0);
  EXPECT_EQ(Of("  %v = divi %i, %three signed : tile<64xi32>\n"), std::nullopt);
}

TEST(Strides, Shapes) {
  constexpr char kSplit[] = "  %v = reshape %threes : tile<64xi32> -> tile<4x16xi32>\n";
  EXPECT_EQ(Of(kSplit, 0), 48);
  EXPECT_EQ(Of(kSplit, 1), 3);
  constexpr char kTurned[] =
      "  %r = reshape %threes : tile<64xi32> -> tile<4x16xi32>\n"
      "  %v = permute %r [1, 0] : tile<4x16xi32> -> tile<16x4xi32>\n";
  EXPECT_EQ(Of(kTurned, 0), 3);
  constexpr char kColumn[] =
      "  %r = reshape %threes : tile<64xi32> -> tile<64x1xi32>\n"
      "  %v = broadcast %r : tile<64x1xi32> -> tile<64x8xi32>\n";
  EXPECT_EQ(Of(kColumn, 0), 3);
  EXPECT_EQ(Of(kColumn, 1), 0);
}

}  // namespace
}  // namespace tile::codegen

#include "codegen/passes/canonical/assume_aligned.h"

#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "codegen/passes/tile_code.h"
#include "gtest/gtest.h"
#include "ir/text/parser.h"
#include "ir/text/printer.h"
#include "ir/verify/verify.h"

namespace tile::codegen {
namespace {

struct Result {
  std::string needs;  // "parameter 0 is …; parameter 3 is …; "
  std::string text;   // of the function afterwards
};

Result Assumed(const std::string& text) {
  ir::Diagnostics diagnostics;
  std::unique_ptr<ir::Module> m = ir::Parse(text, "test.tile", &diagnostics);
  if (m != nullptr) ir::Verify(*m, &diagnostics);
  EXPECT_TRUE(diagnostics.ok()) << diagnostics.ToString();
  if (!diagnostics.ok()) return {};
  ir::Function* f = m->functions[0].get();
  const bool depends = DependsOnAlignment(*f);
  Result r;
  AssumeAligned(m.get(), f);
  for (const ir::ImageRequirement& need : AlignmentRequirements(*f)) absl::StrAppend(&r.needs, need.text, "; ");
  EXPECT_EQ(depends, !r.needs.empty());
  ir::Diagnostics after;
  ir::Verify(*TileCodeOf(*m), &after);
  EXPECT_TRUE(after.ok()) << after.ToString();
  EXPECT_FALSE(DependsOnAlignment(*f)) << "what was assumed is known";
  r.text = ir::Print(*TileCodeOf(*m));
  return r;
}

// A tile of 64x64 from a matrix whose rows lie `stride` elements apart.
std::string Matrix(const std::string& before, const std::string& base, const std::string& size,
                   const std::string& stride) {
  return absl::StrCat(
      "entry @k(%a: tile<ptr<f32>>, %m: tile<i32>, %n: tile<i32>, %rows: tile<i32>) {\n  %zero = constant <i32: 0> : tile<i32>\n  ",
      before, "\n  %t = make_tensor_view ", base, ", shape = [%m, ", size, "], strides = [", stride,
      ", 1] : tile<i32> -> tensor_view<?x", size[0] == '%' ? "?" : size, "xf32, strides=[",
      stride[0] == '%' ? "?" : stride,
      ",1]>\n  %v = make_partition_view %t : partition_view<tile=(64x64), tensor_view<?x", size[0] == '%' ? "?" : size,
      "xf32, strides=[", stride[0] == '%' ? "?" : stride,
      ",1]>>\n  %x, %k = load_view_tko weak %v[%zero, %rows] -> tile<64x64xf32>, token\n  return\n}\n");
}

TEST(AssumeAligned, ViewsNeedBaseStrideAndTheSizeOfRows) {
  const Result r = Assumed(Matrix("", "%a", "%n", "%n"));
  // Not the number of rows, and not which tile it is.
  EXPECT_EQ(r.needs, "parameter 0 is a multiple of 16 bytes; parameter 2 is a multiple of 16; ");
  EXPECT_TRUE(absl::StrContains(r.text, "assume div_by<16>, %a")) << r.text;
}

TEST(AssumeAligned, NothingThatIsKnown) {
  EXPECT_EQ(Assumed(Matrix("%b = assume div_by<32>, %a : tile<ptr<f32>>", "%b", "1024", "4096")).needs, "");
  EXPECT_EQ(Assumed(Matrix("%c = constant <i32: 64> : tile<i32>\n  %s = muli %n, %c", "%a", "1024", "%s")).needs,
            "parameter 0 is a multiple of 16 bytes; ");
  EXPECT_EQ(Assumed("entry @k(%n: tile<i32>) {\n  %x = addi %n, %n : tile<i32>\n  return\n}\n").needs, "");
}

TEST(AssumeAligned, PointersAndMasks) {
  const Result r = Assumed(R"(
entry @k(%a: tile<ptr<f32>>, %n: tile<i32>, %m: tile<i32>, %stride: tile<i32>, %other: tile<i32>) {
  %column = iota : tile<64xi32>
  %columns = reshape %column : tile<64xi32> -> tile<1x64xi32>
  %row = reshape %column : tile<64xi32> -> tile<64x1xi32>
  %stride1 = reshape %stride : tile<i32> -> tile<1x1xi32>
  %strides = broadcast %stride1 : tile<1x1xi32> -> tile<64x1xi32>
  %starts = muli %row, %strides
  %startss = broadcast %starts : tile<64x1xi32> -> tile<64x64xi32>
  %columnss = broadcast %columns : tile<1x64xi32> -> tile<64x64xi32>
  %offsets = addi %startss, %columnss
  %a1 = reshape %a : tile<ptr<f32>> -> tile<1x1xptr<f32>>
  %as = broadcast %a1 : tile<1x1xptr<f32>> -> tile<64x64xptr<f32>>
  %p = offset %as, %offsets : tile<64x64xptr<f32>>, tile<64x64xi32>
  %n1 = reshape %n : tile<i32> -> tile<1x1xi32>
  %ns = broadcast %n1 : tile<1x1xi32> -> tile<1x64xi32>
  %m1 = reshape %m : tile<i32> -> tile<1x1xi32>
  %ms = broadcast %m1 : tile<1x1xi32> -> tile<64x1xi32>
  %in_row = cmpi less_than %columns, %ns, signed : tile<1x64xi32> -> tile<1x64xi1>
  %is_row = cmpi less_than %row, %ms, signed : tile<64x1xi32> -> tile<64x1xi1>
  %in_rows = broadcast %in_row : tile<1x64xi1> -> tile<64x64xi1>
  %is_rows = broadcast %is_row : tile<64x1xi1> -> tile<64x64xi1>
  %mask = andi %in_rows, %is_rows : tile<64x64xi1>
  %x, %t = load_ptr_tko weak %p, %mask : tile<64x64xptr<f32>>, tile<64x64xi1> -> tile<64x64xf32>, token
  return
}
)");
  EXPECT_EQ(
      r.needs,
      "parameter 0 is a multiple of 16 bytes; parameter 1 is a multiple of 16; parameter 3 is a multiple of 16; ");
}

TEST(AssumeAligned, PointersThatLoopsCarry) {
  const Result r = Assumed(R"(
entry @k(%a: tile<ptr<f32>>, %step: tile<i32>, %rounds: tile<i32>) {
  %zero = constant <i32: 0> : tile<i32>
  %one = constant <i32: 1> : tile<i32>
  %column = iota : tile<64xi32>
  %last = for %i in (%zero to %rounds, step %one) : tile<i32> iter_values(%p = %a) -> (tile<ptr<f32>>) {
    %p1 = reshape %p : tile<ptr<f32>> -> tile<1xptr<f32>>
    %ps = broadcast %p1 : tile<1xptr<f32>> -> tile<64xptr<f32>>
    %at = offset %ps, %column : tile<64xptr<f32>>, tile<64xi32>
    %x, %t = load_ptr_tko weak %at : tile<64xptr<f32>> -> tile<64xf32>, token
    %next = offset %p, %step : tile<ptr<f32>>, tile<i32>
    continue %next : tile<ptr<f32>>
  }
  return
}
)");
  EXPECT_EQ(r.needs, "parameter 0 is a multiple of 16 bytes; parameter 1 is a multiple of 16; ");
}

}  // namespace
}  // namespace tile::codegen

// PTX that ptxas is known to take wrongly is not made (codegen/assembler_faults.h).
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "codegen/emit/ptx_testing.h"
#include "gtest/gtest.h"

namespace tile::codegen {
namespace {

constexpr char kReached[] = R"(
entry @k(%p: tile<ptr<i16>>, %out: tile<ptr<i16>>) {
  %f = constant <f32: 5.0> : tile<f32>
  %c = ftoi %f signed : tile<f32> -> tile<i16>
  %g = constant <f64: 5.0> : tile<f64>
  %d = ftoi %g signed : tile<f64> -> tile<i16>
  %x, %t1 = load_ptr_tko weak %p : tile<ptr<i16>> -> tile<i16>, token
  %m = mini %x, %c signed
  %is = cmpi equal %m, %d, signed : tile<i16> -> tile<i1>
  %w = exti %is unsigned : tile<i1> -> tile<i16>
  store_ptr_tko weak %out, %w : tile<ptr<i16>>, tile<i16> -> token
  return
}
)";

TEST(AssemblerFaults, NarrowMinimaAndMaxima) {
  for (const char* op : {"mini", "maxi"}) {
    for (const char* sign : {"signed", "unsigned"}) {
      for (const char* type : {"i8", "i16", "i32"}) {
        const CompiledText c =
            CompileText(absl::StrReplaceAll(kReached, {{"mini", op}, {"%m = mini %x, %c signed", absl::StrCat("%m = ", op, " %x, %c ", sign)}, {"i16", type}}), 90);
        EXPECT_EQ(c.error, "");
        const std::string wide = absl::StrCat(std::string(op).substr(0, 3), ".", *sign == 's' ? "s" : "u", "32");
        EXPECT_GE(Count(c.ptx, wide), 1) << op << " " << sign << " " << type << c.ptx;
        for (const char* narrow : {"min.s16", "min.u16", "max.s16", "max.u16"}) EXPECT_EQ(Count(c.ptx, narrow), 0) << c.ptx;
      }
    }
  }
}

}  // namespace
}  // namespace tile::codegen

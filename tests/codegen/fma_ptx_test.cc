// Products by fma: where their sums lie is for the assembler to choose until they are stored.
#include <string>

#include "absl/strings/str_replace.h"
#include "gtest/gtest.h"
#include "tests/codegen/ptx_testing.h"

namespace tile::codegen {
namespace {

constexpr char kMove[] = "0f80000000";  // adds -0

std::string Ptx(const std::string& text) {
  const CompiledText c = CompileText(text, 90);
  EXPECT_EQ(c.error, "");
  EXPECT_EQ(AssemblerErrors(c, 90), "");
  return c.ptx;
}

std::string ProductOfFloats() { return absl::StrReplaceAll(ProductText(128, 128, 32), {{"bf16", "f32"}}); }

TEST(FmaPtx, SumsThatAreStoredLeaveTheLoopInOtherRegisters) {
  const std::string ptx = Ptx(ProductOfFloats());
  EXPECT_EQ(Count(ptx, kMove), 128);
  EXPECT_EQ(Count(ptx, "fma.rn.f32"), 8 * 128);
  // Stored whole, behind the loop.
  EXPECT_EQ(Count(ptx, "st.global.v4"), 32);
  EXPECT_GT(ptx.find(kMove), ptx.rfind("fma.rn.f32"));
}

TEST(FmaPtx, WhatIsComputedFromSumsIsInOtherRegistersAnyway) {
  EXPECT_EQ(
      Count(Ptx(absl::StrReplaceAll(ProductOfFloats(), {{"  store_view_tko weak %sum",
                                                         "  %twice = addf %sum, %sum\n  store_view_tko weak %twice"}})),
            kMove),
      0);
  EXPECT_EQ(Count(Ptx(ProductText(128, 128, 32)), kMove), 0);  // by wgmma
}

// Types that no matrix instruction takes are multiplied out.
TEST(FmaPtx, BatchesOfSixteenBitsAreNotMultipliedOut) {
  const std::string text = R"(
entry @batch(%a: tile<ptr<f16>>, %b: tile<ptr<f16>>, %c: tile<ptr<f32>>) {
  %at = make_tensor_view %a, shape = [4, 16, 32], strides = [512, 32, 1] : tensor_view<4x16x32xf16, strides=[512,32,1]>
  %bt = make_tensor_view %b, shape = [4, 32, 16], strides = [512, 16, 1] : tensor_view<4x32x16xf16, strides=[512,16,1]>
  %ct = make_tensor_view %c, shape = [4, 16, 16], strides = [256, 16, 1] : tensor_view<4x16x16xf32, strides=[256,16,1]>
  %av = make_partition_view %at : partition_view<tile=(4x16x32), tensor_view<4x16x32xf16, strides=[512,32,1]>>
  %bv = make_partition_view %bt : partition_view<tile=(4x32x16), tensor_view<4x32x16xf16, strides=[512,16,1]>>
  %cv = make_partition_view %ct : partition_view<tile=(4x16x16), tensor_view<4x16x16xf32, strides=[256,16,1]>>
  %o = constant <i32: 0> : tile<i32>
  %zero = constant <f32: 0> : tile<4x16x16xf32>
  %x, %t1 = load_view_tko weak %av[%o, %o, %o] -> tile<4x16x32xf16>, token
  %y, %t2 = load_view_tko weak %bv[%o, %o, %o] -> tile<4x32x16xf16>, token
  %sum = mmaf %x, %y, %zero
  store_view_tko weak %sum, %cv[%o, %o, %o] -> token
  return
}
)";
  const CompiledText c = CompileText(text, 90);
  ASSERT_EQ(c.error, "");
  EXPECT_EQ(AssemblerErrors(c, 90), "");
  EXPECT_GT(Count(c.ptx, "mma.sync.aligned.m16n8k16"), 0);
  EXPECT_EQ(Count(c.ptx, "fma.rn"), 0);
  const CompiledText floats = CompileText(absl::StrReplaceAll(text, {{"f16", "f32"}}), 90);
  ASSERT_EQ(floats.error, "");
  EXPECT_EQ(Count(floats.ptx, "mma.sync"), 0);
}

}  // namespace
}  // namespace tile::codegen

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

}  // namespace
}  // namespace tile::codegen

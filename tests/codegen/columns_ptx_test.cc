// Products by tcgen05, with sums in tensor memory: what the code of a loop has, which loops have it, and what stays with other instructions.
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "gtest/gtest.h"
#include "tests/codegen/ptx_testing.h"

namespace tile::codegen {
namespace {

CompiledText CompiledFor(const std::string& text, const char* target) {
  const CompiledText c = CompileText(text, *FindTarget(target), "", true);
  EXPECT_EQ(c.error, "");
  return c;
}

std::string Ptx(const std::string& text, const char* target = "100") { return CompiledFor(text, target).ptx; }

bool IsInColumns(const std::string& text, const char* target = "100") {
  return absl::StrContains(Ptx(text, target), "tcgen05.mma");
}

// The sums stay there until their loop has run: nobody loads them in it to add to them.
bool StaysInColumns(const std::string& text) {
  const CompiledText c = CompiledFor(text, "100");
  return absl::StrContains(c.ptx, "tcgen05.mma") && c.persistent;
}

TEST(ColumnsPtx, AnIterationHasFewInstructions) {
  const CompiledText c = CompiledFor(ProductText(128, 256, 64), "100");
  // Four steps of 16 along K, begun by one thread; a commit for the stage, and one behind the loop.
  EXPECT_EQ(Count(c.ptx, "tcgen05.mma.cta_group::1.kind::f16"), 4);
  EXPECT_EQ(Count(c.ptx, "tcgen05.commit"), 2);
  EXPECT_EQ(Count(c.llvm, ".reg .pred add;"), 1);
  // Two tiles: the right one in chunks of 64 columns.
  EXPECT_EQ(Count(c.ptx, "cp.async.bulk.tensor.2d.shared"), 5);
  EXPECT_EQ(Count(c.ptx, "mbarrier.arrive.expect_tx"), 1);
  EXPECT_EQ(Count(c.ptx, "mma.sync"), 0);
  EXPECT_EQ(Count(c.ptx, "ldmatrix"), 0);
  EXPECT_EQ(Count(c.ptx, "cluster.arrive"), 0);
  // 256 columns, and 128 sums of each thread.
  EXPECT_EQ(Count(c.ptx, "tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32"), 1);
  EXPECT_TRUE(absl::StrContains(c.ptx, "], 256; "));
  EXPECT_EQ(Count(c.ptx, "tcgen05.dealloc"), 1);
  EXPECT_EQ(Count(c.ptx, "tcgen05.ld.sync.aligned.32x32b.x32.b32"), 4);
  EXPECT_EQ(Count(c.ptx, "tcgen05.wait::ld"), 1);
  EXPECT_EQ(Count(c.ptx, ".reqntid 288"), 1);
  EXPECT_TRUE(c.persistent);
}

// An instruction has 64 or 128 rows, and at most 256 columns.
TEST(ColumnsPtx, LargerTilesAreSeveralInstructions) {
  struct {
    int m, n, instructions, columns;
    const char* load;
  } const cases[] = {{64, 64, 4, 64, "16x256b.x8"},
                     {128, 32, 4, 32, "32x32b.x32"},
                     {128, 64, 4, 64, "32x32b.x32"},
                     {256, 128, 8, 256, "32x32b.x32"},
                     {64, 256, 4, 256, "16x256b.x8"}};
  for (const auto& x : cases) {
    SCOPED_TRACE(absl::StrCat(x.m, " x ", x.n));
    const std::string ptx = Ptx(ProductText(x.m, x.n, 64));
    EXPECT_EQ(Count(ptx, "tcgen05.mma"), x.instructions);
    EXPECT_TRUE(absl::StrContains(ptx, absl::StrCat("], ", x.columns, "; "))) << ptx;
    EXPECT_TRUE(absl::StrContains(ptx, x.load));
  }
}

TEST(ColumnsPtx, EveryTargetWithTensorMemoryHasIt) {
  for (const char* target : {"100", "100f", "103", "110"})
    EXPECT_TRUE(IsInColumns(ProductText(128, 128, 64), target)) << target;
  for (const char* target : {"80", "90", "120", "120f", "121"})
    EXPECT_FALSE(IsInColumns(ProductText(128, 128, 64), target)) << target;
}

TEST(ColumnsPtx, OtherTypes) {
  const auto of = [](const char* type, int k, const char* sum) {
    return absl::StrReplaceAll(ProductText(128, 128, k), {{"bf16", type}, {"f32", sum}});
  };
  EXPECT_EQ(Count(Ptx(of("f16", 64, "f32")), "tcgen05.mma.cta_group::1.kind::f16"), 4);
  // Of types of other widths operands along M or N stay with mma.sync.
  EXPECT_EQ(Count(Ptx(of("f8E4M3FN", 128, "f32")), "tcgen05.mma"), 0);
  const std::string tensor = "tensor_view<?x?xf8E4M3FN, strides=[?,1]>",
                    along_k = "tensor_view<?x?xf8E4M3FN, strides=[1,?]>";
  const std::string text =
      absl::StrReplaceAll(of("f8E4M3FN", 128, "f32"), {{"[%k, %n], strides = [%n, 1] : tile<i32> -> " + tensor,
                                                        "[%k, %n], strides = [1, %k] : tile<i32> -> " + along_k},
                                                       {tensor + ">\n  %cv", along_k + ">\n  %cv"}});
  EXPECT_EQ(Count(Ptx(text), "tcgen05.mma.cta_group::1.kind::f8f6f4"), 4);
}

// What else the loop's sums are used for needs them in registers.
TEST(ColumnsPtx, SumsOfOtherLoopsStayInRegisters) {
  const std::string product = ProductText(128, 128, 64);
  EXPECT_TRUE(StaysInColumns(product));
  EXPECT_FALSE(
      StaysInColumns(absl::StrReplaceAll(product, {{"%zero = constant <f32: 0>", "%zero = constant <f32: 1>"}})));
  EXPECT_FALSE(StaysInColumns(absl::StrReplaceAll(
      product,
      {{"    %x, %t1 = load",
        "    %fifth = cmpi equal %step, %one, signed : tile<i32> -> tile<i1>\n    if %fifth {\n      continue %zero : "
        "tile<128x128xf32>\n    }\n    %x, %t1 = load"}})));
  EXPECT_FALSE(StaysInColumns(absl::StrReplaceAll(
      product, {{"continue %next", "%more = addf %next, %next : tile<128x128xf32>\n    continue %more"}})));
}

TEST(ColumnsPtx, PtxasTakesIt) {
  if (FindPtxas().empty()) GTEST_SKIP() << "ptxas was not found";
  for (const char* name : {"100", "100f", "103", "110"}) {
    const Target& target = *FindTarget(name);
    if (NewestPtx() < target.ptx) continue;
    for (const auto& [m, n] : std::vector<std::pair<int, int>>{{64, 64}, {128, 128}, {128, 256}, {256, 128}})
      EXPECT_EQ(AssemblerErrors(CompileText(ProductText(m, n, 64), target, "", true), target), "") << name;
  }
}

}  // namespace
}  // namespace tile::codegen

// Products of products: warps stand along the rows, so that what one product gives is reduced by shuffles and goes on as the
// left operand of the next without leaving the registers; a left operand that stays the same is brought into fragments once.
#include <regex>
#include <string>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "gtest/gtest.h"
#include "tests/codegen/ptx_testing.h"

namespace tile::codegen {
namespace {

// y = sum over steps of narrow(x * k) * v, and the greatest elements of the rows of the first products.
constexpr char kChain[] = R"(
entry @chain(%a: tile<ptr<f16>>, %b: tile<ptr<f16>>, %c: tile<ptr<f16>>, %y: tile<ptr<f32>>, %z: tile<ptr<f32>>, %n: tile<i32>) {
  %at = make_tensor_view %a, shape = [%n, 32], strides = [32, 1] : tile<i32> -> tensor_view<?x32xf16, strides=[32,1]>
  %bt = make_tensor_view %b, shape = [%n, 32], strides = [32, 1] : tile<i32> -> tensor_view<?x32xf16, strides=[32,1]>
  %ct = make_tensor_view %c, shape = [%n, 64], strides = [64, 1] : tile<i32> -> tensor_view<?x64xf16, strides=[64,1]>
  %yt = make_tensor_view %y, shape = [%n, 64], strides = [64, 1] : tile<i32> -> tensor_view<?x64xf32, strides=[64,1]>
  %zt = make_tensor_view %z, shape = [%n], strides = [1] : tile<i32> -> tensor_view<?xf32, strides=[1]>
  %av = make_partition_view %at : partition_view<tile=(MMx32), tensor_view<?x32xf16, strides=[32,1]>>
  %bv = make_partition_view %bt : partition_view<tile=(32x32), padding_value = zero, dim_map=[1, 0], tensor_view<?x32xf16, strides=[32,1]>>
  %cv = make_partition_view %ct : partition_view<tile=(32x64), padding_value = zero, tensor_view<?x64xf16, strides=[64,1]>>
  %yv = make_partition_view %yt : partition_view<tile=(MMx64), tensor_view<?x64xf32, strides=[64,1]>>
  %zv = make_partition_view %zt : partition_view<tile=(MM), tensor_view<?xf32, strides=[1]>>
  %first = constant <i32: 0> : tile<i32>
  %one = constant <i32: 1> : tile<i32>
  %none = constant <f32: 0> : tile<MMx32xf32>
  %y0 = constant <f32: 0> : tile<MMx64xf32>
  %max0 = constant <f32: 0xFF800000> : tile<MMxf32>
  %x, %t1 = load_view_tko weak %av[%first, %first] -> tile<MMx32xf16>, token
  %max, %sum = for %step in (%first to %n, step %one) : tile<i32> iter_values(%old = %max0, %acc = %y0) -> (tile<MMxf32>, tile<MMx64xf32>) {
    %k, %t2 = load_view_tko weak %bv[%first, %step] -> tile<32x32xf16>, token
    %product = mmaf %x, %k, %none
    %greatest = reduce %product dim=1 identities=[0xFF800000 : f32] : tile<MMx32xf32> -> tile<MMxf32> (%e: tile<f32>, %s: tile<f32>) {
      %r = maxf %e, %s
      yield %r : tile<f32>
    }
    %new = maxf %old, %greatest
    %narrow = ftof %product : tile<MMx32xf32> -> tile<MMx32xf16>
    %v, %t3 = load_view_tko weak %cv[%step, %first] -> tile<32x64xf16>, token
    %next = mmaf %narrow, %v, %acc
    continue %new, %next : tile<MMxf32>, tile<MMx64xf32>
  }
  store_view_tko weak %sum, %yv[%first, %first] -> token
  store_view_tko weak %max, %zv[%first] -> token
  return
}
)";

// With so many rows, for four warps.
std::string Ptx(const char* rows, int sm) {
  const CompiledText c = CompileText(absl::StrReplaceAll(kChain, {{"MM", rows}}), sm);
  EXPECT_EQ(c.error, "");
  EXPECT_EQ(AssemblerErrors(c, sm), "");
  return c.ptx;
}

TEST(ChainPtx, AccumulatorsAreTheNextProductsFragments) {
  for (int sm : {80, 120}) {
    const std::string ptx = Ptx("64", sm);
    // 16 rows of a warp: 4 pieces of 8 columns in 2 steps along K, then 8 pieces in 2 steps.
    EXPECT_EQ(Count(ptx, "mma.sync"), 24);
    // Two to bring the left operand into fragments before the loop, one before copies come to the same memory, one a round for what is
    // copied ahead.
    EXPECT_EQ(Count(ptx, "bar.sync") + Count(ptx, "barrier.sync"), 4);
    // The greatest of a row: two rows of a thread, over four lanes.
    EXPECT_EQ(Count(ptx, "shfl.sync"), 4);
    // Pairs are rounded together.
    EXPECT_EQ(Count(ptx, "cvt.rn.f16x2.f32"), 8);
    EXPECT_EQ(Count(ptx, "cvt.rn.f16.f32"), 0);
  }
}

// One thread begins both products, of two steps along K each, and the warps load what they leave.
TEST(ChainPtx, WithTensorMemoryNothingIsAFragment) {
  for (const char* rows : {"64", "128"}) {
    const std::string ptx = Ptx(rows, 100);
    EXPECT_EQ(Count(ptx, "mma.sync"), 0);
    EXPECT_EQ(Count(ptx, "ldmatrix"), 0);
    EXPECT_EQ(Count(ptx, "tcgen05.mma"), 4) << rows;
    EXPECT_EQ(Count(ptx, "tcgen05.commit"), 2) << rows;
    EXPECT_EQ(Count(ptx, "tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32"), 1);
    EXPECT_TRUE(absl::StrContains(ptx, "], 64; ")) << rows;
    EXPECT_EQ(Count(ptx, "tcgen05.dealloc"), 1);
  }
}

TEST(ChainPtx, WithWgmmaOnlyWhatChangesIsInRegisters) {
  const std::string ptx = Ptx("64", 90);
  EXPECT_EQ(Count(ptx, "mma.sync.aligned.m16"), 0);
  // Two steps along K each: of the first product both operands lie in shared memory, of the second the right one.
  EXPECT_EQ(Count(ptx, "wgmma.mma_async.sync.aligned.m64n32k16.f32.f16.f16"), 2);
  EXPECT_EQ(Count(ptx, "wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16"), 2);
  EXPECT_EQ(Count(ptx, "cvt.rn.f16x2.f32"), 8);
  EXPECT_EQ(Count(ptx, "shfl.sync.bfly"), 4);
  // A barrier an iteration. Elements of two bytes may go through registers here: who stores them fences them for wgmma, of each operand in front of the
  // loop and in it. The left operand is written once, before a fence of its own.
  EXPECT_EQ(Count(ptx, "bar.sync") + Count(ptx, "barrier.sync"), 1);
  EXPECT_EQ(Count(ptx, "fence.proxy.async"), 2 * 2 + 1);
}

TEST(ChainPtx, FragmentsOfSeveralProductsAreNotForWgmma) {
  // ptxas 13.0 would overwrite them.
  std::string text = absl::StrReplaceAll(
      kChain,
      {{"MM", "64"},
       {"%next = mmaf %narrow, %v, %acc", "%twice = mmaf %narrow, %v, %acc\n    %next = mmaf %narrow, %v, %twice"}});
  const CompiledText c = CompileText(text, 90);
  EXPECT_EQ(c.error, "");
  EXPECT_EQ(Count(c.ptx, "mma.sync.aligned.m16"), 32);
}

TEST(ChainPtx, WgmmaReadsWhatThreadsCopied) {
  // Without descriptors: both operands of a plain product.
  constexpr char kProduct[] = R"(
entry @product(%a: tile<ptr<bf16>>, %b: tile<ptr<bf16>>, %c: tile<ptr<f32>>, %n: tile<i32>) {
  %at = make_tensor_view %a, shape = [%n, 64], strides = [64, 1] : tile<i32> -> tensor_view<?x64xbf16, strides=[64,1]>
  %bt = make_tensor_view %b, shape = [%n, 128], strides = [128, 1] : tile<i32> -> tensor_view<?x128xbf16, strides=[128,1]>
  %ct = make_tensor_view %c, shape = [%n, 128], strides = [128, 1] : tile<i32> -> tensor_view<?x128xf32, strides=[128,1]>
  %av = make_partition_view %at : partition_view<tile=(64x64), padding_value = zero, tensor_view<?x64xbf16, strides=[64,1]>>
  %bv = make_partition_view %bt : partition_view<tile=(64x128), padding_value = zero, tensor_view<?x128xbf16, strides=[128,1]>>
  %cv = make_partition_view %ct : partition_view<tile=(64x128), tensor_view<?x128xf32, strides=[128,1]>>
  %first = constant <i32: 0> : tile<i32>
  %one = constant <i32: 1> : tile<i32>
  %zero = constant <f32: 0> : tile<64x128xf32>
  %sum = for %step in (%first to %n, step %one) : tile<i32> iter_values(%acc = %zero) -> (tile<64x128xf32>) {
    %x, %t1 = load_view_tko weak %av[%step, %first] -> tile<64x64xbf16>, token
    %y, %t2 = load_view_tko weak %bv[%step, %first] -> tile<64x128xbf16>, token
    %next = mmaf %x, %y, %acc
    continue %next : tile<64x128xf32>
  }
  store_view_tko weak %sum, %cv[%first, %first] -> token
  return
}
)";
  const CompiledText c = CompileText(kProduct, 90);
  EXPECT_EQ(c.error, "");
  EXPECT_EQ(AssemblerErrors(c, 90), "");
  EXPECT_EQ(Count(c.ptx, "wgmma.mma_async.sync.aligned.m64n128k16.f32.bf16.bf16"), 4);
  EXPECT_EQ(Count(c.ptx, "fence.proxy.async"), 2 * 2);
  EXPECT_EQ(Count(CompileText(kProduct, 80).ptx, "wgmma"), 0);
}

// Each row's sums are multiplied by a power.
std::string Scaled(const std::string& chain) {
  return absl::StrReplaceAll(chain, {{"MM", "64"},
                                     {"%next = mmaf %narrow, %v, %acc",
                                      "%rise = subf %old, %new\n    %factor = exp2 %rise\n"
                                      "    %factor1 = reshape %factor : tile<64xf32> -> tile<64x1xf32>\n"
                                      "    %factors = broadcast %factor1 : tile<64x1xf32> -> tile<64x64xf32>\n"
                                      "    %less = mulf %acc, %factors\n    %next = mmaf %narrow, %v, %less"}});
}

TEST(ChainPtx, AWarpWhoseFactorsAreOneLeavesThemOut) {
  const std::string text = Scaled(kChain);
  for (int sm : {80, 90}) {
    const CompiledText c = CompileText(text, sm);
    EXPECT_EQ(c.error, "");
    EXPECT_EQ(AssemblerErrors(c, sm), "");
    EXPECT_EQ(Count(c.ptx, "vote.sync.all.pred"), sm == 90);  // of one warpgroup; for mma.sync nothing was measured
  }
  // Products that flush subnormal numbers to zero change what they multiply by one.
  const CompiledText c =
      CompileText(absl::StrReplaceAll(text, {{"mulf %acc, %factors", "mulf %acc, %factors flush_to_zero"}}), 90);
  EXPECT_EQ(c.error, "");
  EXPECT_EQ(Count(c.ptx, "vote.sync.all.pred"), 0);
}

TEST(ChainPtx, FactorsAreMultipliedBetweenExponentials) {
  const std::string text =
      absl::StrReplaceAll(Scaled(kChain), {{"%narrow = ftof %product",
                                            "%new1 = reshape %new : tile<64xf32> -> tile<64x1xf32>\n"
                                            "    %maxima = broadcast %new1 : tile<64x1xf32> -> tile<64x32xf32>\n"
                                            "    %power = subf %product, %maxima\n    %weight = exp2 %power\n"
                                            "    %narrow = ftof %weight"}});
  const CompiledText c = CompileText(text, 90);
  EXPECT_EQ(c.error, "");
  EXPECT_EQ(AssemblerErrors(c, 90), "");
  // At least 12 of 16 scores of a thread stand on both ways; two or three of its 32 sums behind each of them on one.
  const size_t vote = c.ptx.find("vote.sync.all.pred");
  ASSERT_NE(vote, std::string::npos);
  EXPECT_GE(Count(c.ptx, "ex2.approx"), 28);
  int changes = 0;
  bool multiplies = false;
  for (absl::string_view line : absl::StrSplit(c.ptx.substr(vote), '\n')) {
    if (absl::StrContains(line, "mul.rn.f32")) multiplies = true;
    if (!absl::StrContains(line, "ex2.approx")) continue;
    changes += multiplies;
    multiplies = false;
  }
  EXPECT_GE(changes, 10);
}

TEST(ChainPtx, ALateProductRunsBesideTheNextIteration) {
  const CompiledText c = CompileText(absl::StrReplaceAll(kChain, {{"MM", "64"}}), 90, "", /*descriptors=*/true);
  EXPECT_EQ(c.error, "");
  EXPECT_EQ(AssemblerErrors(c, 90), "");
  // Two iterations in a row. Beside the first product in each of them, and once behind the loop.
  EXPECT_EQ(Count(c.ptx, "wgmma.mma_async.sync.aligned.m64n32k16.f32.f16.f16"), 4);
  EXPECT_EQ(Count(c.ptx, "wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16"), 6);
  // The first is waited for while the late one runs; alone in the first iteration, which is not the second one of two.
  EXPECT_EQ(Count(c.ptx, "wgmma.wait_group.sync.aligned 1;"), 2);
  EXPECT_EQ(Count(c.ptx, "wgmma.wait_group.sync.aligned 0;"), 4);
  // So are copies begun, between the late one's beginning and that wait.
  const size_t begun = c.ptx.find("m64n64k16"), awaited = c.ptx.find("wgmma.wait_group.sync.aligned 1;");
  EXPECT_LT(begun, c.ptx.find("cp.async.bulk.tensor", begun));
  EXPECT_LT(c.ptx.find("cp.async.bulk.tensor", begun), awaited);
  // One warpgroup has nobody to take turns with. One chosen thread starts the copies, before the loop and in it.
  EXPECT_EQ(Count(c.ptx, "bar.arrive"), 0);
  EXPECT_EQ(Count(c.ptx, "elect.sync"), 3);
}

// Read from shared memory by instructions of few columns, they would take all that it gives.
TEST(ChainPtx, QueriesStayInRegistersForTheLoop) {
  const CompiledText c = CompileText(absl::StrReplaceAll(kChain, {{"MM", "64"}}), 90, "", /*descriptors=*/true);
  EXPECT_EQ(c.error, "");
  EXPECT_EQ(AssemblerErrors(c, 90), "");
  // Of both steps along K, in front of the loop.
  EXPECT_EQ(Count(c.ptx, "ldmatrix.sync.aligned.m8n8.x4"), 2);
  EXPECT_LT(c.ptx.rfind("ldmatrix"), c.ptx.find("wgmma.mma_async"));
  // The first operand is four registers; the second one alone is in memory, as a descriptor.
  const std::regex of_registers(
      "m64n32k16[.]f32[.]f16[.]f16 [{][^}]*[}], [{](%r[0-9]+, ){3}%r[0-9]+[}], %rd[0-9]+, add");
  EXPECT_TRUE(std::regex_search(c.ptx, of_registers));
}

// Behind the begin of a product that is not late they are read again, by stores that are never done: else ptxas lays its fragments over them.
TEST(ChainPtx, QueriesAreReadAgainBehindFragmentsOfTheIteration) {
  const CompiledText c = CompileText(
      absl::StrReplaceAll(
          kChain, {{"continue %new, %next", "%more = addf %next, %next : tile<64x64xf32>\n continue %new, %more"},
                   {"MM", "64"}}),
      90, "", /*descriptors=*/true);
  EXPECT_EQ(c.error, "");
  EXPECT_EQ(AssemblerErrors(c, 90), "");
  const std::regex reads(
      "wgmma.commit_group[^@]*@%p[0-9]+ st.shared.v4.b32[^@]*@%p[0-9]+ st.shared.v4.b32[^@]*wgmma.wait_group");
  EXPECT_TRUE(std::regex_search(c.ptx.substr(c.ptx.find("m64n64k16")), reads));
}

TEST(ChainPtx, ARingThatTmaFillsHasOnePositionOfEachKind) {
  const CompiledText c = CompileText(absl::StrReplaceAll(kChain, {{"MM", "64"}}), 90, "", /*descriptors=*/true);
  EXPECT_EQ(c.error, "");
  // The number of a stage says where it lies and where its barriers are: nothing counts its bytes, to 36864 behind six stages, as well.
  EXPECT_EQ(Count(c.ptx, "mbarrier.init.shared::cta.b64"), 12);
  EXPECT_EQ(Count(c.ptx, ", 36864;"), 0);
}

TEST(ChainPtx, FewRowsAreSharedOverColumns) {
  const std::string ptx = Ptx("16", 80);
  EXPECT_GT(Count(ptx, "bar.sync") + Count(ptx, "barrier.sync"), 3);
}

// 256 rows, 128 columns of the first product: sums of the second in 64 columns, three quarters of the registers are sums, in 128 all.
TEST(ChainPtx, SumsInThreeQuartersOfTheRegistersStayWhole) {
  for (const auto& [columns, threads] : {std::pair("64", "512"), std::pair("128", "256")}) {
    const std::string text =
        absl::StrReplaceAll(kChain, {{"tile<MMx32xf32> -> tile<MMx32xf16>", "tile<MMx128xf32> -> tile<MMx128xf16>"},
                                     {"tile<MMx32xf32>", "tile<MMx128xf32>"},
                                     {"(32x32)", "(32x128)"},
                                     {"tile<32x32xf16>", "tile<32x128xf16>"},
                                     {"(32x64)", "(128xCC)"},
                                     {"tile<32x64xf16>", "tile<128xCCxf16>"},
                                     {"MMx64", "MMxCC"},
                                     {"?x64x", "?xCCx"},
                                     {"[%n, 64], strides = [64, 1]", "[%n, CC], strides = [CC, 1]"},
                                     {"[64,1]", "[CC,1]"}});
    const CompiledText c =
        CompileText(absl::StrReplaceAll(text, {{"MM", "256"}, {"CC", columns}}), 90, "", /*descriptors=*/true);
    EXPECT_EQ(c.error, "");
    EXPECT_EQ(Count(c.ptx, absl::StrCat(".reqntid ", threads, "\n")), 1) << c.ptx.substr(0, 2000);
  }
}

}  // namespace
}  // namespace tile::codegen

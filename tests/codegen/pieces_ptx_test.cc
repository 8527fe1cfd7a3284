// Products of tiles that shared memory does not hold twice: their operands come piece by piece, those of later products and iterations
// while earlier ones are multiplied.
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "gtest/gtest.h"
#include "tests/codegen/ptx_testing.h"

namespace tile::codegen {
namespace {

// y = sum over steps of narrow(q kᵀ) v, all across: 16 queries are columns. DD: elements of a key.
constexpr char kDecoding[] = R"(
entry @decoding(%q: tile<ptr<f16>>, %k: tile<ptr<f16>>, %v: tile<ptr<f16>>, %y: tile<ptr<f32>>, %n: tile<i32>) {
  %q1 = assume div_by<16>, %q : tile<ptr<f16>>
  %k1 = assume div_by<16>, %k : tile<ptr<f16>>
  %v1 = assume div_by<16>, %v : tile<ptr<f16>>
  %qt = make_tensor_view %q1, shape = [16, DD], strides = [DD, 1] : tensor_view<16xDDxf16, strides=[DD,1]>
  %kt = make_tensor_view %k1, shape = [%n, DD], strides = [DD, 1] : tile<i32> -> tensor_view<?xDDxf16, strides=[DD,1]>
  %vt = make_tensor_view %v1, shape = [%n, DD], strides = [DD, 1] : tile<i32> -> tensor_view<?xDDxf16, strides=[DD,1]>
  %yt = make_tensor_view %y, shape = [16, DD], strides = [DD, 1] : tensor_view<16xDDxf32, strides=[DD,1]>
  %qv = make_partition_view %qt : partition_view<tile=(DDx16), padding_value = zero, dim_map=[1, 0], tensor_view<16xDDxf16, strides=[DD,1]>>
  %kv = make_partition_view %kt : partition_view<tile=(128xDD), padding_value = zero, tensor_view<?xDDxf16, strides=[DD,1]>>
  %vv = make_partition_view %vt : partition_view<tile=(DDx128), padding_value = zero, dim_map=[1, 0], tensor_view<?xDDxf16, strides=[DD,1]>>
  %yv = make_partition_view %yt : partition_view<tile=(DDx16), dim_map=[1, 0], tensor_view<16xDDxf32, strides=[DD,1]>>
  %first = constant <i32: 0> : tile<i32>
  %one = constant <i32: 1> : tile<i32>
  %none = constant <f32: 0> : tile<128x16xf32>
  %y0 = constant <f32: 0> : tile<DDx16xf32>
  %x, %t1 = load_view_tko weak %qv[%first, %first] -> tile<DDx16xf16>, token
  %sum = for %step in (%first to %n, step %one) : tile<i32> iter_values(%acc = %y0) -> (tile<DDx16xf32>) {
    %keys, %t2 = load_view_tko weak %kv[%step, %first] -> tile<128xDDxf16>, token
    %product = mmaf %keys, %x, %none
    %narrow = ftof %product : tile<128x16xf32> -> tile<128x16xf16>
    %values, %t3 = load_view_tko weak %vv[%first, %step] -> tile<DDx128xf16>, token
    %next = mmaf %values, %narrow, %acc
    continue %next : tile<DDx16xf32>
  }
  store_view_tko weak %sum, %yv[%first, %first] -> token
  return
}
)";

// y = sum over steps of narrow(q k) v: 64 queries, NN keys a step, heads of 256.
constexpr char kWide[] = R"(
entry @wide(%q: tile<ptr<f16>>, %k: tile<ptr<f16>>, %v: tile<ptr<f16>>, %y: tile<ptr<f32>>, %n: tile<i32>) {
  %qt = make_tensor_view %q, shape = [64, 256], strides = [256, 1] : tensor_view<64x256xf16, strides=[256,1]>
  %kt = make_tensor_view %k, shape = [%n, 256], strides = [256, 1] : tile<i32> -> tensor_view<?x256xf16, strides=[256,1]>
  %vt = make_tensor_view %v, shape = [%n, 256], strides = [256, 1] : tile<i32> -> tensor_view<?x256xf16, strides=[256,1]>
  %yt = make_tensor_view %y, shape = [64, 256], strides = [256, 1] : tensor_view<64x256xf32, strides=[256,1]>
  %qv = make_partition_view %qt : partition_view<tile=(64x256), padding_value = zero, tensor_view<64x256xf16, strides=[256,1]>>
  %kv = make_partition_view %kt : partition_view<tile=(256xNN), padding_value = zero, dim_map=[1, 0], tensor_view<?x256xf16, strides=[256,1]>>
  %vv = make_partition_view %vt : partition_view<tile=(NNx256), padding_value = zero, tensor_view<?x256xf16, strides=[256,1]>>
  %yv = make_partition_view %yt : partition_view<tile=(64x256), tensor_view<64x256xf32, strides=[256,1]>>
  %first = constant <i32: 0> : tile<i32>
  %one = constant <i32: 1> : tile<i32>
  %none = constant <f32: 0> : tile<64xNNxf32>
  %y0 = constant <f32: 0> : tile<64x256xf32>
  %x, %t1 = load_view_tko weak %qv[%first, %first] -> tile<64x256xf16>, token
  %sum = for %step in (%first to %n, step %one) : tile<i32> iter_values(%acc = %y0) -> (tile<64x256xf32>) {
    %keys, %t2 = load_view_tko weak %kv[%first, %step] -> tile<256xNNxf16>, token
    %product = mmaf %x, %keys, %none
    %narrow = ftof %product : tile<64xNNxf32> -> tile<64xNNxf16>
    %values, %t3 = load_view_tko weak %vv[%step, %first] -> tile<NNx256xf16>, token
    %next = mmaf %narrow, %values, %acc
    continue %next : tile<64x256xf32>
  }
  store_view_tko weak %sum, %yv[%first, %first] -> token
  return
}
)";

CompiledText Compiled(int elements, int sm, const std::string& text = kDecoding) {
  const CompiledText c = CompileText(absl::StrReplaceAll(text, {{"DD", absl::StrCat(elements)}}), sm);
  EXPECT_EQ(c.error, "");
  EXPECT_EQ(AssemblerErrors(c, sm), "");
  return c;
}

bool Remarks(const CompiledText& c, const std::string& what) {
  for (const std::string& remark : c.remarks) {
    if (absl::StrContains(remark, what)) return true;
  }
  return false;
}

TEST(PiecesPtx, OperandsThatDoNotFitTwice) {
  const CompiledText c = Compiled(512, 90);
  EXPECT_TRUE(Remarks(c, "6 pieces of 32768 bytes are copied ahead"));
  // Four of the keys, four of the values; five are on their way before the loop. Each has a wait and a barrier.
  EXPECT_EQ(Count(c.ptx, "cp.async.wait_group 4;"), 8);
  // 8 warps have eight vectors of a piece each.
  EXPECT_EQ(Count(c.ptx, "cp.async.cg.shared.global"), (5 + 8) * 8);
  // Both products, of 8 warps: 16 rows of 128 and all columns in 32 steps, then 4 times 16 rows of 128 in 8 steps.
  EXPECT_EQ(Count(c.ptx, "mma.sync"), 32 * 2 + 4 * 8 * 2);
  // sm_80 has less shared memory.
  EXPECT_TRUE(Remarks(Compiled(512, 80), "9 pieces of 16384 bytes are copied ahead"));
  EXPECT_TRUE(Remarks(Compiled(128, 90), "stages of 65536 bytes are copied ahead"));
}

// Keys and values have places of their own, each filled behind its product, for which a barrier of its own stands.
TEST(PiecesPtx, WgmmaTakesThemWhole) {
  const std::string text = absl::StrReplaceAll(kWide, {{"NN", "32"}});
  const CompiledText c = CompileText(text, 90, "", /*descriptors=*/true);
  EXPECT_EQ(c.error, "");
  EXPECT_EQ(AssemblerErrors(c, 90), "");
  EXPECT_TRUE(Remarks(c, "5 pieces of 16384 bytes are copied ahead by 4 warps, 2 blocks"));
  EXPECT_TRUE(Remarks(c, "tiles come by TMA"));
  EXPECT_EQ(Count(c.ptx, "mbarrier.arrive.expect_tx.shared::cta.b64 _, "), 4 + 2);
  EXPECT_EQ(Count(c.ptx, "mbarrier.arrive.shared::cta.b64 _, "), 2);
  // Of threads.
  const CompiledText t = CompileText(text, 90);
  EXPECT_EQ(AssemblerErrors(t, 90), "");
  EXPECT_EQ(Count(t.ptx, "cp.async.wait_group 3;"), 2);
  // Three stages are as good.
  EXPECT_FALSE(Remarks(CompileText(absl::StrReplaceAll(kWide, {{"NN", "16"}}), 90), "pieces"));
}

// Two stages are enough for a late product: its operand comes apart, by barriers of its own. The keys of the first iteration before the loop, of the
// next one and values in it.
TEST(PiecesPtx, TwoStagesOfALateProduct) {
  const std::string text =
      absl::StrReplaceAll(kWide, {{"64, 256", "128, 256"}, {"64x256", "128x256"}, {"64xNN", "128x64"}, {"NN", "64"}});
  const CompiledText c = CompileText(text, 90, "", /*descriptors=*/true);
  EXPECT_EQ(c.error, "");
  EXPECT_EQ(AssemblerErrors(c, 90), "");
  EXPECT_TRUE(Remarks(c, "2 stages of 65536 bytes are copied ahead by 8 warps, 1 block"));
  EXPECT_TRUE(Remarks(c, "tiles come by TMA"));
  EXPECT_TRUE(Remarks(c, "runs beside the next iteration"));
  EXPECT_EQ(Count(c.ptx, "mbarrier.init.shared::cta.b64"), 8);
  // In the loop twice, as it stands there twice.
  EXPECT_EQ(Count(c.ptx, "mbarrier.arrive.expect_tx.shared::cta.b64 _, "), 1 + 2 * 2);
  EXPECT_EQ(Count(c.ptx, "mbarrier.arrive.shared::cta.b64 _, "), 1 + 2 * 2);
  // TMA brings keys while threads bring queries.
  EXPECT_LT(c.ptx.find("cp.async.bulk.tensor"), c.ptx.find("st.shared"));
  // And before they have come: the fence, in which ptxas waits for loads, is for what threads store.
  EXPECT_LT(c.ptx.find("cp.async.bulk.tensor"), c.ptx.find("fence.proxy.async"));
}

// A warpgroup whose two stages take all of the shared memory would be alone on the multiprocessor; with one place more than an iteration has operands, two
// blocks of one are there.
TEST(PiecesPtx, TwoBlocksOfThreePlaces) {
  const std::string text = absl::StrReplaceAll(kWide, {{"256", "128"}, {"64xNN", "64x128"}, {"NN", "128"}});
  const CompiledText c = CompileText(text, 90, "", /*descriptors=*/true);
  EXPECT_EQ(c.error, "");
  EXPECT_EQ(AssemblerErrors(c, 90), "");
  EXPECT_TRUE(Remarks(c, "3 pieces of 32768 bytes are copied ahead by 4 warps, 2 blocks"));
  EXPECT_TRUE(Remarks(c, "tiles come by TMA"));
}

// Heads of 64: three blocks hold two iterations each, in places of operands, or two blocks three.
TEST(PiecesPtx, ThreeWarpgroupsInBlocksOfTheirOwn) {
  const std::string text = absl::StrReplaceAll(
      kWide, {{"256", "64"},
              {"    %narrow = ftof %product :",
               "    %greatest = reduce %product dim=1 identities=[0xFF800000 : f32] : tile<64x128xf32> -> tile<64xf32> "
               "(%e: tile<f32>, %s: tile<f32>) {\n      %r = maxf %e, %s\n      yield %r : tile<f32>\n    }\n"
               "    %column = reshape %greatest : tile<64xf32> -> tile<64x1xf32>\n"
               "    %all = broadcast %column : tile<64x1xf32> -> tile<64x128xf32>\n"
               "    %below = subf %product, %all : tile<64x128xf32>\n    %narrow = ftof %below :"}});
  const CompiledText c = CompileText(absl::StrReplaceAll(text, {{"NN", "128"}}), 90, "", /*descriptors=*/true);
  EXPECT_EQ(c.error, "");
  EXPECT_EQ(AssemblerErrors(c, 90), "");
  EXPECT_TRUE(Remarks(c, "4 pieces of 16384 bytes are copied ahead by 4 warps, 3 blocks"));
  EXPECT_TRUE(Remarks(c, "tiles come by TMA"));
  EXPECT_EQ(Count(c.ptx, ".minnctapersm 3"), 1);
  // With 64 keys the late product has its three stages.
  const std::string less = absl::StrReplaceAll(text, {{"64x128xf32", "64x64xf32"}, {"NN", "64"}});
  EXPECT_FALSE(Remarks(CompileText(less, 90, "", /*descriptors=*/true), "pieces"));
}

// Heads of 128 and 64 more elements of each key, as in MLA: two stages in each of two blocks are better than six places for three operands.
TEST(PiecesPtx, StagesOfThreeOperandsThatFitTwice) {
  const std::string text = absl::StrReplaceAll(
      kWide,
      {{"256", "128"},
       {"NN", "64"},
       {"  %first = constant",
        "  %qw = make_partition_view %qt : partition_view<tile=(64x64), padding_value = zero, tensor_view<64x128xf16, strides=[128,1]>>\n"
        "  %kw = make_partition_view %kt : partition_view<tile=(64x64), padding_value = zero, dim_map=[1, 0], "
        "tensor_view<?x128xf16, strides=[128,1]>>\n"
        "  %first = constant"},
       {"  %sum = for", "  %x2, %t9 = load_view_tko weak %qw[%first, %first] -> tile<64x64xf16>, token\n  %sum = for"},
       {"    %narrow = ftof %product :",
        "    %keys2, %t8 = load_view_tko weak %kw[%first, %step] -> tile<64x64xf16>, token\n"
        "    %scores = mmaf %x2, %keys2, %product\n"
        "    %greatest = reduce %scores dim=1 identities=[0xFF800000 : f32] : tile<64x64xf32> -> tile<64xf32> "
        "(%e: tile<f32>, %s: tile<f32>) {\n      %r = maxf %e, %s\n      yield %r : tile<f32>\n    }\n"
        "    %column = reshape %greatest : tile<64xf32> -> tile<64x1xf32>\n"
        "    %all = broadcast %column : tile<64x1xf32> -> tile<64x64xf32>\n"
        "    %below = subf %scores, %all : tile<64x64xf32>\n    %narrow = ftof %below :"}});
  const CompiledText c = CompileText(text, 90, "", /*descriptors=*/true);
  EXPECT_EQ(c.error, "");
  EXPECT_TRUE(Remarks(c, "2 stages of 40960 bytes are copied ahead by 4 warps, 2 blocks"));
  // The late product begins behind both of the scores', the second of which goes on without waiting for the first.
  EXPECT_TRUE(Remarks(c, "runs beside the next iteration"));
  EXPECT_EQ(AssemblerErrors(c, 90), "");
}

// Pieces are counted, so no iteration may leave any out; and each is multiplied once.
TEST(PiecesPtx, WhereTilesStayWhole) {
  const std::string ends = absl::StrReplaceAll(
      kDecoding,
      {{"    %narrow",
        "    %is = cmpi equal %step, %one, signed : tile<i32> -> tile<i1>\n    if %is {\n      continue %acc : "
        "tile<DDx16xf32>\n    }\n    %narrow"}});
  EXPECT_FALSE(Remarks(Compiled(512, 90, ends), "pieces"));
  const std::string twice =
      absl::StrReplaceAll(kDecoding, {{"mmaf %keys, %x, %none\n", "mmaf %keys, %x, %none0\n"},
                                      {"    %product", "    %none0 = mmaf %keys, %x, %none\n    %product"}});
  EXPECT_FALSE(Remarks(Compiled(512, 90, twice), "pieces"));
}

}  // namespace
}  // namespace tile::codegen

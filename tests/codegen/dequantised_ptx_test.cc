// A product whose right operand is converted from bytes, as weights of models are: what both masks leave of the vectors of its loads, and who multiplies.
#include <string>
#include <utility>

#include "absl/strings/str_replace.h"
#include "gtest/gtest.h"
#include "tests/codegen/ptx_testing.h"

namespace tile::codegen {
namespace {

// y = x w, with masks of both loads along k. Offsets are carried, as by pointers that a loop moves.
constexpr char kDequantised[] = R"(
entry @dequant(%x: tile<ptr<bf16>>, %w: tile<ptr<i8>>, %y: tile<ptr<f32>>, %k: tile<i32>, %n: tile<i32>) {
  %assume = assume div_by<16>, %x : tile<ptr<bf16>>
  %assume_1 = assume div_by<16>, %w : tile<ptr<i8>>
  %assume_4 = assume div_by<16>, %k : tile<i32>
  %assume_5 = assume div_by<16>, %n : tile<i32>
  %cst_63_i32 = constant <i32: 63> : tile<i32>
  %cst_0_i8 = constant <i8: 0> : tile<64x128xi8>
  %cst_0_bf16 = constant <bf16: 0.000000e+00> : tile<128x64xbf16>
  %cst_1_i32 = constant <i32: 1> : tile<i32>
  %cst_0_i32 = constant <i32: 0> : tile<i32>
  %cst_64_i32 = constant <i32: 64> : tile<128x64xi32>
  %cst_0_f32 = constant <f32: 0.000000e+00> : tile<128x128xf32>
  %cst_64_i32_1 = constant <i32: 64> : tile<i32>
  %iota = iota : tile<128xi32>
  %iota_1 = iota : tile<64xi32>
  %reshape = reshape %iota : tile<128xi32> -> tile<128x1xi32>
  %reshape_1 = reshape %assume_4 : tile<i32> -> tile<1x1xi32>
  %bcast = broadcast %reshape_1 : tile<1x1xi32> -> tile<128x1xi32>
  %0 = muli %reshape, %bcast : tile<128x1xi32>
  %reshape_2 = reshape %assume : tile<ptr<bf16>> -> tile<1x1xptr<bf16>>
  %bcast_1 = broadcast %reshape_2 : tile<1x1xptr<bf16>> -> tile<128x1xptr<bf16>>
  %1 = offset %bcast_1, %0 : tile<128x1xptr<bf16>>, tile<128x1xi32>
  %reshape_3 = reshape %iota_1 : tile<64xi32> -> tile<1x64xi32>
  %bcast_2 = broadcast %1 : tile<128x1xptr<bf16>> -> tile<128x64xptr<bf16>>
  %bcast_3 = broadcast %reshape_3 : tile<1x64xi32> -> tile<128x64xi32>
  %2 = offset %bcast_2, %bcast_3 : tile<128x64xptr<bf16>>, tile<128x64xi32>
  %reshape_4 = reshape %iota_1 : tile<64xi32> -> tile<64x1xi32>
  %reshape_5 = reshape %assume_5 : tile<i32> -> tile<1x1xi32>
  %bcast_4 = broadcast %reshape_5 : tile<1x1xi32> -> tile<64x1xi32>
  %3 = muli %reshape_4, %bcast_4 : tile<64x1xi32>
  %reshape_6 = reshape %assume_1 : tile<ptr<i8>> -> tile<1x1xptr<i8>>
  %bcast_5 = broadcast %reshape_6 : tile<1x1xptr<i8>> -> tile<64x1xptr<i8>>
  %4 = offset %bcast_5, %3 : tile<64x1xptr<i8>>, tile<64x1xi32>
  %reshape_7 = reshape %iota : tile<128xi32> -> tile<1x128xi32>
  %bcast_6 = broadcast %4 : tile<64x1xptr<i8>> -> tile<64x128xptr<i8>>
  %bcast_7 = broadcast %reshape_7 : tile<1x128xi32> -> tile<64x128xi32>
  %5 = offset %bcast_6, %bcast_7 : tile<64x128xptr<i8>>, tile<64x128xi32>
  %6 = addi %assume_4, %cst_63_i32 : tile<i32>
  %7 = divi %6, %cst_64_i32_1 signed : tile<i32>
  %cst_64_i32_2 = constant <i32: 64> : tile<i32>
  %cst_0_i64 = constant <i64: 0> : tile<i64>
  %cst_0_i64_1 = constant <i64: 0> : tile<i64>
  %token = make_token : token
  %for:4 = for %i in (%cst_0_i32 to %7, step %cst_1_i32) : tile<i32> iter_values(%iter0 = %cst_0_i64, %iter1 = %cst_0_i64_1, %iter2 = %cst_0_f32, %iter3 = %token) -> (tile<i64>, tile<i64>, tile<128x128xf32>, token) {
    %reshape_8 = reshape %iter0 : tile<i64> -> tile<1x1xi64>
    %bcast_8 = broadcast %reshape_8 : tile<1x1xi64> -> tile<128x64xi64>
    %8 = offset %2, %bcast_8 : tile<128x64xptr<bf16>>, tile<128x64xi64>
    %reshape_9 = reshape %iter1 : tile<i64> -> tile<1x1xi64>
    %bcast_9 = broadcast %reshape_9 : tile<1x1xi64> -> tile<64x128xi64>
    %9 = offset %5, %bcast_9 : tile<64x128xptr<i8>>, tile<64x128xi64>
    %10 = muli %i, %cst_64_i32_1 : tile<i32>
    %11 = subi %assume_4, %10 : tile<i32>
    %reshape_10 = reshape %11 : tile<i32> -> tile<1x1xi32>
    %bcast_10 = broadcast %reshape_10 : tile<1x1xi32> -> tile<1x64xi32>
    %12 = cmpi less_than %reshape_3, %bcast_10, signed : tile<1x64xi32> -> tile<1x64xi1>
    %bcast_11 = broadcast %12 : tile<1x64xi1> -> tile<128x64xi1>
    %load_ptr, %token_1 = load_ptr_tko weak %8, %bcast_11, %cst_0_bf16 : tile<128x64xptr<bf16>>, tile<128x64xi1>, tile<128x64xbf16> -> tile<128x64xbf16>, token
    %reshape_11 = reshape %11 : tile<i32> -> tile<1x1xi32>
    %bcast_12 = broadcast %reshape_11 : tile<1x1xi32> -> tile<64x1xi32>
    %13 = cmpi less_than %reshape_4, %bcast_12, signed : tile<64x1xi32> -> tile<64x1xi1>
    %bcast_13 = broadcast %13 : tile<64x1xi1> -> tile<64x128xi1>
    %load_ptr_1, %token_2 = load_ptr_tko weak %9, %bcast_13, %cst_0_i8 : tile<64x128xptr<i8>>, tile<64x128xi1>, tile<64x128xi8> -> tile<64x128xi8>, token
    %14 = itof %load_ptr_1 signed : tile<64x128xi8> -> tile<64x128xbf16>
    %mmaf = mmaf %load_ptr, %14, %iter2 : tile<128x64xbf16>, tile<64x128xbf16>, tile<128x128xf32>
    %15 = muli %assume_5, %cst_64_i32_1 : tile<i32>
    %reshape_12 = reshape %15 : tile<i32> -> tile<1x1xi32>
    %bcast_14 = broadcast %reshape_12 : tile<1x1xi32> -> tile<64x128xi32>
    %16 = exti %cst_64_i32_2 signed : tile<i32> -> tile<i64>
    %17 = addi %iter0, %16 : tile<i64>
    %18 = exti %15 signed : tile<i32> -> tile<i64>
    %19 = addi %iter1, %18 : tile<i64>
    %join_tokens = join_tokens %iter3, %token_1, %token_2 : token
    continue %17, %19, %mmaf, %join_tokens : tile<i64>, tile<i64>, tile<128x128xf32>, token
  }
  %yt = make_tensor_view %y, shape = [128, 128], strides = [128, 1]
  %yv = make_partition_view %yt : partition_view<tile=(128x128)>
  store_view_tko weak %for#2, %yv[%cst_0_i32, %cst_0_i32]
  return
}
)";

// Sums of 16 x 32, in steps of 64. The right operand is widened.
constexpr char kWidened[] = R"(
entry @widened(%a: tile<ptr<LEFT>>, %b: tile<ptr<RIGHT>>, %c: tile<ptr<f32>>, %m: tile<i32>, %n: tile<i32>, %k: tile<i32>) {
  %j, %i, %z = get_tile_block_id
  %at = make_tensor_view %a, shape = [%m, %k], strides = [%k, 1]
  %bt = make_tensor_view %b, shape = [%n, %k], strides = [%k, 1]
  %ct = make_tensor_view %c, shape = [%m, %n], strides = [%n, 1]
  %av = make_partition_view %at : partition_view<tile=(16x64), padding_value = zero>
  %bv = make_partition_view %bt : partition_view<tile=(32x64), padding_value = zero>
  %cv = make_partition_view %ct : partition_view<tile=(16x32)>
  %rows, %steps = get_index_space_shape %av
  %zero = constant <f32: 0> : tile<16x32xf32>
  %sum = for %step in (0 to %steps, step 1) iter_values(%acc = %zero) {
    %x = load_view_tko weak %av[%i, %step]
    %y = load_view_tko weak %bv[%j, %step]
    WIDEN
    %next = mmaf %p, %q, %acc
    continue %next
  }
  store_view_tko weak %sum, %cv[%i, %j]
  return
})";

CompiledText Compiled(int sm) {
  const CompiledText c = CompileText(kDequantised, sm);
  EXPECT_EQ(c.error, "");
  EXPECT_EQ(AssemblerErrors(c, sm), "");
  return c;
}

// Addresses follow from what two loops carry for each other. Facts about them are found, however often one of them is looked for.
TEST(DequantisedPtx, LoadsVectorsUnderMasks) {
  for (const int sm : {80, 90}) EXPECT_EQ(Count(Compiled(sm).ptx, "ld.global.b8"), 0) << sm;
}

TEST(DequantisedPtx, WgmmaReadsWhatThreadsStore) {
  const CompiledText c = Compiled(90);
  EXPECT_EQ(Count(c.ptx, "mma.sync"), 0);
  EXPECT_GT(Count(c.ptx, "wgmma.mma_async"), 0);
  EXPECT_GT(Count(c.ptx, "fence.proxy.async"), 0);
}

// The conversion of the GPU saturates: numbers that were clamped to what the type has need no other instruction.
TEST(DequantisedPtx, ClampedNumbersAreConvertedByOneInstruction) {
  for (const auto& [type, most] : {std::pair("f8E4M3FN", "448.0"), std::pair("f8E5M2", "57344.0")}) {
    const CompiledText c = CompileText(absl::StrReplaceAll(R"(
entry @narrow(%x: tile<ptr<f32>>, %y: tile<ptr<TYPE>>) {
  %xt = make_tensor_view %x, shape = [1024], strides = [1]
  %yt = make_tensor_view %y, shape = [1024], strides = [1]
  %xv = make_partition_view %xt : partition_view<tile=(1024)>
  %yv = make_partition_view %yt : partition_view<tile=(1024)>
  %v, %t = load_view_tko weak %xv[0]
  %most = constant <f32: MOST> : tile<1024xf32>
  %least = constant <f32: -MOST> : tile<1024xf32>
  %above = maxf %v, %least propagate_nan
  %clamped = minf %above, %most propagate_nan
  %narrow = ftof %clamped : tile<1024xf32> -> tile<1024xTYPE>
  store_view_tko weak %narrow, %yv[0]
  return
})",
                                                           {{"TYPE", type}, {"MOST", most}}),
                                       90);
    ASSERT_EQ(c.error, "");
    EXPECT_EQ(AssemblerErrors(c, 90), "");
    EXPECT_GT(Count(c.ptx, "cvt.rn.satfinite"), 0);
    for (const char* other : {"max.NaN", "min.NaN", "fma.rn", "setp.eq.f32"})
      EXPECT_EQ(Count(c.ptx, other), 0) << other;
  }
}

// A left operand that two products take is stored once, and no barrier is between them.
TEST(DequantisedPtx, ProductsOutsideOfLoopsShareWhatIsStored) {
  const CompiledText c = CompileText(R"(
entry @twice(%x: tile<ptr<f16>>, %y: tile<ptr<f32>>) {
  %xt = make_tensor_view %x, shape = [64, 64], strides = [64, 1]
  %yt = make_tensor_view %y, shape = [64, 64], strides = [64, 1]
  %xv = make_partition_view %xt : partition_view<tile=(64x64)>
  %yv = make_partition_view %yt : partition_view<tile=(64x64)>
  %v, %t = load_view_tko weak %xv[0, 0]
  %turned = permute %v [1, 0]
  %zero = constant <f32: 0.0> : tile<64x64xf32>
  %s = mmaf %v, %turned, %zero
  %r = mmaf %turned, %v, %s
  store_view_tko weak %r, %yv[0, 0]
  return
})",
                                     90);
  ASSERT_EQ(c.error, "");
  EXPECT_EQ(AssemblerErrors(c, 90), "");
  EXPECT_EQ(Count(c.ptx, "mma.sync"), 0);
  EXPECT_EQ(Count(c.ptx, "wgmma.mma_async"), 2 * 64 / 16);
  EXPECT_EQ(Count(c.ptx, "fence.proxy.async"), 1);
  EXPECT_EQ(Count(c.ptx, "bar.sync"), 2);
}

// Pairs of neighbours, of which two are a word, whose bytes become halves without a conversion of each.
TEST(DequantisedPtx, FragmentsOfBytesAreReadAndWidenedInWords) {
  const CompiledText c =
      CompileText(absl::StrReplaceAll(kWidened, {{"LEFT", "f16"}, {"RIGHT", "i8"}, {"WIDEN", R"(%p = permute %x [0, 1]
    %wide = itof %y signed : tile<32x64xi8> -> tile<32x64xf16>
    %q = permute %wide [1, 0])"}}),
                  80);
  ASSERT_EQ(c.error, "");
  EXPECT_EQ(AssemblerErrors(c, 80), "");
  EXPECT_EQ(Count(c.ptx, "ld.shared.b16"), 32 * 64 / 128 / 2);
  EXPECT_EQ(Count(c.ptx, "shfl.sync"), 0);
  EXPECT_EQ(Count(c.ptx, "prmt.b32"), 32 * 64 / 128 / 2);
  EXPECT_EQ(Count(c.ptx, "cvt.rn.f16.f32"), 0);
}

// Matrices of 16 bits, whose rows are those k that a thread has one after another. All their numbers are numbers of tf32.
TEST(DequantisedPtx, WidenedToTf32TheyComeByLdmatrixAndAreNotRounded) {
  const CompiledText c =
      CompileText(absl::StrReplaceAll(kWidened, {{"LEFT", "f32"},
                                                 {"RIGHT", "bf16"},
                                                 {"[%n, %k], strides = [%k, 1]", "[%k, %n], strides = [%n, 1]"},
                                                 {"tile=(32x64)", "tile=(64x32)"},
                                                 {"%bv[%j, %step]", "%bv[%step, %j]"},
                                                 {"WIDEN", R"(%wide = ftof %y : tile<64x32xbf16> -> tile<64x32xf32>
    %p = ftof %x : tile<16x64xf32> -> tile<16x64xtf32>
    %q = ftof %wide : tile<64x32xf32> -> tile<64x32xtf32>)"}}),
                  90);
  ASSERT_EQ(c.error, "");
  EXPECT_EQ(AssemblerErrors(c, 90), "");
  EXPECT_EQ(Count(c.ptx, "ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16"), 64 * 32 / 128 / 8);
  EXPECT_EQ(Count(c.ptx, "cvt.rn.tf32.f32"), 16 * 64 / 32);
  EXPECT_EQ(Count(c.ptx, "bar.sync"), 1);
}

}  // namespace
}  // namespace tile::codegen

// PTX that ptxas is known to take wrongly is not made (codegen/llvm/assembler_faults.h).
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "gtest/gtest.h"
#include "tests/codegen/ptx_testing.h"

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
        const CompiledText c = CompileText(
            absl::StrReplaceAll(
                kReached, {{"%m = mini %x, %c signed", absl::StrCat("%m = ", op, " %x, %c ", sign)}, {"i16", type}}),
            90);
        EXPECT_EQ(c.error, "");
        const std::string wide = absl::StrCat(std::string(op).substr(0, 3), ".", *sign == 's' ? "s" : "u", "32");
        EXPECT_GE(Count(c.ptx, wide), 1) << op << " " << sign << " " << type << c.ptx;
        for (const char* narrow : {"min.s16", "min.u16", "max.s16", "max.u16"})
          EXPECT_EQ(Count(c.ptx, narrow), 0) << c.ptx;
      }
    }
  }
}

// Each warp reads what the others found, at the same places in every lane.
TEST(AssemblerFaults, NarrowPartsOfWarpsTakeWords) {
  for (const char* type : {"i8", "i16"}) {
    const CompiledText c = CompileText(absl::StrReplaceAll(R"(
entry @k(%p: tile<ptr<TYPE>>, %out: tile<ptr<TYPE>>) {
  %zero = constant <i32: 0> : tile<i32>
  %xt = make_tensor_view %p, shape = [4096], strides = [1] : tensor_view<4096xTYPE, strides=[1]>
  %ot = make_tensor_view %out, shape = [4096], strides = [1] : tensor_view<4096xTYPE, strides=[1]>
  %xv = make_partition_view %xt : partition_view<tile=(4096), tensor_view<4096xTYPE, strides=[1]>>
  %ov = make_partition_view %ot : partition_view<tile=(4096), tensor_view<4096xTYPE, strides=[1]>>
  %x, %t1 = load_view_tko weak %xv[%zero] -> tile<4096xTYPE>, token
  %most = scan %x dim=0 reverse=false identities=[0 : TYPE] : tile<4096xTYPE> -> tile<4096xTYPE>
  (%element: tile<TYPE>, %so_far: tile<TYPE>) {
    %larger = maxi %element, %so_far unsigned
    yield %larger : tile<TYPE>
  }
  store_view_tko weak %most, %ov[%zero] -> token
  return
}
)",
                                                           {{"TYPE", type}}),
                                       90);
    EXPECT_EQ(c.error, "");
    // What a warp found, and not what the layouts exchange, is stored alone.
    EXPECT_EQ(Count(c.ptx, "st.shared.b32"), 1) << c.ptx;
    EXPECT_EQ(Count(c.ptx, "st.shared.b16") + Count(c.ptx, "st.shared.b8"), 0) << c.ptx;
  }
}

// A tile of four elements is looked at by four threads, round after round.
TEST(AssemblerFaults, LoopsWithGuardedStrongAccessesStayRolled) {
  const std::string text = R"(
entry @k(%p: tile<ptr<f16>>, %out: tile<ptr<f16>>, %n: tile<i32>) {
  %zero = constant <i32: 0> : tile<i32>
  %one = constant <i32: 1> : tile<i32>
  %xt = make_tensor_view %p, shape = [%n], strides = [1] : tile<i32> -> tensor_view<?xf16, strides=[1]>
  %ot = make_tensor_view %out, shape = [%n], strides = [1] : tile<i32> -> tensor_view<?xf16, strides=[1]>
  %xv = make_partition_view %xt : partition_view<tile=(4), padding_value = zero, tensor_view<?xf16, strides=[1]>>
  %ov = make_partition_view %ot : partition_view<tile=(4), tensor_view<?xf16, strides=[1]>>
  %none = constant <f16: 0.0> : tile<4xf16>
  %sum = for %i in (%zero to %n, step %one) : tile<i32> iter_values(%acc = %none) -> (tile<4xf16>) {
    %x, %t1 = load_view_tko acquire device %xv[%i] -> tile<4xf16>, token
    %next = addf %acc, %x : tile<4xf16>
    continue %next : tile<4xf16>
  }
  store_view_tko weak %sum, %ov[%zero] -> token
  return
}
)";
  const CompiledText strong = CompileText(text, 90),
                     weak = CompileText(absl::StrReplaceAll(text, {{"acquire device", "weak"}}), 90);
  EXPECT_EQ(strong.error, "");
  EXPECT_EQ(AssemblerErrors(strong, 90), "");
  EXPECT_GE(Count(strong.ptx, "ld.acquire.gpu"), 1);
  EXPECT_EQ(Count(strong.ptx, ".pragma \"nounroll\";"), 1) << strong.ptx;
  EXPECT_EQ(weak.error, "");
  EXPECT_EQ(Count(weak.ptx, ".pragma \"nounroll\";"), 0);
}

// A load that only orders what comes behind it.
TEST(AssemblerFaults, AcquiresThatNobodyReadsAreFences) {
  const std::string text = R"(
entry @k(%p: tile<ptr<i64>>, %out: tile<ptr<i64>>) {
  %x, %t1 = load_ptr_tko acquire device %p : tile<ptr<i64>> -> tile<i64>, token
  %one = constant <i64: 1> : tile<i64>
  store_ptr_tko weak %out, VALUE token = %t1 : tile<ptr<i64>>, tile<i64> -> token
  return
}
)";
  const CompiledText unused = CompileText(absl::StrReplaceAll(text, {{"VALUE", "%one"}}), 90);
  EXPECT_EQ(unused.error, "");
  EXPECT_EQ(Count(unused.ptx, "ld.acquire"), 0) << unused.ptx;
  EXPECT_EQ(Count(unused.ptx, "ld.relaxed.gpu"), 1) << unused.ptx;
  EXPECT_EQ(Count(unused.ptx, "fence.acq_rel.gpu"), 1) << unused.ptx;
  const CompiledText used = CompileText(absl::StrReplaceAll(text, {{"VALUE", "%x"}}), 90);
  EXPECT_EQ(used.error, "");
  EXPECT_EQ(Count(used.ptx, "ld.acquire.gpu"), 1) << used.ptx;
}

// The least number is its own negative.
TEST(AssemblerFaults, NegativesOfHalvesAreComplements) {
  const CompiledText c = CompileText(R"(
entry @k(%p: tile<ptr<i16>>, %out: tile<ptr<i32>>) {
  %x, %t1 = load_ptr_tko weak %p : tile<ptr<i16>> -> tile<i16>, token
  %n = negi %x : tile<i16>
  %w = exti %n signed : tile<i16> -> tile<i32>
  store_ptr_tko weak %out, %w : tile<ptr<i32>>, tile<i32> -> token
  return
}
)",
                                     90);
  EXPECT_EQ(c.error, "");
  EXPECT_EQ(Count(c.ptx, "neg.s16"), 0) << c.ptx;
  EXPECT_EQ(Count(c.ptx, "not.b16"), 1) << c.ptx;
}

// The word is not known: a part of it is the number of blocks.
TEST(AssemblerFaults, RightOperandsOfOneWord) {
  const auto product = [](const char* type, int k) {
    return CompileText(absl::StrReplaceAll(R"(
entry @k(%a: tile<ptr<TYPE>>, %out: tile<ptr<f32>>) {
  %zero = constant <i32: 0> : tile<i32>
  %av = make_tensor_view %a, shape = [16, KK], strides = [KK, 1] : tensor_view<16xKKxTYPE, strides=[KK,1]>
  %ov = make_tensor_view %out, shape = [16, 8], strides = [8, 1] : tensor_view<16x8xf32, strides=[8,1]>
  %ap = make_partition_view %av : partition_view<tile=(16xKK), tensor_view<16xKKxTYPE, strides=[KK,1]>>
  %op = make_partition_view %ov : partition_view<tile=(16x8), tensor_view<16x8xf32, strides=[8,1]>>
  %x, %t1 = load_view_tko weak %ap[%zero, %zero] -> tile<16xKKxTYPE>, token
  %b = constant <TYPE: -3.0> : tile<KKx8xTYPE>
  %acc = constant <f32: 0.0> : tile<16x8xf32>
  %p = mmaf %x, %b, %acc : tile<16xKKxTYPE>, tile<KKx8xTYPE>, tile<16x8xf32>
  store_view_tko weak %p, %op[%zero, %zero] -> token
  return
}
)",
                                           {{"TYPE", type}, {"KK", absl::StrCat(k)}}),
                       90);
  };
  for (const char* type : {"f16", "bf16"}) {
    const CompiledText one = product(type, 8), two = product(type, 16);
    EXPECT_EQ(one.error + two.error, "");
    EXPECT_EQ(Count(one.ptx, "m16n8k8"), 1) << one.ptx;
    EXPECT_GE(Count(one.ptx, ", 31;"), 1) << one.ptx;
    EXPECT_EQ(Count(two.ptx, "m16n8k16"), 1) << two.ptx;
    EXPECT_EQ(Count(two.ptx, ", 31;"), 0) << two.ptx;
  }
}

// Products that still run where an iteration ends: unrolled, sums are read too early.
TEST(AssemblerFaults, LoopsThatLeaveProductsRunningStayRolled) {
  const auto rolled = [](int n) { return Count(CompileText(ProductText(64, n, 32), 90).ptx, "nounroll"); };
  EXPECT_EQ(rolled(16), 1);
  EXPECT_EQ(rolled(128), 1);
  EXPECT_EQ(Count(CompileText(ProductText(64, 16, 32), 80).ptx, "nounroll"), 0);
}

// What arithmetic makes of 16 bits is not widened by zeros on its way into a word.
TEST(AssemblerFaults, HalvesBecomeWordsByMoves) {
  for (const char* type : {"f16", "bf16"}) {
    const CompiledText c = CompileText(absl::StrReplaceAll(R"(
entry @k(%p: tile<ptr<f32>>, %out: tile<ptr<TYPE>>) {
  %zero = constant <i32: 0> : tile<i32>
  %xt = make_tensor_view %p, shape = [4096], strides = [1] : tensor_view<4096xf32, strides=[1]>
  %ot = make_tensor_view %out, shape = [4096], strides = [1] : tensor_view<4096xTYPE, strides=[1]>
  %xv = make_partition_view %xt : partition_view<tile=(4096), tensor_view<4096xf32, strides=[1]>>
  %ov = make_partition_view %ot : partition_view<tile=(4096), tensor_view<4096xTYPE, strides=[1]>>
  %x, %t1 = load_view_tko weak %xv[%zero] -> tile<4096xf32>, token
  %low = constant <TYPE: -3.0> : tile<4096xTYPE>
  %h = ftof %x : tile<4096xf32> -> tile<4096xTYPE>
  %c = maxf %h, %low : tile<4096xTYPE>
  store_view_tko weak %c, %ov[%zero] -> token
  return
}
)",
                                                           {{"TYPE", type}}),
                                       90);
    EXPECT_EQ(c.error, "");
    EXPECT_GE(Count(c.ptx, "max."), 1) << type << c.ptx;
    EXPECT_EQ(Count(c.ptx, "cvt.u32.u16"), 0) << type << c.ptx;
  }
}

}  // namespace
}  // namespace tile::codegen

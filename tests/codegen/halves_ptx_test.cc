// Values of 16 bits that lie two in a word, pairs of f32, and quotients: what they take in instructions and registers.
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "codegen/target/target.h"
#include "gtest/gtest.h"
#include "tests/codegen/ptx_testing.h"

namespace tile::codegen {
namespace {

// y = BODY of x, along rows of 4096 elements.
std::string Rows(const std::string& body) {
  return absl::StrReplaceAll(R"(
entry @rows(%x: tile<ptr<bf16>>, %y: tile<ptr<bf16>>, %m: tile<i32>) {
  %i, %j, %k = get_tile_block_id
  %xt = make_tensor_view %x, shape = [%m, 4096], strides = [4096, 1]
  %yt = make_tensor_view %y, shape = [%m, 4096], strides = [4096, 1]
  %xv = make_partition_view %xt : partition_view<tile=(1x4096)>
  %yv = make_partition_view %yt : partition_view<tile=(1x4096)>
  %a = load_view_tko weak %xv[%i, 0]
BODY
  store_view_tko weak %r, %yv[%i, 0]
  return
}
)",
                             {{"BODY", body}});
}

constexpr char kShares[] = R"(
  %w = ftof %a : tile<1x4096xbf16> -> tile<1x4096xf32>
  %s = reduce %w dim=1 identities=[0.0 : f32] : tile<1x4096xf32> -> tile<1xf32> (%e: tile<f32>, %t: tile<f32>) {
    %u = addf %e, %t
    yield %u : tile<f32>
  }
  %s1 = reshape %s : tile<1xf32> -> tile<1x1xf32>
  %all = broadcast %s1 : tile<1x1xf32> -> tile<1x4096xf32>
  %q = divf %w, %all
  %r = ftof %q : tile<1x4096xf32> -> tile<1x4096xbf16>)";

CompiledText Aligned(const std::string& text, int sm = 90) {
  CompiledText c = CompileText(text, *FindTarget(sm), "", /*descriptors=*/false, /*aligned=*/true);
  EXPECT_EQ(c.error, "");
  EXPECT_EQ(AssemblerErrors(c, sm), "");
  return c;
}

// 32 elements in each of 128 threads.
TEST(HalvesPtx, QuotientsShareReciprocalAndTest) {
  const CompiledText c = Aligned(Rows(kShares));
  EXPECT_EQ(Count(c.ptx, "rcp.approx.ftz.f32"), 1);
  EXPECT_EQ(Count(c.ptx, " bra FIT;"), 32 / 8);
  EXPECT_EQ(Count(c.ptx, "div.rn.f32"), 32);
  // Each group is rounded before the next one is divided.
  const size_t first = c.ptx.find("FIT:"), second = c.ptx.find("FIT:", first + 1);
  const size_t rounded = c.ptx.find("cvt.rn.bf16x2.f32");
  EXPECT_LT(first, rounded);
  EXPECT_LT(rounded, second);
}

// 16 elements in a thread. GPUs of sm_12x take PTX for pairs, too, but their machine code has none.
TEST(HalvesPtx, FloatsInPairs) {
  const std::string text = Rows(R"(
  %w = ftof %a : tile<1x4096xbf16> -> tile<1x4096xf32>
  %p = mulf %w, %w
  %f = fma %p, %w, %w
  %q = mulf %f, %f flush_to_zero
  %r = ftof %q : tile<1x4096xf32> -> tile<1x4096xbf16>)");
  const CompiledText pairs = Aligned(text, 100);
  EXPECT_EQ(Count(pairs.ptx, "mul.rn.f32x2"), 8);
  EXPECT_EQ(Count(pairs.ptx, "fma.rn.f32x2"), 8);
  EXPECT_EQ(Count(pairs.ptx, "mul.rn.ftz.f32"), 16);
  for (const int sm : {90, 120}) EXPECT_EQ(Count(Aligned(text, sm).ptx, "f32x2"), 0);
}

std::string Shares(const char* power) {
  return absl::StrReplaceAll(Rows(kShares),
                             {{"%q = divf %w, %all", absl::StrCat("%p = ", power, " %w\n  %q = divf %p, %all")}});
}

// Powers have no sign that the test would have to clear: it takes the greatest integer instead of a sum of magnitudes.
TEST(HalvesPtx, QuotientsOfPowers) {
  const std::string powers = Shares("exp2");
  const CompiledText c = Aligned(powers);
  EXPECT_EQ(Count(c.ptx, " bra FIT;"), 32 / 8);
  EXPECT_EQ(Count(c.ptx, "max.s32 most"), 32 / 8 * 7);
  EXPECT_EQ(Count(c.ptx, "abs.f32"), 0);
  EXPECT_EQ(Count(Aligned(powers, 80).ptx, "max.s32 most"), 0);
  EXPECT_EQ(Count(Aligned(Rows(kShares)).ptx, "max.s32 most"), 0);
}

// Eight share the test whether j may be added to the exponent; what passes it needs none to be divided.
TEST(HalvesPtx, PowersThatAreDivided) {
  const CompiledText c = Aligned(Shares("exp"));
  EXPECT_EQ(Count(c.ptx, "vote.sync.all.pred"), 32 / 8);
  EXPECT_EQ(Count(c.ptx, "max.NaN.f32"), 32 / 8 * 7 + 32);  // and of those that do not, each is clamped
  EXPECT_EQ(Count(c.ptx, "ex2.approx.ftz.f32"), 2 * 32);
  EXPECT_EQ(Count(c.ptx, "cvt.sat.f32.f32"), 0);
  EXPECT_EQ(Count(c.ptx, " bra FIT;"), 32 / 8);
  EXPECT_EQ(Count(c.ptx, "min.u32 least"), 0);
  // Others are the library's.
  const std::string kept = absl::StrReplaceAll(Shares("exp"), {{"divf %p, %all", "mulf %p, %all"}});
  EXPECT_EQ(Count(Aligned(kept).ptx, "cvt.sat.f32.f32"), 32);
}

TEST(HalvesPtx, QuotientsOfManyDivisors) {
  const CompiledText c = Aligned(Rows(R"(
  %w = ftof %a : tile<1x4096xbf16> -> tile<1x4096xf32>
  %e = exp2 %w
  %q = divf %w, %e
  %r = ftof %q : tile<1x4096xf32> -> tile<1x4096xbf16>)"));
  const int each = Count(c.ptx, "rcp.approx.ftz.f32");
  EXPECT_GE(each, 8);
  EXPECT_EQ(Count(c.ptx, "div.rn.f32"), each);
  EXPECT_EQ(Count(c.ptx, " bra FIT;"), each / 8);
}

TEST(HalvesPtx, ArithmeticOnPairs) {
  const std::string text = Rows(R"(
  %s = addf %a, %a
  %p = mulf %s, %a
  %n = negf %p
  %r = fma %n, %a, %s)");
  const CompiledText c = Aligned(text);
  const int pairs = Count(c.ptx, "add.rn.bf16x2");
  EXPECT_GT(pairs, 0);
  EXPECT_EQ(Count(c.ptx, "mul.rn.bf16x2"), pairs);
  EXPECT_EQ(Count(c.ptx, "fma.rn.bf16x2"), pairs);
  EXPECT_EQ(Count(c.ptx, ".rn.bf16 "), 0);
  // Words are neither taken apart nor put together.
  EXPECT_EQ(Count(c.ptx, "%rs"), 0);
  const CompiledText f16 = Aligned(absl::StrReplaceAll(text, {{"bf16", "f16"}}), 75);
  EXPECT_EQ(Count(f16.ptx, "add.rn.f16x2"), Count(f16.ptx, "fma.rn.f16x2"));
  EXPECT_EQ(Count(f16.ptx, ".rn.f16 "), 0);
  // bf16 has no sum there.
  EXPECT_EQ(Count(Aligned(text, 80).ptx, "add.rn.bf16x2"), 0);
}

TEST(HalvesPtx, UpperHalvesAreFloats) {
  const CompiledText c = Aligned(Rows(kShares));
  EXPECT_EQ(Count(c.ptx, ", -65536;"), 16);
  EXPECT_EQ(Count(c.ptx, "cvt.u32.u16"), 0);
}

TEST(HalvesPtx, SignsOfWhatIsComputedWith) {
  const std::string text = Rows(R"(
  %w = ftof %a : tile<1x4096xbf16> -> tile<1x4096xf32>
  %twice = addf %w, %w
  %minus = negf %twice
  %e = exp2 %minus
  %r = ftof %e : tile<1x4096xf32> -> tile<1x4096xbf16>)");
  EXPECT_EQ(Count(Aligned(text).ptx, "xor.b32"), 0);
  // Of what is stored, NaN keeps its bits.
  EXPECT_GT(Count(Aligned(absl::StrReplaceAll(text, {{"ftof %e", "ftof %minus"}})).ptx, "xor.b32"), 0);
}

TEST(HalvesPtx, QuotientsOfOne) {
  const CompiledText c = Aligned(Rows(R"(
  %w = ftof %a : tile<1x4096xbf16> -> tile<1x4096xf32>
  %one = constant <f32: 1.0> : tile<1x4096xf32>
  %q = divf %one, %w rounding<approx> flush_to_zero
  %r = ftof %q : tile<1x4096xf32> -> tile<1x4096xbf16>)"));
  EXPECT_GT(Count(c.ptx, "rcp.approx.ftz.f32"), 0);
  EXPECT_EQ(Count(c.ptx, "div.approx"), 0);
}

// Two groups of eight in each of 512 threads, all loads in front: what is divided first is stored before the second group is divided.
TEST(HalvesPtx, FewLoadsInPieces) {
  const CompiledText c = Aligned(absl::StrReplaceAll(Rows(R"(
  %w = ftof %a : tile<1x4096xbf16> -> tile<1x4096xf32>
  %e = exp2 %w
  %q = divf %w, %e
  %r = ftof %q : tile<1x4096xf32> -> tile<1x4096xbf16>)"),
                                                     {{"4096", "8192"}}));
  const size_t first = c.ptx.find(" bra FIT;"), second = c.ptx.find(" bra FIT;", first + 1);
  ASSERT_NE(second, std::string::npos);
  EXPECT_LT(c.ptx.find("st.global"), second);
}

// A factor of 8 bits: words go around the loop, and become pairs of f16 without conversions of single bytes.
TEST(HalvesPtx, BytesBecomeFloatsByWords) {
  const std::string text = R"(
entry @bytes(%x: tile<ptr<f16>>, %w: tile<ptr<i8>>, %y: tile<ptr<f32>>, %n: tile<i32>) {
  %xt = make_tensor_view %x, shape = [128, %n], strides = [1024, 1]
  %xv = make_partition_view %xt : partition_view<tile=(128x64), padding_value = zero>
  %wt = make_tensor_view %w, shape = [%n, 1024], strides = [1024, 1]
  %wv = make_partition_view %wt : partition_view<tile=(64x128), padding_value = zero>
  %yt = make_tensor_view %y, shape = [128, 128], strides = [128, 1]
  %yv = make_partition_view %yt : partition_view<tile=(128x128)>
  %none = constant <f32: 0> : tile<128x128xf32>
  %sum = for %i in (0 to %n, step 1) : tile<i32> iter_values(%acc = %none) {
    %a = load_view_tko weak %xv[0, %i]
    %q = load_view_tko weak %wv[%i, 0]
    %b = itof %q signed : tile<64x128xi8> -> tile<64x128xf16>
    %next = mmaf %a, %b, %acc
    continue %next
  }
  store_view_tko weak %sum, %yv[0, 0]
  return
}
)";
  for (int sm : {80, 90}) {
    const CompiledText c = Aligned(text, sm);
    EXPECT_EQ(Count(c.ptx, "cvt.rn.f32.s16"), 0) << sm;
    EXPECT_GT(Count(c.ptx, "prmt.b32"), 0) << sm;
    EXPECT_GT(Count(c.ptx, "add.rn.f16x2"), 0) << sm;
  }
}

// A row of 65536 is kept as it is loaded, two elements in a register, and loaded once.
TEST(HalvesPtx, WideRowsAreLoadedOnce) {
  const std::string text = absl::StrReplaceAll(Rows(R"(
  %w = ftof %a : tile<1x4096xbf16> -> tile<1x4096xf32>
  %p = mulf %w, %w
  %s = reduce %p dim=1 identities=[0.0 : f32] : tile<1x4096xf32> -> tile<1xf32> (%e: tile<f32>, %t: tile<f32>) {
    %u = addf %e, %t
    yield %u : tile<f32>
  }
  %s1 = reshape %s : tile<1xf32> -> tile<1x1xf32>
  %all = broadcast %s1 : tile<1x1xf32> -> tile<1x4096xf32>
  %q = mulf %w, %all
  %r = ftof %q : tile<1x4096xf32> -> tile<1x4096xbf16>)"),
                                               {{"4096", "65536"}});
  const CompiledText c = Aligned(text);
  EXPECT_EQ(Count(c.ptx, "ld.global"), 16);
  EXPECT_EQ(Count(c.ptx, "st.global"), 16);
}

}  // namespace
}  // namespace tile::codegen

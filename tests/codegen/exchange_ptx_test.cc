// Tiles that are too large for a GPU's shared memory go through it in parts, others at once.
#include <algorithm>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "gtest/gtest.h"
#include "tests/codegen/ptx_testing.h"

namespace tile::codegen {
namespace {

constexpr char kBarrier[] = "bar.sync";

bool InParts(const CompiledText& c) {
  return std::any_of(c.remarks.begin(), c.remarks.end(), [](const std::string& remark) {
    return absl::StrContains(remark, "remark[account-memory]: @k: tiles go through");
  });
}

// A part of 128 KB of i64, of which only the launch says which; `first` stands in front of what is computed.
std::string Extract(const std::string& first = "") {
  return absl::StrCat(R"(entry @k(%out: tile<ptr<i64>>, %at: tile<i32>) {
  %zero = constant <i64: 0> : tile<i64>
)",
                      first, R"(
  %n = iota -> tile<16384xi64>
  %r = extract %n[%at] -> tile<8192xi64>
  %t = make_tensor_view %out, shape = [8192], strides = [1] : tensor_view<8192xi64, strides=[1]>
  %v = make_partition_view %t : partition_view<tile=(8192), tensor_view<8192xi64, strides=[1]>>
  store_view_tko weak %r, %v[%zero] -> token
  return
}
)");
}

TEST(ExchangePtx, PartsWhereTheWholeDoesNotFit) {
  for (int sm : AllSms()) {
    const CompiledText c = CompileText(Extract(), sm);
    ASSERT_EQ(c.error, "") << sm;
    const uint32_t bytes = FindTarget(sm)->shared_bytes;
    EXPECT_EQ(InParts(c), bytes < 131072) << sm;
    // Each part has a barrier in front and one between writing and reading.
    EXPECT_EQ(Count(c.ptx, kBarrier), bytes < 131072 ? 4 : 2) << sm;
    EXPECT_EQ(AssemblerErrors(c, sm), "") << sm;
  }
}

// An array takes its bytes from what is exchanged, and nothing is left of it that would be worth it.
TEST(ExchangePtx, ArraysLeaveRoomOrNone) {
  const auto array = [](int elements) {
    return Extract(
        absl::StrCat("  %s = alloc_shared alignment = 16 : tensor_view<", elements, "xi64, strides=[1], shared>\n"));
  };
  const CompiledText some = CompileText(array(8192), 120);
  EXPECT_EQ(some.error, "");
  EXPECT_EQ(Count(some.ptx, kBarrier), 8);  // 32 KB at a time
  const CompiledText none = CompileText(array(12600), 120);
  EXPECT_TRUE(absl::StrContains(none.error, "error[codegen.shared]: kernel @k needs")) << none.error;
}

// Pairs of neighbours that a thread loads as one vector change places, as split and join of Triton have it: in registers.
constexpr char kSwap[] = R"(entry @k(%x: tile<ptr<f16>>, %y: tile<ptr<f16>>) {
  %zero = constant <i32: 0> : tile<i32>
  %one = constant <i32: 1> : tile<i32>
  %xa = assume div_by<16>, %x : tile<ptr<f16>>
  %ya = assume div_by<16>, %y : tile<ptr<f16>>
  %xt = make_tensor_view %xa, shape = [64, 64], strides = [64, 1] : tensor_view<64x64xf16, strides=[64,1]>
  %yt = make_tensor_view %ya, shape = [64, 64], strides = [64, 1] : tensor_view<64x64xf16, strides=[64,1]>
  %xv = make_partition_view %xt : partition_view<tile=(64x64), tensor_view<64x64xf16, strides=[64,1]>>
  %yv = make_partition_view %yt : partition_view<tile=(64x64), tensor_view<64x64xf16, strides=[64,1]>>
  %a, %t = load_view_tko weak %xv[%zero, %zero]
  %b = reshape %a : tile<64x64xf16> -> tile<64x32x2xf16>
  %even = extract %b[%zero, %zero, %zero] -> tile<64x32x1xf16>
  %odd = extract %b[%zero, %zero, %one] -> tile<64x32x1xf16>
  %c = cat %odd, %even dim = 2 -> tile<64x32x2xf16>
  %d = reshape %c : tile<64x32x2xf16> -> tile<64x64xf16>
  store_view_tko weak %d, %yv[%zero, %zero] -> token
  return
}
)";

TEST(ExchangePtx, PairsStayInTheirThreads) {
  for (int sm : AllSms()) {
    const CompiledText c = CompileText(kSwap, sm);
    ASSERT_EQ(c.error, "") << sm;
    EXPECT_EQ(Count(c.ptx, ".shared"), 0) << sm;
    EXPECT_EQ(Count(c.ptx, kBarrier), 0) << sm;
    EXPECT_EQ(AssemblerErrors(c, sm), "") << sm;
  }
}

// Sixteen warps have parts of 64 columns, of which a thread needs many: each sum is made once, behind a barrier of its own. Of a few results each
// thread reads all parts.
TEST(ExchangePtx, SumsOfManyPartsAreMadeOnce) {
  const auto sums = [](int rows, int columns) {
    return CompileText(absl::StrReplaceAll(R"(entry @k(%in: tile<ptr<f32>>, %out: tile<ptr<f32>>) {
  %zero = constant <i32: 0> : tile<i32>
  %t = make_tensor_view %in, shape = [R, C], strides = [C, 1] : tensor_view<RxCxf32, strides=[C,1]>
  %v = make_partition_view %t : partition_view<tile=(RxC), tensor_view<RxCxf32, strides=[C,1]>>
  %x, %token = load_view_tko weak %v[%zero, %zero] -> tile<RxCxf32>, token
  %s = reduce %x dim=0 identities=[0.0 : f32] : tile<RxCxf32> -> tile<Cxf32>
  (%e: tile<f32>, %a: tile<f32>) {
    %n = addf %e, %a
    yield %n
  }
  %sr = reshape %s -> tile<1xCxf32>
  %sn = broadcast %sr -> tile<RxCxf32>
  %y = subf %x, %sn
  %ot = make_tensor_view %out, shape = [R, C], strides = [C, 1] : tensor_view<RxCxf32, strides=[C,1]>
  %ov = make_partition_view %ot : partition_view<tile=(RxC), tensor_view<RxCxf32, strides=[C,1]>>
  store_view_tko weak %y, %ov[%zero, %zero] -> token
  return
}
)",
                                           {{"R", absl::StrCat(rows)}, {"C", absl::StrCat(columns)}}),
                       90);
  };
  const CompiledText many = sums(256, 64);
  ASSERT_EQ(many.error, "");
  EXPECT_EQ(Count(many.ptx, kBarrier), 2);
  const CompiledText few = sums(256, 8);
  ASSERT_EQ(few.error, "");
  EXPECT_EQ(Count(few.ptx, kBarrier), 1);
}

}  // namespace
}  // namespace tile::codegen

// Tiles that are too large for a GPU's shared memory go through it in parts, others at once.
#include <algorithm>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
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

// 128 KB of i64; `first` stands in front of what is computed.
std::string Cat(const std::string& first = "") {
  return absl::StrCat(R"(entry @k(%out: tile<ptr<i64>>) {
  %zero = constant <i64: 0> : tile<i64>
)",
                      first, R"(
  %n = iota -> tile<8192xi64>
  %r = cat %n, %n dim = 0 -> tile<16384xi64>
  %t = make_tensor_view %out, shape = [16384], strides = [1] : tensor_view<16384xi64, strides=[1]>
  %v = make_partition_view %t : partition_view<tile=(16384), tensor_view<16384xi64, strides=[1]>>
  store_view_tko weak %r, %v[%zero] -> token
  return
}
)");
}

TEST(ExchangePtx, PartsWhereTheWholeDoesNotFit) {
  for (int sm : AllSms()) {
    const CompiledText c = CompileText(Cat(), sm);
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
    return Cat(
        absl::StrCat("  %s = alloc_shared alignment = 16 : tensor_view<", elements, "xi64, strides=[1], shared>\n"));
  };
  const CompiledText some = CompileText(array(8192), 120);
  EXPECT_EQ(some.error, "");
  EXPECT_EQ(Count(some.ptx, kBarrier), 8);  // 32 KB at a time
  const CompiledText none = CompileText(array(12600), 120);
  EXPECT_TRUE(absl::StrContains(none.error, "error[codegen.shared]: kernel @k needs")) << none.error;
}

}  // namespace
}  // namespace tile::codegen

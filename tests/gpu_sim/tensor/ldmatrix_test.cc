#include "tests/gpu_sim/tensor/ldmatrix.h"

#include <vector>

#include "absl/strings/str_split.h"
#include "gtest/gtest.h"

namespace tile::gpu_sim {
namespace {

absl::StatusOr<LdMatrixKind> Parse(absl::string_view opcode) {
  const std::vector<absl::string_view> parts = absl::StrSplit(opcode, '.');
  return ParseLdMatrix(parts);
}

// Shared memory in which each 16-bit element is its own number, rows in an order of their own.
TEST(LdMatrix, GivesEachLaneItsPair) {
  std::vector<uint8_t> shared(64 * 16);
  for (size_t i = 0; i < shared.size() / 2; ++i) {
    shared[2 * i] = static_cast<uint8_t>(i);
    shared[2 * i + 1] = static_cast<uint8_t>(i >> 8);
  }
  std::array<uint32_t, 32> addresses;
  for (uint32_t i = 0; i < 32; ++i) addresses[i] = 16 * (i * 37 % 64);
  for (absl::string_view opcode :
       {"ldmatrix.sync.aligned.m8n8.x1.shared.b16", "ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16",
        "ldmatrix.sync.aligned.m8n8.x4.shared.b16", "ldmatrix.sync.aligned.m8n8.x4.trans.shared::cta.b16"}) {
    const absl::StatusOr<LdMatrixKind> kind = Parse(opcode);
    ASSERT_TRUE(kind.ok()) << kind.status();
    WarpWords d;
    ASSERT_TRUE(RunLdMatrix(*kind, shared, addresses, &d).ok());
    for (uint32_t lane = 0; lane < 32; ++lane) {
      ASSERT_EQ(d[lane].size(), static_cast<size_t>(kind->matrices));
      for (uint32_t m = 0; m < static_cast<uint32_t>(kind->matrices); ++m) {
        for (uint32_t half = 0; half < 2; ++half) {
          uint32_t row = lane / 4, column = lane % 4 * 2 + half;
          if (kind->trans) std::swap(row, column);
          EXPECT_EQ(d[lane][m] >> 16 * half & 0xFFFF, addresses[8 * m + row] / 2 + column);
        }
      }
    }
  }
}

TEST(LdMatrix, ChecksTheAddressesThatItUses) {
  const std::vector<uint8_t> shared(256);
  std::array<uint32_t, 32> addresses = {};
  addresses[8] = 8;
  WarpWords d;
  EXPECT_TRUE(RunLdMatrix({1, false}, shared, addresses, &d).ok());
  EXPECT_FALSE(RunLdMatrix({2, false}, shared, addresses, &d).ok());
  addresses[8] = 256;
  EXPECT_FALSE(RunLdMatrix({2, false}, shared, addresses, &d).ok());
  addresses[8] = 240;
  EXPECT_TRUE(RunLdMatrix({2, false}, shared, addresses, &d).ok());
}

TEST(LdMatrix, UnknownForms) {
  EXPECT_FALSE(Parse("ldmatrix.sync.aligned.m8n8.x3.shared.b16").ok());
  EXPECT_FALSE(Parse("ldmatrix.sync.aligned.m8n8.x4.b16").ok());
  EXPECT_FALSE(Parse("ldmatrix.sync.aligned.m16n16.x1.trans.shared.b8").ok());
}

}  // namespace
}  // namespace tile::gpu_sim

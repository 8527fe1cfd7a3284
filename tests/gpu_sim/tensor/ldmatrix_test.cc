#include "tests/gpu_sim/tensor/ldmatrix.h"

#include <cstring>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
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

// What a store of a load's registers writes is what was loaded.
TEST(StMatrix, IsTheInverse) {
  for (const char* form : {"m8n8.x4.shared.b16", "m8n8.x2.trans.shared.b16"}) {
    const std::string load = absl::StrCat("ldmatrix.sync.aligned.", form),
                      store = absl::StrCat("stmatrix.sync.aligned.", form);
    const std::vector<absl::string_view> load_parts = absl::StrSplit(load, '.'),
                                         store_parts = absl::StrSplit(store, '.');
    const absl::StatusOr<LdMatrixKind> kind = ParseLdMatrix(load_parts), stored = ParseStMatrix(store_parts);
    ASSERT_TRUE(kind.ok() && stored.ok()) << form;
    std::vector<uint8_t> shared(32 * 16);
    for (size_t k = 0; k < shared.size(); ++k) shared[k] = static_cast<uint8_t>(k * 7 + k / 256);
    std::array<uint32_t, 32> addresses;
    for (uint32_t l = 0; l < 32; ++l) addresses[l] = 16 * l;
    WarpWords words;
    ASSERT_TRUE(RunLdMatrix(*kind, shared, addresses, &words).ok());
    for (size_t m = 0; m < static_cast<size_t>(stored->matrices); ++m) {
      for (size_t row = 0; row < 8; ++row) {
        uint8_t bytes[16];
        StMatrixRow(*stored, words, m, row, bytes);
        EXPECT_EQ(std::memcmp(bytes, &shared[(8 * m + row) * 16], 16), 0) << form << " matrix " << m << " row " << row;
      }
    }
  }
}

}  // namespace
}  // namespace tile::gpu_sim

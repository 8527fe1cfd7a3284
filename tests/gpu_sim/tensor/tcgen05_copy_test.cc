#include "tests/gpu_sim/tensor/tcgen05_copy.h"

#include <cstring>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "gtest/gtest.h"

namespace tile::gpu_sim {
namespace {

absl::StatusOr<Tcgen05Copy> Parse(absl::string_view shape) {
  const std::string opcode = absl::StrCat("tcgen05.cp.cta_group::1.", shape);
  const std::vector<absl::string_view> parts = absl::StrSplit(opcode, '.');
  return ParseTcgen05Copy(parts);
}

// Word w of row r is 100 * r + w, in pieces of 16 bytes without a swizzle: groups of eight rows, 128 bytes each.
class Copies : public testing::Test {
 protected:
  Copies() : shared_(8192) {
    memory_.Take(0, {32, 1, 1}, 0);
    for (uint32_t row = 0; row < 128; ++row) {
      for (uint32_t w = 0; w < 8; ++w) {
        const uint32_t value = 100 * row + w;
        std::memcpy(&shared_[row * 16 + w / 4 * 4096 + w % 4 * 4], &value, 4);
      }
    }
  }

  absl::Status Run(absl::string_view shape, uint32_t address = 4) {
    const uint64_t descriptor = uint64_t{4096 >> 4} << 16 | uint64_t{128 >> 4} << 32 | uint64_t{1} << 46;
    const auto read = [&](uint32_t at, uint32_t) -> absl::StatusOr<const uint8_t*> { return &shared_[at]; };
    return RunTcgen05Copy(*Parse(shape), address, descriptor, read, memory_);
  }
  uint32_t Cell(uint32_t lane, uint32_t column) { return **memory_.Row(lane, column, 1); }

  std::vector<uint8_t> shared_;
  TensorMemory memory_;
};

TEST_F(Copies, AllLanes) {
  ASSERT_TRUE(Run("128x256b").ok());
  EXPECT_EQ(Cell(77, 4 + 6), 7706u);
  ASSERT_TRUE(Run("128x128b", 16).ok());
  EXPECT_EQ(Cell(127, 16 + 3), 12703u);
}

TEST_F(Copies, CopiesForWarps) {
  ASSERT_TRUE(Run("warpx4.32x128b").ok());
  ASSERT_TRUE(Run("32x128b.warpx4").ok());
  for (const uint32_t quarter : {0u, 32u, 64u, 96u}) EXPECT_EQ(Cell(quarter + 9, 5), 901u);
  ASSERT_TRUE(Run("64x128b.warpx2::02_13").ok());
  EXPECT_EQ(Cell(40, 4), 4000u);
  EXPECT_EQ(Cell(104, 4), 4000u);
  ASSERT_TRUE(Run("64x128b.warpx2::01_23").ok());
  for (const uint32_t lane : {3u, 35u}) EXPECT_EQ(Cell(lane, 4), 300u);
  for (const uint32_t lane : {67u, 99u}) EXPECT_EQ(Cell(lane, 4), 3500u);
}

TEST_F(Copies, WhatIsOutside) {
  EXPECT_TRUE(absl::StrContains(Run("128x256b", 28).message(), "columns 32 to 35"));
  EXPECT_TRUE(absl::StrContains(Run("128x256b", 16 << 16).message(), "lane 16"));
  for (const char* shape : {"4x256b", "32x128b", "64x128b.warpx4", "128x256b.b8x16.b4x16_p64"})
    EXPECT_FALSE(Parse(shape).ok()) << shape;
}

TEST_F(Copies, ShiftsRowsDown) {
  ASSERT_TRUE(Run("128x256b").ok());
  ASSERT_TRUE(RunTcgen05Shift(32 << 16 | 4, memory_).ok());
  EXPECT_EQ(Cell(31, 4), 3100u);
  EXPECT_EQ(Cell(32, 4), 3300u);
  EXPECT_EQ(Cell(62, 11), 6307u);
  EXPECT_EQ(Cell(63, 4), 6300u);
  EXPECT_FALSE(RunTcgen05Shift(16 << 16, memory_).ok());
}

}  // namespace
}  // namespace tile::gpu_sim

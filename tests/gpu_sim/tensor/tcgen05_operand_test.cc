#include "tests/gpu_sim/tensor/tcgen05_operand.h"

#include <algorithm>
#include <set>
#include <vector>

#include "absl/strings/match.h"
#include "gtest/gtest.h"
#include "tests/gpu_sim/tensor/formats.h"

namespace tile::gpu_sim {
namespace {

constexpr uint64_t kNone = 0, kWide = 1, k128 = 2, k64 = 4, k32 = 6;

uint64_t Descriptor(uint32_t start, uint32_t leading, uint32_t stride, uint64_t mode) {
  return start >> 4 | uint64_t{leading >> 4} << 16 | uint64_t{stride >> 4} << 32 | uint64_t{1} << 46 | mode << 61;
}

TEST(Operand, Fields) {
  const OperandLayout l = *DecodeOperand(Descriptor(0x2410, 0x40, 0x400, k64), true);
  EXPECT_EQ(l.start, 0x2410u);
  EXPECT_EQ(l.leading, 0x40u);
  EXPECT_EQ(l.stride, 0x400u);
  EXPECT_EQ(l.span, 64u);
  EXPECT_TRUE(l.mn_major);
}

// Rows of 128 bytes; in row r the piece c is where c XOR r mod 8 is.
TEST(Operand, KMajor) {
  const OperandLayout l = *DecodeOperand(Descriptor(1024, 0, 1024, k128), false);
  EXPECT_EQ(PieceAddress(l, 0, 16), 1024u + 16);
  EXPECT_EQ(PieceAddress(l, 3, 0), 1024u + 3 * 128 + 3 * 16);
  EXPECT_EQ(PieceAddress(l, 13, 32), 1024u + 1024 + 5 * 128 + (2 ^ 5) * 16);
  // The next step along K begins 32 bytes behind: the swizzle is one of addresses.
  const OperandLayout next = *DecodeOperand(Descriptor(1024 + 32, 0, 1024, k128), false);
  for (uint32_t row = 0; row < 16; ++row) EXPECT_EQ(PieceAddress(next, row, 0), PieceAddress(l, row, 32));
}

TEST(Operand, NarrowSwizzles) {
  const OperandLayout l64 = *DecodeOperand(Descriptor(1024, 0, 512, k64), false);
  EXPECT_EQ(PieceAddress(l64, 2, 16), 1024u + 2 * 64 + (1 ^ 1) * 16);
  const OperandLayout l32 = *DecodeOperand(Descriptor(1024, 0, 256, k32), false);
  EXPECT_EQ(PieceAddress(l32, 4, 0), 1024u + 4 * 32 + 16);
}

TEST(Operand, WithoutSwizzle) {
  const OperandLayout k = *DecodeOperand(Descriptor(512, 4096, 128, kNone), false);
  EXPECT_EQ(PieceAddress(k, 9, 16), 512u + 128 + 16 + 4096);
  const OperandLayout mn = *DecodeOperand(Descriptor(512, 4096, 128, kNone), true);
  EXPECT_EQ(PieceAddress(mn, 9, 16), 512u + 4096 + 16 + 128);
}

TEST(Operand, MnMajor) {
  const OperandLayout l = *DecodeOperand(Descriptor(1024, 8192, 1024, k128), true);
  EXPECT_EQ(PieceAddress(l, 9, 128 + 48), 1024u + 1024 + 128 + 8192 + (3 ^ 1) * 16);
}

TEST(Operand, PiecesOf32Bytes) {
  const OperandLayout l = *DecodeOperand(Descriptor(1024, 8192, 512, kWide), true);
  EXPECT_EQ(PieceAddress(l, 0, 16), 1024u + 16);
  EXPECT_EQ(PieceAddress(l, 1, 16), 1024u + 128 + 32 + 16);
  EXPECT_EQ(PieceAddress(l, 5, 64), 1024u + 512 + 128 + (2 ^ 1) * 32);
  EXPECT_FALSE(DecodeOperand(Descriptor(1024, 8192, 512, kWide), false).ok());
}

TEST(Operand, WhatIsNoDescriptor) {
  const uint64_t good = Descriptor(1024, 0, 1024, k128);
  EXPECT_TRUE(absl::StrContains(DecodeOperand(good & ~(uint64_t{1} << 46), false).status().message(), "wgmma"));
  EXPECT_FALSE(DecodeOperand(good | uint64_t{1} << 61, false).ok());  // mode 3
  EXPECT_FALSE(DecodeOperand(good | uint64_t{1} << 52, false).ok());  // absolute leading address
  EXPECT_FALSE(DecodeOperand(good | uint64_t{1} << 49, false).ok());  // base offset
  EXPECT_FALSE(DecodeOperand(good | uint64_t{1} << 55, false).ok());  // bits that are zero
  EXPECT_TRUE(
      DecodeOperand(Descriptor(0, 0, 128, kNone) | uint64_t{1} << 49, false).ok());  // no effect without a swizzle
}

// 16 elements of 6 bits lie behind each other in the first 12 of 16 bytes.
TEST(Operand, UnpackedElements) {
  std::vector<uint8_t> memory(1024);
  for (uint32_t row = 0; row < 8; ++row) {
    for (uint32_t k = 0; k < 32; ++k) {
      const uint32_t code = (row + k) % 64, bit = k % 16 * 6;
      uint8_t* piece = &memory[row * 16 + k / 16 * 128];
      for (uint32_t b = 0; b < 6; ++b) piece[(bit + b) / 8] |= static_cast<uint8_t>((code >> b & 1) << ((bit + b) % 8));
    }
  }
  const OperandFormat format = {6, true, [](uint32_t code) { return Decode(Format::kE2M3, code); }};
  std::vector<double> values(8 * 32);
  const OperandLayout l = *DecodeOperand(Descriptor(0, 128, 1024, kNone), false);
  const auto read = [&](uint32_t at, uint32_t) -> absl::StatusOr<const uint8_t*> { return &memory[at]; };
  ASSERT_TRUE(ReadOperand(l, format, 8, 32, read, absl::MakeSpan(values)).ok());
  for (uint32_t row = 0; row < 8; ++row) {
    for (uint32_t k = 0; k < 32; ++k)
      EXPECT_EQ(values[row * 32 + k], Decode(Format::kE2M3, (row + k) % 64)) << row << " " << k;
  }
}

TEST(Operand, RefusedMemory) {
  std::vector<double> values(8 * 16);
  const OperandFormat format = {16, false, [](uint32_t) { return 0.0; }};
  const auto read = [](uint32_t, uint32_t) -> absl::StatusOr<const uint8_t*> {
    return absl::OutOfRangeError("outside");
  };
  const OperandLayout l = *DecodeOperand(Descriptor(0, 0, 1024, k128), false);
  EXPECT_EQ(ReadOperand(l, format, 8, 16, read, absl::MakeSpan(values)).message(), "outside");
}

}  // namespace
}  // namespace tile::gpu_sim

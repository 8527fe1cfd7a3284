#include "tests/gpu_sim/tensor/tensor_shape.h"

#include <set>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "gtest/gtest.h"

namespace tile::gpu_sim {
namespace {

absl::StatusOr<TensorShape> Parse(absl::string_view shape, absl::string_view op = "ld") {
  const std::string opcode = absl::StrCat("tcgen05.", op, ".sync.aligned.", shape, ".b32");
  const std::vector<absl::string_view> parts = absl::StrSplit(opcode, '.');
  return ParseTensorShape(parts);
}

// Every register of a warp has a cell of its own, and together they fill lanes × columns.
void Fills(absl::string_view name, uint32_t lanes, uint32_t columns) {
  const absl::StatusOr<TensorShape> shape = Parse(name);
  ASSERT_TRUE(shape.ok()) << shape.status();
  std::set<std::pair<uint32_t, uint32_t>> cells;
  for (uint32_t t = 0; t < 32; ++t) {
    for (uint32_t r = 0; r < shape->registers; ++r) {
      for (uint32_t half = 0; half <= (shape->packed ? 1u : 0u); ++half) {
        const TensorCell c = CellOf(*shape, t, r, half);
        EXPECT_LT(c.lane, lanes);
        EXPECT_LT(c.column, columns);
        cells.insert({c.lane, c.column});
      }
    }
  }
  EXPECT_EQ(cells.size(), lanes * columns) << name;
}

TEST(TensorShape, RegistersFillTheShape) {
  Fills("32x32b.x1", 32, 1);
  Fills("32x32b.x128", 32, 128);
  Fills("16x64b.x4", 16, 8);
  Fills("16x128b.x8", 16, 32);
  Fills("16x256b.x32", 16, 256);
  Fills("32x32b.x2.pack::16b", 32, 4);
  Fills("16x256b.x1.pack::16b", 16, 16);
}

// The figures of the PTX ISA.
TEST(TensorShape, CellsOfThreads) {
  const auto cell = [](absl::string_view name, uint32_t t, uint32_t r) {
    const TensorCell c = CellOf(*Parse(name), t, r);
    return std::pair(c.lane, c.column);
  };
  EXPECT_EQ(cell("32x32b.x2", 5, 1), std::pair(5u, 1u));
  EXPECT_EQ(cell("16x256b.x1", 4, 0), std::pair(1u, 0u));  // as C of mma.m16n8
  EXPECT_EQ(cell("16x256b.x1", 1, 1), std::pair(0u, 3u));
  EXPECT_EQ(cell("16x256b.x1", 0, 2), std::pair(8u, 0u));
  EXPECT_EQ(cell("16x256b.x2", 0, 4), std::pair(0u, 8u));
  EXPECT_EQ(cell("16x128b.x1", 3, 1), std::pair(8u, 3u));
  EXPECT_EQ(cell("16x64b.x1", 1, 0), std::pair(8u, 0u));
  EXPECT_EQ(cell("16x64b.x1", 2, 0), std::pair(0u, 1u));
}

TEST(TensorShape, SecondColumn) {
  TensorShape shape = *Parse("16x32bx2.x4");
  shape.second_column = 32;
  EXPECT_EQ(CellOf(shape, 3, 2).column, 2u);
  EXPECT_EQ(CellOf(shape, 19, 2).lane, 3u);
  EXPECT_EQ(CellOf(shape, 19, 2).column, 34u);
}

TEST(TensorShape, WhatDoesNotExist) {
  for (const char* name : {"16x256b.x64", "32x32b.x3", "32x32b.x256", "32x32b", "8x32b.x1", "16x32bx2.x2.pack::16b",
                           "32x32b.x1.unpack::16b"}) {
    EXPECT_FALSE(Parse(name).ok()) << name;
  }
  EXPECT_TRUE(Parse("32x32b.x1.unpack::16b", "st").ok());
  EXPECT_FALSE(Parse("32x32b.x1", "cp").ok());
}

}  // namespace
}  // namespace tile::gpu_sim

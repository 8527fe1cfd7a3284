#include "codegen/layout/block_scales.h"

#include <algorithm>
#include <utility>

#include "gtest/gtest.h"

namespace tile::codegen {
namespace {

using Position = std::pair<int64_t, int64_t>;  // row, column

Position At(const Layout& layout, int reg, int lane, int warp) {
  const auto c = layout.Coordinates(
      layout.Apply(static_cast<uint32_t>(reg), static_cast<uint32_t>(lane), static_cast<uint32_t>(warp)));
  return {c[0], c[1]};
}

// The PTX ISA has figures of .scale_vec::1X, 2X and 4X. thread-id-a selects two threads of each four: the first has the scales of row g, the other
// those of row g + 8. thread-id-b selects one thread, which has the scales of column g. Byte 0 belongs to the first block along K.
TEST(BlockScalesTest, AsInThePtxIsa) {
  const MmaInstruction in = {16, 8, 32, 8};
  for (const int64_t m : {8, 16, 32, 128}) {
    for (const int64_t n : {8, 16, 128}) {
      for (const int64_t blocks : {1, 2, 4, 8}) {
        for (const int warps_n : {1, 2}) {
          const MmaTile tile = {in, m, n, 32 * blocks, 2, warps_n};
          const Layout a = MmaScaleLayout(tile, Operand::kA, blocks), b = MmaScaleLayout(tile, Operand::kB, blocks);
          EXPECT_TRUE(a.IsSurjective() && b.IsSurjective());
          const int64_t piece_m = std::max<int64_t>(16, m / 2), piece_n = std::max<int64_t>(8, n / warps_n);
          const int in_word = static_cast<int>(std::min<int64_t>(4, blocks));
          for (int warp = 0; warp < 2 * warps_n; ++warp) {
            const int row = static_cast<int>(warp % 2 * piece_m), column = static_cast<int>(warp / 2 * piece_n);
            for (int block = 0; block < blocks; ++block) {
              for (int g = 0; g < 8; ++g) {
                for (int i = 0; i < piece_m / 16; ++i) {
                  const MmaScalePlace p = PlaceOfMmaScale(Operand::kA, blocks, i, block);
                  for (int half : {0, 1}) {
                    EXPECT_EQ(At(a, p.word * in_word + p.byte, 4 * g + 2 * p.thread + half, warp),
                              Position((row + 16 * i + 8 * half + g) % m, block));
                  }
                }
                for (int j = 0; j < piece_n / 8; ++j) {
                  const MmaScalePlace p = PlaceOfMmaScale(Operand::kB, blocks, j, block);
                  EXPECT_EQ(At(b, p.word * in_word + p.byte, 4 * g + p.thread, warp),
                            Position(block, (column + 8 * j + g) % n));
                }
              }
            }
          }
        }
      }
    }
  }
}

// A piece of 128 rows x 4 scales is 512 bytes: byte 16 (r mod 32) + 4 (r / 32) + s, as cuBLAS and PyTorch have it in memory.
TEST(BlockScalesTest, PiecesInSharedMemory) {
  for (const int64_t rows : {32, 64, 128, 256}) {
    for (const int64_t blocks : {1, 2, 4, 8, 16}) {
      const SharedMap map = ScalesInShared(rows, blocks);
      EXPECT_EQ(int64_t{1} << map.index.out_bits(), kScalePieceBytes * ScalePieces(rows, blocks));
      for (int64_t r = 0; r < rows; ++r) {
        for (int64_t s = 0; s < blocks; ++s) {
          const int64_t piece = s / 4 * ScalePiecesOfRows(rows) + r / 128;
          EXPECT_EQ(map.index.Apply(static_cast<Mask>(r * blocks + s)),
                    static_cast<Mask>(512 * piece + r % 32 * 16 + r % 128 / 32 * 4 + s % 4));
        }
      }
    }
  }
}

}  // namespace
}  // namespace tile::codegen

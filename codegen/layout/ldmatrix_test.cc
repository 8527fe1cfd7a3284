#include <random>
#include <tuple>
#include <vector>

#include "codegen/layout/algebra.h"
#include "codegen/layout/fragments.h"
#include "codegen/layout/testing.h"
#include "gtest/gtest.h"

namespace tile::codegen {
namespace {

using testing::RandomLayout;

// Executes the instructions as the PTX ISA describes them, on an array of offsets.
void CheckLoad(const SharedMap& map, const Layout& fragment, const LdMatrix& load) {
  const int bits = map.element_bits, word = 32 / bits, row_elements = 128 / bits;
  std::vector<Mask> memory(static_cast<size_t>(fragment.elements()));
  for (Mask offset = 0; offset < memory.size(); ++offset) memory[map.index.Apply(offset)] = offset;
  ASSERT_EQ(load.per_instruction, load.matrices * word);
  ASSERT_EQ(static_cast<int>(load.registers.size()), fragment.registers());
  ASSERT_EQ(load.instructions() * load.per_instruction, fragment.registers());
  for (int warp = 0; warp < fragment.warps(); ++warp) {
    for (int i = 0; i < load.instructions(); ++i) {
      for (int j = 0; j < load.matrices; ++j) {
        for (int lane = 0; lane < 32; ++lane) {
          for (int e = 0; e < word; ++e) {
            const int row = load.trans ? lane % 4 * 2 + e : lane / 4;
            const int column = load.trans ? lane / 4 : lane % 4 * word + e;
            const Mask address = load.Address(i, static_cast<uint32_t>(j * 8 + row), static_cast<uint32_t>(warp));
            ASSERT_EQ(address % static_cast<Mask>(row_elements), 0u);
            const int reg = load.registers[static_cast<size_t>(i * load.per_instruction + j * word + e)];
            ASSERT_EQ(memory[address + static_cast<Mask>(column)], fragment.Apply(reg, lane, warp));
          }
        }
      }
    }
  }
}

// The same for bytes that lie across: matrices have 16-bit elements, of two bytes, and prmt makes words of pairs of them.
void CheckBytes(const SharedMap& map, const Layout& fragment, const LdMatrix& load) {
  ASSERT_TRUE(load.bytes && load.trans && load.matrices % 2 == 0);
  std::vector<Mask> memory(static_cast<size_t>(fragment.elements()));
  for (Mask offset = 0; offset < memory.size(); ++offset) memory[map.index.Apply(offset)] = offset;
  ASSERT_EQ(load.instructions() * load.per_instruction, fragment.registers());
  for (int warp = 0; warp < fragment.warps(); ++warp) {
    for (int i = 0; i < load.instructions(); ++i) {
      for (int j = 0; j < load.matrices; j += 2) {
        for (int lane = 0; lane < 32; ++lane) {
          Mask bytes[8];  // of two matrices
          for (int b = 0; b < 8; ++b) {
            const int row = lane % 4 * 2 + b % 4 / 2, column = lane / 4 * 2 + b % 2;
            const Mask address =
                load.Address(i, static_cast<uint32_t>((j + b / 4) * 8 + row), static_cast<uint32_t>(warp));
            ASSERT_EQ(address % 16, 0u);
            bytes[b] = memory[address + static_cast<Mask>(column)];
          }
          for (int second = 0; second < 2; ++second) {
            const uint32_t selector = CombinedBytes(second == 1, (lane & 2) != 0);
            for (int b = 0; b < 4; ++b) {
              const int reg = load.registers[static_cast<size_t>(i * load.per_instruction + (j + second) * 4 + b)];
              ASSERT_EQ(bytes[selector >> (4 * b) & 7], fragment.Apply(reg, lane, warp));
            }
          }
        }
      }
    }
  }
}

// First operands of wgmma in bytes, which lie in stages of K x M.
TEST(LdMatrixTest, BytesThatLieAcross) {
  for (int swizzle : {32, 64, 128}) {
    for (int groups : {1, 2}) {
      for (int64_t k : {32, 128}) {
        const WgmmaTile tile = {64, 8, 128, 64, k, groups, 1, true};
        const Layout a = WgmmaLayout(tile, Operand::kA).Permute({1, 0});
        const SharedMap map = TmaSwizzle({k, 128}, 8, swizzle);
        const auto load = FitLdMatrix(map, a, true);
        ASSERT_TRUE(load);
        EXPECT_EQ(load->matrices, 4);
        CheckBytes(map, a, *load);
        if (swizzle >= 64) {
          EXPECT_EQ(LdMatrixWavefronts(*load, 8), LeastLdMatrixWavefronts(*load));
        }
        EXPECT_FALSE(FitLdMatrix(map, a, false));
        // Rows 0 and 8 are in no pair of neighbouring bytes.
        const WgmmaTile apart = {64, 8, 128, 64, k, groups, 1, false};
        EXPECT_FALSE(FitLdMatrix(map, WgmmaLayout(apart, Operand::kA).Permute({1, 0}), true));
      }
    }
  }
}

// A row-major tile in shared memory, swizzled as TMA does: A goes straight, B of K × N transposed.
TEST(LdMatrixTest, TmaSwizzledTiles) {
  for (int swizzle : {32, 64, 128}) {
    for (int warps : {1, 2}) {
      const MmaTile f16 = {{16, 8, 16, 16}, 64, 64, 64, warps, warps};
      const SharedMap map = TmaSwizzle({64, 64}, 16, swizzle);
      const Layout a = MmaLayout(f16, Operand::kA), b = MmaLayout(f16, Operand::kB);
      const auto load_a = FitLdMatrix(map, a, false), load_b = FitLdMatrix(map, b, true);
      ASSERT_TRUE(load_a && load_b);
      EXPECT_EQ(load_a->matrices, 4);
      EXPECT_EQ(load_b->matrices, 4);
      CheckLoad(map, a, *load_a);
      CheckLoad(map, b, *load_b);
      EXPECT_EQ(LdMatrixWavefronts(*load_a, 16), LeastLdMatrixWavefronts(*load_a));
      EXPECT_EQ(LdMatrixWavefronts(*load_b, 16), LeastLdMatrixWavefronts(*load_b));
      // Without a swizzle rows of 128 bytes all start in one bank.
      const auto plain = FitLdMatrix(RowMajor({64, 64}, 16), a, false);
      ASSERT_TRUE(plain);
      EXPECT_EQ(LdMatrixWavefronts(*plain, 16), 8 * LeastLdMatrixWavefronts(*plain));
      EXPECT_FALSE(FitLdMatrix(map, a, true));
      EXPECT_FALSE(FitLdMatrix(map, b, false));
    }
  }
  // Other widths; there is no transposing load of 32 bits, nor one of 8 for these fragments.
  for (const MmaInstruction& in : {MmaInstruction{16, 8, 32, 8}, MmaInstruction{16, 8, 8, 32}}) {
    const MmaTile tile = {in, 32, 32, 64, 2, 1};
    const int bits = in.element_bits;
    const Layout a = MmaLayout(tile, Operand::kA), b = MmaLayout(tile, Operand::kB), bt = b.Permute({1, 0});
    const SharedMap map_a = TmaSwizzle({32, 64}, bits, 64), map_b = TmaSwizzle({64, 32}, bits, 32);
    ASSERT_TRUE(FitLdMatrix(map_a, a, false));
    CheckLoad(map_a, a, *FitLdMatrix(map_a, a, false));
    EXPECT_FALSE(FitLdMatrix(map_b, b, true));
    EXPECT_FALSE(FitLdMatrix(map_b, b, false));
    // B stored N × K.
    const SharedMap map_bt = TmaSwizzle({32, 64}, bits, 64);
    ASSERT_TRUE(FitLdMatrix(map_bt, bt, false));
    CheckLoad(map_bt, bt, *FitLdMatrix(map_bt, bt, false));
  }
  const Layout f64 = MmaLayout({{8, 8, 4, 64}, 32, 32, 32, 1, 1}, Operand::kA);
  EXPECT_FALSE(FitLdMatrix(RowMajor({32, 32}, 64), f64, false));
}

// Coalesced registers → shared memory → fragments: 16-byte stores, .x4 loads, no conflicts.
TEST(LdMatrixTest, ChosenSwizzles) {
  for (int64_t k : {32, 64, 128}) {
    for (int warps_m : {1, 2, 4}) {
      const MmaTile tile = {{16, 8, 16, 16}, 128, 64, k, warps_m, 4 / warps_m};
      const Layout a = MmaLayout(tile, Operand::kA), b = MmaLayout(tile, Operand::kB);
      const Layout src_a = Layout::Default(a.shape(), 4, 8), src_b = Layout::Default(b.shape(), 4, 8);
      const auto x = ChooseSharedForLdMatrix(src_a, a, 16, false), y = ChooseSharedForLdMatrix(src_b, b, 16, true);
      ASSERT_TRUE(x && y);
      for (const auto& [e, l, src] : {std::tuple(*x, a, src_a), std::tuple(*y, b, src_b)}) {
        EXPECT_TRUE(e.map.index.IsInjective());
        CheckLoad(e.map, l, e.read);
        EXPECT_EQ(e.read.matrices, 4);
        EXPECT_EQ(LdMatrixWavefronts(e.read, 16), LeastLdMatrixWavefronts(e.read));
        const Layout write = Compose(e.map.index, src);
        EXPECT_EQ(e.write.vector, 8);
        EXPECT_EQ(BankWavefronts(write, e.write, 16), LeastWavefronts(write, e.write, 16));
      }
    }
  }
}

// Whatever the source is, what fits is right, and what is written is what is read.
TEST(LdMatrixTest, RandomSources) {
  std::mt19937 rng(9);
  int fitted = 0;
  for (int trial = 0; trial < 200; ++trial) {
    const bool trans = trial % 2;
    const Layout fragment = MmaLayout({{16, 8, 16, 16}, 32, 32, 32, 2, 1}, trans ? Operand::kB : Operand::kA);
    const Layout src = RandomLayout(rng, {32, 32}, 4 + static_cast<int>(rng() % 2), 5, 1);
    const auto x = ChooseSharedForLdMatrix(src, fragment, 16, trans);
    if (!x) continue;
    ++fitted;
    CheckLoad(x->map, fragment, x->read);
    EXPECT_EQ(LdMatrixWavefronts(x->read, 16), LeastLdMatrixWavefronts(x->read));
  }
  EXPECT_GT(fitted, 100);
  // Replicated columns have no row of 16 bytes.
  const Layout narrow = MmaLayout({{16, 8, 16, 16}, 32, 4, 32, 1, 1}, Operand::kB);
  EXPECT_FALSE(ChooseSharedForLdMatrix(Layout::Default({32, 4}, 1, 4), narrow, 16, true));
  // No fragment at all.
  EXPECT_FALSE(ChooseSharedForLdMatrix(Layout::Default({4}, 1, 4), Layout::Default({4}, 1, 1), 16, false));
}

}  // namespace
}  // namespace tile::codegen

#include "codegen/layout/shared.h"

#include <algorithm>
#include <random>
#include <vector>

#include "codegen/layout/algebra.h"
#include "codegen/layout/fragments.h"
#include "codegen/layout/testing.h"
#include "gtest/gtest.h"

namespace tile::codegen {
namespace {

using testing::Factors;
using testing::ForEachPlace;
using testing::RandomLayout;
using testing::Sizes;

// Writes with one layout and reads with the other, instruction by instruction, on an array.
void CheckExchange(const Layout& src, const Layout& dst, int bits, const SharedExchange& x) {
  ASSERT_EQ(x.map.index.Rank(), src.offset_bits());
  const Layout write = Compose(x.map.index, src), read = Compose(x.map.index, dst);
  std::vector<Mask> memory(size_t{1} << src.offset_bits(), ~Mask{0});
  const auto each = [&](const Layout& l, const VectorAccess& a, auto f) {
    for (int w = 0; w < l.warps(); ++w) {
      for (int lane = 0; lane < l.lanes(); ++lane) {
        for (int i = 0; i < a.instructions(); ++i) {
          const Mask start = l.Apply(a.registers[i * a.vector], lane, w);
          ASSERT_EQ(start % a.vector, 0u);
          for (int e = 0; e < a.vector; ++e) f(a.registers[i * a.vector + e], lane, w, start + e);
        }
      }
    }
  };
  ASSERT_LE(x.write.vector * bits, 128);
  each(write, x.write, [&](int r, int lane, int w, Mask at) { memory[at] = src.Apply(r, lane, w); });
  each(read, x.read, [&](int r, int lane, int w, Mask at) { ASSERT_EQ(memory[at], dst.Apply(r, lane, w)); });
  for (const auto& [l, a] : {std::pair(write, x.write), std::pair(read, x.read)}) {
    ASSERT_EQ(QuickWavefronts(l, a, bits), BankWavefronts(l, a, bits));
    ASSERT_GE(BankWavefronts(l, a, bits), LeastWavefronts(l, a, bits));
  }
}

int64_t Conflicts(const Layout& src, const Layout& dst, int bits, const SharedExchange& x) {
  const Layout write = Compose(x.map.index, src), read = Compose(x.map.index, dst);
  return BankWavefronts(write, x.write, bits) - LeastWavefronts(write, x.write, bits) +
         BankWavefronts(read, x.read, bits) - LeastWavefronts(read, x.read, bits);
}

TEST(SharedTest, AnyLayoutToAny) {
  std::mt19937 rng(8);
  for (int trial = 0; trial < 400; ++trial) {
    const int size = static_cast<int>(rng() % 11), warp = static_cast<int>(rng() % 3);
    const int lane = trial % 4 == 0 ? 3 : 5;
    const int least = std::max(0, size - lane - warp);
    const Sizes shape = {int64_t{1} << size};
    const Layout src = RandomLayout(rng, shape, least + static_cast<int>(rng() % 2), lane, warp);
    const Layout dst = RandomLayout(rng, shape, least + static_cast<int>(rng() % 2), lane, warp);
    for (int bits : {8, 16, 32, 64}) CheckExchange(src, dst, bits, ChooseShared(src, dst, bits));
  }
}

// Between all blocked layouts of a tile: vectors on both sides and no conflicts.
TEST(SharedTest, BlockedLayoutsMeetWithoutConflicts) {
  std::vector<Layout> all;
  for (const Sizes& elements : Factors(2, 3)) {
    for (const Sizes& lanes : Factors(2, 5)) {
      for (int order = 0; order < 2; ++order) {
        all.push_back(Layout::Blocked({64, 64}, elements, lanes, {2, 2}, {order, 1 - order}));
      }
    }
  }
  for (size_t i = 0; i < all.size(); i += 4) {
    for (size_t j = 0; j < all.size(); j += 3) {
      for (int bits : {16, 32}) {
        const SharedExchange x = ChooseShared(all[i], all[j], bits);
        CheckExchange(all[i], all[j], bits, x);
        ASSERT_EQ(Conflicts(all[i], all[j], bits, x), 0) << all[i].ToString() << "\n" << all[j].ToString();
      }
    }
  }
}

// Rows written, columns read. The fewest cycles: 128 bytes each.
TEST(SharedTest, TransposesAreOptimal) {
  for (int64_t size : {32, 64, 128}) {
    for (int bits : {8, 16, 32, 64}) {
      // Threads hold square blocks on both sides, which are shared vectors.
      for (int64_t block = std::max(1, 32 / bits); block <= 128 / bits; block *= 2) {
        if (size * size < 32 * 4 * block * block) continue;
        const int64_t across = std::min<int64_t>(32, size / block);
        const Layout rows = Layout::Blocked({size, size}, {block, block}, {32 / across, across}, {4, 1}, {1, 0});
        const Layout columns = Layout::Blocked({size, size}, {block, block}, {across, 32 / across}, {1, 4}, {0, 1});
        const SharedExchange x = ChooseShared(rows, columns, bits);
        CheckExchange(rows, columns, bits, x);
        EXPECT_GE(x.write.vector * bits, std::min<int64_t>(128, block * block * bits));
        EXPECT_GE(x.read.vector * bits, std::min<int64_t>(128, block * block * bits));
        const int64_t cycles = std::max<int64_t>(1, size * size * bits / 8 / 128);
        EXPECT_EQ(BankWavefronts(Compose(x.map.index, rows), x.write, bits), cycles);
        EXPECT_EQ(BankWavefronts(Compose(x.map.index, columns), x.read, bits), cycles);
      }
      // Coalesced in both: rows of 16-byte vectors to columns of such. Only one side can have vectors.
      const Layout rows = Layout::Default({size, size}, 4, 128 / bits);
      const Layout columns = rows.Permute({1, 0});
      const SharedExchange x = ChooseShared(rows, columns, bits);
      CheckExchange(rows, columns, bits, x);
      EXPECT_EQ(Conflicts(rows, columns, bits, x), 0) << size << " " << bits;
    }
  }
}

TEST(SharedTest, WavefrontsOfKnownPatterns) {
  // 32 floats of a row, of a column of 32, and of a column of 32 with a swizzle.
  const VectorAccess scalar = {1, {0}};
  EXPECT_EQ(BankWavefronts(Layout::FromBases({1024}, {}, {1, 2, 4, 8, 16}, {}), scalar, 32), 1);
  EXPECT_EQ(BankWavefronts(Layout::FromBases({1024}, {}, {32, 64, 128, 256, 512}, {}), scalar, 32), 32);
  EXPECT_EQ(BankWavefronts(Layout::FromBases({1024}, {}, {33, 66, 132, 264, 528}, {}), scalar, 32), 1);
  EXPECT_EQ(BankWavefronts(Layout::FromBases({1024}, {}, {2, 4, 8, 16, 32}, {}), scalar, 32), 2);
  EXPECT_EQ(BankWavefronts(Layout::FromBases({1024}, {}, {0, 0, 0, 0, 0}, {}), scalar, 32), 1);
  // Halves of a word do not conflict; words of 16 bits 64 bytes apart do.
  EXPECT_EQ(BankWavefronts(Layout::FromBases({1024}, {}, {1, 2, 4, 8, 16}, {}), scalar, 16), 1);
  EXPECT_EQ(BankWavefronts(Layout::FromBases({1024}, {}, {32, 64, 128, 256, 512}, {}), scalar, 16), 16);
  // Vectors of 16 bytes go 8 lanes at a time.
  const VectorAccess four = {4, {0, 1, 2, 3}};
  EXPECT_EQ(BankWavefronts(Layout::FromBases({4096}, {1, 2}, {4, 8, 16, 32, 64}, {}), four, 32), 4);
  EXPECT_EQ(BankWavefronts(Layout::FromBases({4096}, {1, 2}, {32, 64, 128, 256, 512}, {}), four, 32), 32);
  EXPECT_EQ(BankWavefronts(Layout::FromBases({4096}, {1, 2}, {36, 72, 144, 256, 512}, {0, 1024}), four, 32), 16);
  EXPECT_EQ(LeastWavefronts(Layout::FromBases({4096}, {1, 2}, {36, 72, 144, 256, 512}, {0, 1024}), four, 32), 16);
}

// Words that lie across in what TMA has swizzled, as wgmma takes them: pairs of rows, four k beside each other, four further on.
TEST(SharedTest, TurnsSpreadLanesOverBanks) {
  for (const int64_t k : {8, 16, 32, 64}) {
    for (const int64_t rows : {64, 128}) {
      const SharedMap map = TmaSwizzle({k, rows}, 32, 128);
      const Layout fragment = WgmmaLayout({64, 32, rows, 64, k, 1, 1, true}, Operand::kA).Permute({1, 0});
      const Layout in_shared = Compose(map.index, fragment);
      const VectorAccess access = Vectorise(in_shared, 32, 0, 4);
      EXPECT_EQ(access.vector, 2);
      EXPECT_EQ(BankWavefronts(in_shared, access, 32), 2 * LeastWavefronts(in_shared, access, 32));
      const std::optional<Turn> turn = FindTurn(in_shared, access, 32);
      ASSERT_TRUE(turn.has_value());
      const Layout read = turn->Of(in_shared);
      const VectorAccess vectors = Vectorise(read, 32, 0, 2);
      EXPECT_EQ(vectors.vector, 2);
      EXPECT_EQ(BankWavefronts(read, vectors, 32), LeastWavefronts(read, vectors, 32));
      // A thread reads what it is to hold, in another order.
      for (uint32_t lane = 0; lane < 32; ++lane) {
        for (uint32_t r = 0; r < static_cast<uint32_t>(read.registers()); ++r) {
          const uint32_t from = (lane >> turn->lane & 1) != 0 ? r ^ 1u << turn->reg : r;
          ASSERT_EQ(read.Apply(from, lane, 0), in_shared.Apply(r, lane, 0));
        }
      }
    }
  }
  // Nothing to gain, or no way to.
  EXPECT_FALSE(FindTurn(Layout::FromBases({1024}, {32}, {1, 2, 4, 8, 16}, {}), {1, {0, 1}}, 32).has_value());
  EXPECT_FALSE(FindTurn(Layout::FromBases({1024}, {}, {32, 64, 128, 256, 512}, {}), {1, {0}}, 32).has_value());
}

// The swizzles of TMA in bytes: chunk bits 4-6 take bits 7-9 of the address.
TEST(SharedTest, TmaSwizzles) {
  for (int bits : {8, 16, 32}) {
    for (int swizzle : {16, 32, 64, 128}) {
      for (const Sizes& shape : {Sizes{64, 64}, Sizes{8, 256}, Sizes{4, 16, 32}}) {
        const SharedMap map = TmaSwizzle(shape, bits, swizzle);
        EXPECT_TRUE(map.index.IsInjective());
        const int64_t width = shape.back();
        const int64_t rows_of_tile = shape.size() == 3 ? shape[0] * shape[1] : shape[0];
        for (int64_t row = 0; row < rows_of_tile; ++row) {
          for (int64_t column = 0; column < width; ++column) {
            const int64_t piece = swizzle == 16 || swizzle * 8 / bits > width ? width : swizzle * 8 / bits;
            int64_t byte = ((column / piece * rows_of_tile + row) * piece + column % piece) * bits / 8;
            if (piece * bits / 8 == swizzle && swizzle > 16) byte ^= (byte >> 7 & (swizzle / 16 - 1)) << 4;
            ASSERT_EQ(map.index.Apply(static_cast<Mask>(row * width + column)), static_cast<Mask>(byte * 8 / bits));
          }
        }
      }
    }
  }
  EXPECT_EQ(RowMajor({4, 8}, 16).index, Gf2Map::Identity(5));
}

}  // namespace
}  // namespace tile::codegen

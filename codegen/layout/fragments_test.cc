#include "codegen/layout/fragments.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "codegen/layout/algebra.h"
#include "codegen/layout/testing.h"
#include "gtest/gtest.h"

namespace tile::codegen {
namespace {

using testing::ForEachPlace;
using Position = std::pair<int, int>;  // row, column

// The PTX ISA's formulas: of element i of a lane with groupID g = lane >> 2 and threadID_in_group t = lane % 4.
struct IsaFragment {
  MmaInstruction in;
  int a_elements, b_elements;
  Position (*a)(int i, int g, int t);
  Position (*b)(int i, int g, int t);
};

const IsaFragment kIsa[] = {
    {{16, 8, 8, 16},
     4,
     2,  // .f16 .bf16
     [](int i, int g, int t) { return Position(i < 2 ? g : g + 8, t * 2 + (i & 1)); },
     [](int i, int g, int t) { return Position(t * 2 + i, g); }},
    {{16, 8, 16, 16},
     8,
     4,
     [](int i, int g, int t) {
       return Position((i >= 0 && i < 2) || (i >= 4 && i < 6) ? g : g + 8,
                       i < 4 ? t * 2 + (i & 1) : t * 2 + (i & 1) + 8);
     },
     [](int i, int g, int t) { return Position(i < 2 ? t * 2 + (i & 1) : t * 2 + (i & 1) + 8, g); }},
    {{16, 8, 4, 32},
     2,
     1,  // .tf32
     [](int i, int g, int t) { return Position(i == 0 ? g : g + 8, t); },
     [](int, int g, int t) { return Position(t, g); }},
    {{16, 8, 8, 32},
     4,
     2,
     [](int i, int g, int t) { return Position(i == 0 || i == 2 ? g : g + 8, i < 2 ? t : t + 4); },
     [](int i, int g, int t) { return Position(i == 0 ? t : t + 4, g); }},
    {{8, 8, 4, 64},
     1,
     1,  // .f64
     [](int, int g, int t) { return Position(g, t); },
     [](int, int g, int t) { return Position(t, g); }},
    {{16, 8, 8, 64},
     4,
     2,
     [](int i, int g, int t) { return Position(i == 0 || i == 2 ? g : g + 8, i < 2 ? t : t + 4); },
     [](int i, int g, int t) { return Position(i == 0 ? t : t + 4, g); }},
    {{16, 8, 16, 64},
     8,
     4,
     [](int i, int g, int t) { return Position(i % 2 == 0 ? g : g + 8, i % 2 == 0 ? i * 2 + t : i * 2 - 2 + t); },
     [](int i, int g, int t) { return Position(t + i * 4, g); }},
    {{8, 8, 16, 8},
     4,
     4,  // .s8 .u8
     [](int i, int g, int t) { return Position(g, t * 4 + i); },
     [](int i, int g, int t) { return Position(t * 4 + i, g); }},
    {{16, 8, 16, 8},
     8,
     4,
     [](int i, int g, int t) { return Position(i < 4 ? g : g + 8, t * 4 + (i & 3)); },
     [](int i, int g, int t) { return Position(t * 4 + i, g); }},
    {{16, 8, 32, 8},
     16,
     8,  // and .e4m3 .e5m2
     [](int i, int g, int t) {
       return Position((i >= 0 && i < 4) || (i >= 8 && i < 12) ? g : g + 8,
                       i < 8 ? t * 4 + (i & 3) : t * 4 + (i & 3) + 16);
     },
     [](int i, int g, int t) { return Position(i < 4 ? t * 4 + (i & 3) : t * 4 + (i & 3) + 16, g); }},
    {{16, 8, 64, 4},
     32,
     16,  // .s4 .u4, .e2m1
     [](int i, int g, int t) {
       return Position((i >= 0 && i < 8) || (i >= 16 && i < 24) ? g : g + 8,
                       i < 16 ? t * 8 + (i & 7) : t * 8 + (i & 7) + 32);
     },
     [](int i, int g, int t) { return Position(i < 8 ? t * 8 + (i & 7) : t * 8 + (i & 7) + 32, g); }},
};

Position IsaC(const MmaInstruction& in, int i, int g, int t) {
  return in.m == 8 ? Position(g, t * 2 + i) : Position(i < 2 ? g : g + 8, t * 2 + (i & 1));
}

Position At(const Layout& l, int reg, int lane, int warp) {
  const auto c = l.Coordinates(l.Apply(reg, lane, warp));
  return {static_cast<int>(c[0]), static_cast<int>(c[1])};
}

TEST(FragmentsTest, OneInstructionAsInThePtxIsa) {
  for (const IsaFragment& isa : kIsa) {
    const MmaTile tile = {isa.in, isa.in.m, isa.in.n, isa.in.k, 1, 1};
    const Layout a = MmaLayout(tile, Operand::kA), b = MmaLayout(tile, Operand::kB), c = MmaLayout(tile, Operand::kC);
    ASSERT_EQ(a.registers(), isa.a_elements);
    ASSERT_EQ(b.registers(), isa.b_elements);
    ASSERT_EQ(c.registers(), isa.in.m / 4);
    for (const Layout* l : {&a, &b, &c}) {
      EXPECT_TRUE(l->IsInjective());
      EXPECT_TRUE(l->IsSurjective());
    }
    for (int lane = 0; lane < 32; ++lane) {
      const int g = lane >> 2, t = lane % 4;
      for (int i = 0; i < a.registers(); ++i) EXPECT_EQ(At(a, i, lane, 0), isa.a(i, g, t));
      for (int i = 0; i < b.registers(); ++i) EXPECT_EQ(At(b, i, lane, 0), isa.b(i, g, t));
      for (int i = 0; i < c.registers(); ++i) EXPECT_EQ(At(c, i, lane, 0), IsaC(isa.in, i, g, t));
    }
  }
}

// The whole tile: fragment (i, j) of a warp, at the registers that the header says, and A B = C fits together.
TEST(FragmentsTest, TilesOfManyInstructionsAndWarps) {
  for (const IsaFragment& isa : kIsa) {
    const MmaInstruction& in = isa.in;
    for (int warps_m : {1, 2, 4}) {
      for (int warps_n : {1, 2}) {
        for (int64_t m : {4, 16, 64, 128}) {
          for (int64_t n : {8, 32}) {
            const int64_t k = 2 * in.k;
            const MmaTile tile = {in, m, n, k, warps_m, warps_n};
            const Layout a = MmaLayout(tile, Operand::kA), b = MmaLayout(tile, Operand::kB),
                         c = MmaLayout(tile, Operand::kC);
            EXPECT_TRUE(a.IsSurjective() && b.IsSurjective() && c.IsSurjective());
            const int64_t piece_m = std::max<int64_t>(in.m, m / warps_m), piece_n = std::max<int64_t>(8, n / warps_n);
            const int fragments_m = static_cast<int>(piece_m / in.m), fragments_n = static_cast<int>(piece_n / 8);
            ASSERT_EQ(a.registers(), fragments_m * 2 * isa.a_elements);
            ASSERT_EQ(b.registers(), fragments_n * 2 * isa.b_elements);
            ASSERT_EQ(c.registers(), fragments_m * fragments_n * in.m / 4);
            for (int warp = 0; warp < warps_m * warps_n; ++warp) {
              const int row = static_cast<int>(warp % warps_m * piece_m);
              const int column = static_cast<int>(warp / warps_m * piece_n);
              for (int lane = 0; lane < 32; ++lane) {
                const int g = lane >> 2, t = lane % 4;
                const auto wrap = [](Position p, int64_t rows, int64_t columns) {
                  return Position(p.first % rows, p.second % columns);
                };
                for (int mi = 0; mi < fragments_m; ++mi) {
                  for (int kj = 0; kj < 2; ++kj) {
                    for (int e = 0; e < isa.a_elements; ++e) {
                      Position p = isa.a(e, g, t);
                      p.first += row + mi * in.m;
                      p.second += kj * in.k;
                      ASSERT_EQ(At(a, (mi * 2 + kj) * isa.a_elements + e, lane, warp), wrap(p, m, k));
                    }
                  }
                  for (int nj = 0; nj < fragments_n; ++nj) {
                    for (int e = 0; e < in.m / 4; ++e) {
                      Position p = IsaC(in, e, g, t);
                      p.first += row + mi * in.m;
                      p.second += column + nj * 8;
                      ASSERT_EQ(At(c, (mi * fragments_n + nj) * in.m / 4 + e, lane, warp), wrap(p, m, n));
                    }
                  }
                }
                for (int ni = 0; ni < fragments_n; ++ni) {
                  for (int kj = 0; kj < 2; ++kj) {
                    for (int e = 0; e < isa.b_elements; ++e) {
                      Position p = isa.b(e, g, t);
                      p.first += kj * in.k;
                      p.second += column + ni * 8;
                      ASSERT_EQ(At(b, (ni * 2 + kj) * isa.b_elements + e, lane, warp), wrap(p, k, n));
                    }
                  }
                }
              }
            }
          }
        }
      }
    }
  }
}

// Four pieces of 32 rows: registers of a piece are those of a tile of 32 rows, which lies 32 rows further down for each.
TEST(FragmentsTest, PiecesOneAfterAnother) {
  const MmaInstruction in = {16, 8, 16, 16};
  const MmaTile one = {in, 32, 16, 32, 2, 1}, four = {in, 128, 16, 32, 2, 1, 4, 1}, wide = {in, 32, 64, 32, 2, 1, 1, 4};
  for (Operand operand : {Operand::kA, Operand::kC}) {
    const Layout piece = MmaLayout(one, operand), all = MmaLayout(four, operand);
    ASSERT_EQ(all.registers(), 4 * piece.registers());
    ForEachPlace(all, [&](const Place& p) {
      Position at =
          At(piece, static_cast<int>(p.reg) % piece.registers(), static_cast<int>(p.lane), static_cast<int>(p.warp));
      at.first += static_cast<int>(p.reg) / piece.registers() * 32;
      ASSERT_EQ(At(all, static_cast<int>(p.reg), static_cast<int>(p.lane), static_cast<int>(p.warp)), at);
    });
  }
  EXPECT_TRUE(MmaLayout(four, Operand::kB) == MmaLayout(one, Operand::kB));
  EXPECT_TRUE(MmaLayout(wide, Operand::kA) == MmaLayout(one, Operand::kA));
  EXPECT_EQ(At(MmaLayout(wide, Operand::kC), 3 * 8, 0, 0), Position(0, 48));
}

// Eight products by four warps, two of each product: each pair has its own four products, one after another in registers.
TEST(FragmentsTest, BatchesOfProducts) {
  const MmaInstruction in = {16, 8, 16, 16};
  const MmaTile one = {in, 32, 16, 32, 2, 1};
  MmaTile all = one;
  all.batch = 8;
  all.warps_batch = 2;
  for (Operand operand : {Operand::kA, Operand::kB, Operand::kC}) {
    const Layout product = MmaLayout(one, operand), batch = MmaLayout(all, operand);
    ASSERT_EQ(batch.registers(), 4 * product.registers());
    ASSERT_EQ(batch.warps(), 4);
    EXPECT_TRUE(batch.IsSurjective());
    ForEachPlace(batch, [&](const Place& p) {
      const uint32_t reg = p.reg % static_cast<uint32_t>(product.registers());
      const auto number = static_cast<int64_t>(p.reg) / product.registers() + 4 * (p.warp / 2);
      const auto at = batch.Coordinates(batch.Apply(p.reg, p.lane, p.warp));
      const auto in_product = product.Coordinates(product.Apply(reg, p.lane, p.warp % 2));
      ASSERT_EQ(at[0], number);
      ASSERT_EQ(at[1], in_product[0]);
      ASSERT_EQ(at[2], in_product[1]);
    });
  }
}

// D of wgmma: row 16 * (warp % 4) + g + 8 * (i / 2 % 2), column 8 * (i / 4) + 2 t + i % 2.
TEST(FragmentsTest, WgmmaAsInThePtxIsa) {
  for (int n : {8, 64, 256}) {
    const Layout d = WgmmaLayout({n, 16, 64, n, 16, 1, 1}, Operand::kC);
    ASSERT_EQ(d.registers(), n / 2);
    ASSERT_EQ(d.warps(), 4);
    EXPECT_TRUE(d.IsInjective() && d.IsSurjective());
    ForEachPlace(d, [&](const Place& p) {
      const int i = static_cast<int>(p.reg), lane = static_cast<int>(p.lane);
      ASSERT_EQ(At(d, i, lane, static_cast<int>(p.warp)),
                Position(16 * p.warp + lane / 4 + 8 * (i / 2 % 2), 8 * (i / 4) + lane % 4 * 2 + i % 2));
    });
  }
  // A in registers is that of mma.sync, 16 rows of each warp.
  for (int bits : {8, 16, 32}) {
    const int k = 256 / bits;
    const Layout a = WgmmaLayout({64, bits, 64, 64, k, 1, 1}, Operand::kA);
    const Layout mma = MmaLayout({{16, 8, k, bits}, 64, 8, k, 4, 1}, Operand::kA);
    EXPECT_EQ(a, mma);
  }
}

TEST(FragmentsTest, WgmmaTiles) {
  // 256 x 256 by two groups below each other: each has 2 x 64 rows, whole rows of D, N in one instruction.
  const Layout d = WgmmaLayout({256, 16, 256, 256, 64, 2, 1}, Operand::kC);
  EXPECT_TRUE(d.IsInjective() && d.IsSurjective());
  EXPECT_EQ(d.registers(), 256);
  EXPECT_EQ(At(d, 0, 0, 4), Position(128, 0));
  EXPECT_EQ(At(d, 128, 0, 0), Position(64, 0));
  // Beside each other: A is the same for both.
  const WgmmaTile beside = {128, 16, 64, 256, 64, 1, 2};
  EXPECT_EQ(At(WgmmaLayout(beside, Operand::kC), 0, 0, 5), Position(16, 128));
  EXPECT_EQ(At(WgmmaLayout(beside, Operand::kA), 0, 0, 5), Position(16, 0));
  // The second of two instructions along N.
  EXPECT_EQ(At(WgmmaLayout({64, 16, 64, 128, 64, 1, 1}, Operand::kC), 32, 0, 0), Position(0, 64));
}

}  // namespace
}  // namespace tile::codegen

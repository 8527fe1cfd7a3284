#include "codegen/layout/layout.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>

#include "absl/hash/hash.h"
#include "codegen/layout/testing.h"
#include "gtest/gtest.h"

namespace tile::codegen {
namespace {

using testing::Factors;
using testing::ForEachPlace;
using testing::RandomLayout;
using testing::Sizes;

// Counts up like an odometer: the coordinate of `number` in a grid whose fastest dimension is order[0].
Sizes Digits(int64_t number, const Sizes& grid, const std::vector<int>& order) {
  Sizes digits(grid.size());
  for (int d : order) {
    digits[d] = number % grid[d];
    number /= grid[d];
  }
  return digits;
}

// The definition, in numbers: the block of a thread, in the block of a warp, in the block of all, repeated.
void CheckBlocked(const Sizes& shape, const Sizes& elements, const Sizes& lanes, const Sizes& warps,
                  const std::vector<int>& order) {
  const Layout l = Layout::Blocked(shape, elements, lanes, warps, order);
  const int rank = static_cast<int>(shape.size());
  Sizes own(rank), repeats(rank);
  for (int d = 0; d < rank; ++d) {
    own[d] = std::min(elements[d], shape[d]);
    repeats[d] = std::max<int64_t>(1, shape[d] / (own[d] * lanes[d] * warps[d]));
  }
  const int64_t owned = std::accumulate(own.begin(), own.end(), int64_t{1}, std::multiplies<>());
  std::vector<int> holders(l.elements(), 0);
  ForEachPlace(l, [&](const Place& p) {
    const Sizes e = Digits(p.reg % owned, own, order), t = Digits(p.lane, lanes, order),
                w = Digits(p.warp, warps, order), k = Digits(p.reg / owned, repeats, order);
    int64_t offset = 0;
    for (int d = 0; d < rank; ++d) {
      const int64_t at = e[d] + own[d] * (t[d] + lanes[d] * (w[d] + warps[d] * k[d]));
      offset = offset * shape[d] + at % shape[d];
    }
    ASSERT_EQ(l.Apply(p), static_cast<Mask>(offset)) << l.ToString();
    ++holders[offset];
  });
  EXPECT_TRUE(l.IsSurjective());
  for (int n : holders) ASSERT_EQ(n, holders[0]);
  EXPECT_EQ(l.IsInjective(), holders[0] == 1);
}

TEST(LayoutTest, BlockedIsWhatItSays) {
  int checked = 0;
  for (int rank = 1; rank <= 3; ++rank) {
    for (int size = 0; size <= (rank == 3 ? 6 : 8); ++size) {
      for (const Sizes& shape : Factors(rank, size)) {
        for (const Sizes& elements : Factors(rank, 2)) {
          for (const Sizes& lanes : Factors(rank, 3)) {
            for (const Sizes& warps : Factors(rank, 1)) {
              std::vector<int> order(rank);
              std::iota(order.begin(), order.end(), 0);
              do {
                CheckBlocked(shape, elements, lanes, warps, order);
                ++checked;
              } while (std::next_permutation(order.begin(), order.end()));
            }
          }
        }
      }
    }
  }
  EXPECT_GT(checked, 50000);
}

TEST(LayoutTest, TheExampleOfTheHeader) {
  const Layout l = Layout::Blocked({4, 16}, {1, 2}, {4, 8}, {1, 1}, {1, 0});
  EXPECT_EQ(l.Apply(1, 10, 0), l.Offset({1, 5}));
  EXPECT_EQ(l.ToString(), "4x16 registers (0,1) lanes (0,2) (0,4) (0,8) (1,0) (2,0) warps -");
  EXPECT_TRUE(l.IsInjective());
  EXPECT_EQ(Layout::Default({}, 1, 4).ToString(), "scalar registers - lanes () () () () () warps -");
}

TEST(LayoutTest, TextIsReadBack) {
  for (int rank = 0; rank <= 3; ++rank) {
    for (int size = 0; size <= 12; ++size) {
      for (const Sizes& shape : Factors(rank, size)) {
        for (int warps : {1, 4, 8}) {
          const Layout l = Layout::Default(shape, warps, 4);
          ASSERT_EQ(Layout::Parse(l.ToString()), l) << l.ToString();
        }
      }
    }
  }
  const Layout swizzled = Layout::FromBases({4, 8}, {9, 2}, {4, 20, 0, 0, 8}, {16});
  EXPECT_EQ(Layout::Parse(swizzled.ToString()), swizzled);
}

TEST(LayoutTest, OtherTextIsNoLayout) {
  for (const char* text : {"", "4x16", "4x16 registers", "4x16 registers (0,1) lanes (0,2) warps",
                           "4x16 registers (0,1) warps - lanes (0,2)", "4x16 registers (0,16) lanes (0,2) warps -",
                           "4x16 registers (4,0) lanes (0,2) warps -", "4x16 registers (1) lanes (0,2) warps -",
                           "4x16 registers (0,+1) lanes (0,2) warps -", "4x16 registers (0,-1) lanes (0,2) warps -",
                           "4x15 registers (0,1) lanes (0,2) warps -", "0x16 registers (0,1) lanes (0,2) warps -",
                           "4x16  registers (0,1) lanes (0,2) warps -", "4x16 registers (0,1) lanes (0,2) warps - ",
                           "scalar registers (0) lanes - warps -", "1125899906842624 registers - lanes - warps -",
                           "99999999999999999999 registers - lanes - warps -",
                           "4x16 registers (0,1 lanes (0,2) warps -", "4x16 registers - (0,1) lanes (0,2) warps -"}) {
    EXPECT_EQ(Layout::Parse(text), std::nullopt) << text;
  }
}

TEST(LayoutTest, DefaultIsCoalescedAndUsesEveryThread) {
  for (int rank = 0; rank <= 3; ++rank) {
    for (int size = 0; size <= 12; ++size) {
      for (const Sizes& shape : Factors(rank, size)) {
        for (int warps : {1, 4, 8}) {
          for (int vector : {1, 2, 8}) {
            const Layout l = Layout::Default(shape, warps, vector);
            ASSERT_TRUE(l.IsSurjective());
            ASSERT_EQ(l.lanes(), 32);
            ASSERT_EQ(l.warps(), warps);
            ASSERT_EQ(l.registers(), std::max<int64_t>(1, l.elements() / (32 * warps))) << l.ToString();
            ASSERT_EQ(l.IsInjective(), l.elements() >= 32 * warps);
            // Neighbouring registers, then neighbouring lanes, hold neighbours of the last dimension.
            const int64_t last = rank == 0 ? 1 : shape.back();
            const int64_t own = std::min<int64_t>({vector, last, l.registers()});
            for (int64_t i = 0; i < std::min<int64_t>(last, own * 32); ++i) {
              ASSERT_EQ(l.Apply(i % own, i / own, 0), static_cast<Mask>(i)) << l.ToString();
            }
          }
        }
      }
    }
  }
  // Rows of a warp are neighbours; a row is of one warp when lanes reach across it.
  const Layout l = Layout::Default({64, 128}, 4, 4);
  EXPECT_EQ(l.ToString(),
            "64x128 registers (0,1) (0,2) (4,0) (8,0) (16,0) (32,0) lanes (0,4) (0,8) (0,16) (0,32) (0,64) "
            "warps (1,0) (2,0)");
}

TEST(LayoutTest, ReplicatedHasEverythingEverywhere) {
  const Layout l = Layout::Replicated({2, 4}, 4);
  ForEachPlace(l, [&](const Place& p) { EXPECT_EQ(l.Apply(p), p.reg); });
  EXPECT_EQ(l.FreeMask(In::kLane), Mask{31});
  EXPECT_EQ(l.FreeMask(In::kWarp), Mask{3});
}

TEST(LayoutTest, CoordinatesAndPlacesRoundTrip) {
  for (const Sizes& shape : Factors(3, 6)) {
    const Layout l = Layout::Blocked(shape, {1, 1, 2}, {1, 2, 4}, {2, 1, 1}, {2, 1, 0});
    for (Mask offset = 0; offset < 64; ++offset) {
      const auto c = l.Coordinates(offset);
      EXPECT_EQ((c[0] * shape[1] + c[1]) * shape[2] + c[2], static_cast<int64_t>(offset));
      EXPECT_EQ(l.Offset(c), offset);
      for (int d = 0; d < 3; ++d) EXPECT_EQ((offset & l.DimMask(d)) >> l.dim_shift(d), static_cast<Mask>(c[d]));
    }
    Mask input = 0;
    ForEachPlace(l, [&](const Place& p) {
      EXPECT_EQ(l.Join(p), input);
      EXPECT_EQ(l.Split(input), p);
      EXPECT_EQ(l.Map().Apply(input), l.Apply(p));
      ++input;
    });
  }
}

// Each structural operation against coordinates, for layouts with sums and replicas.
TEST(LayoutTest, StructureKeepsCoordinates) {
  std::mt19937 rng(2);
  for (const Sizes& shape : Factors(3, 5)) {
    for (int trial = 0; trial < 10; ++trial) {
      const Layout l = RandomLayout(rng, shape, 3, 3, 1);
      for (int dim = 0; dim < 3; ++dim) {
        const Layout slice = l.Slice(dim), collapsed = l.Collapse(dim), expanded = l.ExpandDim(dim),
                     grown = l.Grow(dim, 4);
        EXPECT_EQ(collapsed, slice.ExpandDim(dim));
        EXPECT_TRUE(slice.IsSurjective());
        EXPECT_TRUE(grown.IsSurjective());
        ForEachPlace(l, [&](const Place& p) {
          auto c = l.Coordinates(l.Apply(p));
          auto e = c;
          e.insert(e.begin() + dim, 0);
          EXPECT_EQ(expanded.Coordinates(expanded.Apply(p)), e);
          for (uint32_t copy = 0; copy < 4; ++copy) {
            auto g = c;
            g[dim] += copy * shape[dim];
            EXPECT_EQ(grown.Coordinates(grown.Apply(p.reg + copy * l.registers(), p.lane, p.warp)), g);
          }
          c.erase(c.begin() + dim);
          EXPECT_EQ(slice.Coordinates(slice.Apply(p)), c);
        });
      }
      std::vector<int> perm = {0, 1, 2};
      do {
        const Layout permuted = l.Permute(perm);
        ForEachPlace(l, [&](const Place& p) {
          const auto c = l.Coordinates(l.Apply(p)), q = permuted.Coordinates(permuted.Apply(p));
          for (int d = 0; d < 3; ++d) {
            EXPECT_EQ(q[d], c[perm[d]]);
            EXPECT_EQ(permuted.shape()[d], shape[perm[d]]);
          }
        });
      } while (std::next_permutation(perm.begin(), perm.end()));
      const Layout flat = l.Reshape({4, 8});
      ForEachPlace(l, [&](const Place& p) { EXPECT_EQ(flat.Apply(p), l.Apply(p)); });
    }
  }
}

TEST(LayoutTest, BroadcastGrowsByRegisters) {
  const Layout row = Layout::Default({1, 64, 1}, 1, 2);
  const Layout l = row.Broadcast({4, 64, 2});
  EXPECT_TRUE(l.IsSurjective());
  ForEachPlace(l, [&](const Place& p) {
    const auto c = l.Coordinates(l.Apply(p));
    EXPECT_EQ(static_cast<Mask>(c[1]), row.Apply(p.reg % 2, p.lane, p.warp));
    EXPECT_EQ(c[2], p.reg / 2 % 2);
    EXPECT_EQ(c[0], p.reg / 4);
  });
  EXPECT_EQ(row.Broadcast({1, 64, 1}), row);
}

// FreeMask: the places with those bits zero hold every element, once.
TEST(LayoutTest, CanonicalPlacesHoldEachElementOnce) {
  std::mt19937 rng(3);
  for (int size = 0; size <= 6; ++size) {
    for (int trial = 0; trial < 100; ++trial) {
      const Layout l = RandomLayout(rng, {int64_t{1} << size}, 4, 3, 2);
      std::map<Mask, int> holders;
      ForEachPlace(l, [&](const Place& p) {
        if ((p.reg & l.FreeMask(In::kRegister)) == 0 && (p.lane & l.FreeMask(In::kLane)) == 0 &&
            (p.warp & l.FreeMask(In::kWarp)) == 0) {
          ++holders[l.Apply(p)];
        }
      });
      ASSERT_EQ(holders.size(), size_t{1} << size);
      for (const auto& [offset, n] : holders) ASSERT_EQ(n, 1);

      const Layout lean = l.RemoveZeroRegisters();
      const auto kept = l.CanonicalRegisters();
      ASSERT_EQ(lean.registers(), static_cast<int>(kept.size()));
      ASSERT_EQ(lean.FreeMask(In::kRegister), Mask{0});
      ForEachPlace(lean, [&](const Place& p) {
        ASSERT_EQ(lean.Apply(p), l.Apply(static_cast<uint32_t>(kept[p.reg]), p.lane, p.warp));
      });
    }
  }
}

TEST(LayoutTest, EqualAndHashed) {
  std::set<size_t> hashes;
  const Layout a = Layout::Default({16, 16}, 4, 2), b = Layout::Default({16, 16}, 4, 1), c = a.Reshape({256}),
               d = a.WithBases(In::kWarp, {0, 0});
  for (const Layout& x : {a, b, c, d}) {
    hashes.insert(absl::Hash<Layout>()(x));
    EXPECT_EQ(x == a, &x == &a || absl::Hash<Layout>()(x) == absl::Hash<Layout>()(a));
  }
  EXPECT_EQ(hashes.size(), 4u);
  EXPECT_EQ(a, c.Reshape({16, 16}));
  EXPECT_NE(a, d);
}

}  // namespace
}  // namespace tile::codegen

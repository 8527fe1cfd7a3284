#include "codegen/layout/algebra.h"

#include <random>
#include <vector>

#include "codegen/layout/testing.h"
#include "gtest/gtest.h"

namespace tile::codegen {
namespace {

using testing::Factors;
using testing::ForEachPlace;
using testing::RandomLayout;
using testing::Sizes;

TEST(AlgebraTest, InverseGivesTheLowestPlace) {
  std::mt19937 rng(4);
  for (int size = 0; size <= 7; ++size) {
    for (int trial = 0; trial < 50; ++trial) {
      const Layout l = RandomLayout(rng, {int64_t{1} << size}, 3, 3, 2);
      const Gf2Map inverse = Invert(l);
      EXPECT_EQ(Compose(l.Map(), inverse), Gf2Map::Identity(size));
      std::vector<Mask> lowest(size_t{1} << size, ~Mask{0});
      ForEachPlace(l, [&](const Place& p) { lowest[l.Apply(p)] = std::min(lowest[l.Apply(p)], l.Join(p)); });
      for (Mask offset = 0; offset < lowest.size(); ++offset) {
        ASSERT_EQ(inverse.Apply(offset), lowest[offset]);
        ASSERT_EQ(PlaceOf(l, offset), l.Split(lowest[offset]));
      }
    }
  }
}

TEST(AlgebraTest, ProductsOfTiles) {
  std::mt19937 rng(5);
  for (const Sizes& small : Factors(2, 3)) {
    for (const Sizes& large : Factors(2, 3)) {
      const Layout inner = RandomLayout(rng, small, 2, 2, 1), outer = RandomLayout(rng, large, 2, 1, 1);
      const Layout l = Product(inner, outer);
      EXPECT_TRUE(l.IsSurjective());
      ForEachPlace(outer, [&](const Place& o) {
        ForEachPlace(inner, [&](const Place& i) {
          const auto a = inner.Coordinates(inner.Apply(i)), b = outer.Coordinates(outer.Apply(o)),
                     c = l.Coordinates(l.Apply(o.reg << 2 | i.reg, o.lane << 2 | i.lane, o.warp << 1 | i.warp));
          for (int d = 0; d < 2; ++d) ASSERT_EQ(c[d], b[d] * small[d] + a[d]);
        });
      });
      ASSERT_TRUE(Quotient(l, inner).has_value());
      EXPECT_EQ(*Quotient(l, inner), outer);
      // A basis that reaches into the inner tile is no multiple of it.
      Masks registers = l.bases(In::kRegister);
      registers.back() ^= 1;
      if (inner.shape()[1] > 1) {
        EXPECT_FALSE(Quotient(l.WithBases(In::kRegister, registers), inner).has_value());
      }
    }
  }
  EXPECT_FALSE(Quotient(Layout::Default({64}, 1, 1), Layout::Default({128}, 1, 1)).has_value());
  EXPECT_FALSE(Quotient(Layout::Default({64}, 1, 1), Layout::Default({8, 8}, 1, 1)).has_value());
}

TEST(AlgebraTest, ComposeRenumbers) {
  const Layout l = Layout::Default({8, 16}, 2, 2);
  const Gf2Map reverse({64, 32, 16, 8, 4, 2, 1}, 7);
  const Layout r = Compose(reverse, l);
  ForEachPlace(l, [&](const Place& p) { EXPECT_EQ(r.Apply(p), reverse.Apply(l.Apply(p))); });
  EXPECT_EQ(Compose(reverse, r).Reshape({8, 16}), l);
}

TEST(AlgebraTest, CoversMoreRegisters) {
  const Layout l = Layout::Default({8, 16}, 1, 2);
  const Layout more = l.Collapse(0), fewer = more.RemoveZeroRegisters();
  EXPECT_TRUE(Covers(more, fewer));
  EXPECT_FALSE(Covers(fewer, more));
  EXPECT_TRUE(Covers(l, l));
  EXPECT_FALSE(Covers(l, Layout::Default({8, 16}, 1, 1)));
  EXPECT_FALSE(Covers(l, l.Reshape({128})));
}

}  // namespace
}  // namespace tile::codegen

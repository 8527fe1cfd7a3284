#include "codegen/layout/register_parts.h"

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

// Two halves and the whole agree, element by element, for layouts with sums and replicas.
TEST(RegisterParts, HalvesAreWhereTheWholeHasThem) {
  std::mt19937 rng(3);
  for (const Sizes& shape : Factors(3, 5)) {
    for (int trial = 0; trial < 10; ++trial) {
      const Layout half = RandomLayout(rng, shape, 3, 3, 1);
      for (int dim = 0; dim < 3; ++dim) {
        const Layout whole = WithHalves(half, dim);
        const auto parts = RegisterParts::Of(whole, half.shape());
        ASSERT_TRUE(parts);
        EXPECT_EQ(parts->layout(), half);
        for (int64_t side = 0; side < 2; ++side) {
          std::vector<int64_t> which(3, 0);
          which[static_cast<size_t>(dim)] = side;
          ForEachPlace(half, [&](const Place& p) {
            auto c = half.Coordinates(half.Apply(p));
            c[static_cast<size_t>(dim)] += side * shape[static_cast<size_t>(dim)];
            const auto r = static_cast<uint32_t>(parts->RegisterOf(static_cast<int>(p.reg), which));
            EXPECT_EQ(whole.Coordinates(whole.Apply(r, p.lane, p.warp)), c);
          });
        }
      }
    }
  }
}

// A part along two dimensions at once.
TEST(RegisterParts, Quarters) {
  const Layout whole = Layout::Blocked({8, 16}, {4, 2}, {2, 8}, {1, 1}, {1, 0});
  const auto parts = RegisterParts::Of(whole, std::vector<int64_t>{8, 16});
  ASSERT_TRUE(parts);
  EXPECT_EQ(parts->layout(), whole);
  EXPECT_FALSE(RegisterParts::Of(whole, std::vector<int64_t>{8, 8})) << "lanes have different columns";
  const Layout rows = Layout::Blocked({8, 4}, {8, 4}, {1, 1}, {1, 1}, {1, 0});
  const auto quarter = RegisterParts::Of(rows, std::vector<int64_t>{4, 1});
  ASSERT_TRUE(quarter);
  for (int r = 0; r < 4; ++r) {
    const auto at = static_cast<uint32_t>(quarter->RegisterOf(r, std::vector<int64_t>{1, 2}));
    EXPECT_EQ(rows.Coordinates(rows.Apply(at, 0, 0)), (absl::InlinedVector<int64_t, 4>{4 + r, 2}));
  }
}

// Neighbours of a row that two tiles make, one of even and one of odd columns, are neighbouring registers.
TEST(RegisterParts, NeighboursStay) {
  const Layout half = Layout::Blocked({4, 16, 1}, {1, 4, 1}, {4, 4, 1}, {1, 1, 1}, {2, 1, 0});
  EXPECT_EQ(WithHalves(half, 2).Reshape(std::vector<int64_t>{4, 32}),
            Layout::Blocked({4, 32}, {1, 8}, {4, 4}, {1, 1}, {1, 0}));
}

// Two registers with the same part, a sum, a lane: none is taken apart.
TEST(RegisterParts, OthersStayWhole) {
  const std::vector<int64_t> part = {1, 4};
  EXPECT_FALSE(RegisterParts::Of(Layout::FromBases({2, 4}, {4, 4, 1, 2}, {}, {}), part));
  EXPECT_FALSE(RegisterParts::Of(Layout::FromBases({2, 4}, {5, 1, 2}, {}, {}), part));
  EXPECT_FALSE(RegisterParts::Of(Layout::FromBases({2, 4}, {1, 2}, {4}, {}), part));
  EXPECT_TRUE(RegisterParts::Of(Layout::FromBases({2, 4}, {4, 1, 2}, {}, {}), part));
}

}  // namespace
}  // namespace tile::codegen

#include "codegen/layout/gf2.h"

#include <random>
#include <set>

#include "gtest/gtest.h"

namespace tile::codegen {
namespace {

// All sums of the vectors.
std::set<Mask> SpanOf(const Masks& vectors) {
  std::set<Mask> all = {0};
  for (Mask v : vectors) {
    std::set<Mask> more = all;
    for (Mask x : all) more.insert(x ^ v);
    all = more;
  }
  return all;
}

// Every map from `in` to `out` bits.
template <typename F>
void ForEachMap(int in, int out, F f) {
  for (Mask code = 0; code < Mask{1} << (in * out); ++code) {
    Masks columns;
    for (int i = 0; i < in; ++i) columns.push_back(code >> (i * out) & ((Mask{1} << out) - 1));
    f(Gf2Map(columns, out));
  }
}

TEST(Gf2Test, EveryMapOfFewBits) {
  for (int in = 0; in <= 4; ++in) {
    for (int out = 0; out <= 3; ++out) {
      ForEachMap(in, out, [&](const Gf2Map& m) {
        const std::set<Mask> image = SpanOf(m.columns());
        ASSERT_EQ(Mask{1} << m.Rank(), image.size());
        ASSERT_EQ(m.IsSurjective(), image.size() == size_t{1} << out);
        ASSERT_EQ(m.IsInjective(), image.size() == size_t{1} << in);
        const std::set<Mask> kernel = SpanOf(m.Kernel());
        ASSERT_EQ(kernel.size(), Mask{1} << m.Kernel().size());
        const Subspace space(m.columns());
        std::set<Mask> seen;
        for (Mask x = 0; x < Mask{1} << in; ++x) {
          const Mask y = m.Apply(x);
          ASSERT_EQ(kernel.count(x) == 1, y == 0);
          // In rising order, so the first x is the lowest.
          if (seen.insert(y).second) {
            ASSERT_EQ(*space.Express(y), x);
          }
        }
        for (Mask y = 0; y < Mask{1} << out; ++y) ASSERT_EQ(space.Contains(y), image.count(y) == 1);

        const auto inverse = Invert(m);
        ASSERT_EQ(inverse.has_value(), m.IsSurjective());
        if (inverse) {
          ASSERT_EQ(Compose(m, *inverse), Gf2Map::Identity(out));
        }
        if (inverse && m.IsInjective()) {
          ASSERT_EQ(Compose(*inverse, m), Gf2Map::Identity(in));
        }

        const Masks complement = Complement(m.columns(), out);
        Masks all = m.columns();
        all.insert(all.end(), complement.begin(), complement.end());
        ASSERT_EQ(SpanOf(all).size(), size_t{1} << out);
        ASSERT_EQ(complement.size(), static_cast<size_t>(out - m.Rank()));
      });
    }
  }
}

TEST(Gf2Test, Intersections) {
  ForEachMap(2, 4, [&](const Gf2Map& a) {
    ForEachMap(2, 4, [&](const Gf2Map& b) {
      const Masks both = Intersection(a.columns(), b.columns());
      std::set<Mask> expected;
      for (Mask v : SpanOf(a.columns())) {
        if (SpanOf(b.columns()).count(v)) expected.insert(v);
      }
      ASSERT_EQ(SpanOf(both), expected);
      ASSERT_EQ(Mask{1} << both.size(), expected.size());
    });
  });
}

TEST(Gf2Test, IntersectionsOfManyVectors) {
  std::mt19937 rng(1);
  for (int trial = 0; trial < 300; ++trial) {
    Masks a, b;
    for (unsigned i = rng() % 7; i > 0; --i) a.push_back(rng() % 256);
    for (unsigned i = rng() % 7; i > 0; --i) b.push_back(rng() % 256);
    std::set<Mask> expected;
    const std::set<Mask> in_b = SpanOf(b);
    for (Mask v : SpanOf(a)) {
      if (in_b.count(v)) expected.insert(v);
    }
    ASSERT_EQ(SpanOf(Intersection(a, b)), expected);
    ASSERT_EQ(Mask{1} << Intersection(a, b).size(), expected.size());
  }
}

TEST(Gf2Test, SolveFindsEveryFactor) {
  ForEachMap(3, 2, [&](const Gf2Map& a) {
    ForEachMap(2, 2, [&](const Gf2Map& b) {
      const auto x = Solve(a, b);
      const std::set<Mask> image = SpanOf(a.columns());
      bool inside = true;
      for (Mask v : b.columns()) inside &= image.count(v) == 1;
      ASSERT_EQ(x.has_value(), inside);
      if (x) {
        ASSERT_EQ(Compose(a, *x), b);
      }
    });
  });
}

TEST(Gf2Test, WideVectors) {
  Subspace s;
  for (int i = 63; i >= 0; --i) EXPECT_TRUE(s.Insert(Mask{3} << i));
  EXPECT_EQ(s.dimension(), 64);
  EXPECT_EQ(Combine(s.basis(), *s.Express(0x123456789abcdef0)), Mask{0x123456789abcdef0});
}

}  // namespace
}  // namespace tile::codegen

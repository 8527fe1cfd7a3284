#include "codegen/layout/access.h"

#include <algorithm>
#include <map>
#include <random>
#include <set>

#include "codegen/layout/testing.h"
#include "gtest/gtest.h"

namespace tile::codegen {
namespace {

using testing::Factors;
using testing::ForEachPlace;
using testing::RandomLayout;
using testing::Sizes;

// Each instruction's registers are neighbours, aligned, in all threads; together they hold everything once.
void CheckAccess(const Layout& l, const VectorAccess& a, int dim) {
  ASSERT_EQ(a.registers.size() % a.vector, 0u);
  auto sorted = a.registers;
  std::sort(sorted.begin(), sorted.end());
  ASSERT_EQ(std::unique(sorted.begin(), sorted.end()), sorted.end());
  ASSERT_EQ(a.registers.size(), l.CanonicalRegisters().size());
  for (int w = 0; w < l.warps(); ++w) {
    for (int lane = 0; lane < l.lanes(); ++lane) {
      std::set<Mask> held, accessed;
      for (int r = 0; r < l.registers(); ++r) held.insert(l.Apply(r, lane, w));
      for (int i = 0; i < a.instructions(); ++i) {
        const auto first = l.Coordinates(l.Apply(a.registers[i * a.vector], lane, w));
        if (l.rank() > 0) {
          ASSERT_EQ(first[dim] % a.vector, 0);
        }
        for (int e = 0; e < a.vector; ++e) {
          const Mask offset = l.Apply(a.registers[i * a.vector + e], lane, w);
          auto expected = first;
          if (l.rank() > 0) expected[dim] += e;
          ASSERT_EQ(l.Coordinates(offset), expected);
          accessed.insert(offset);
        }
      }
      ASSERT_EQ(held, accessed);
    }
  }
}

// Whether vectors of a size exist, by looking: thread 0's aligned groups, which must be groups in all threads.
bool Exists(const Layout& l, int dim, int vector) {
  std::map<std::pair<int64_t, Sizes>, std::map<int64_t, int>> groups;
  for (int r = 0; r < l.registers(); ++r) {
    const auto c = l.Coordinates(l.Apply(r, 0, 0));
    Sizes rest(c.begin(), c.end());
    rest[dim] = 0;
    groups[{c[dim] / vector, rest}][c[dim] % vector] = r;
  }
  for (const auto& [where, members] : groups) {
    if (static_cast<int>(members.size()) != vector) return false;
    for (int w = 0; w < l.warps(); ++w) {
      for (int lane = 0; lane < l.lanes(); ++lane) {
        const auto first = l.Coordinates(l.Apply(members.at(0), lane, w));
        if (first[dim] % vector != 0) return false;
        for (int e = 0; e < vector; ++e) {
          auto expected = first;
          expected[dim] += e;
          if (l.Coordinates(l.Apply(members.at(e), lane, w)) != expected) return false;
        }
      }
    }
  }
  return true;
}

TEST(AccessTest, WidestVectors) {
  std::mt19937 rng(7);
  std::map<int, int> found;
  for (int trial = 0; trial < 3000; ++trial) {
    const auto shapes = Factors(2, 6);
    const Sizes shape = shapes[rng() % shapes.size()];
    const Layout l = RandomLayout(rng, shape, 3 + rng() % 2, 3, 1);
    for (int dim = 0; dim < 2; ++dim) {
      const VectorAccess a = Vectorise(l, 8, dim, 1 << 20);
      CheckAccess(l, a, dim);
      ++found[a.vector];
      if (l.FreeMask(In::kRegister) == 0 && a.vector < 16 && 2 * a.vector <= shape[dim]) {
        ASSERT_FALSE(Exists(l, dim, 2 * a.vector)) << l.ToString();
      }
      ASSERT_LE(Vectorise(l, 8, dim, 2).vector, 2);
      ASSERT_LE(Vectorise(l, 32, dim, 1 << 20).vector, 4);
      ASSERT_LE(Vectorise(l, 8, dim, 1 << 20, 4).vector, 4);
    }
  }
  EXPECT_GT(found[2], 100);
  EXPECT_GT(found[4], 20);
}

TEST(AccessTest, BlockedLayouts) {
  for (const Sizes& shape : Factors(2, 8)) {
    for (const Sizes& elements : Factors(2, 3)) {
      for (const Sizes& lanes : Factors(2, 5)) {
        const Layout l = Layout::Blocked(shape, elements, lanes, {1, 2}, {0, 1});
        for (int dim = 0; dim < 2; ++dim) {
          const VectorAccess a = Vectorise(l, 16, dim, 1 << 10);
          CheckAccess(l, a, dim);
          // Repetitions beyond the threads may add no neighbours: lanes and warps lie between.
          const int64_t own = std::min(elements[dim], shape[dim]);
          const int64_t threads = lanes[dim] * (dim == 1 ? 2 : 1);
          if (threads > 1 || own == shape[dim]) {
            ASSERT_EQ(a.vector, own) << l.ToString();
          }
        }
      }
    }
  }
}

TEST(AccessTest, ReplicasAndScalars) {
  EXPECT_EQ(Vectorise(Layout::Default({}, 4, 4), 32, 0, 4).registers, std::vector<int>{0});
  // Copies of a register are left out.
  const Layout l = Layout::Default({16, 64}, 1, 4).Collapse(0);
  const VectorAccess a = Vectorise(l, 32, 1, 4);
  CheckAccess(l, a, 1);
  EXPECT_EQ(a.vector, 4);
  EXPECT_EQ(a.instructions(), 1);
}

TEST(AccessTest, SectorsOfRowsAndColumns) {
  // 128 floats of a row in vectors of 4: dense. As single floats in a column of 1024: a sector each.
  const Layout rows = Layout::Default({4, 128}, 1, 4);
  const Sectors dense = CountSectors(rows, Vectorise(rows, 32, 1, 4), 32, {1024, 1});
  EXPECT_EQ(dense.touched, 4 * 128 * 4 / 32);
  EXPECT_EQ(dense.least, dense.touched);
  const Layout columns = Layout::Blocked({32, 4}, {1, 1}, {32, 1}, {1, 1}, {0, 1});
  const Sectors sparse = CountSectors(columns, Vectorise(columns, 32, 1, 4), 32, {1024, 1});
  // The four registers of a thread are a vector after all.
  EXPECT_EQ(Vectorise(columns, 32, 1, 4).vector, 4);
  EXPECT_EQ(sparse.touched, 32);
  EXPECT_EQ(sparse.least, 16);
  EXPECT_EQ(CountSectors(columns, Vectorise(columns, 32, 1, 1), 32, {1024, 1}).touched, 4 * 32);
  EXPECT_EQ(CountSectors(columns, Vectorise(columns, 32, 0, 1), 32, {1, 32}).touched, 4 * 4);
  // A value that all lanes read is one sector.
  const Layout one = Layout::Replicated({1}, 1);
  EXPECT_EQ(CountSectors(one, Vectorise(one, 64, 0, 1), 64, {1}).touched, 1);
}

}  // namespace
}  // namespace tile::codegen

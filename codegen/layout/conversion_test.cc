#include "codegen/layout/conversion.h"

#include <map>
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

// Executes the plan on all registers of all threads, where each holds the offset of its element.
void CheckPlan(const Layout& src, const Layout& dst, const Conversion& c) {
  ASSERT_NE(c.kind, ConversionKind::kShared);
  const uint32_t lanes = static_cast<uint32_t>(src.lanes());
  int moved = 0;
  for (uint32_t w = 0; w < static_cast<uint32_t>(src.warps()); ++w) {
    std::vector<std::vector<Mask>> value(lanes), slots(lanes, std::vector<Mask>(c.slots, ~Mask{0}));
    for (uint32_t l = 0; l < lanes; ++l) {
      for (int r = 0; r < src.registers(); ++r) value[l].push_back(src.Apply(r, l, w));
      for (const Exchange& x : c.before) {
        if (!x.Applies(l, w)) continue;
        const std::vector<Mask> old = value[l];
        for (size_t i = 0; i < old.size(); ++i) value[l][i] = old[i ^ x.with];
      }
    }
    for (const Round& round : c.rounds) {
      bool moves = false;
      ASSERT_EQ(round.from.size(), round.to.size());
      for (uint32_t l = 0; l < lanes; ++l) {
        const uint32_t other = c.SourceLane(round, l, w);
        ASSERT_LT(other, lanes);
        moves |= other != l;
        for (size_t i = 0; i < round.from.size(); ++i) slots[l][round.to[i]] = value[other][round.from[i]];
      }
      moved += moves && w == 0;
    }
    for (uint32_t l = 0; l < lanes; ++l) {
      for (const Exchange& x : c.after) {
        if (!x.Applies(l, w)) continue;
        const std::vector<Mask> old = slots[l];
        for (size_t i = 0; i < old.size(); ++i) slots[l][i] = old[i ^ x.with];
      }
      ASSERT_EQ(c.result.size(), static_cast<size_t>(dst.registers()));
      for (int r = 0; r < dst.registers(); ++r) {
        ASSERT_EQ(slots[l][c.result[r]], dst.Apply(r, l, w)) << src.ToString() << "\n" << dst.ToString();
      }
    }
  }
  if (moved > 0) {
    ASSERT_EQ(c.kind, ConversionKind::kShuffle);
  }
  const bool selects = !c.before.empty() || !c.after.empty();
  if (c.kind == ConversionKind::kRegisters || c.kind == ConversionKind::kNone) {
    ASSERT_FALSE(selects);
  }
}

// Whether every value is somewhere in the warp, or the thread, that needs it, by looking.
void Reach(const Layout& src, const Layout& dst, bool* in_warp, bool* in_thread, bool* same_register) {
  std::map<Mask, std::vector<Place>> holders;
  ForEachPlace(src, [&](const Place& p) { holders[src.Apply(p)].push_back(p); });
  *in_warp = *in_thread = *same_register = true;
  ForEachPlace(dst, [&](const Place& p) {
    bool warp = false, thread = false, reg = false;
    for (const Place& h : holders[dst.Apply(p)]) {
      warp |= h.warp == p.warp;
      thread |= h.warp == p.warp && h.lane == p.lane;
      reg |= h == p;
    }
    *in_warp &= warp;
    *in_thread &= thread;
    *same_register &= reg;
  });
}

void CheckPair(const Layout& src, const Layout& dst, int element_bits, std::map<ConversionKind, int>& kinds) {
  bool in_warp, in_thread, same_register;
  Reach(src, dst, &in_warp, &in_thread, &same_register);
  const auto c = ConvertInWarp(src, dst, element_bits);
  ASSERT_EQ(c.has_value(), in_warp) << src.ToString() << "\n" << dst.ToString();
  const Conversion chosen = Convert(src, dst, element_bits);
  ASSERT_EQ(chosen.crosses_warps, !in_warp);
  ++kinds[chosen.kind];
  if (!c) {
    ASSERT_EQ(chosen.kind, ConversionKind::kShared);
    return;
  }
  CheckPlan(src, dst, *c);
  ASSERT_EQ(c->kind <= ConversionKind::kSelect, in_thread) << src.ToString() << "\n" << dst.ToString();
  ASSERT_EQ(c->kind == ConversionKind::kNone, same_register);
}

// Every permutation of the bits of the place: 4 of registers, lanes and warps.
TEST(ConversionTest, EveryPermutationOfBits) {
  std::map<ConversionKind, int> kinds;
  for (int reg = 0; reg <= 4; ++reg) {
    for (int lane = 0; lane + reg <= 5; ++lane) {
      const int warp = 5 - reg - lane;
      Masks bits = {1, 2, 4, 8, 16};
      const auto make = [&](const Masks& b) {
        return Layout::FromBases({32}, Masks(b.begin(), b.begin() + reg), Masks(b.begin() + reg, b.end() - warp),
                                 Masks(b.end() - warp, b.end()));
      };
      const Layout src = make(bits);
      do {
        const Layout dst = make(bits);
        for (int element_bits : {8, 32}) CheckPair(src, dst, element_bits, kinds);
        const auto c = ConvertInWarp(src, dst, 32);
        if (c && c->kind == ConversionKind::kShuffle) {
          // Nothing is replicated: a shuffle for each register is enough.
          EXPECT_LE(c->shuffles, 1 << reg);
        }
      } while (std::next_permutation(bits.begin(), bits.end()));
    }
  }
  EXPECT_EQ(kinds.size(), 4u);  // a permutation of bits never needs only selects
}

// Every pair of layouts of 4 elements over 2 registers, 2 lanes and 2 warps, or 4 registers and 4 lanes, …
TEST(ConversionTest, EveryPairOfSmallLayouts) {
  std::map<ConversionKind, int> kinds;
  const int sizes[][3] = {{1, 1, 1}, {2, 1, 0}, {1, 2, 0}, {0, 2, 1}, {2, 2, 0}};
  for (const auto& [reg, lane, warp] : sizes) {
    const int in = reg + lane + warp;
    std::vector<Layout> all;
    for (Mask code = 0; code < Mask{1} << (2 * in); ++code) {
      Masks b;
      for (int i = 0; i < in; ++i) b.push_back(code >> (2 * i) & 3);
      const Layout l = Layout::FromBases({4}, Masks(b.begin(), b.begin() + reg), Masks(b.begin() + reg, b.end() - warp),
                                         Masks(b.end() - warp, b.end()));
      if (l.IsSurjective()) all.push_back(l);
    }
    for (const Layout& src : all) {
      for (const Layout& dst : all) CheckPair(src, dst, 32, kinds);
    }
  }
  EXPECT_EQ(kinds.size(), 5u);
}

TEST(ConversionTest, RandomLayouts) {
  std::mt19937 rng(6);
  std::map<ConversionKind, int> kinds;
  for (int trial = 0; trial < 4000; ++trial) {
    const int size = static_cast<int>(rng() % 8);
    const int lane = 1 + static_cast<int>(rng() % 5), warp = static_cast<int>(rng() % 3);
    const int least = std::max(0, size - lane - warp);
    const Sizes shape = {int64_t{1} << size};
    const Layout src = RandomLayout(rng, shape, least + static_cast<int>(rng() % 3), lane, warp);
    // Half of the time the warps hold the same on both sides.
    Layout dst = RandomLayout(rng, shape, least + static_cast<int>(rng() % 3), lane, warp);
    if (rng() % 2 == 0 && dst.WithBases(In::kWarp, src.bases(In::kWarp)).IsSurjective()) {
      dst = dst.WithBases(In::kWarp, src.bases(In::kWarp));
    }
    for (int element_bits : {8, 16, 64}) CheckPair(src, dst, element_bits, kinds);
  }
  EXPECT_GT(kinds[ConversionKind::kShuffle], 1000);
  EXPECT_GT(kinds[ConversionKind::kShared], 1000);
}

// Blocked to blocked, as compilers meet them.
TEST(ConversionTest, BlockedLayouts) {
  std::map<ConversionKind, int> kinds;
  std::vector<Layout> all;
  for (const Sizes& elements : Factors(2, 2)) {
    for (const Sizes& lanes : Factors(2, 5)) {
      for (const Sizes& warps : Factors(2, 1)) {
        for (const std::vector<int>& order : {std::vector<int>{0, 1}, std::vector<int>{1, 0}}) {
          all.push_back(Layout::Blocked({16, 32}, elements, lanes, warps, order));
        }
      }
    }
  }
  for (size_t i = 0; i < all.size(); i += 3) {
    for (const Layout& dst : all) CheckPair(all[i], dst, 16, kinds);
  }
  EXPECT_GT(kinds[ConversionKind::kShuffle], 100);
}

TEST(ConversionTest, TransposeOfRegistersAndLanes) {
  // 4 registers across, 4 of the lanes down, to the opposite: shuffles between selects, but in
  // the first round every lane has what it wants.
  const Layout src = Layout::Blocked({4, 32}, {1, 4}, {4, 8}, {1, 1}, {0, 1});
  const Layout dst = Layout::Blocked({4, 32}, {4, 1}, {1, 32}, {1, 1}, {1, 0});
  const Conversion c = Convert(src, dst, 32);
  EXPECT_EQ(c.kind, ConversionKind::kShuffle);
  EXPECT_EQ(c.shuffles, 3);
  EXPECT_EQ(c.selects, 2 * (4 + 4));
  EXPECT_EQ(c.before.size(), 2u);
  EXPECT_EQ(c.after.size(), 2u);
}

TEST(ConversionTest, HalvesTravelInPairs) {
  // An accumulator turned into row vectors of 16 bits: pairs stay together. A quarter stays in its lane.
  const Layout src = Layout::Blocked({8, 32}, {1, 2}, {8, 4}, {1, 1}, {1, 0});
  const Layout dst = Layout::Blocked({8, 32}, {1, 8}, {8, 4}, {1, 1}, {1, 0});
  EXPECT_EQ(Convert(src, dst, 32).shuffles, 6);
  EXPECT_EQ(Convert(src, dst, 16).shuffles, 3);
  EXPECT_EQ(Convert(src, dst, 64).shuffles, 12);
  EXPECT_EQ(Convert(src, dst, 16).rounds[0].from.size(), 2u);
}

TEST(ConversionTest, ReplicasSpareShuffles) {
  // A row that every lane has: each takes its own element from a register of its own.
  const Layout all = Layout::Replicated({32}, 1), spread = Layout::Default({32}, 1, 1);
  EXPECT_EQ(Convert(all, spread, 32).kind, ConversionKind::kSelect);
  EXPECT_EQ(Convert(all, spread, 32).shuffles, 0);
  EXPECT_EQ(Convert(all, spread, 32).selects, 31);
  // The opposite: a broadcast from each lane.
  const Conversion c = Convert(spread, all, 32);
  EXPECT_EQ(c.shuffles, 32);
  EXPECT_EQ(c.selects, 0);
  // The result of a reduction along rows has what the row's threads need.
  const Layout tile = Layout::Default({32, 32}, 4, 2);
  EXPECT_EQ(Convert(tile.Collapse(1), tile.Collapse(1), 32).kind, ConversionKind::kNone);
  EXPECT_EQ(Convert(tile.Collapse(1).RemoveZeroRegisters(), tile.Collapse(1), 32).kind, ConversionKind::kRegisters);
}

}  // namespace
}  // namespace tile::codegen

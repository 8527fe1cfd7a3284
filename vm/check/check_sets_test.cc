#include "vm/check/check_sets.h"

#include <map>
#include <random>
#include <set>

#include "gtest/gtest.h"

namespace tile::vm {
namespace {

EventId Event(uint64_t op, uint64_t instance) { return op << kInstanceBits | instance; }

// The intervals of all operations.
std::vector<Executions::Interval> IntervalsOf(const SetRef& set) {
  std::vector<Executions::Interval> all;
  ForEachOperation(*set, [&](uint64_t, const Executions& e) {
    for (size_t i = 0; i < e.intervals.size(); ++i) {
      if (i > 0) {
        EXPECT_LT(e.intervals[i - 1].end, e.intervals[i].begin) << "ascending, with gaps";
      }
      all.push_back(e.intervals[i]);
    }
  });
  return all;
}

TEST(EventSet, JoinsNeighbours) {
  SetRef s;
  for (uint64_t i : {3, 5, 4, 0}) s = Add(s, Event(7, i));
  EXPECT_EQ(IntervalsOf(s).size(), 2u);
  EXPECT_TRUE(Contains(s, Event(7, 4)));
  EXPECT_FALSE(Contains(s, Event(7, 1)));
  EXPECT_FALSE(Contains(s, Event(7, 6)));
  EXPECT_FALSE(Contains(s, Event(8, 4)));
  EXPECT_FALSE(Contains(nullptr, 0));
}

TEST(EventSet, UnionSharesWhatDoesNotChange) {
  const SetRef a = Add(Add(nullptr, 1), 2), b = Add(nullptr, 2);
  EXPECT_EQ(Union(a, b), a);
  EXPECT_EQ(Union(b, a), a);
  EXPECT_EQ(Union(a, nullptr), a);
  EXPECT_EQ(Union(nullptr, b), b);
  EXPECT_EQ(Add(a, 1), a);
}

TEST(EventSet, AgreesWithASetOfNumbers) {
  std::mt19937 random(1);
  for (int round = 0; round < 50; ++round) {
    SetRef a, b;
    std::set<EventId> x, y;
    for (int i = 0; i < 200; ++i) {
      const EventId e = Event(random() % 4, random() % 100);
      if (i % 2 == 0) {
        a = Add(a, e);
        x.insert(e);
      } else {
        b = Add(b, e);
        y.insert(e);
      }
    }
    const SetRef both = Union(a, b);
    for (uint64_t op = 0; op < 5; ++op) {
      for (uint64_t i = 0; i < 101; ++i) {
        const EventId e = Event(op, i);
        EXPECT_EQ(Contains(a, e), x.contains(e));
        EXPECT_EQ(Contains(both, e), x.contains(e) || y.contains(e));
      }
    }
    EXPECT_LE(IntervalsOf(both).size(), 200u);
  }
}

// Beyond its limit a set grows rather than shrinks: an event that is in it stays in it.
TEST(EventSet, ManyGapsLoseNothing) {
  SetRef s;
  for (uint64_t i = 0; i < 5000; i += 2) s = Add(s, Event(1, i));
  for (uint64_t i = 0; i < 5000; i += 2) EXPECT_TRUE(Contains(s, Event(1, i)));
  EXPECT_LE(IntervalsOf(s).size(), 1024u);
  EXPECT_FALSE(Contains(s, Event(0, 0)));
  EXPECT_FALSE(Contains(s, Event(2, 0)));
}

TEST(EventSet, OperationsFarApart) {
  const uint64_t operations[] = {0, 7, 8, 63, 64, 511, 512, 4097, (uint64_t{1} << 24) - 1};
  SetRef up, down;
  for (const uint64_t op : operations) up = Add(up, Event(op, op % 3));
  for (size_t i = std::size(operations); i-- > 0;) down = Add(down, Event(operations[i], operations[i] % 3));
  EXPECT_EQ(Union(up, down), up);
  EXPECT_EQ(Union(down, up), down);
  std::vector<uint64_t> found;
  ForEachOperation(*up, [&](uint64_t op, const Executions&) { found.push_back(op); });
  EXPECT_EQ(found, std::vector<uint64_t>(std::begin(operations), std::end(operations)));
  for (const uint64_t op : operations) {
    EXPECT_TRUE(Contains(down, Event(op, op % 3)));
    EXPECT_FALSE(Contains(down, Event(op, op % 3 + 1)));
    EXPECT_FALSE(Contains(down, Event(op + 1000, 0)));
  }
}

int64_t NodesOf(const EventSet& set, std::set<const void*>* seen) {
  if (!seen->insert(&set).second) return 0;
  int64_t n = 1;
  for (size_t i = 0; set.level > 0 && i < 8; ++i) {
    if (set.children[i]) n += NodesOf(*set.children[i], seen);
  }
  return n;
}

// One set for each event of a chain, as the tokens of a kernel hold them: a few nodes each, however long the chain is.
TEST(EventSet, AChainSharesItsNodes) {
  constexpr int64_t kEvents = 20'000;
  std::vector<SetRef> chain(1);
  for (int64_t i = 0; i < kEvents; ++i)
    chain.push_back(Add(Union(chain.back(), chain.front()), Event(static_cast<uint64_t>(i), 0)));
  std::set<const void*> seen;
  int64_t nodes = 0;
  for (const SetRef& s : chain) nodes += s ? NodesOf(*s, &seen) : 0;
  EXPECT_LE(nodes, 7 * kEvents);
  EXPECT_EQ(Union(chain.back(), chain[kEvents / 2]), chain.back());
  EXPECT_FALSE(Contains(chain[kEvents / 2], Event(kEvents / 2, 0)));
}

TEST(Knowledge, AgreesWithAMap) {
  std::mt19937_64 random(2);
  const int64_t blocks[] = {0, 1, 15, 16, 255, 256, 4097, int64_t{1} << 40, (int64_t{1} << 62) + 3};
  for (int round = 0; round < 30; ++round) {
    KnowledgeRef k[2];
    std::map<int64_t, std::set<EventId>> known[2];
    for (int i = 0; i < 20; ++i) {
      const int side = i % 2;
      const int64_t block = blocks[random() % std::size(blocks)];
      const EventId e = random() % 10;
      k[side] = Learn(k[side], block, Add(nullptr, e));
      known[side][block].insert(e);
    }
    const KnowledgeRef both = Union(k[0], k[1]);
    for (int64_t block : blocks) {
      for (EventId e = 0; e < 11; ++e) {
        EXPECT_EQ(Knows(k[0], block, e), known[0][block].contains(e));
        EXPECT_EQ(Knows(both, block, e), known[0][block].contains(e) || known[1][block].contains(e));
      }
      EXPECT_FALSE(Knows(both, block + 2, 0)) << block;
    }
    EXPECT_EQ(Union(both, both), both);
  }
  EXPECT_FALSE(Knows(nullptr, 0, 0));
}

}  // namespace
}  // namespace tile::vm

#include "vm/check/check_sets.h"

#include <algorithm>

namespace tile::vm {
namespace {

using Interval = EventSet::Interval;

// More intervals than this are joined across their gaps within one operation. That may hide a mistake but never invents
// one.
constexpr size_t kMaxIntervals = 1024;

void Append(std::vector<Interval>& out, Interval next) {
  if (!out.empty() && next.begin <= out.back().end) {
    out.back().end = std::max(out.back().end, next.end);
  } else {
    out.push_back(next);
  }
}

void Shorten(std::vector<Interval>& list) {
  if (list.size() <= kMaxIntervals) return;
  std::vector<Interval> out;
  for (const Interval& i : list) {
    if (!out.empty() && out.back().begin >> kInstanceBits == i.begin >> kInstanceBits) {
      out.back().end = i.end;
    } else {
      out.push_back(i);
    }
  }
  list = std::move(out);
}

bool Same(const std::vector<Interval>& a, const std::vector<Interval>& b) {
  return a.size() == b.size() && std::equal(a.begin(), a.end(), b.begin(), [](const Interval& x, const Interval& y) {
           return x.begin == y.begin && x.end == y.end;
         });
}

SetRef Make(std::vector<Interval> list) {
  Shorten(list);
  auto* set = new EventSet;
  set->intervals = std::move(list);
  return SetRef(set);
}

}  // namespace

bool Contains(const SetRef& set, EventId e) {
  if (!set) return false;
  const auto& list = set->intervals;
  auto after = std::upper_bound(list.begin(), list.end(), e, [](EventId x, const Interval& i) { return x < i.begin; });
  return after != list.begin() && e < (after - 1)->end;
}

SetRef Add(const SetRef& set, EventId e) {
  if (Contains(set, e)) return set;
  std::vector<Interval> out;
  const Interval added{e, e + 1};
  bool done = false;
  if (set) {
    out.reserve(set->intervals.size() + 1);
    for (const Interval& i : set->intervals) {
      if (!done && e < i.begin) {
        Append(out, added);
        done = true;
      }
      Append(out, i);
    }
  }
  if (!done) Append(out, added);
  return Make(std::move(out));
}

SetRef Union(const SetRef& a, const SetRef& b) {
  if (!b || a == b) return a;
  if (!a) return b;
  static thread_local std::vector<Interval> merged;
  merged.clear();
  const auto &x = a->intervals, &y = b->intervals;
  for (size_t i = 0, j = 0; i < x.size() || j < y.size();) {
    if (j == y.size() || (i < x.size() && x[i].begin <= y[j].begin)) {
      Append(merged, x[i++]);
    } else {
      Append(merged, y[j++]);
    }
  }
  if (Same(merged, x)) return a;
  if (Same(merged, y)) return b;
  return Make(merged);
}

// --- knowledge ------------------------------------------------------------------------------------------------------

namespace {

int Digit(uint64_t block, int level) { return static_cast<int>(block >> (4 * level)) & 15; }
uint64_t PrefixOf(uint64_t block, int level) { return 4 * (level + 1) >= 64 ? 0 : block >> (4 * (level + 1)); }

KnowledgeRef Leaf(uint64_t block, const SetRef& events) {
  auto* leaf = new KnowledgeNode;
  leaf->prefix = PrefixOf(block, 0);
  leaf->sets[static_cast<size_t>(Digit(block, 0))] = events;
  return KnowledgeRef(leaf);
}

// The same tree under a root of a higher level.
KnowledgeRef Raise(const KnowledgeRef& k) {
  auto* root = new KnowledgeNode;
  root->level = k->level + 1;
  root->prefix = k->prefix >> 4;
  root->children[static_cast<size_t>(k->prefix & 15)] = k;
  return KnowledgeRef(root);
}

}  // namespace

bool Knows(const KnowledgeRef& k, int64_t block, EventId e) {
  const auto n = static_cast<uint64_t>(block);
  const KnowledgeNode* node = k.get();
  if (node == nullptr || PrefixOf(n, node->level) != node->prefix) return false;
  while (node->level > 0) {
    node = node->children[static_cast<size_t>(Digit(n, node->level))].get();
    if (node == nullptr || PrefixOf(n, node->level) != node->prefix) return false;
  }
  return Contains(node->sets[static_cast<size_t>(Digit(n, 0))], e);
}

KnowledgeRef Learn(const KnowledgeRef& k, int64_t block, const SetRef& events) {
  return Union(k, Leaf(static_cast<uint64_t>(block), events));
}

KnowledgeRef Union(const KnowledgeRef& a, const KnowledgeRef& b) {
  if (!b || a == b) return a;
  if (!a) return b;
  KnowledgeRef x = a, y = b;
  while (x->level < y->level) x = Raise(x);
  while (y->level < x->level) y = Raise(y);
  while (x->prefix != y->prefix) {
    x = Raise(x);
    y = Raise(y);
  }
  bool is_x = true, is_y = true;
  auto* node = new KnowledgeNode;
  KnowledgeRef result(node);
  node->level = x->level;
  node->prefix = x->prefix;
  for (size_t i = 0; i < 16; ++i) {
    node->children[i] = Union(x->children[i], y->children[i]);
    node->sets[i] = Union(x->sets[i], y->sets[i]);
    is_x = is_x && node->children[i] == x->children[i] && node->sets[i] == x->sets[i];
    is_y = is_y && node->children[i] == y->children[i] && node->sets[i] == y->sets[i];
  }
  return is_x ? x : is_y ? y : result;
}

}  // namespace tile::vm

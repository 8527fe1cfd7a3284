#include "vm/check/check_sets.h"

#include <algorithm>
#include <memory>
#include <new>

namespace tile::vm {

// --- trees ----------------------------------------------------------------------------------------------------------

template <class Leaf>
Tree<Leaf>::Tree(int its_level, uint64_t its_prefix) : level(its_level), prefix(its_prefix) {
  if (level > 0) {
    new (&children) std::array<Ref<Tree>, 8>();
  } else {
    new (&leaves) std::array<Ref<Leaf>, 8>();
  }
}

template <class Leaf>
Tree<Leaf>::Tree(const Tree& o) : level(o.level), prefix(o.prefix) {
  if (level > 0) {
    new (&children) std::array<Ref<Tree>, 8>(o.children);
  } else {
    new (&leaves) std::array<Ref<Leaf>, 8>(o.leaves);
  }
}

template <class Leaf>
Tree<Leaf>::~Tree() {
  level > 0 ? std::destroy_at(&children) : std::destroy_at(&leaves);
}

template struct Tree<Executions>;
template struct Tree<EventSet>;

namespace {

size_t Digit(uint64_t key, int level) { return static_cast<size_t>((key >> (3 * level)) & 7); }
uint64_t PrefixOf(uint64_t key, int level) { return 3 * (level + 1) >= 64 ? 0 : key >> (3 * (level + 1)); }

// The leaf of a key; null if there is none.
template <class Leaf>
const Ref<Leaf>* Find(const Tree<Leaf>* node, uint64_t key) {
  if (node == nullptr || PrefixOf(key, node->level) != node->prefix) return nullptr;
  while (node->level > 0) {
    node = node->children[Digit(key, node->level)].get();
    if (node == nullptr) return nullptr;
  }
  return &node->leaves[Digit(key, 0)];
}

// The same tree under a root of a higher level.
template <class Leaf>
Ref<Tree<Leaf>> Raise(const Ref<Tree<Leaf>>& t) {
  auto* root = new Tree<Leaf>(t->level + 1, t->prefix >> 3);
  root->children[t->prefix & 7] = t;
  return Ref<Tree<Leaf>>(root);
}

template <class Leaf>
Ref<Tree<Leaf>> Single(uint64_t key, Ref<Leaf> leaf) {
  auto* node = new Tree<Leaf>(0, PrefixOf(key, 0));
  node->leaves[Digit(key, 0)] = std::move(leaf);
  return Ref<Tree<Leaf>>(node);
}

Ref<Executions> Union(const Ref<Executions>& a, const Ref<Executions>& b);

// Merges branch by branch. A node is copied only where it is neither of the two.
template <class Leaf>
Ref<Tree<Leaf>> UnionOf(const Ref<Tree<Leaf>>& a, const Ref<Tree<Leaf>>& b) {
  if (!b || a == b) return a;
  if (!a) return b;
  if (a->level != b->level || a->prefix != b->prefix) {
    Ref<Tree<Leaf>> x = a, y = b;
    while (x->level < y->level) x = Raise(x);
    while (y->level < x->level) y = Raise(y);
    while (x->prefix != y->prefix) {
      x = Raise(x);
      y = Raise(y);
    }
    const Ref<Tree<Leaf>> merged = UnionOf(x, y);
    return merged == x ? a : merged == y ? b : merged;
  }
  Tree<Leaf>* node = nullptr;
  Ref<Tree<Leaf>> result;
  bool is_b = true;
  const auto merge = [&](const auto& from_a, const auto& from_b, auto&& to) {
    for (size_t i = 0; i < 8; ++i) {
      auto merged = Union(from_a[i], from_b[i]);
      is_b = is_b && merged == from_b[i];
      if (merged == from_a[i]) continue;
      if (node == nullptr) result = Ref<Tree<Leaf>>(node = new Tree<Leaf>(*a));
      to(i) = std::move(merged);
    }
  };
  if (a->level > 0) {
    merge(
        a->children, b->children, [&](size_t i) -> auto& { return node->children[i]; });
  } else {
    merge(
        a->leaves, b->leaves, [&](size_t i) -> auto& { return node->leaves[i]; });
  }
  return node == nullptr ? a : is_b ? b : result;
}

// --- executions -----------------------------------------------------------------------------------------------------

using ExecutionsRef = Ref<Executions>;
using Interval = Executions::Interval;

// More intervals than this are joined across their gaps. That may hide a mistake but never invents one.
constexpr size_t kMaxIntervals = 1024;

void Append(std::vector<Interval>& out, Interval next) {
  if (!out.empty() && next.begin <= out.back().end) {
    out.back().end = std::max(out.back().end, next.end);
  } else {
    out.push_back(next);
  }
}

bool Same(const std::vector<Interval>& a, const std::vector<Interval>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const Interval& x, const Interval& y) { return x.begin == y.begin && x.end == y.end; });
}

ExecutionsRef Make(std::vector<Interval> list) {
  if (list.size() > kMaxIntervals) list = {{list.front().begin, list.back().end}};
  auto* made = new Executions;
  made->intervals = std::move(list);
  return ExecutionsRef(made);
}

// Most operations run once.
ExecutionsRef Only(uint64_t execution) {
  static thread_local const ExecutionsRef first = Make({{0, 1}});
  return execution == 0 ? first : Make({{execution, execution + 1}});
}

ExecutionsRef Union(const ExecutionsRef& a, const ExecutionsRef& b) {
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

constexpr uint64_t kExecutionMask = (uint64_t{1} << kInstanceBits) - 1;

}  // namespace

// --- sets of one block ----------------------------------------------------------------------------------------------

bool Contains(const SetRef& set, EventId e) {
  const ExecutionsRef* leaf = Find(set.get(), e >> kInstanceBits);
  if (leaf == nullptr || !*leaf) return false;
  const auto& list = (*leaf)->intervals;
  const uint64_t execution = e & kExecutionMask;
  auto after =
      std::upper_bound(list.begin(), list.end(), execution, [](uint64_t x, const Interval& i) { return x < i.begin; });
  return after != list.begin() && execution < (after - 1)->end;
}

SetRef Add(const SetRef& set, EventId e) {
  if (Contains(set, e)) return set;
  return Union(set, Single(e >> kInstanceBits, Only(e & kExecutionMask)));
}

SetRef Union(const SetRef& a, const SetRef& b) { return UnionOf(a, b); }

// --- knowledge ------------------------------------------------------------------------------------------------------

bool Knows(const KnowledgeRef& k, int64_t block, EventId e) {
  const SetRef* set = Find(k.get(), static_cast<uint64_t>(block));
  return set != nullptr && Contains(*set, e);
}

KnowledgeRef Learn(const KnowledgeRef& k, int64_t block, const SetRef& events) {
  return Union(k, Single(static_cast<uint64_t>(block), events));
}

KnowledgeRef Union(const KnowledgeRef& a, const KnowledgeRef& b) { return UnionOf(a, b); }

}  // namespace tile::vm

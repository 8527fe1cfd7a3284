// Sets of memory events, for --check=full.
//
// An event is one execution of one memory operation by one block; its id is (number of the operation) << 40 | how often
// the block has run it before. EventSet holds events of one block: a tree over operations, with intervals of executions as
// its leaves, which stay few in loops. Knowledge holds events of all blocks: a tree over block numbers, with such sets as
// its leaves. All are immutable, and share what they have in common: a set and one more event takes a few nodes, so that a chain of n
// operations, with a set for each, takes memory for n events. Null is empty.
//
//   SetRef a = Add(nullptr, 7), b = Union(a, c);     // the same object again where nothing changes
//   Contains(a, 7)
//
// Not thread-safe: a checked launch has one thread.
#ifndef TILE_VM_CHECK_CHECK_SETS_H_
#define TILE_VM_CHECK_CHECK_SETS_H_

#include <array>
#include <cstdint>
#include <utility>
#include <vector>

namespace tile::vm {

// A pointer to something that counts its references, without atomics.
template <class T>
class Ref {
 public:
  Ref() = default;
  Ref(std::nullptr_t) {}  // NOLINT: null is the empty set
  explicit Ref(T* p) : p_(p) { ++p_->references; }
  Ref(const Ref& o) : p_(o.p_) {
    if (p_ != nullptr) ++p_->references;
  }
  Ref(Ref&& o) noexcept : p_(std::exchange(o.p_, nullptr)) {}
  Ref& operator=(Ref o) noexcept {
    std::swap(p_, o.p_);
    return *this;
  }
  ~Ref() {
    if (p_ != nullptr && --p_->references == 0) delete p_;
  }
  const T* operator->() const { return p_; }
  const T& operator*() const { return *p_; }
  const T* get() const { return p_; }
  explicit operator bool() const { return p_ != nullptr; }
  friend bool operator==(const Ref& a, const Ref& b) { return a.p_ == b.p_; }

 private:
  T* p_ = nullptr;
};

// Executions of one operation.
struct Executions {
  struct Interval {
    uint64_t begin, end;  // end is not in it
  };
  std::vector<Interval> intervals;  // ascending, with gaps between them
  int references = 0;
};

// A tree of 8 branches a level over the digits of a key, as high as the largest key needs.
template <class Leaf>
struct Tree {
  int level = 0;        // 0: `leaves` of 8 keys
  uint64_t prefix = 0;  // key >> (3 * (level + 1))
  union {               // by level; each is an array of references
    std::array<Ref<Tree>, 8> children;
    std::array<Ref<Leaf>, 8> leaves;
  };
  int references = 0;

  Tree(int its_level, uint64_t its_prefix);
  Tree(const Tree& o);
  Tree& operator=(const Tree&) = delete;
  ~Tree();
};

using EventId = uint64_t;
inline constexpr int kInstanceBits = 40;

using EventSet = Tree<Executions>;  // by operation
using SetRef = Ref<EventSet>;

bool Contains(const SetRef& set, EventId e);
SetRef Add(const SetRef& set, EventId e);
SetRef Union(const SetRef& a, const SetRef& b);
// Calls fn(operation, its executions) in ascending order.
template <class Fn>
void ForEachOperation(const EventSet& set, Fn&& fn) {
  for (uint64_t i = 0; i < 8; ++i) {
    if (set.level > 0 && set.children[i]) ForEachOperation(*set.children[i], fn);
    if (set.level == 0 && set.leaves[i]) fn(set.prefix << 3 | i, *set.leaves[i]);
  }
}

using Knowledge = Tree<EventSet>;  // by block
using KnowledgeRef = Ref<Knowledge>;

bool Knows(const KnowledgeRef& k, int64_t block, EventId e);
KnowledgeRef Learn(const KnowledgeRef& k, int64_t block, const SetRef& events);
KnowledgeRef Union(const KnowledgeRef& a, const KnowledgeRef& b);

}  // namespace tile::vm

#endif  // TILE_VM_CHECK_CHECK_SETS_H_

// Sets of memory events, for --check=full.
//
// An event is one execution of one memory operation by one block; its id is (number of the operation) << 40 | how often
// the block has run it before. EventSet holds events of one block as intervals of ids: what loops build up stays short.
// Knowledge holds events of all blocks, as a tree over block numbers. Both are immutable and shared; null is empty.
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

using EventId = uint64_t;
inline constexpr int kInstanceBits = 40;

struct EventSet {
  struct Interval {
    EventId begin, end;  // end is not in it
  };
  std::vector<Interval> intervals;  // ascending, with gaps between them
  int references = 0;
};
using SetRef = Ref<EventSet>;

bool Contains(const SetRef& set, EventId e);
SetRef Add(const SetRef& set, EventId e);
SetRef Union(const SetRef& a, const SetRef& b);

// A tree of 16 branches a level over the digits of the block's number, as high as the largest number needs.
struct KnowledgeNode {
  int level = 0;        // 0: `sets` of 16 blocks
  uint64_t prefix = 0;  // block >> (4 * (level + 1))
  std::array<Ref<KnowledgeNode>, 16> children;
  std::array<SetRef, 16> sets;
  int references = 0;
};
using KnowledgeRef = Ref<KnowledgeNode>;

bool Knows(const KnowledgeRef& k, int64_t block, EventId e);
KnowledgeRef Learn(const KnowledgeRef& k, int64_t block, const SetRef& events);
KnowledgeRef Union(const KnowledgeRef& a, const KnowledgeRef& b);

}  // namespace tile::vm

#endif  // TILE_VM_CHECK_CHECK_SETS_H_

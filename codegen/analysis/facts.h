// What is known of integers and pointers without running the program: by which power of two they are divisible, between which
// bounds they lie, and which tiles hold neighbours.
//
//   Facts facts;
//   facts.Divisor(pointer)          // 16, if the address is known to be a multiple of 16 bytes
//   facts.RangeOf(index)            // {0, 1023}
//   facts.LineOf(offsets, dim)      // how many neighbours along the dimension rise by one step, or are equal
//
// Sources are constants, assumptions, arithmetic, and what loops and branches hand on. A loop's argument has the facts of its
// first value as long as every path through the loop keeps them. Not thread-safe; remembers what it found, so the program must
// not change meanwhile.
//
// Everything said holds in every run that breaks no promise (`assume`, no-wrap flags) and divides by no zero.
#ifndef TILE_CODEGEN_ANALYSIS_FACTS_H_
#define TILE_CODEGEN_ANALYSIS_FACTS_H_

#include <cstdint>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "ir/module.h"

namespace tile::codegen {

class Facts {
 public:
  static constexpr uint64_t kMax = uint64_t{1} << 20;  // more is of no use; of zero, too

  // Power of two, at most kMax, that divides every element of a tile of integers or pointers (in bytes); 1: nothing
  // known. Of a tensor_view: its base address.
  uint64_t Divisor(const ir::Value* v) { return Find(multiples_, {v, 0}, 0).of; }

  // Both ends included; every element is inside, read as a signed number of its type.
  struct Range {
    int64_t lower = INT64_MIN, upper = INT64_MAX;
    bool is(int64_t n) const { return lower == n && upper == n; }
    bool negative() const { return lower < 0; }  // perhaps
    bool operator==(const Range& r) const { return lower == r.lower && upper == r.upper; }
  };
  Range RangeOf(const ir::Value* v) { return Find(ranges_, {v, 0}, 0); }

  // How the elements of a tile go along dimension `dim`: in aligned groups of `rising` (a power of two) neighbours rise by
  // 1 (integers) or by the size of the pointee (pointers); in groups of `equal` they are equal. The first of each
  // rising group is divisible by `start`, so a group of at most `start` elements never wraps around.
  // `wraps`: a longer one rises unless the numbers overflow within it, read as signed (`wraps_unsigned`: as unsigned).
  struct Line {
    uint64_t rising = 1;
    uint64_t equal = 1;
    uint64_t start = 1;
    bool wraps = false;
    bool wraps_unsigned = false;
    bool operator==(const Line& l) const {
      return rising == l.rising && equal == l.equal && start == l.start && wraps == l.wraps &&
             wraps_unsigned == l.wraps_unsigned;
    }
    // The largest groups that rise in any case, each from a multiple of its length on (integers).
    uint64_t aligned() const { return rising < start ? rising : start; }
  };
  Line LineOf(const ir::Value* v, int dim) { return Find(lines_, {v, dim}, 0); }

 private:
  struct Multiple {
    uint64_t of = 1;
    bool operator==(const Multiple& m) const { return of == m.of; }
  };
  using Key = std::pair<const ir::Value*, int>;  // the dimension; 0 where none is meant
  enum class Kind : uint8_t { kMultiple, kRange, kLine };
  static constexpr Kind KindOf(const Multiple*) { return Kind::kMultiple; }
  static constexpr Kind KindOf(const Range*) { return Kind::kRange; }
  static constexpr Kind KindOf(const Line*) { return Kind::kLine; }
  template <class Fact>
  using Known = absl::flat_hash_map<Key, Fact>;

  // Where nothing is known; what holds of either; the next assumption about a loop's argument.
  static Multiple Nothing(const ir::Value&, const Multiple*) { return {}; }
  static Range Nothing(const ir::Value& v, const Range*);
  static Line Nothing(const ir::Value& v, const Line*);
  static Multiple Either(const ir::Value& v, const Multiple& a, const Multiple& b);
  static Range Either(const ir::Value& v, const Range& a, const Range& b);
  static Line Either(const ir::Value& v, const Line& a, const Line& b);
  static Multiple Widened(const ir::Value&, const Multiple&, const Multiple& next) { return next; }
  static Range Widened(const ir::Value& v, const Range& old, const Range& next);
  static Line Widened(const ir::Value&, const Line&, const Line& next) { return next; }

  template <class Fact>
  Fact Find(Known<Fact>& known, Key key, int depth);
  template <class Fact>
  Fact OfCarried(Known<Fact>& known, Key key, const ir::Op& loop, int i, int depth);
  template <class Fact>
  Fact OfArgument(Known<Fact>& known, Key key, int depth);
  template <class Fact>
  Fact OfResult(Known<Fact>& known, Key key, int depth);
  // The yields of an if; the continues and breaks of a loop.
  const std::vector<const ir::Op*>& EndsOf(const ir::Op& op);
  template <class Fact>
  void Remember(Known<Fact>& known, Key key, const Fact& fact);
  void ForgetSince(size_t mark);

  // What the operation that makes the value says; the last parameter selects the kind of fact.
  Multiple ByRule(Key key, int depth, const Multiple*);
  Range ByRule(Key key, int depth, const Range*);
  Line ByRule(Key key, int depth, const Line*);
  // Of a loop's induction variable.
  Multiple OfInduction(const ir::Op& loop, int depth, const Multiple*);
  Range OfInduction(const ir::Op& loop, int depth, const Range*);
  Line OfInduction(const ir::Op& loop, int depth, const Line*);

  // Facts about operand i, and about the result of this operation.
  uint64_t DivisorAt(const ir::Op& op, int i, int depth) { return Find(multiples_, {op.operand(i), 0}, depth + 1).of; }
  Range RangeAt(const ir::Op& op, int i, int depth) { return Find(ranges_, {op.operand(i), 0}, depth + 1); }
  Line LineAt(const ir::Op& op, int i, int dim, int depth) { return Find(lines_, {op.operand(i), dim}, depth + 1); }
  Range RangeOfBinary(const ir::Op& op, int depth);
  Range RangeOfQuotient(const ir::Op& op, int depth);
  Range RangeOfAssume(const ir::Op& op, int depth);
  Line LineOfReshape(const ir::Op& op, int dim, int depth);
  Line LineOfAssume(const ir::Op& op, int dim, int depth);
  Line LineOfExtend(const ir::Op& op, int dim, int depth);
  Line LineOfTruncate(const ir::Op& op, int dim, int depth);
  Line LineOfSum(const ir::Op& op, int dim, int depth);
  Line LineOfDifference(const ir::Op& op, int dim, int depth);
  Line LineOfProduct(const ir::Op& op, int dim, int depth, Line otherwise);
  Line LineOfQuotient(const ir::Op& op, int dim, int depth, Line otherwise);
  Line LineOfBits(const ir::Op& op, int dim, int depth, Line otherwise);
  Line LineOfCompare(const ir::Op& op, int dim, int depth, Line otherwise);
  Line LineOfChoice(const ir::Op& op, int dim, int depth);

  Known<Multiple> multiples_;
  Known<Range> ranges_;
  Known<Line> lines_;
  struct Found {
    Key key;
    Kind kind;
  };
  std::vector<Found> found_;  // in order
  absl::flat_hash_map<const ir::Op*, std::vector<const ir::Op*>> ends_;
  int64_t looked_ = 0;
};

// The largest power of two, at most Facts::kMax, that divides n.
uint64_t PowerOfTwoIn(uint64_t n);

}  // namespace tile::codegen

#endif  // TILE_CODEGEN_ANALYSIS_FACTS_H_

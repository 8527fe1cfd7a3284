// A loop that counts a second number round and round, and what its body does in the first and in the last part of each round. Internal to
// nest_loops.cc, whose header shows such a loop.
//
//   FlatLoop flat(op);
//   if (flat.Counts() && flat.WhyNot().empty()) …
//
// Conditions that ask for the first or last part compare the counting number with 0, or with the last number.
#ifndef TILE_CODEGEN_PASSES_CANONICAL_FLAT_LOOP_H_
#define TILE_CODEGEN_PASSES_CANONICAL_FLAT_LOOP_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "codegen/passes/equivalence.h"
#include "ir/loops.h"
#include "ir/passes/rewrite.h"

namespace tile::codegen {

// A value, or 0, and a constant.
struct Shifted {
  ir::Value* base = nullptr;
  int64_t by = 0;
};
Shifted ShiftedOf(ir::Value* v);

// Without effect, regions or many steps: it may be computed once more.
bool IsCheap(const ir::Op& op);

// What is used in the regions of the operation and defined in front of it.
std::vector<ir::Value*> UsedInRegions(const ir::Op& op);

class FlatLoop {
 public:
  explicit FlatLoop(const ir::Op& loop) : loop_(loop) {}

  // A carried number goes round and round.
  bool Counts();
  // After that. Why the loop cannot become a nest; "" if it can.
  std::string WhyNot();

  const ir::CarryingLoop& loop() const { return loop_; }
  int counter() const { return counter_; }                 // the carried value that counts
  const ir::Value* position() const { return position_; }  // the number of the part
  const Shifted& last() const { return last_; }            // that of the last one
  // It leads from the number of the part before to that of this one.
  bool IsForCounter(const ir::Op* op) const { return counting_.contains(op); }

  // Operations that are done in front of the inner loop, and what only they need.
  bool IsHead(const ir::Op* op) const { return heads_.contains(op); }
  bool IsForHeads(const ir::Op* op) const { return for_heads_.contains(op); }
  // A result of a head that the first part has in the place of a carried value; null: there is none.
  const ir::Value* EnteringOf(int carried) const;
  // Operations that give something else in the last part, or do something only there: what they give serves carried values alone.
  bool IsTail(const ir::Op* op) const { return tails_.contains(op); }
  // The value is computed from what they give.
  bool Changes(const ir::Value* v) const { return v->def() != nullptr && changes_.contains(v->def()); }
  // The part of a head or tail that is done in the first or last part, and the other: a region of an `if`, an operand of a select.
  const ir::Block* Region(const ir::Op& op, bool marked);
  ir::Value* Operand(const ir::Op& op, bool marked);
  // What a tail gives in the last part, or in others.
  ir::Value* Given(ir::Value* v, bool in_last);
  // What the inner loop need not carry: it is what it was in the first part.
  bool Stays(int carried);
  // The next round begins with what the loop began with, and nobody wants what it ends with.
  bool Resets(int carried);
  // The carried value is a token, and each part hands on one that waits for what it got: what waits for the one may wait for the other.
  bool IsLaterToken(int carried);
  // The carried value that a token inside is part of, in the last part; -1: none.
  int CarriedWith(const ir::Value* token);

  bool IsInBody(const ir::Value* v) const { return ir::IsInside(v, &loop_.op()); }

 private:
  enum class Flag : uint8_t { kNone, kFirst, kNotFirst, kLast, kNotLast };

  bool FindCounter(int i);
  bool ServesCounterOnly(const ir::Value* arg, const ir::Op* condition, const ir::Op* next) const;
  bool IsAlone() const;
  bool Follows(const ir::Value* v) const;
  bool IsLast(const Shifted& number) { return number.by == last_.by && Same(number.base, last_.base); }
  bool Same(const ir::Value* a, const ir::Value* b) { return a == b || (a != nullptr && b != nullptr && alike_(a, b)); }
  Flag FlagOf(const ir::Op& op);
  std::string FindHeads();
  bool TakeHead(const ir::Op& op);
  bool IsBefore(const ir::Value* v) const;
  std::string FindTails();
  bool ServesOnly(const ir::Op& op, const absl::flat_hash_set<const ir::Op*>& these, const ir::Op* end) const;
  void FindChanges(const absl::flat_hash_set<const ir::Op*>& sinks);
  bool IsBehind(ir::Value* v);
  const ir::Op* InBody(const ir::Op* op) const;

  const ir::CarryingLoop loop_;
  Equivalence alike_;
  int counter_ = -1;
  const ir::Value* position_ = nullptr;
  Shifted last_;
  absl::flat_hash_set<const ir::Op*> counting_, heads_, for_heads_, tails_, changes_;
  absl::flat_hash_map<const ir::Op*, Flag> flags_;
  std::map<int, const ir::Value*> entering_;
  absl::flat_hash_map<const ir::Value*, bool> behind_;
};

}  // namespace tile::codegen

#endif  // TILE_CODEGEN_PASSES_CANONICAL_FLAT_LOOP_H_

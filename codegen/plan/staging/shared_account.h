// Shared memory of a block: what operations have for themselves, rings of stages, and scratch memory through which
// threads exchange elements. plan/resources/shared_use.h keeps the account, in the order of the program: a pass asks it whether a kernel fits,
// and the emitter where the memory of an operation is (emit/context/shared_memory.h).
//
//   SharedAccount account(target, schedule.persistent);
//   account.Begin(function);
//   uint64_t at = account.Reserve(bytes, 16);        // for the whole run of the block
//   account.Scratch(bytes);                          // until the next exchange
//   account.ReserveOnce(bytes);                      // for one exchange that happens once; nothing: scratch memory will do
//   account.Passed(op);                              // behind each operation
//   account.Close();
//   account.bytes(), account.Check(function), account.PlaceOf(op)->at
//
// Scratch memory takes the place of rings if none is in use wherever it is: of a producer, up to the last operation with such a ring; of
// threads that copy, within their loop. Not thread-safe.
#ifndef TILE_CODEGEN_PLAN_STAGING_SHARED_ACCOUNT_H_
#define TILE_CODEGEN_PLAN_STAGING_SHARED_ACCOUNT_H_

#include <cstdint>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/status/status.h"
#include "codegen/target/target.h"
#include "ir/module.h"

namespace tile::codegen {

// The operation of the function's body, or of its workers (codegen/gpu/ops.def), that is this one or holds it.
const ir::Op* OutermostOf(const ir::Op* op);
// A loop around the operation copies ahead to a ring.
bool IsInCopyingLoop(const ir::Op& op);

class SharedAccount {
 public:
  static constexpr uint64_t kAlignment = 128, kRingAlignment = 1024;  // of all, and of all with rings

  // `persistent`: blocks follow each other, so that a ring may be in use everywhere.
  SharedAccount(const Target& target, bool persistent) : target_(target), persistent_(persistent) {}

  // Before the first operation: notes behind which operation of the function's body no ring of a producer is in use any more.
  void Begin(const ir::Function& function);
  // On whose behalf memory is asked for from now on; gives who it was before.
  const ir::Op* ServeFor(const ir::Op* op);
  // An operation of a body is done.
  void Passed(const ir::Op* op);

  // Bytes for the whole run of the block; their offset.
  uint64_t Reserve(uint64_t bytes, uint64_t alignment);
  // Bytes in which a value lies for the loops of a block: the first of them that asks stores it there.
  void ReserveKept(const ir::Value* v, const ir::Block* of_loops, uint64_t bytes, uint64_t alignment);
  // Bytes for an operand that threads store for one product. Such products use the same memory one after the other; the operand begins so many bytes
  // behind the begin of it.
  void ReserveOperand(uint64_t offset, uint64_t bytes);
  // The stages of a loop that fetches ahead, on behalf of this operation.
  void ReserveStages(const ir::Op& user, uint64_t bytes);
  // The same for loops whose threads copy ahead, in functions without the other kind: they all use the same memory, each as long as it
  // runs.
  void ReserveCopies(uint64_t bytes);
  // Such a loop begins, at this operation.
  void ClaimCopies(const ir::Op& claim);
  void Scratch(uint64_t bytes);
  // A few bytes which threads exchange in the operation that is served, and nobody uses before or after it: no barrier has to keep those apart.
  // False, and nothing is reserved, where the operation repeats, where blocks follow each other, and in kernels of products, whose rings take what
  // there is.
  bool ReserveOnce(uint64_t bytes);

  // What Scratch can still give, as far as is known; behind Close, what it could have given at most.
  uint64_t Left() const;
  uint64_t Room() const;

  // Behind the last operation: rings and scratch memory come behind what is reserved.
  void Close();
  uint64_t ring_begin() const { return reserved_bytes_; }
  uint64_t scratch_begin() const { return reserved_bytes_ + (scratch_beside_rings_ ? ring_bytes_ : 0); }
  uint64_t alignment() const { return ring_bytes_ + operand_bytes_ > 0 ? kRingAlignment : kAlignment; }
  uint64_t scratch_bytes() const { return scratch_bytes_; }
  uint64_t bytes() const;  // of all
  // What an operation has for itself: where that begins, counted from the begin of all. Null: it has nothing.
  struct Place {
    uint64_t at = 0, bytes = 0;
    bool is_first = true;  // of the operations that have these bytes, with the same value in them
  };
  const Place* PlaceOf(const ir::Op& op) const;
  // Whether a loop before this one used the memory of its copies, or threads exchanged something there.
  bool IsClaimedAgain(const ir::Op& claim) const { return claimed_again_.contains(&claim); }
  // InvalidArgument if the target has less, which names the greatest users.
  absl::Status Check(const ir::Function& function) const;

 private:
  // Who asked for memory, and what for.
  struct User {
    const ir::Op* op = nullptr;
    uint64_t bytes = 0;
    const char* what = "";
  };

  // What was left out for the alignment of what stands behind it.
  struct Gap {
    uint64_t begin = 0, end = 0;
  };

  // Bytes in the first gap that has room for them, else behind all.
  uint64_t Find(uint64_t bytes, uint64_t alignment);
  // Where scratch memory is asked for now.
  bool RingInUse() const;

  const Target& target_;
  const bool persistent_;
  absl::flat_hash_map<std::pair<const ir::Value*, const ir::Block*>, uint64_t> kept_;
  bool has_products_ = false;
  const ir::Op* last_ring_ = nullptr;  // of the function's body, the last operation with a ring; null behind it
  bool scratch_beside_rings_ = false;  // scratch memory is used where they are in use, too
  bool copies_claimed_ = false;        // by a loop whose threads copy ahead
  absl::flat_hash_set<const ir::Op*> claimed_again_;
  absl::flat_hash_map<const ir::Op*, Place> places_,
      ring_places_,     // count from the begin of rings, until Close
      operand_places_;  // count from the begin of operands, until Close
  std::vector<Gap> gaps_;
  uint64_t reserved_bytes_ = 0, scratch_bytes_ = 0, ring_bytes_ = 0, operand_bytes_ = 0;
  const ir::Op* user_ = nullptr;
  std::vector<User> users_;  // of what is reserved for one alone
  User scratch_user_, ring_user_, operand_user_;
};

}  // namespace tile::codegen

#endif  // TILE_CODEGEN_PLAN_STAGING_SHARED_ACCOUNT_H_

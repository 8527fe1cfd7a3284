// Where barriers are needed. Accesses of one tile block are spread over its threads, so an access that a token orders
// after another one needs a barrier between them unless neither writes. Only what tokens order is ordered.
//
// The emitter walks the program in order; Order remembers the accesses since the last barrier:
//
//   if (op.info()->is_access() && order.NeedsBarrier(op)) e.Barrier();      // in Emitter::Lower; Barrier tells Order
//   order.Did(op);                                                          // where instructions go to memory: ptx_access.cc
//
// Lowerings do neither: an access takes part by its traits, and by the instructions that it emits with AccessOf(op).
//
// Where control flow joins (after an if), what is pending on any path is pending; at the head of a loop all accesses of its
// body are, since they may be of the iteration before.
#ifndef TILE_CODEGEN_EMIT_CONTEXT_ORDER_H_
#define TILE_CODEGEN_EMIT_CONTEXT_ORDER_H_

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "ir/module.h"

namespace tile::codegen {

class Order {
 public:
  // Accesses since the last barrier. Each way of an if gets a copy, so the set is bounded: more accesses than that count as all
  // accesses of the function.
  class Pending {
   public:
    void Add(const ir::Op& op);
    void Add(const Pending& other);
    bool empty() const { return !is_all_ && ops_.empty(); }

   private:
    friend class Order;
    absl::flat_hash_set<const ir::Op*> ops_;
    bool is_all_ = false;
  };

  // A token leads to `op` from an access since the last barrier, and one of the two writes, or the earlier one acquires
  // or the later one releases (then everything before it must be done).
  bool NeedsBarrier(const ir::Op& op) const;
  void Did(const ir::Op& op);
  void Synchronized() { pending_ = {}; }

  const Pending& pending() const { return pending_; }
  void set_pending(Pending p) { pending_ = std::move(p); }
  // All accesses in the block and its regions become pending.
  void AddAll(const ir::Block& block);

 private:
  // Accesses that a chain of tokens leads from. Carried tokens of loops and results of ifs count as all accesses.
  struct Sources {
    bool all = false;
    absl::flat_hash_set<const ir::Op*> ops;
  };
  const Sources& SourcesOf(const ir::Value* token) const;
  mutable absl::flat_hash_map<const ir::Value*, Sources> sources_;
  Pending pending_;
};

bool Acquires(const ir::Op& op);
bool Releases(const ir::Op& op);

}  // namespace tile::codegen

#endif  // TILE_CODEGEN_EMIT_CONTEXT_ORDER_H_

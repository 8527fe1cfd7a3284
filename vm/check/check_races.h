// The order of memory accesses, for --check=full (semantics 6, 7).
//
// Every execution of a memory operation is an event of its block (check_sets.h). Every value carries the events that must
// have happened before it exists: a token those of the chain after it, a tile those it was computed from. An operation
// happens after what its operands carry, and after what the branches around it depend on.
//
// Between blocks, a release leaves at its address what is known to have happened before it; an acquire that reads it, or
// an update that continues its chain, gives that to the token it returns. Only tokens carry it on: a value or a branch
// alone does not order accesses of different blocks.
//
// Each cell of the shadow of memory names the last write and the reads since. An access that conflicts with one of them
// and is not ordered after it is a mistake:
//   vm.race            another block's access, unless both are strong, of one size, with scopes that hold both blocks
//   vm.missing_token   an access of the same block
//   vm.duplicate_store two elements of one weak store
// The two 4-bit elements of a byte are one place, as neighbouring bit-fields are in C: whoever stores one, stores the byte.
// A store of both is one; that two of its elements are the same is not found.
//
// Not thread-safe.
#ifndef TILE_VM_CHECK_CHECK_RACES_H_
#define TILE_VM_CHECK_CHECK_RACES_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "vm/check/check_memory.h"
#include "vm/check/check_sets.h"
#include "vm/machine/checker.h"
#include "vm/machine/launch_state.h"

namespace tile::vm {

// What has happened before a value exists.
struct Order {
  SetRef events;       // of the same block
  KnowledgeRef known;  // of all blocks, by way of an acquire; tokens only
};

// The orders of one block.
struct BlockOrder {
  std::vector<Order> values;         // by Place::value
  std::vector<uint64_t> executions;  // by OpPlaces::memory_op
  SetRef branches;                   // what decided that the block came here: branches that leave a region for good
};

class Races {
 public:
  Races(LaunchState& state, ShadowMemory& memory);

  BlockOrder NewBlock() const;
  // Around the instructions whose role is kWork or kEnter.
  void Before(const InstrNote& note, BlockOrder& order, int64_t block);
  void After(const InstrNote& note, BlockOrder& order);
  // An access of the operation of the last Before. False after a trap.
  bool OnAccess(BlockState& b, const Access& access, Region& region);
  // The memory goes away.
  void Forget(const Allocation& a);
  // The operation and block that wrote the element at an address last; null op: nobody.
  std::pair<const ir::Op*, int64_t> LastWriter(Region& region, uintptr_t address) const;
  // "[2, 3]" of an element of a buffer.
  static std::string IndexText(const Allocation& a, uintptr_t address);
  std::string BlockText(int64_t index) const;

 private:
  struct Record {
    EventId event = 0;
    int64_t block = 0;
    ir::MemoryOrdering ordering = ir::MemoryOrdering::kWeak;
    ir::MemoryScope scope = ir::MemoryScope::kTlBlk;
    bool reads = false, writes = false;
    int bytes = 0;
    bool strong() const { return ordering != ir::MemoryOrdering::kWeak; }
  };
  struct Reads {  // a list of reads, shared by the cells that have the same history
    uint32_t record = 0, older = 0;
    uint32_t length = 0;
  };
  // What a release has left at an address.
  struct Published {
    ir::MemoryScope scope;
    int64_t group;    // block or cluster that the scope is limited to
    int64_t cluster;  // of the block that released
    KnowledgeRef known;
  };
  // The operation that runs.
  struct Current {
    const OpPlaces* places = nullptr;
    EventId event = 0;
    int64_t block = 0;
    SetRef before, done;  // done: and the event itself
    KnowledgeRef known, gained;
    uint32_t record = 0;  // 0 until the first access
    bool duplicates_allowed = false;
    uint32_t ordered_write = 0, ordered_reads = 0;  // found to be in order
    uint32_t pushed_on = 0, pushed = 0;
  };

  void Pass(const OpPlaces& o, BlockOrder& order);
  void Terminate(const OpPlaces& o, BlockOrder& order);
  bool Ordered(const Record& r) const;
  bool Compatible(const Record& r, const Record& now) const;
  bool Includes(ir::MemoryScope scope, int64_t a, int64_t b) const;
  int64_t ClusterOf(int64_t block) const;
  ir::MemoryScope Normal(ir::MemoryScope s) const;
  uint32_t Push(uint32_t reads);
  bool CheckCell(BlockState& b, const Region& region, const Cell& cell, uintptr_t address);
  void Synchronise(const Access& access, Region& region);
  const Instr* Report(BlockState& b, const Region& region, uintptr_t address, const Record& earlier);
  void CollectGarbage();

  LaunchState& state_;
  ShadowMemory& memory_;
  std::vector<const OpPlaces*> memory_ops_;  // by number
  std::map<const ir::Op*, bool> leaving_;    // an if: some branch of it leaves by break, continue or return
  std::vector<Record> records_;              // 0 is unused
  std::vector<Reads> reads_;                 // 0 is unused
  size_t collect_at_ = size_t{1} << 22;
  std::map<uintptr_t, std::vector<Published>> published_;
  int64_t cluster_[3] = {1, 1, 1};
  bool has_clusters_ = false;
  Current now_;
};

}  // namespace tile::vm

#endif  // TILE_VM_CHECK_CHECK_RACES_H_

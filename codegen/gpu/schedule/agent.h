// A warp of a run: walks through the program, computes what decides where it goes, and asks the machine for everything that others see.
//
//   Agent warp(machine, terms, function, {.block = 0, .warp = 2, .producer = false});
//   Step step = warp.Run();     // one operation
//
// A step that waits is tried again.
#ifndef TILE_CODEGEN_GPU_SCHEDULE_AGENT_H_
#define TILE_CODEGEN_GPU_SCHEDULE_AGENT_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/types/span.h"
#include "codegen/gpu/schedule/fault.h"
#include "codegen/gpu/schedule/machine.h"
#include "codegen/gpu/schedule/terms.h"
#include "ir/module.h"

namespace tile::codegen::schedule {

struct Step {
  bool waits = false;
  Fault fault;
};

class Agent {
 public:
  struct Place {
    int block = 0;
    int warp = 0;           // of the block
    bool producer = false;  // else it is a worker
    // It runs the program before copies were expanded, alone, for the tile block of this turn.
    bool before = false;
    int turn = 0;
  };
  Agent(Machine& machine, const Terms& terms, const ir::Function& function, const Place& place);

  Step Run();
  bool ended() const { return frames_.empty(); }
  // For people: who it is, and what it waits for.
  std::string Name() const;
  std::string WaitsFor();
  const ir::Op& next() const { return *frames_.back().next; }

 private:
  // What is known of a value.
  struct Known {
    uint64_t bits = 0;       // of a scalar integer, else its name
    uint64_t product = 0;    // these are sums of a product that may still run; 0: of none
    Span tile = {-1, 0};     // where a tile lies in shared memory
    Span columns = {-1, 0};  // where sums lie in tensor memory
  };
  struct Frame {
    const ir::Op* next;
  };
  using Handler = Step (Agent::*)(const ir::Op&);
  static Handler HandlerOf(const ir::Op& op);

  // Control flow.
  void Enter(const ir::Block& body, absl::Span<const Known> args);
  // Behind the operation around the region that runs, with its results.
  void Leave(absl::Span<const Known> results);
  void Advance() { frames_.back().next = frames_.back().next->next(); }
  Step For(const ir::Op& op);
  Step Loop(const ir::Op& op);
  Step If(const ir::Op& op);
  Step Yield(const ir::Op& op);
  Step Continue(const ir::Op& op);
  Step Break(const ir::Op& op);
  Step Return(const ir::Op& op);
  Step Fetch(const ir::Op& op);
  Step Producer(const ir::Op& op);
  Step Workers(const ir::Op& op);
  Step Warp(const ir::Op& op);
  Step Region(const ir::Op& op);
  Step EachBlock(const ir::Op& op);

  // Values.
  Step Compute(const ir::Op& op);
  Step DoEffect(const ir::Op& op);
  Step Nothing(const ir::Op& op);
  Step Move(const ir::Op& op);
  Known& Of(const ir::Value* v) { return known_[v]; }
  std::vector<Known> OperandsOf(const ir::Op& op, int first = 0);
  std::vector<uint64_t> BitsOf(const ir::Op& op);
  int64_t Number(const ir::Value* v) { return static_cast<int64_t>(Of(v).bits); }
  // Sums of a product that runs must not be read.
  Fault ReadsSums(const ir::Op& op, int except = -1);  // an operand
  void SetResults(const ir::Op& op, absl::Span<const Known> results);

  // Synchronisation (agent_sync.cc).
  Step AllocStages(const ir::Op& op);
  Step ClaimStages(const ir::Op& op);
  Step StoreOperand(const ir::Op& op);
  // This warp's part of a tile that all workers store.
  Fault StorePart(const ir::Op& op, Span span, uint64_t name);
  Step AllocBarriers(const ir::Op& op);
  Step AllocTensorMap(const ir::Op& op);
  Step FenceBarriers(const ir::Op& op);
  Step BlockBarrier(const ir::Op& op);
  Step WorkerBarrier(const ir::Op& op);
  Step ClusterArrive(const ir::Op& op);
  Step ClusterWait(const ir::Op& op);
  Step WarpNumber(const ir::Op& op);
  Step TurnWait(const ir::Op& op);
  Step TurnPass(const ir::Op& op);
  Step FenceProxyAsync(const ir::Op& op);
  Step BarrierWait(const ir::Op& op);
  Step BarrierArrive(const ir::Op& op);
  Step BarrierExpect(const ir::Op& op);
  Step TmaLoad(const ir::Op& op);
  Step TensorMapHolds(const ir::Op& op);
  Step WriteTensorMaps(const ir::Op& op);
  Step StageTile(const ir::Op& op);
  Step Product(const ir::Op& op);
  Step FragmentWords(const ir::Op& op);
  Step WidenStore(const ir::Op& op);
  Step MmaWait(const ir::Op& op);

  // Copies by threads (agent_copies.cc).
  Step CopyAsync(const ir::Op& op);
  Step BeginOwnCopy(const ir::Op& copy, const Known& loaded, const Known& place);
  Step CommitCopies(const ir::Op& op);
  Step WaitCopies(const ir::Op& op);
  Step ConvertCopied(const ir::Op& op);
  Step ConvertLayout(const ir::Op& op);
  Fault ReadPiece(const ir::Op& piece, Known* tile);

  // Tensor memory (agent_columns.cc).
  Step AllocColumns(const ir::Op& op);
  Step ColumnsAt(const ir::Op& op);
  Step FreeColumns(const ir::Op& op);
  Step ColumnSums(const ir::Op& op);
  Step ColumnProduct(const ir::Op& op, uint64_t name, uint64_t serial, bool has_all);
  Step LoadColumns(const ir::Op& op);
  Step MmaCommit(const ir::Op& op);
  Step FenceColumnsBefore(const ir::Op& op);
  Step FenceColumnsAfter(const ir::Op& op);
  // What uses tensor memory comes behind a fence, if others have used it before what this warp has waited for.
  Fault UsesColumns();
  // An arrival tells others of loads that are fenced. Returns whether it tells of any.
  Fault TellsOfColumns(bool* tells) const;
  // The operation is for this warp's warpgroup.
  bool IsOfGroup(const ir::Op& turn);
  int group() const { return place_.warp / kWarpsOfGroup; }
  // The barrier of this number in a block of the cluster.
  Fault FindBarrier(const ir::Value* barriers, const ir::Value* number, int block, Barrier** found);
  int64_t AddressOf(const ir::Value* barriers, const ir::Value* number) {
    return Number(barriers) + kBarrierBytes * Number(number);
  }
  // The same operation is tried again.
  static Step Wait() { return {.waits = true, .fault = {}}; }
  // Comes to the meeting once, and waits until all have come.
  Step Meet(Meeting* meeting);
  Block& block() { return machine_.block(place_.block); }

  Machine& machine_;
  const Terms& terms_;
  const Place place_;
  std::vector<Frame> frames_;
  absl::flat_hash_map<const ir::Value*, Known> known_;
  Groups products_, copies_;
  size_t effects_ = 0;
  bool claimed_ = false;                                  // stages of a loop
  std::vector<std::pair<Span, int>> stored_, converted_;  // and not fenced: where, and which part
  uint64_t waits_for_product_ = 0;                        // that the operation began
  bool used_columns_ = false;                             // of tensor memory
  bool unfenced_loads_ = false;                           // from it
  bool behind_others_ = false;                            // who used it, without a fence since then
  int64_t met_ = -1;  // how often the meeting had been held when this warp came; -1: it has not come
  int64_t met_cluster_ = -1;
  BlockPlace tile_block_;
};

}  // namespace tile::codegen::schedule

#endif  // TILE_CODEGEN_GPU_SCHEDULE_AGENT_H_

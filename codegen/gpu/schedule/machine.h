// What the warps of a run share: shared memory, barriers and what runs asynchronously, of each block of a cluster.
//
//   Machine machine(function, {.workers = 4, .producers = 1, .blocks = 2});
//   Fault f = machine.BeginCopy({.op = load, .block = 0, .span = …, .barrier = …, .bytes = 4096}, name);
//   machine.FinishTask(3);     // whoever schedules decides when an asynchronous task ends
//
// Nothing here waits: an agent (agent.h) asks again until what it waits for has happened.
#ifndef TILE_CODEGEN_GPU_SCHEDULE_MACHINE_H_
#define TILE_CODEGEN_GPU_SCHEDULE_MACHINE_H_

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "codegen/gpu/schedule/barrier.h"
#include "codegen/gpu/schedule/fault.h"
#include "codegen/gpu/schedule/shared_cells.h"
#include "codegen/gpu/schedule/tensor_columns.h"
#include "codegen/gpu/schedule/terms.h"
#include "ir/module.h"

namespace tile::codegen::schedule {

inline constexpr int64_t kBarrierBytes = 8;
// Warpgroups that take turns, and their warps.
inline constexpr int kGroups = 2, kWarpsOfGroup = 4;

// Warps of a block and blocks of a cluster.
struct Shape {
  int workers = 4, producers = 0;
  int blocks = 1;
  int cluster_dim = 0;  // of the grid, along which blocks of a cluster are neighbours
  int warps() const { return workers + producers; }
};

// Asynchronous work of one warp in groups, as it commits them.
class Groups {
 public:
  using Count = std::shared_ptr<int>;  // of the tasks of a group that run
  Count Open();
  void Commit();
  // All groups but the last `pending` have ended.
  bool Passed(int64_t pending) const;

 private:
  Count open_;
  std::deque<Count> committed_;
};

// What runs until the scheduler ends it: a copy to shared memory, or something that reads it.
struct Task {
  const ir::Op* op = nullptr;
  int block = 0, agent = 0;  // whose memory; who began it
  std::vector<Span> spans;
  bool copies = false;    // else it reads
  bool converts = false;  // what it has brought each thread still converts
  int part = 0, parts = 1;
  int64_t barrier = -1;  // address of what counts the bytes; -1: none does
  int64_t bytes = 0;
  uint64_t product = 0;     // serial number; 0: it is none
  bool commits = false;     // it arrives at its barrier when what its warp began before has ended
  uint64_t descriptor = 0;  // that it reads, in memory; 0: it is a parameter
  Groups::Count group;      // null: it belongs to none
};

// A barrier of all threads of a block, of its workers, or of the cluster.
struct Meeting {
  int needed = 0;  // warps
  int present = 0;
  int64_t held = 0;             // how often all came
  bool orders_columns = false;  // some of them have used tensor memory

  void Come();
};

// An mbarrier in shared memory. Nobody but the warp that initialised it may use it before that fences.
struct Placed {
  Barrier barrier;
  bool fenced = false;
};

// What a block does that others see, in order.
struct Effect {
  const ir::Op* op = nullptr;
  uint64_t name = 0;
};

struct Block {
  SharedCells memory;
  TensorColumns columns;
  std::map<int64_t, Placed> barriers;        // by address
  std::map<uint64_t, uint64_t> descriptors;  // of which view each is, by its place
  Meeting all, workers, turns[kGroups];      // of a warpgroup's turn, at which both come
  std::vector<Effect> effects;               // of the warp that is furthest, or of the program before
  std::set<uint64_t> products;               // of the program before
  bool effects_known = false;                // both are complete
  int running = 0;                           // warps
};

class Machine {
 public:
  Machine(const ir::Function& function, const Shape& shape);

  const Shape& shape() const { return shape_; }
  Block& block(int i) { return blocks_[static_cast<size_t>(i)]; }
  // Where alloc_stages and alloc_barriers of the function lie.
  int64_t AddressOf(const ir::Op& alloc) const { return addresses_.at(&alloc); }
  // The allocation whose memory holds this; null: there is none.
  const ir::Op* AllocationOf(Span span) const;
  // "stage 1".
  std::string Place(Span span) const;

  Fault BeginCopy(Task task, uint64_t name);
  // The names of the tiles that it reads, one a span.
  Fault BeginRead(Task task, std::vector<uint64_t>* names);
  // What arrives at a barrier (Task::commits).
  void BeginCommit(Task task);
  // Returns its serial number.
  uint64_t NewProduct() { return ++products_; }
  int64_t products() const { return static_cast<int64_t>(products_); }
  bool Runs(uint64_t product) const { return running_products_.contains(product); }

  size_t num_tasks() const { return tasks_.size(); }
  const Task& task(size_t i) const { return tasks_[i]; }
  // A product waits for those that its warp began before.
  Fault FinishTask(size_t i);
  // A copy that reads the descriptor; null: there is none.
  const ir::Op* ReaderOf(uint64_t descriptor, int block) const;
  Meeting& cluster() { return cluster_; }

 private:
  const Shape shape_;
  std::deque<Block> blocks_;  // they do not move
  std::map<const ir::Op*, int64_t> addresses_;
  std::vector<std::pair<Span, const ir::Op*>> allocations_;
  std::vector<Task> tasks_;  // in the order in which they began
  std::set<uint64_t> running_products_;
  uint64_t products_ = 0;
  Meeting cluster_;
};

}  // namespace tile::codegen::schedule

#endif  // TILE_CODEGEN_GPU_SCHEDULE_MACHINE_H_

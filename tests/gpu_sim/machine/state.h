// Threads, warps, blocks, clusters of a launch while they run.
#ifndef TILE_TESTS_GPU_SIM_MACHINE_STATE_H_
#define TILE_TESTS_GPU_SIM_MACHINE_STATE_H_

#include <array>
#include <cstdint>
#include <cstring>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/status/status.h"
#include "tests/gpu_sim/machine/memory.h"
#include "tests/gpu_sim/machine/program.h"
#include "tests/gpu_sim/tensor/tensor_memory.h"

namespace tile::gpu_sim {

struct Block;
struct Cluster;
struct Launch;
struct TensorQueue;     // tensor_work.h
struct TensorAccesses;  // tensor_work.h
struct ProxyShadow;     // proxy_shadow.h

// A copy or product that the program may not yet rely on. The seed decides whether it happens at once, or when the program waits
// for it.
using Deferred = std::function<absl::Status()>;
using DeferredGroup = std::vector<Deferred>;

// Copies of one thread: those since the last commit, and groups that are on their way.
struct CopyGroups {
  DeferredGroup open;
  std::deque<DeferredGroup> committed;
};

enum class State : uint8_t { kReady, kBlocked, kTogether, kDone };

struct Thread {
  uint64_t* r = nullptr;  // slots
  uint32_t pc = 0;
  State state = State::kReady;
  uint8_t lane = 0;
  bool at_barrier = false;       // has arrived, and waits
  bool carry = false;            // of add.cc and the like
  bool has_polled = false;       // mbarrier.try_wait said no, though everything could have ended
  bool in_cluster_wait = false;  // has arrived at the cluster's barrier
  uint32_t mask = 0;             // kTogether: lanes that have to be here
  uint32_t index = 0;            // in the block
  uint64_t barrier_phase = 0, cluster_phase = 0;
  Block* block = nullptr;
  Warp* warp = nullptr;
  CopyGroups copies;      // cp.async
  CopyGroups bulk;        // cp.async.bulk to global memory: reading shared memory
  DeferredGroup written;  // what bulk copies have read, and not yet written
  std::shared_ptr<TensorQueue> tensor;
};

struct Warp {
  Block* block = nullptr;
  uint32_t index = 0;
  Thread* threads = nullptr;
  uint32_t lanes = 0;   // mask of those that exist
  uint32_t done = 0;    // have ended
  CopyGroups products;  // wgmma, of the first warp of a group
  std::shared_ptr<TensorAccesses> tensor;
  bool has_pending_loads = false;  // of tensor memory
};

struct NamedBarrier {
  uint32_t arrived = 0;
  uint32_t expected = 0;  // 0: nobody has arrived
  uint64_t phase = 0;
};

struct Block {
  Launch* launch = nullptr;
  Cluster* cluster = nullptr;
  uint32_t rank = 0;  // in the cluster
  std::array<uint32_t, 3> id = {};
  std::vector<uint64_t> slots;
  std::vector<Thread> threads;
  std::vector<Warp> warps;
  std::vector<uint8_t> shared;  // with kSharedBase
  std::vector<uint8_t> local;   // of all threads
  std::array<NamedBarrier, 16> barriers = {};
  uint32_t live = 0;  // threads
  TensorMemory tensor_memory;
  std::shared_ptr<ProxyShadow> proxies;  // null: nothing reads shared memory by the async proxy
};

inline bool HasEnded(const Block& b) { return b.live == 0; }

// A copy whose end an mbarrier counts.
struct BarrierCopy {
  uint32_t barrier;  // address with rank
  Deferred run;
};

// tcgen05.alloc of a pair of blocks, which only this one has executed so far.
struct PairAllocation {
  uint32_t rank = 0, columns = 0, column = 0;
};

struct Cluster {
  std::vector<std::unique_ptr<Block>> blocks;
  uint32_t index = 0;
  uint32_t arrived = 0;
  uint64_t phase = 0;
  std::vector<BarrierCopy> copies;
  std::vector<PairAllocation> pair_allocations;
};

// xorshift64*.
struct Random {
  uint64_t state = 1;
  uint64_t Next() {
    state ^= state >> 12;
    state ^= state << 25;
    state ^= state >> 27;
    return state * 0x2545F4914F6CDD1DULL;
  }
  uint32_t Below(uint32_t n) { return static_cast<uint32_t>((Next() >> 32) * n >> 32); }
};

struct Launch {
  const Program* program = nullptr;
  const DeviceMemory* memory = nullptr;
  std::array<uint32_t, 3> grid = {1, 1, 1};
  std::array<uint32_t, 3> block = {1, 1, 1};
  std::array<uint32_t, 3> cluster = {1, 1, 1};  // blocks of a cluster
  uint64_t dynamic_shared = 0;
  std::vector<uint8_t> params;  // with room to align them
  uint64_t param_base = 0;
  // Clusters of the grid; those from next_cluster on have not begun, and clusterlaunchcontrol may take them away.
  uint64_t clusters = 0, next_cluster = 0;
  Random random;
  // How asynchronous work behaves: 0 at once, 1 late, 2 as the dice fall.
  int lateness = 2;
  uint8_t pattern = 0xFF;                       // of memory and registers that nobody has written
  uint64_t executed = 0;                        // instructions
  uint64_t events = 0;                          // proxy_shadow.h
  absl::flat_hash_set<uint64_t> unfenced_maps;  // tensor maps that TMA need not see yet, by their addresses
  // Registers that tcgen05.ld brings may be used without a wait, as ptxas inserts one.
  bool ptxas_waits = false;
  absl::Status fault;

  uint32_t cluster_size() const { return cluster[0] * cluster[1] * cluster[2]; }
  bool IsLate() { return lateness == 2 ? (random.Next() >> 63) != 0 : lateness == 1; }
};

// The thread's place for messages: "block (0, 1, 0), thread 5".
std::string Where(const Thread& t);
// Ends the launch.
Step Fault(Thread& t, const Instr& i, absl::string_view what, absl::StatusCode code = absl::StatusCode::kAborted);

template <class T>
T Get(const Thread& t, uint32_t slot) {
  T v;
  std::memcpy(&v, &t.r[slot], sizeof v);
  return v;
}
template <>
inline bool Get<bool>(const Thread& t, uint32_t slot) {
  return (t.r[slot] & 1) != 0;
}
// Integers are extended by their sign, so that a wider register has what PTX puts into it.
template <class T>
void Put(Thread& t, uint32_t slot, T v) {
  if constexpr (std::is_signed_v<T> && std::is_integral_v<T>) {
    t.r[slot] = static_cast<uint64_t>(static_cast<int64_t>(v));
  } else if constexpr (std::is_integral_v<T>) {
    t.r[slot] = v;
  } else {
    uint64_t bits = 0;
    std::memcpy(&bits, &v, sizeof v);
    t.r[slot] = bits;
  }
}

}  // namespace tile::gpu_sim

#endif  // TILE_TESTS_GPU_SIM_MACHINE_STATE_H_

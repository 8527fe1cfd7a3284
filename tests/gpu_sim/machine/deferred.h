// Work that happens somewhere between its instruction and the wait for it, in groups as programs commit them.
#ifndef TILE_TESTS_GPU_SIM_MACHINE_DEFERRED_H_
#define TILE_TESTS_GPU_SIM_MACHINE_DEFERRED_H_

#include <utility>

#include "tests/gpu_sim/machine/state.h"

namespace tile::gpu_sim {

inline absl::Status RunAll(DeferredGroup& group) {
  for (const Deferred& d : group) {
    if (absl::Status s = d(); !s.ok()) return s;
  }
  group.clear();
  return absl::OkStatus();
}

// At once or later. What comes after something late is late, too: work of one queue keeps its order.
inline absl::Status Defer(CopyGroups& groups, Launch& launch, Deferred work) {
  if (groups.open.empty() && groups.committed.empty() && !launch.IsLate()) return work();
  groups.open.push_back(std::move(work));
  return absl::OkStatus();
}

inline void Commit(CopyGroups& groups) { groups.committed.push_back(std::exchange(groups.open, {})); }

// All groups but the latest `pending` end.
inline absl::Status Finish(CopyGroups& groups, size_t pending) {
  while (groups.committed.size() > pending) {
    if (absl::Status s = RunAll(groups.committed.front()); !s.ok()) return s;
    groups.committed.pop_front();
  }
  return absl::OkStatus();
}

}  // namespace tile::gpu_sim

#endif  // TILE_TESTS_GPU_SIM_MACHINE_DEFERRED_H_

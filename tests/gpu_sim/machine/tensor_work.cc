#include "tests/gpu_sim/machine/tensor_work.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "tests/gpu_sim/machine/deferred.h"

namespace tile::gpu_sim {
namespace {

TensorAccesses& AccessesOf(Warp& w) {
  if (w.tensor == nullptr) w.tensor = std::make_shared<TensorAccesses>();
  return *w.tensor;
}

}  // namespace

uint64_t TensorWorkOf(const Thread& t) { return t.tensor == nullptr ? 0 : t.tensor->started; }

absl::Status FinishTensorWork(Thread& t, uint64_t n) {
  while (t.tensor != nullptr && t.tensor->ended < n) {
    const Deferred work = std::move(t.tensor->work.front());
    t.tensor->work.pop_front();
    ++t.tensor->ended;
    if (absl::Status s = work(); !s.ok()) return s;
  }
  return absl::OkStatus();
}

absl::Status StartTensorWork(Thread& t, const Instr& i, absl::string_view instruction, Deferred work) {
  if (t.tensor == nullptr) t.tensor = std::make_shared<TensorQueue>();
  TensorQueue& q = *t.tensor;
  q.work.push_back([line = i.line, name = std::string(instruction), work = std::move(work)] {
    const absl::Status s = work();
    return s.ok() ? s : absl::Status(s.code(), absl::StrCat(name, " of line ", line, ": ", s.message()));
  });
  ++q.started;
  // What comes after something late is late, too.
  if (q.work.size() > 1 || t.block->launch->IsLate()) return absl::OkStatus();
  return FinishTensorWork(t, q.started);
}

absl::Status StartTensorLoad(Warp& w, const Instr& i, Deferred load) {
  TensorAccesses& a = AccessesOf(w);
  a.pending.resize(w.block->launch->program->num_registers);
  for (uint32_t k = 0; k < i.count; ++k) {
    if (i.list[k] < a.pending.size()) a.pending[i.list[k]] = true;
  }
  w.has_pending_loads = true;
  a.loads.push_back(std::move(load));
  if (a.loads.size() > 1 || w.block->launch->IsLate()) return absl::OkStatus();
  const Deferred now = std::move(a.loads.back());
  a.loads.pop_back();
  return now();
}

absl::Status StartTensorStore(Warp& w, Deferred store) {
  TensorAccesses& a = AccessesOf(w);
  if (a.stores.empty() && !w.block->launch->IsLate()) return store();
  a.stores.push_back(std::move(store));
  return absl::OkStatus();
}

absl::Status FinishTensorLoads(Warp& w) {
  if (w.tensor == nullptr) return absl::OkStatus();
  std::fill(w.tensor->pending.begin(), w.tensor->pending.end(), false);
  w.has_pending_loads = false;
  return RunAll(w.tensor->loads);
}

absl::Status FinishTensorStores(Warp& w) { return w.tensor == nullptr ? absl::OkStatus() : RunAll(w.tensor->stores); }

absl::Status CheckPendingLoads(Thread& t, const Instr& i) {
  const std::vector<bool>& pending = t.warp->tensor->pending;
  for (uint32_t k = 0; k < i.num_uses; ++k) {
    if (i.uses[k] >= pending.size() || !pending[i.uses[k]]) continue;
    if (t.block->launch->ptxas_waits) return FinishTensorLoads(*t.warp);
    return absl::FailedPreconditionError(
        "it uses a register that tcgen05.ld brings, and no tcgen05.wait::ld stands between; GPU_SIM_PTXAS_WAITS=1 runs programs that "
        "leave this wait to ptxas");
  }
  return absl::OkStatus();
}

absl::Status EndTensorWork(Block& block) {
  for (Thread& t : block.threads) {
    if (absl::Status s = FinishTensorWork(t, TensorWorkOf(t)); !s.ok()) return s;
  }
  for (const PairAllocation& a : block.cluster->pair_allocations) {
    if (a.rank == block.rank) return absl::FailedPreconditionError("the other block of the pair has executed no alloc");
  }
  return block.tensor_memory.CheckEnd();
}

}  // namespace tile::gpu_sim

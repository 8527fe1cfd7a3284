// Barriers of the block (bar, barrier.cta), of a warp (bar.warp.sync) and of the cluster (barrier.cluster).
#include "absl/strings/str_cat.h"
#include "tests/gpu_sim/machine/ops.h"
#include "tests/gpu_sim/machine/proxy_shadow.h"
#include "tests/gpu_sim/machine/together.h"

namespace tile::gpu_sim {
namespace {

// imm: 1 for arrive, which does not wait; a: the barrier, b: threads (0: all that live)
Step CtaBarrier(Thread& t, const Instr& i) {
  const uint32_t id = Get<uint32_t>(t, i.a);
  if (id >= t.block->barriers.size()) return Fault(t, i, absl::StrCat("barrier ", id, ": there are 16"));
  NamedBarrier& barrier = t.block->barriers[id];
  if (t.at_barrier) {
    if (barrier.phase == t.barrier_phase) return Step::kBlocked;
    t.at_barrier = false;
    return Step::kNext;
  }
  const uint32_t count = Get<uint32_t>(t, i.b);
  if (count % 32 != 0)
    return Fault(t, i, absl::StrCat("a barrier of ", count, " threads: it has to be a multiple of 32"));
  const uint32_t expected = count == 0 ? kEverybody : count;
  if (barrier.arrived != 0 && barrier.expected != expected) {
    return Fault(t, i, absl::StrCat("barrier ", id, ": threads wait at it for another number of threads than ", count));
  }
  barrier.expected = expected;
  t.barrier_phase = barrier.phase;
  NoteArrival(t);
  ++barrier.arrived;
  const bool waits = (i.imm & 1) == 0;
  if (EndPhase(*t.block, barrier) || !waits) return Step::kNext;
  t.at_barrier = true;
  return Step::kBlocked;
}

absl::Status DecodeCtaBarrier(Form& f, Instr* i) {
  f.Ignore({"cta", "aligned"});
  const bool arrives = f.Take("arrive");
  if (!arrives && !f.Take("sync")) f.Fail("it is neither sync nor arrive");
  i->run = &CtaBarrier;
  i->imm = arrives ? 1 : 0;
  i->a = f.num_operands() > 0 ? f.Source(0) : f.NumberSlot(0);
  i->b = f.num_operands() > 1 ? f.Source(1) : f.NumberSlot(0);
  return f.Finish();
}

absl::Status SyncWarp(Warp& w, const Instr&, uint32_t lanes) {
  ForLanes(lanes, [&](uint32_t l) { NoteArrival(w.threads[l]); });
  return absl::OkStatus();
}

Step ClusterArrive(Thread& t, const Instr& i) {
  Cluster& cluster = *t.block->cluster;
  if (t.in_cluster_wait) return Fault(t, i, "a second arrival at the cluster's barrier without a wait");
  t.in_cluster_wait = true;
  t.cluster_phase = cluster.phase;
  NoteArrival(t);
  ++cluster.arrived;
  EndPhase(cluster);
  return Step::kNext;
}
Step ClusterWait(Thread& t, const Instr& i) {
  if (!t.in_cluster_wait) return Fault(t, i, "a wait at the cluster's barrier without an arrival");
  if (t.block->cluster->phase == t.cluster_phase) return Step::kBlocked;
  t.in_cluster_wait = false;
  return Step::kNext;
}

absl::Status DecodeBarrier(Form& f, Instr* i) {
  if (f.Take("warp")) {
    f.Ignore({"sync"});
    i->run = &AwaitMask;
    i->together = &SyncWarp;
    i->a = f.Source(0);
    return f.Finish();
  }
  if (!f.Take("cluster")) return DecodeCtaBarrier(f, i);
  f.Ignore({"aligned", "release", "acquire", "relaxed"});
  i->run = f.Take("arrive") ? &ClusterArrive : &ClusterWait;
  if (i->run == &ClusterWait) f.Take("wait");
  return f.Finish();
}

}  // namespace

absl::Span<const OpRow> BarrierOps() {
  static constexpr OpRow kRows[] = {{"bar", DecodeBarrier}, {"barrier", DecodeBarrier}};
  return kRows;
}

}  // namespace tile::gpu_sim

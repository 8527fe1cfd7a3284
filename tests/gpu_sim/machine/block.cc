#include "tests/gpu_sim/machine/block.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "tests/gpu_sim/machine/deferred.h"
#include "tests/gpu_sim/machine/proxy_shadow.h"
#include "tests/gpu_sim/machine/tensor_work.h"
#include "tests/gpu_sim/machine/together.h"

namespace tile::gpu_sim {
namespace {

constexpr uint32_t kQuantum = 100000;  // instructions of a thread before others run
constexpr uint32_t kPollLength = 16;   // fewer instructions between two yields are a poll without result

uint64_t SpecialValue(const Thread& t, Special what) {
  const Block& b = *t.block;
  const Launch& l = *b.launch;
  const uint32_t lane = t.lane, bit = 1u << lane;
  switch (what) {
    case Special::kTidX: return t.index % l.block[0];
    case Special::kTidY: return t.index / l.block[0] % l.block[1];
    case Special::kTidZ: return t.index / l.block[0] / l.block[1];
    case Special::kNtidX: return l.block[0];
    case Special::kNtidY: return l.block[1];
    case Special::kNtidZ: return l.block[2];
    case Special::kCtaidX: return b.id[0];
    case Special::kCtaidY: return b.id[1];
    case Special::kCtaidZ: return b.id[2];
    case Special::kNctaidX: return l.grid[0];
    case Special::kNctaidY: return l.grid[1];
    case Special::kNctaidZ: return l.grid[2];
    case Special::kLaneId: return lane;
    case Special::kWarpId: return t.warp->index;
    case Special::kClusterRank: return b.rank;
    case Special::kClusterSize: return l.cluster_size();
    case Special::kClusterIdX: return b.id[0] / l.cluster[0];
    case Special::kClusterIdY: return b.id[1] / l.cluster[1];
    case Special::kClusterIdZ: return b.id[2] / l.cluster[2];
    case Special::kNclusterX: return l.grid[0] / l.cluster[0];
    case Special::kNclusterY: return l.grid[1] / l.cluster[1];
    case Special::kNclusterZ: return l.grid[2] / l.cluster[2];
    case Special::kClusterBlockX: return b.id[0] % l.cluster[0];
    case Special::kClusterBlockY: return b.id[1] % l.cluster[1];
    case Special::kClusterBlockZ: return b.id[2] % l.cluster[2];
    case Special::kClusterBlocksX: return l.cluster[0];
    case Special::kClusterBlocksY: return l.cluster[1];
    case Special::kClusterBlocksZ: return l.cluster[2];
    case Special::kLaneMaskLt: return bit - 1;
    case Special::kLaneMaskLe: return bit | (bit - 1);
    case Special::kLaneMaskGt: return ~(bit | (bit - 1));
    case Special::kLaneMaskGe: return ~(bit - 1);
    case Special::kLaneMaskEq: return bit;
    case Special::kDynamicShared: return l.dynamic_shared;
    case Special::kSmId: return b.cluster->index % 4;
  }
  return 0;
}

void FillSlots(Thread& t) {
  const Program& p = *t.block->launch->program;
  uint64_t* constants = t.r + p.num_registers;
  std::copy(p.constants.begin(), p.constants.end(), constants);
  for (const Program::Address& a : p.addresses) {
    constants[a.constant] += a.space == Program::Address::Space::kParam
                                 ? t.block->launch->param_base
                                 : kSharedBase | uint64_t{t.block->rank} << kRankShift;
  }
  for (const Program::SpecialUse& s : p.specials) constants[s.constant] = SpecialValue(t, s.what);
}

// The thread has ended: others may have waited for nobody else.
bool End(Thread& t) {
  if (!t.bulk.committed.empty() || !t.bulk.open.empty()) {
    Fault(t, t.block->launch->program->code[t.pc - 1],
          "the thread ends while a bulk copy may still read shared memory");
    return false;
  }
  if (absl::Status s = RunAll(t.written); !s.ok()) {
    Fault(t, t.block->launch->program->code[t.pc - 1], s.message());
    return false;
  }
  if (t.block->live == 1) {
    if (absl::Status s = EndTensorWork(*t.block); !s.ok()) {
      Fault(t, t.block->launch->program->code[t.pc - 1], s.message());
      return false;
    }
  }
  t.state = State::kDone;
  t.warp->done |= 1u << t.lane;
  --t.block->live;
  for (NamedBarrier& b : t.block->barriers) EndPhase(*t.block, b);
  EndPhase(*t.block->cluster);
  return true;
}

// True if it did more than to poll.
bool RunThread(Thread& t) {
  const Instr* code = t.block->launch->program->code.data();
  uint32_t n = 0;
  Step step = Step::kYield;
  while (n < kQuantum) {
    const Instr& i = code[t.pc++];
    ++n;
    if (i.guard >= 0 && Get<bool>(t, static_cast<uint32_t>(i.guard)) == i.guard_negated) continue;
    if (t.warp->has_pending_loads) {
      if (absl::Status s = CheckPendingLoads(t, i); !s.ok()) return Fault(t, i, s.message()) == Step::kNext;
    }
    step = i.run(t, i);
    if (step != Step::kNext) break;
  }
  t.block->launch->executed += n;
  switch (step) {
    case Step::kExit: return End(t);
    case Step::kFault: return false;
    case Step::kBlocked: --t.pc; return n > 1;
    case Step::kTogether:
      --t.pc;
      t.state = State::kTogether;
      return true;
    default: return n > kPollLength;
  }
}

// The lanes that are together at an instruction with this one; 0 if some are missing.
uint32_t Complete(const Warp& w, uint32_t lane) {
  const Thread& first = w.threads[lane];
  uint32_t here = 0;
  for (uint32_t l = 0; l < 32; ++l) {
    if ((w.lanes >> l & 1) == 0) continue;
    const Thread& t = w.threads[l];
    if (t.state == State::kTogether && t.pc == first.pc && t.mask == first.mask) here |= 1u << l;
  }
  return (here & first.mask) == first.mask ? first.mask : 0;
}

void Release(Warp& w, uint32_t lanes) {
  ForLanes(lanes, [&](uint32_t l) {
    w.threads[l].state = State::kReady;
    ++w.threads[l].pc;
  });
}

// Executes what its lanes wait for together, if all are there.
bool RunTogether(Warp& w) {
  bool any = false;
  for (uint32_t l = 0; l < 32; ++l) {
    if ((w.lanes >> l & 1) == 0 || w.threads[l].state != State::kTogether) continue;
    Thread& t = w.threads[l];
    const Instr& i = t.block->launch->program->code[t.pc];
    if (i.of_group) continue;
    const uint32_t lanes = Complete(w, l);
    if (lanes == 0) {
      if ((t.mask & w.done) != 0) Fault(t, i, "it waits for lanes that have ended");
      continue;
    }
    if (absl::Status s = i.together(w, i, lanes); !s.ok()) {
      Fault(t, i, s.message());
      return false;
    }
    Release(w, lanes);
    any = true;
  }
  return any;
}

// wgmma: all lanes of four warps.
bool RunGroup(Block& b, uint32_t first) {
  if (first + 4 > b.warps.size()) return false;
  const Thread& leader = b.warps[first].threads[0];
  if (leader.state != State::kTogether) return false;
  const Instr& i = b.launch->program->code[leader.pc];
  if (!i.of_group) return false;
  for (uint32_t w = first; w < first + 4; ++w) {
    const Warp& warp = b.warps[w];
    if (warp.threads[0].pc != leader.pc || warp.threads[0].state != State::kTogether || Complete(warp, 0) != ~0u)
      return false;
  }
  if (absl::Status s = i.together(b.warps[first], i, ~0u); !s.ok()) {
    Fault(b.warps[first].threads[0], i, s.message());
    return false;
  }
  for (uint32_t w = first; w < first + 4; ++w) Release(b.warps[w], ~0u);
  return true;
}

bool RunWarp(Warp& w) {
  Launch& launch = *w.block->launch;
  bool any = false;
  do {
    const uint64_t dice = launch.random.Next() >> 32;
    const uint32_t start = dice & 31, step = (dice & 32) != 0 ? 1 : 31;
    for (uint32_t k = 0; k < 32; ++k) {
      const uint32_t l = (start + k * step) & 31;
      if ((w.lanes >> l & 1) == 0 || w.threads[l].state != State::kReady) continue;
      any |= RunThread(w.threads[l]);
      if (!launch.fault.ok()) return any;
    }
  } while (RunTogether(w) && launch.fault.ok());
  return any;
}

}  // namespace

std::array<uint32_t, 3> BlockOfCluster(const Launch& launch, uint64_t cluster, uint32_t rank) {
  std::array<uint32_t, 3> id;
  for (size_t d = 0; d < 3; ++d) {
    const uint32_t across = launch.grid[d] / launch.cluster[d];
    id[d] = static_cast<uint32_t>(cluster % across) * launch.cluster[d] + rank % launch.cluster[d];
    cluster /= across;
    rank /= launch.cluster[d];
  }
  return id;
}

std::unique_ptr<Block> MakeBlock(Launch* launch, Cluster* cluster, uint32_t rank) {
  auto b = std::make_unique<Block>();
  const Program& p = *launch->program;
  b->launch = launch, b->cluster = cluster, b->rank = rank;
  b->id = BlockOfCluster(*launch, cluster->index, rank);
  const uint32_t n = launch->block[0] * launch->block[1] * launch->block[2];
  b->live = n;
  b->slots.assign(size_t{n} * p.num_slots, 0x0101010101010101u * launch->pattern);
  b->shared.assign(kSharedBase + p.dynamic_shared + launch->dynamic_shared, launch->pattern);
  b->local.assign(n * p.local_bytes, launch->pattern);
  b->threads.resize(n);
  b->warps.resize((n + 31) / 32);
  for (uint32_t w = 0; w < b->warps.size(); ++w) {
    Warp& warp = b->warps[w];
    warp.block = b.get(), warp.index = w, warp.threads = &b->threads[size_t{w} * 32];
    warp.lanes = n - w * 32 >= 32 ? ~0u : (1u << (n - w * 32)) - 1;
  }
  for (uint32_t k = 0; k < n; ++k) {
    Thread& t = b->threads[k];
    t.block = b.get(), t.warp = &b->warps[k / 32], t.index = k, t.lane = static_cast<uint8_t>(k % 32);
    t.r = &b->slots[size_t{k} * p.num_slots];
    FillSlots(t);
  }
  if (p.reads_by_async_proxy) MakeShadow(*b);
  return b;
}

bool RunBlock(Block& b) {
  bool any = false;
  const auto n = static_cast<uint32_t>(b.warps.size()), first = b.launch->random.Below(n);
  for (uint32_t k = 0; k < n && b.launch->fault.ok(); ++k) any |= RunWarp(b.warps[(first + k) % n]);
  for (uint32_t g = 0; g < n && b.launch->fault.ok(); g += 4) any |= RunGroup(b, g);
  return any;
}

std::string DescribeBlock(const Block& b) {
  std::string text;
  for (size_t k = 0; k < b.threads.size();) {
    size_t end = k;
    while (end < b.threads.size() && b.threads[end].pc == b.threads[k].pc && b.threads[end].state == b.threads[k].state)
      ++end;
    absl::StrAppend(&text, text.empty() ? "" : "; ", "threads ", k, " to ", end - 1,
                    b.threads[k].state == State::kDone
                        ? " have ended"
                        : absl::StrCat(" at line ", b.launch->program->code[b.threads[k].pc].line));
    k = end;
  }
  return absl::StrCat("block (", b.id[0], ", ", b.id[1], ", ", b.id[2], "): ", text);
}

Step AwaitMask(Thread& t, const Instr& i) {
  t.mask = Get<uint32_t>(t, i.a);
  if ((t.mask >> t.lane & 1) == 0) return Fault(t, i, "the thread is not in its own mask");
  t.mask &= t.warp->lanes;
  return Step::kTogether;
}
Step AwaitWarp(Thread& t, const Instr&) {
  t.mask = t.warp->lanes;
  return Step::kTogether;
}

bool EndPhase(const Block& block, NamedBarrier& barrier) {
  if (barrier.arrived == 0) return false;
  if (barrier.arrived < (barrier.expected == kEverybody ? block.live : barrier.expected)) return false;
  barrier.arrived = 0;
  ++barrier.phase;
  return true;
}

bool EndPhase(Cluster& cluster) {
  uint32_t live = 0;
  for (const auto& b : cluster.blocks) live += b->live;
  if (cluster.arrived == 0 || cluster.arrived < live) return false;
  cluster.arrived = 0;
  ++cluster.phase;
  return true;
}

std::string Where(const Thread& t) {
  const auto& id = t.block->id;
  return absl::StrCat("block (", id[0], ", ", id[1], ", ", id[2], "), thread ", t.index);
}

Step Fault(Thread& t, const Instr& i, absl::string_view what, absl::StatusCode code) {
  Launch& launch = *t.block->launch;
  if (launch.fault.ok()) {
    launch.fault = absl::Status(
        code, absl::StrCat("kernel ", launch.program->name, ", line ", i.line, ", ", Where(t), ": ", what));
  }
  return Step::kFault;
}

}  // namespace tile::gpu_sim

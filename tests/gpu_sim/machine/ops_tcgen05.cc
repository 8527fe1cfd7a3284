// tcgen05 (sm_100 and newer): who owns which columns of tensor memory, waits and fences. PTX ISA 9.7.16.
#include <cstring>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "tests/gpu_sim/machine/access.h"
#include "tests/gpu_sim/machine/ops.h"
#include "tests/gpu_sim/machine/tcgen05.h"
#include "tests/gpu_sim/machine/tensor_work.h"
#include "tests/gpu_sim/machine/together.h"

namespace tile::gpu_sim {

int TakeGroup(Form& f) {
  const int group = f.TakeOf<int>({{"cta_group::1", 1}, {"cta_group::2", 2}}, 0);
  if (group == 0) f.Fail("it has no cta_group");
  return group;
}

absl::StatusOr<std::vector<Block*>> BlocksOfGroup(Block& block, int group) {
  if (group == 1) return std::vector<Block*>{&block};
  const auto& blocks = block.cluster->blocks;
  const uint32_t even = block.rank & ~1u;
  if (even + 1 >= blocks.size()) {
    return absl::FailedPreconditionError(
        absl::StrCat("cta_group::2: the cluster of ", blocks.size(), " has no block beside rank ", block.rank));
  }
  std::vector<Block*> pair = {blocks[even].get(), blocks[even + 1].get()};
  for (const Block* b : pair) {
    if (HasEnded(*b))
      return absl::FailedPreconditionError(absl::StrCat("the block of rank ", b->rank, " of the pair has ended"));
  }
  return pair;
}

namespace {

absl::Status NotAllLanes() { return absl::InvalidArgumentError("not all lanes of the warp execute it"); }

// Where the columns come from: of a pair the block that is second takes the columns that the first one has chosen for both.
absl::StatusOr<uint32_t> Choose(Block& block, const TensorMemory::Request& request) {
  Cluster& cluster = *block.cluster;
  auto& waiting = cluster.pair_allocations;
  absl::StatusOr<std::vector<uint32_t>> places = block.tensor_memory.Places(request);
  if (!places.ok()) return places.status();
  if (request.group == 2) {
    const absl::StatusOr<std::vector<Block*>> pair = BlocksOfGroup(block, 2);
    if (!pair.ok()) return pair.status();
    for (auto a = waiting.begin(); a != waiting.end(); ++a) {
      if (a->rank != (block.rank ^ 1)) continue;
      const PairAllocation other = *a;
      waiting.erase(a);
      if (other.columns == request.columns) return other.column;
      return absl::InvalidArgumentError(absl::StrCat(
          "alloc of ", request.columns, " columns, where the other block of the pair has ", other.columns));
    }
  }
  if (places->empty()) {
    return absl::ResourceExhaustedError(absl::StrCat(
        "no ", request.columns, " columns of tensor memory are left: alloc would wait for a dealloc by this block"));
  }
  const uint32_t column = (*places)[block.launch->random.Below(static_cast<uint32_t>(places->size()))];
  if (request.group == 2) waiting.push_back({block.rank, request.columns, column});
  return column;
}

// imm: cta_group
absl::Status Alloc(Warp& w, const Instr& i, uint32_t lanes) {
  if (lanes != ~0u) return NotAllLanes();
  Thread& t = w.threads[0];
  const TensorMemory::Request request = {Get<uint32_t>(t, i.a), static_cast<int>(i.imm), i.line};
  const absl::StatusOr<uint32_t> column = Choose(*w.block, request);
  if (!column.ok()) return column.status();
  w.block->tensor_memory.Take(*column, request, w.block->launch->pattern);
  uint8_t* to = Access(t, i, AddressSpace::kGeneric, AddressOf(t, i.at) | kSharedWindow, 4, 4);
  if (to == nullptr) return w.block->launch->fault;
  std::memcpy(to, &*column, sizeof *column);
  return absl::OkStatus();
}

absl::Status Dealloc(Warp& w, const Instr& i, uint32_t lanes) {
  if (lanes != ~0u) return NotAllLanes();
  const Thread& t = w.threads[0];
  return w.block->tensor_memory.Free(Get<uint32_t>(t, i.a), Get<uint32_t>(t, i.b), static_cast<int>(i.imm));
}

absl::Status Relinquish(Warp& w, const Instr& i, uint32_t lanes) {
  if (lanes != ~0u) return NotAllLanes();
  return w.block->tensor_memory.Relinquish(static_cast<int>(i.imm));
}

absl::Status WaitLoads(Warp& w, const Instr&, uint32_t lanes) {
  return lanes != ~0u ? NotAllLanes() : FinishTensorLoads(w);
}
absl::Status WaitStores(Warp& w, const Instr&, uint32_t lanes) {
  return lanes != ~0u ? NotAllLanes() : FinishTensorStores(w);
}

// tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [address], columns
absl::Status DecodeAlloc(Form& f, Instr* i) {
  f.Ignore({"shared::cta", "b32"});
  i->imm = TakeGroup(f);
  i->together = &Alloc;
  i->at = f.Address(0);
  i->a = f.Source(1);
  return f.Finish();
}

absl::Status DecodeDealloc(Form& f, Instr* i) {
  f.Ignore({"b32"});
  i->imm = TakeGroup(f);
  i->together = &Dealloc;
  i->a = f.Source(0), i->b = f.Source(1);
  return f.Finish();
}

absl::Status DecodeTcgen05(Form& f, Instr* i) {
  const absl::string_view what = f.words().size() > 1 ? f.words()[1] : absl::string_view();
  if (what == "mma") return DecodeTcgen05Mma(f, i);
  if (what == "cp") return DecodeTcgen05Copy(f, i);
  if (what == "shift") return DecodeTcgen05Shift(f, i);
  if (what == "commit") return DecodeTcgen05Commit(f, i);
  if (what == "ld" || what == "st") return DecodeTcgen05Access(f, i, what == "ld");
  f.Take(what);
  if (what == "fence::before_thread_sync" || what == "fence::after_thread_sync") {
    // Threads run one after the other: what orders accesses of different threads needs nothing.
    i->run = [](Thread&, const Instr&) { return Step::kNext; };
    return f.Finish();
  }
  f.Ignore({"sync", "aligned"});
  i->run = &AwaitWarp;
  if (what == "alloc") return DecodeAlloc(f, i);
  if (what == "dealloc") return DecodeDealloc(f, i);
  if (what == "wait::ld" || what == "wait::st") {
    i->together = what == "wait::ld" ? &WaitLoads : &WaitStores;
    return f.Finish();
  }
  if (what != "relinquish_alloc_permit") return f.Unknown("what it does");
  i->imm = TakeGroup(f);
  i->together = &Relinquish;
  return f.Finish();
}

}  // namespace

absl::Span<const OpRow> Tcgen05Ops() {
  static constexpr OpRow kRows[] = {{"tcgen05", DecodeTcgen05}};
  return kRows;
}

}  // namespace tile::gpu_sim

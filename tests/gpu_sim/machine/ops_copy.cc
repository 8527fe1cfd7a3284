// Asynchronous copies: cp.async of up to 16 bytes for a thread, cp.async.bulk.tensor of a box by TMA. The data move at once, or only
// when the program waits for them, source and all.
#include <cstring>

#include "absl/strings/str_cat.h"
#include "tests/gpu_sim/machine/access.h"
#include "tests/gpu_sim/machine/bulk.h"
#include "tests/gpu_sim/machine/deferred.h"
#include "tests/gpu_sim/machine/ops.h"
#include "tests/gpu_sim/machine/proxy_shadow.h"
#include "tests/gpu_sim/tensor/mbarrier.h"
#include "tests/gpu_sim/tensor/tensor_copy.h"

namespace tile::gpu_sim {

absl::Status FinishCopiesOf(Cluster& cluster, uint32_t barrier) {
  std::vector<BarrierCopy> now, later;
  for (BarrierCopy& c : cluster.copies) (c.barrier == barrier ? now : later).push_back(std::move(c));
  cluster.copies = std::move(later);
  for (const BarrierCopy& c : now) {
    if (absl::Status s = c.run(); !s.ok()) return s;
  }
  return absl::OkStatus();
}

absl::Status FinishSomeCopy(Cluster& cluster) {
  if (cluster.copies.empty()) return absl::OkStatus();
  Launch& launch = *cluster.blocks[0]->launch;
  constexpr uint32_t kSides = 4;
  if (launch.lateness != 2 || launch.random.Below(kSides) != 0) return absl::OkStatus();
  const auto at = cluster.copies.begin() + launch.random.Below(static_cast<uint32_t>(cluster.copies.size()));
  const BarrierCopy copy = std::move(*at);
  cluster.copies.erase(at);
  return copy.run();
}

absl::Status StartCopy(Cluster& cluster, uint32_t barrier, Deferred run) {
  if (!cluster.blocks[0]->launch->IsLate()) return run();
  cluster.copies.push_back({barrier, std::move(run)});
  return absl::OkStatus();
}

namespace {

Step Done(Thread& t, const Instr& i, const absl::Status& s) { return s.ok() ? Step::kNext : Fault(t, i, s.message()); }

struct CopyExtra : Extra {
  Place from;
  uint32_t bytes = 0;
  uint32_t source_bytes = 0;  // slot; the rest is filled with zeros
  bool ignores = false;       // the slot is a predicate instead: nothing is read where it holds
};

Step CpAsync(Thread& t, const Instr& i) {
  const auto& x = static_cast<const CopyExtra&>(*i.extra);
  const uint32_t source = x.ignores ? (Get<bool>(t, x.source_bytes) ? 0 : x.bytes) : Get<uint32_t>(t, x.source_bytes);
  const uint32_t given = std::min(x.bytes, source);
  uint8_t* to = WriteAccess(t, i, AddressSpace::kShared, AddressOf(t, i.at), x.bytes, x.bytes);
  if (to == nullptr) return Step::kFault;
  const uint8_t* from = to;
  if (given > 0) {
    const uint64_t address = AddressOf(t, x.from);
    if (address % x.bytes != 0) return Fault(t, i, absl::StrCat("address ", absl::Hex(address), " is misaligned"));
    from = Access(t, i, AddressSpace::kGlobal, address, given, 1);
    if (from == nullptr) return Step::kFault;
  }
  const uint32_t bytes = x.bytes;
  return Done(t, i, Defer(t.copies, *t.block->launch, [to, from, given, bytes] {
                std::memcpy(to, from, given);
                std::memset(to + given, 0, bytes - given);
                return absl::OkStatus();
              }));
}

Step CommitCopies(Thread& t, const Instr&) { return Commit(t.copies), Step::kNext; }
Step WaitCopies(Thread& t, const Instr& i) { return Done(t, i, Finish(t.copies, static_cast<size_t>(i.imm))); }
Step WaitAllCopies(Thread& t, const Instr& i) {
  Commit(t.copies);
  return Done(t, i, Finish(t.copies, 0));
}

// Bulk groups: what they read from shared memory is read when .read is waited for; it is written when the group is.
Step CommitBulk(Thread& t, const Instr&) { return Commit(t.bulk), Step::kNext; }
Step WaitBulk(Thread& t, const Instr& i) {
  absl::Status s = Finish(t.bulk, static_cast<size_t>(i.imm));
  if (s.ok() && i.count == 0) s = RunAll(t.written);
  return Done(t, i, s);
}

struct TensorExtra : Extra {
  TensorCopyKind kind;
  const uint32_t* coordinates = nullptr;
  Place other;  // shared memory: the destination of a load, the source of a store
  Place barrier;
  uint32_t mask = 0;  // slot: blocks
};

std::vector<int32_t> CoordinatesOf(const Thread& t, const TensorExtra& x) {
  std::vector<int32_t> at;
  for (int d = 0; d < x.kind.rank; ++d) at.push_back(Get<int32_t>(t, x.coordinates[d]));
  return at;
}

absl::StatusOr<TensorMap> MapAt(Thread& t, const Instr& i) {
  const uint64_t address = AddressOf(t, i.at);
  const uint8_t* bytes = Access(t, i, AddressSpace::kGeneric, address, kTensorMapBytes, kTensorMapAlignment);
  if (t.block->launch->unfenced_maps.contains(address))
    return absl::FailedPreconditionError("no fence stands behind the tensor map's replacement");
  return bytes == nullptr ? absl::InvalidArgumentError("no tensor map there") : DecodeTensorMap(bytes);
}

auto GlobalOf(const Launch& launch) {
  return [&launch](uint64_t address, uint64_t bytes) -> absl::StatusOr<uint8_t*> {
    if (uint8_t* p = launch.memory->Find(address, bytes); p != nullptr) return p;
    return absl::OutOfRangeError(
        absl::StrCat("outside of every allocation: ", launch.memory->Describe(address, bytes)));
  };
}

// The box goes to one block and is reported to a barrier there or, of a pair, in the other one.
absl::Status LoadInto(Block& block, const TensorMap& map, const std::vector<int32_t>& at, uint32_t offset,
                      Block& reported, uint32_t barrier) {
  const auto global = GlobalOf(*block.launch);
  if (HasEnded(block) || HasEnded(reported))
    return absl::OutOfRangeError("shared memory of a block of the cluster that has ended");
  if (offset < kSharedBase || barrier < kSharedBase || barrier + 8 > block.shared.size()) {
    return absl::OutOfRangeError("its shared memory is outside of the block's");
  }
  if (absl::Status s = LoadBox(map, at, offset, absl::MakeSpan(block.shared), global); !s.ok()) return s;
  NoteAsyncWrite(block, offset, map.box_bytes());
  return Mbarrier(reinterpret_cast<uint64_t*>(reported.shared.data() + barrier)).CompleteTx(map.box_bytes());
}

Step LoadTensor(Thread& t, const Instr& i) {
  const auto& x = static_cast<const TensorExtra&>(*i.extra);
  absl::StatusOr<TensorMap> map = MapAt(t, i);
  if (!map.ok()) return t.block->launch->fault.ok() ? Fault(t, i, map.status().message()) : Step::kFault;
  const std::vector<int32_t> at = CoordinatesOf(t, x);
  const auto to = static_cast<uint32_t>(AddressOf(t, x.other)),
             barrier = static_cast<uint32_t>(AddressOf(t, x.barrier));
  Cluster& cluster = *t.block->cluster;
  const uint32_t blocks = static_cast<uint32_t>(cluster.blocks.size());
  const uint32_t mask = x.kind.multicast ? Get<uint16_t>(t, x.mask) : 1u << (to >> kRankShift);
  if (mask == 0 || (mask >> blocks) != 0)
    return Fault(t, i, absl::StrCat("the cluster has not the blocks of mask ", mask));
  for (uint32_t rank = 0; rank < blocks; ++rank) {
    if ((mask >> rank & 1) == 0) continue;
    // With a mask destination and barrier are at the same offsets in each block.
    Block* block = cluster.blocks[rank].get();
    const uint32_t offset = to & kOffsetMask, bar = barrier & kOffsetMask;
    const TensorMap m = *map;
    // Of a pair, the barrier's block has the parity of the rank that the barrier's address has.
    const uint32_t reported_rank = x.kind.of_pair ? (rank & ~1u) | (barrier >> kRankShift & 1) : rank;
    if (reported_rank >= blocks) return Fault(t, i, "the cluster has no block beside this one");
    Block* reported = cluster.blocks[reported_rank].get();
    Deferred run = [block, m, at, offset, reported, bar] { return LoadInto(*block, m, at, offset, *reported, bar); };
    if (absl::Status s = StartCopy(cluster, reported_rank << kRankShift | bar, std::move(run)); !s.ok())
      return Fault(t, i, s.message());
  }
  return Step::kNext;
}

Step StoreTensor(Thread& t, const Instr& i) {
  const auto& x = static_cast<const TensorExtra&>(*i.extra);
  absl::StatusOr<TensorMap> map = MapAt(t, i);
  if (!map.ok()) return t.block->launch->fault.ok() ? Fault(t, i, map.status().message()) : Step::kFault;
  const std::vector<int32_t> at = CoordinatesOf(t, x);
  const auto from = static_cast<uint32_t>(AddressOf(t, x.other));
  if (BlockOf(t, from) != t.block || (from & kOffsetMask) < kSharedBase) {
    return Fault(t, i, "its source is outside of the block's shared memory");
  }
  const uint32_t offset = from & kOffsetMask;
  Thread* thread = &t;
  const TensorMap m = *map;
  Deferred read = [thread, m, at, offset, reader = AsyncReaderOf(t)]() -> absl::Status {
    Launch& launch = *thread->block->launch;
    if (absl::Status s = CheckProxy(*thread->block, reader, offset, m.box_bytes()); !s.ok()) return s;
    if (!launch.IsLate() && thread->written.empty()) {
      return StoreBox(m, at, offset, thread->block->shared, GlobalOf(launch));
    }
    auto copy = std::make_shared<std::vector<uint8_t>>(thread->block->shared);
    thread->written.push_back(
        [copy, m, at, offset, &launch] { return StoreBox(m, at, offset, *copy, GlobalOf(launch)); });
    return absl::OkStatus();
  };
  return Done(t, i, Defer(t.bulk, *t.block->launch, std::move(read)));
}

// cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [to], [map, {x, y}], [barrier] {, mask}
// cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [map, {x, y}], [from]
absl::Status DecodeTensorCopy(Form& f, Instr* i) {
  absl::StatusOr<TensorCopyKind> kind = ParseTensorCopy(f.words());
  if (!kind.ok()) return f.Unknown(kind.status().message());
  f.TakeAll();
  auto* x = f.NewExtra<TensorExtra>(i);
  x->kind = *kind;
  const size_t map = kind->to_shared ? 1 : 0;
  i->run = kind->to_shared ? &LoadTensor : &StoreTensor;
  if (!kind->to_shared) f.program().reads_by_async_proxy = true;
  i->at = f.Address(map);
  uint32_t rank = 0;
  x->coordinates = f.Coordinates(map, &rank);
  if (rank != static_cast<uint32_t>(kind->rank)) f.Fail("this number of coordinates");
  x->other = f.Address(1 - map);
  if (kind->to_shared) x->barrier = f.Address(2);
  if (kind->multicast) x->mask = f.Source(3);
  if (kind->has_hint) f.Source(f.num_operands() - 1);
  return f.Finish();
}

absl::Status DecodeCpAsyncCopy(Form& f, Instr* i) {
  f.Ignore({"ca", "cg", "shared", "shared::cta", "global"});
  f.IgnorePrefixed("L2::");
  auto* x = f.NewExtra<CopyExtra>(i);
  i->run = &CpAsync;
  i->at = f.Address(0);
  x->from = f.Address(1);
  x->bytes = static_cast<uint32_t>(f.Number(2));
  if (x->bytes != 4 && x->bytes != 8 && x->bytes != 16) f.Fail("this size");
  x->ignores = f.Bits(3, 0) == 1;
  x->source_bytes = f.num_operands() > 3 ? f.Source(3) : f.NumberSlot(x->bytes);
  return f.Finish();
}

absl::Status DecodeCp(Form& f, Instr* i) {
  if (!f.Take("async")) return f.Unknown("only cp.async");
  if (f.Take("bulk")) {
    i->count = f.Take("read") ? 1 : 0;
    if (f.Take("commit_group")) {
      i->run = &CommitBulk;
      return f.Finish();
    }
    if (!f.Take("wait_group")) return DecodeTensorCopy(f, i);
    i->run = &WaitBulk;
    i->imm = f.Number(0);
    return f.Finish();
  }
  if (f.Take("commit_group")) {
    i->run = &CommitCopies;
  } else if (f.Take("wait_all")) {
    i->run = &WaitAllCopies;
  } else if (f.Take("wait_group")) {
    i->run = &WaitCopies;
    i->imm = f.Number(0);
  } else {
    return DecodeCpAsyncCopy(f, i);
  }
  return f.Finish();
}

}  // namespace

absl::Span<const OpRow> CopyOps() {
  static constexpr OpRow kRows[] = {{"cp", DecodeCp}};
  return kRows;
}

}  // namespace tile::gpu_sim

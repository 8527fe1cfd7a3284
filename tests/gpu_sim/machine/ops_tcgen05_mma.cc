// Work of tensor cores: tcgen05.mma, cp and shift; tcgen05.commit tells a barrier of its end.
#include "absl/strings/str_cat.h"
#include "tests/gpu_sim/machine/access.h"
#include "tests/gpu_sim/machine/bulk.h"
#include "tests/gpu_sim/machine/proxy_shadow.h"
#include "tests/gpu_sim/machine/tcgen05.h"
#include "tests/gpu_sim/machine/tensor_work.h"
#include "tests/gpu_sim/tensor/mbarrier.h"
#include "tests/gpu_sim/tensor/tcgen05_copy.h"

namespace tile::gpu_sim {

SharedReader ReaderOf(Block& block, const Thread& starter) {
  return [&block, reader = AsyncReaderOf(starter)](uint32_t address, uint32_t bytes) -> absl::StatusOr<const uint8_t*> {
    if (HasEnded(block)) return absl::OutOfRangeError("shared memory of a block of the cluster that has ended");
    if (address < kSharedBase || address + bytes > block.shared.size()) {
      return absl::OutOfRangeError(absl::StrCat(bytes, " bytes at ", static_cast<int64_t>(address) - kSharedBase,
                                                " in shared memory, which has ", block.shared.size() - kSharedBase,
                                                " bytes"));
    }
    if (absl::Status s = CheckProxy(block, reader, address, bytes); !s.ok()) return s;
    return block.shared.data() + address;
  };
}

namespace {

Step Done(Thread& t, const Instr& i, const absl::Status& s) { return s.ok() ? Step::kNext : Fault(t, i, s.message()); }

struct MmaExtra : Extra {
  Tcgen05Kind kind;
  bool a_in_tensor_memory = false;
  uint32_t a = 0, b = 0, descriptor = 0, accumulate = 0;  // slots
  Place a_at, scale_a, scale_b;
  bool accumulate_negated = false;
  const uint32_t* disabled = nullptr;  // slots of masks, if any
  uint32_t num_disabled = 0;
  int shift_d = 0;
};

Tcgen05Input InputOf(const Thread& t, const Instr& i, const MmaExtra& x) {
  Tcgen05Input in;
  in.d = static_cast<uint32_t>(AddressOf(t, i.at));
  in.a_in_tensor_memory = x.a_in_tensor_memory;
  in.a = x.a_in_tensor_memory ? static_cast<uint32_t>(AddressOf(t, x.a_at)) : t.r[x.a];
  in.b = t.r[x.b];
  if (x.kind.has_scales()) {
    in.scale_a = static_cast<uint32_t>(AddressOf(t, x.scale_a));
    in.scale_b = static_cast<uint32_t>(AddressOf(t, x.scale_b));
  }
  in.accumulate = Get<bool>(t, x.accumulate) != x.accumulate_negated;
  in.shift_d = x.shift_d;
  for (uint32_t k = 0; k < x.num_disabled; ++k) in.disabled[k] = Get<uint32_t>(t, x.disabled[k]);
  return in;
}

Step Mma(Thread& t, const Instr& i) {
  const auto& x = static_cast<const MmaExtra&>(*i.extra);
  const absl::StatusOr<Tcgen05Product> product = DecodeProduct(x.kind, Get<uint32_t>(t, x.descriptor));
  if (!product.ok()) return Fault(t, i, product.status().message());
  const absl::StatusOr<std::vector<Block*>> blocks = BlocksOfGroup(*t.block, x.kind.group);
  if (!blocks.ok()) return Fault(t, i, blocks.status().message());
  if (absl::Status s = t.block->tensor_memory.CheckGroup(x.kind.group); !s.ok()) return Done(t, i, s);
  Tcgen05Input in = InputOf(t, i, x);
  for (Block* b : *blocks) in.blocks.push_back({ReaderOf(*b, t), &b->tensor_memory});
  return Done(t, i, StartTensorWork(t, i, "tcgen05.mma", [&x, in = std::move(in), p = *product] {
                return RunTcgen05Mma(x.kind, p, in);
              }));
}

struct CopyExtra : Extra {
  Tcgen05Copy copy;
};

Step Copy(Thread& t, const Instr& i) {
  const Tcgen05Copy& copy = static_cast<const CopyExtra&>(*i.extra).copy;
  const absl::StatusOr<std::vector<Block*>> blocks = BlocksOfGroup(*t.block, copy.group);
  if (!blocks.ok()) return Fault(t, i, blocks.status().message());
  const auto to = static_cast<uint32_t>(AddressOf(t, i.at));
  const uint64_t from = t.r[i.a];
  std::vector<std::pair<Block*, SharedReader>> parts;
  for (Block* b : *blocks) parts.emplace_back(b, ReaderOf(*b, t));
  return Done(t, i, StartTensorWork(t, i, "tcgen05.cp", [&copy, to, from, parts = std::move(parts)] {
                for (const auto& [block, read] : parts) {
                  if (absl::Status s = RunTcgen05Copy(copy, to, from, read, block->tensor_memory); !s.ok()) return s;
                }
                return absl::OkStatus();
              }));
}

// imm: cta_group
Step Shift(Thread& t, const Instr& i) {
  const absl::StatusOr<std::vector<Block*>> blocks = BlocksOfGroup(*t.block, static_cast<int>(i.imm));
  if (!blocks.ok()) return Fault(t, i, blocks.status().message());
  const auto at = static_cast<uint32_t>(AddressOf(t, i.at));
  return Done(t, i, StartTensorWork(t, i, "tcgen05.shift", [at, blocks = *blocks] {
                for (Block* b : blocks) {
                  if (absl::Status s = RunTcgen05Shift(at, b->tensor_memory); !s.ok()) return s;
                }
                return absl::OkStatus();
              }));
}

// The barrier at this offset in each of the blocks gets an arrival when what the thread has started until now has ended.
Step Commit(Thread& t, const Instr& i) {
  const auto barrier = static_cast<uint32_t>(AddressOf(t, i.at));
  Cluster& cluster = *t.block->cluster;
  const auto blocks = static_cast<uint32_t>(cluster.blocks.size());
  const uint32_t mask = i.imm != 0 ? Get<uint16_t>(t, i.a) : 1u << (barrier >> kRankShift);
  if (mask == 0 || mask >> blocks != 0)
    return Fault(t, i, absl::StrCat("the cluster has not the blocks of mask ", mask));
  const uint32_t offset = barrier & kOffsetMask;
  Thread* starter = &t;
  for (uint32_t rank = 0; rank < blocks; ++rank) {
    if ((mask >> rank & 1) == 0) continue;
    Block* block = cluster.blocks[rank].get();
    if (offset < kSharedBase || offset % 8 != 0 || offset + 8 > block->shared.size())
      return Fault(t, i, "its barrier is outside of the block's shared memory");
    Deferred arrive = [starter, block, offset, n = TensorWorkOf(t), line = i.line]() -> absl::Status {
      if (absl::Status s = FinishTensorWork(*starter, n); !s.ok()) return s;
      // Programs invalidate a barrier and end while an arrival that nobody waits for is still on its way (warp roles of Triton 3.6).
      Mbarrier at(reinterpret_cast<uint64_t*>(block->shared.data() + offset));
      if (at.IsInvalidated()) return absl::OkStatus();
      if (HasEnded(*block))
        return absl::OutOfRangeError(
            absl::StrCat("tcgen05.commit of line ", line, ": the barrier is in a block that has ended"));
      return at.Arrive(1);
    };
    if (absl::Status s = StartCopy(cluster, rank << kRankShift | offset, std::move(arrive)); !s.ok())
      return Fault(t, i, s.message());
  }
  return Step::kNext;
}

}  // namespace

// tcgen05.mma.cta_group::1.kind::f16 [d], a, b, descriptor {, {lanes that are left}} {, [scales of A], [scales of B]}, accumulate {, shift}
absl::Status DecodeTcgen05Mma(Form& f, Instr* i) {
  const absl::StatusOr<Tcgen05Kind> kind = ParseTcgen05Mma(f.words());
  if (!kind.ok()) return f.Unknown(kind.status().message());
  f.TakeAll();
  f.program().reads_by_async_proxy = true;
  auto* x = f.NewExtra<MmaExtra>(i);
  x->kind = *kind;
  i->run = &Mma;
  i->at = f.Address(0);
  x->a_in_tensor_memory = f.IsAddress(1);
  if (x->a_in_tensor_memory) {
    x->a_at = f.Address(1);
  } else {
    x->a = f.Source(1);
  }
  x->b = f.Source(2);
  x->descriptor = f.Source(3);
  size_t next = 4;
  if (kind->has_scales()) {
    x->scale_a = f.Address(next++);
    x->scale_b = f.Address(next++);
  } else if (f.IsList(next)) {
    x->disabled = f.Sources(next++, &x->num_disabled);
    if (x->num_disabled != static_cast<uint32_t>(4 * kind->group)) f.Fail("this number of masks");
  }
  x->accumulate = f.SourceOrNot(next++, &x->accumulate_negated);
  if (next < f.num_operands() && !kind->has_scales() && !kind->weight_stationary)
    x->shift_d = static_cast<int>(f.Number(next));
  if (x->shift_d < 0 || x->shift_d > 15) f.Fail("a shift of D that is not 0 to 15");
  return f.Finish();
}

absl::Status DecodeTcgen05Copy(Form& f, Instr* i) {
  const absl::StatusOr<Tcgen05Copy> copy = ParseTcgen05Copy(f.words());
  if (!copy.ok()) return f.Unknown(copy.status().message());
  f.TakeAll();
  f.program().reads_by_async_proxy = true;
  f.NewExtra<CopyExtra>(i)->copy = *copy;
  i->run = &Copy;
  i->at = f.Address(0);
  i->a = f.Source(1);
  return f.Finish();
}

absl::Status DecodeTcgen05Shift(Form& f, Instr* i) {
  f.Ignore({"shift", "down"});
  i->imm = TakeGroup(f);
  i->run = &Shift;
  i->at = f.Address(0);
  return f.Finish();
}

// tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster{.multicast::cluster}.b64 [barrier] {, mask}
absl::Status DecodeTcgen05Commit(Form& f, Instr* i) {
  f.Ignore({"commit", "b64", "shared::cluster"});
  TakeGroup(f);
  if (!f.Take("mbarrier::arrive::one")) f.Fail("it does not arrive at a barrier");
  i->imm = f.Take("multicast::cluster") ? 1 : 0;
  i->run = &Commit;
  i->at = f.Address(0);
  if (i->imm != 0) i->a = f.Source(1);
  return f.Finish();
}

}  // namespace tile::gpu_sim

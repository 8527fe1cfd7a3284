// Atomic updates through pointers, views and scatter indices, and the plain scatter store. Every element is one update on
// real memory; the elements of an operation are taken in row-major order, which is one of the orders that are open.
#include <algorithm>
#include <cstring>
#include <vector>

#include "absl/strings/str_cat.h"
#include "ir/op_views.h"
#include "ir/print_format.h"
#include "vm/eval/view_access.h"
#include "vm/kernels/addresses.h"
#include "vm/machine/atomic.h"
#include "vm/machine/unspecified.h"

namespace tile::vm {
namespace {

using ir::Elem;
using ir::MemoryOrdering;
using ir::Op;
using ir::Value;

struct AtomicData {
  RmwFn rmw;
  CasFn cas;                // one of the two
  const Op* blind_acquire;  // a cas that acquires and whose old value nothing uses
  bool plain_store;         // store_scatter: neither
  Slot pointers, cmp, value, mask, old;
  int value_step;  // from one lane's value to the next in bytes; 0: one value for all
  bool has_mask, has_old;
  bool may_wait;  // combined additions: the block looks at no memory after them
  int64_t n;
  int bytes;
  Elem elem;
  MemoryOrdering ordering;
  ir::MemoryScope scope;
  int origins;  // of the pointers, or of the tensor of a scatter
  ir::Type type;
  const ViewAccess* view;
  // scatter
  Slot tensor, indices;
  int dim, index_bytes;
  bool index_i1, check_bounds;
  bool (*add_lanes)(uint8_t* base, int64_t size, const void* indices, const void* values, int64_t step, int64_t n);
  bool is_private;  // shared memory, seen by this block alone
};

uint64_t LoadBits(const uint8_t* p, int bytes) {
  uint64_t v = 0;
  std::memcpy(&v, p, static_cast<size_t>(bytes));
  return v;
}

std::string ValueText(Elem elem, uint64_t bits) {
  const ir::PrintOperand value{elem, {}, reinterpret_cast<const uint8_t*>(&bits)};
  return ir::FormatPrint(ir::IsFloat(elem) ? "%g" : "%d", {value});
}

// It takes what another block has handed over only if it found what it expected, and the kernel does not look.
void WarnOfBlindCas(BlockState& b, const AtomicData& d, uint64_t expected, uint64_t old) {
  Warn(
      b, d.blind_acquire, "vm.unseen_old",
      [&] {
        return absl::StrCat(
            "found ", ValueText(d.elem, old), " in place of ", ValueText(d.elem, expected),
            ", so it exchanged nothing, and the kernel goes on as if it had: nothing uses the old value");
      },
      "compare the old value with the expected one, and try again or leave the rest out where they differ");
}

// Element `lane` of the tile against the element at `address`.
inline void UpdateElement(BlockState& b, const AtomicData& d, void* address, int64_t lane, bool* changed) {
  const auto* value = static_cast<const uint8_t*>(b.at(d.value)) + lane * d.value_step;
  if (d.plain_store) {
    StoreElements(reinterpret_cast<uintptr_t>(address), value, 1, d.bytes, MemoryOrdering::kRelaxed);
    *changed = true;
    return;
  }
  const int order = RmwOrder(d.ordering);
  uint64_t old;
  if (d.rmw != nullptr) {
    old = d.rmw(address, LoadBits(value, d.bytes), order, changed);
  } else {
    const uint64_t expected = LoadBits(static_cast<const uint8_t*>(b.at(d.cmp)) + lane * d.bytes, d.bytes);
    old = d.cas(address, expected, LoadBits(value, d.bytes), order, changed);
    if (d.blind_acquire != nullptr && old != expected && b.checker != nullptr) WarnOfBlindCas(b, d, expected, old);
  }
  if (d.has_old) std::memcpy(static_cast<uint8_t*>(b.at(d.old)) + lane * d.bytes, &old, static_cast<size_t>(d.bytes));
}

Access AccessOf(const BlockState& b, const AtomicData& d, int64_t lane) {
  Access a;
  a.elements = 1;
  a.element_bytes = d.bytes;
  a.reads = !d.plain_store;
  a.writes = true;
  a.atomic = true;
  a.ordering = d.plain_store ? MemoryOrdering::kRelaxed : d.ordering;
  a.scope = d.scope;
  a.tile = d.has_old ? static_cast<const uint8_t*>(b.at(d.old)) + lane * d.bytes : nullptr;
  a.lane = lane;
  return a;
}

// Elements that are not updated: cas gives the expected value, the others nothing specified.
void PrefillOld(BlockState& b, const Instr* in, const AtomicData& d) {
  if (!d.has_old) return;
  void* old = b.at(d.old);
  if (d.cas != nullptr) {
    std::memcpy(old, b.at(d.cmp), static_cast<size_t>(d.n * d.bytes));
    return;
  }
  FillUnspecified(b, in, old, d.n, d.elem);
  if (b.checker != nullptr) b.checker->OnUnspecified(b, old, d.n * d.bytes);
}

const Instr* RunPointers(BlockState& b, const Instr* in) {
  const auto& d = *static_cast<const AtomicData*>(in->data);
  const auto* pointers = static_cast<const uint64_t*>(b.at(d.pointers));
  const uint8_t* mask = d.has_mask ? static_cast<const uint8_t*>(b.at(d.mask)) : nullptr;
  if (mask != nullptr) PrefillOld(b, in, d);
  bool changed = false;
  for (int64_t i = 0; i < d.n; ++i) {
    if (mask != nullptr && mask[i] == 0) continue;
    if (b.checked) {
      Access a = AccessOf(b, d, i);
      a.address = pointers[i];
      if (!CheckRun(b, in, a, d.type, d.origins)) return nullptr;
    }
    UpdateElement(b, d, reinterpret_cast<void*>(pointers[i]), i, &changed);
  }
  b.left_as_it_was = !changed;
  return in + 1;
}

const Instr* RunView(BlockState& b, const Instr* in) {
  const auto& d = *static_cast<const AtomicData*>(in->data);
  const ViewAccess& v = *d.view;
  ViewBoxes boxes;
  LocateView(b, v, &boxes);
  if (boxes.outside >= 0 && !NoteOutside(b, in, v, boxes)) return nullptr;
  if (!boxes.whole) PrefillOld(b, in, d);
  Access access = AccessOf(b, d, 0);
  bool changed = false;
  const bool ok = VisitBoxes(b, in, v, boxes, access, [&](const Box& box) {
    ForEachElement(v, box,
                   [&](int64_t m, int64_t t) { UpdateElement(b, d, boxes.view->base + m * d.bytes, t, &changed); });
  });
  if (!ok) return nullptr;
  b.left_as_it_was = !changed;
  return in + 1;
}

const Instr* RunScatter(BlockState& b, const Instr* in) {
  const auto& d = *static_cast<const AtomicData*>(in->data);
  const auto& view = b.get<ViewData>(d.tensor);
  const void* indices = b.at(d.indices);
  const int rank = d.type.rank();
  if (d.check_bounds) PrefillOld(b, in, d);
  bool changed = false;
  int64_t at[ir::kMaxRank] = {};
  for (int64_t lane = 0; lane < d.n; ++lane) {
    const uint64_t picked = ReadSignedIndex(indices, d.index_bytes, d.index_i1, lane);
    int64_t offset = 0;
    int outside = -1;
    for (int k = 0; k < rank; ++k) {
      const uint64_t i = k == d.dim ? picked : static_cast<uint64_t>(at[k]);
      if (i >= static_cast<uint64_t>(view.size(k)) && outside < 0) outside = k;
      if (outside < 0) offset = AddOffset(offset, static_cast<int64_t>(i), view.stride(rank, k));
    }
    if (outside < 0) {
      void* address =
          reinterpret_cast<void*>(reinterpret_cast<uintptr_t>(view.base) + static_cast<uintptr_t>(offset * d.bytes));
      if (b.checked) {
        Access a = AccessOf(b, d, lane);
        a.address = reinterpret_cast<uintptr_t>(address);
        if (!CheckRun(b, in, a, d.type, d.origins)) return nullptr;
      }
      UpdateElement(b, d, address, lane, &changed);
    } else if (!d.check_bounds && b.checked) {
      return Trap(b, in->op, "vm.out_of_bounds",
                  absl::StrCat("element ", LaneText(d.type, lane), " scatters to ",
                               outside == d.dim ? absl::StrCat("index ", static_cast<int64_t>(picked))
                                                : absl::StrCat("position ", at[outside]),
                               " of dimension ", outside, ", which has ", view.size(outside), " elements",
                               view.allocation ? absl::StrCat(" (`", view.allocation->name, "`)") : ""),
                  "set check_bounds to skip such elements");
    }
    for (int k = rank - 1; k >= 0; --k) {
      if (++at[k] < d.type.shape()[static_cast<size_t>(k)]) break;
      at[k] = 0;
    }
  }
  b.left_as_it_was = !changed;
  return in + 1;
}

// --- histograms -----------------------------------------------------------------------------------------------------

// Additions whose old values nobody looks at. They are added up before they reach memory where that pays (combine.h),
// and else done one by one: of a one-dimensional scatter in a loop of its own. Shared memory belongs to one block, which
// runs on one thread: there an update with the scope of the block needs no atomic instruction.
template <class T, class Index, bool is_private>
bool AddLanes(uint8_t* base, int64_t size, const void* indices, const void* values, int64_t step, int64_t n) {
  T* bins = reinterpret_cast<T*>(base);
  const auto* index = static_cast<const Index*>(indices);
  const auto* value = static_cast<const T*>(values);
  for (int64_t i = 0; i < n; ++i) {
    const int64_t at = index[i];
    if (at < 0 || at >= size) return false;
  }
  for (int64_t i = 0; i < n; ++i) {
    if constexpr (is_private) {
      bins[index[i]] = static_cast<T>(bins[index[i]] + value[i * step]);
    } else {
      __atomic_fetch_add(bins + index[i], value[i * step], __ATOMIC_RELAXED);
    }
  }
  return true;
}

using AddLanesFn = bool (*)(uint8_t* base, int64_t size, const void* indices, const void* values, int64_t step,
                            int64_t n);

template <class T, bool is_private>
AddLanesFn FindAddLanes(int index_bytes) {
  switch (index_bytes) {
    case 1: return AddLanes<T, int8_t, is_private>;
    case 2: return AddLanes<T, int16_t, is_private>;
    case 4: return AddLanes<T, int32_t, is_private>;
    default: return AddLanes<T, int64_t, is_private>;
  }
}

// Shows the checker each bin that lanes update, once; neighbours together. False after a trap.
bool ShowBins(BlockState& b, const Instr* in, const AtomicData& d, uintptr_t first, const std::vector<uint8_t>& used) {
  const auto size = static_cast<int64_t>(used.size());
  for (int64_t i = 0; i < size; ++i) {
    if (used[static_cast<size_t>(i)] == 0) continue;
    Access a = AccessOf(b, d, 0);
    a.address = first + static_cast<uintptr_t>(i * d.bytes);
    for (a.elements = 1; i + a.elements < size && used[static_cast<size_t>(i + a.elements)] != 0;) ++a.elements;
    i += a.elements;
    if (!CheckRun(b, in, a, d.type, d.origins)) return false;
  }
  return true;
}

// A checker may be shown `bins` bins in place of the lanes: they are not more, and all that is added has a value.
bool MayShowBins(const BlockState& b, const AtomicData& d, int64_t bins) {
  return bins <= d.n && b.checker->IsSpecified(b, b.at(d.value), (d.value_step == 0 ? 1 : d.n) * d.bytes);
}

// Which bins are updated; false if an index is outside.
template <class Index>
bool FindBins(const void* indices, int64_t n, std::vector<uint8_t>& used) {
  const auto* index = static_cast<const Index*>(indices);
  for (int64_t lane = 0; lane < n; ++lane) {
    const auto i = static_cast<uint64_t>(int64_t{index[lane]});
    if (i >= used.size()) return false;
    used[i] = 1;
  }
  return true;
}

bool FindBins(const void* indices, int index_bytes, int64_t n, std::vector<uint8_t>& used) {
  switch (index_bytes) {
    case 1: return FindBins<int8_t>(indices, n, used);
    case 2: return FindBins<int16_t>(indices, n, used);
    case 4: return FindBins<int32_t>(indices, n, used);
    default: return FindBins<int64_t>(indices, n, used);
  }
}

Additions AdditionsOf(const BlockState& b, const AtomicData& d) {
  return {b.at(d.value), d.value_step == 0, d.n, d.bytes};
}

// Memory that outlives the block may get the additions of several blocks at once.
void FlushUnlessLater(BlockState& b, const AtomicData& d, const Allocation& home) {
  const bool lasts = home.kind == Allocation::Kind::kBuffer || home.kind == Allocation::Kind::kGlobal;
  if (!d.may_wait || !lasts) b.pending.Flush();
}

const Instr* RunAddLanes(BlockState& b, const Instr* in) {
  const auto& d = *static_cast<const AtomicData*>(in->data);
  const auto& view = b.get<ViewData>(d.tensor);
  const int64_t size = view.size(0);
  const uint64_t bytes = static_cast<uint64_t>(size) * static_cast<uint64_t>(d.bytes);
  const auto base = reinterpret_cast<uintptr_t>(view.base);
  const bool fits = size > 0 && size < (int64_t{1} << 40) && view.stride(1, 0) == 1 &&
                    base % static_cast<uintptr_t>(d.bytes) == 0 && view.allocation != nullptr &&
                    view.allocation->Contains(base, bytes) && !view.allocation->read_only;
  // What is out of the ordinary, and the messages, are the general form's business; nothing has been changed before it.
  if (!fits) return RunScatter(b, in);
  if (b.checker != nullptr) {
    if (!MayShowBins(b, d, size)) return RunScatter(b, in);
    std::vector<uint8_t> used(static_cast<size_t>(size));
    if (!FindBins(b.at(d.indices), d.index_bytes, d.n, used)) return RunScatter(b, in);
    if (!ShowBins(b, in, d, base, used)) return nullptr;
  }
  const BinPlace place{view.base, size, d.is_private};
  if (b.pending.AddAtIndices(place, b.at(d.indices), d.index_bytes, d.check_bounds, AdditionsOf(b, d))) {
    FlushUnlessLater(b, d, *view.allocation);
  } else if (!d.add_lanes(view.base, size, b.at(d.indices), b.at(d.value), d.value_step / d.bytes, d.n)) {
    return RunScatter(b, in);
  }
  return in + 1;
}

const Instr* RunAddPointers(BlockState& b, const Instr* in) {
  const auto& d = *static_cast<const AtomicData*>(in->data);
  const auto* pointers = static_cast<const uint64_t*>(b.at(d.pointers));
  const uint8_t* mask = d.has_mask ? static_cast<const uint8_t*>(b.at(d.mask)) : nullptr;
  const AddressRange range = FindAddressKernels().range(pointers, mask, d.n);
  const auto bytes = static_cast<uint64_t>(d.bytes);
  if (range.lowest < 0 || range.lowest > range.highest || range.low_bits % bytes != 0) return RunPointers(b, in);
  const auto first = static_cast<uint64_t>(range.lowest), used = static_cast<uint64_t>(range.highest) - first + bytes;
  const Allocation* home = b.homes[static_cast<size_t>(d.origins)];
  if (home == nullptr || !home->Contains(first, used)) home = FindHome(b, d.origins, first, used);
  // Lanes that are in several allocations or in none, and the messages, are the general form's business.
  if (home == nullptr || home->read_only) return RunPointers(b, in);
  b.homes[static_cast<size_t>(d.origins)] = home;
  if (b.checker != nullptr) {
    const auto bins = static_cast<int64_t>(used / bytes);
    if (!MayShowBins(b, d, bins)) return RunPointers(b, in);
    std::vector<uint8_t> updated(static_cast<size_t>(bins));
    for (int64_t i = 0; i < d.n; ++i) {
      if (mask == nullptr || mask[i] != 0) updated[(pointers[i] - first) / bytes] = 1;
    }
    if (!ShowBins(b, in, d, first, updated)) return nullptr;
  }
  // All of a small allocation, so that the next tile has the same place.
  const bool all = home->bytes / bytes <= uint64_t{kMaxBins} && home->begin % bytes == 0;
  const BinPlace place{reinterpret_cast<uint8_t*>(all ? home->begin : first),
                       static_cast<int64_t>((all ? home->bytes : used) / bytes), false};
  if (!b.pending.AddAtAddresses(place, pointers, mask, AdditionsOf(b, d))) return RunPointers(b, in);
  FlushUnlessLater(b, d, *home);
  return in + 1;
}

// --- preparing ------------------------------------------------------------------------------------------------------

using ModeOp = ir::OpView<ir::WithFields<ir::Field::kMode>>;

AtomicData* NewData(Preparer& p, const Op& op, const Value* value) {
  auto* d = p.New<AtomicData>();
  d->type = value->type();
  d->n = p.plan().elements(value);
  d->elem = value->type().elem();
  d->bytes = ir::StorageBytes(d->elem);
  const bool one_value = d->n > 1 && p.plan().form(value).count == 1;
  d->value = one_value ? p.raw(value) : p.dense(value);
  d->value_step = one_value ? 0 : d->bytes;
  if (const auto ordered = ir::As<ir::OrderedOp>(&op)) {
    d->ordering = ordered->ordering();
    d->scope = ordered->scope().value_or(d->scope);
  }
  if (const auto update = ir::As<ModeOp>(&op)) {
    const ir::RmwMode mode = update->mode();
    d->rmw = FindRmw(mode, d->elem);
    if (d->rmw == nullptr) {
      p.Refuse(op, absl::StrCat("mode ", ir::Keyword(mode), " is not defined on ", ir::ElemInfoOf(d->elem).spelling));
    }
  }
  if (op.num_results() > 1 && op.result(0)->has_uses()) {
    d->has_old = true;
    d->old = p.result(op, 0);
  }
  return d;
}

// Integer additions whose old values nobody looks at.
bool AddsUnseen(const Op& op, const AtomicData& d) {
  const bool is_integer = d.elem == Elem::kI32 || d.elem == Elem::kI64;
  return ModeOp(op).mode() == ir::RmwMode::kAdd && is_integer && !d.has_old;
}

// Whether memory may get what the operation adds when the block has ended: the block does not look at memory, fence or
// stop after it, and no other can wait for it.
bool MayWait(Preparer& p, const Op& op) {
  if (op.block()->parent() != nullptr || p.code().must_park) return false;
  for (const Op* next = op.next(); next != nullptr; next = next->next()) {
    const ir::OpInfo& info = *next->info();
    if (next->num_regions() > 0 || info.is_access() || info.has(ir::kEffect)) return false;
  }
  return true;
}

void SetCas(Preparer& p, const Op& op, const Value* cmp, AtomicData* d) {
  d->cas = FindCas(d->bytes);
  d->cmp = p.dense(cmp);
  const bool acquires = d->ordering == MemoryOrdering::kAcquire || d->ordering == MemoryOrdering::kAcqRel;
  d->blind_acquire = acquires && !d->has_old ? &op : nullptr;
  if (d->cas == nullptr) p.Refuse(op, "compare-and-swap takes 32- and 64-bit elements");
}

AtomicData* NewPointers(Preparer& p, const Op& op, const Value* value) {
  AtomicData* d = NewData(p, op, value);
  const ir::PointerUpdateOp fields(op);
  d->pointers = p.dense(fields.pointers());
  d->origins = p.origins().SetOf(fields.pointers());
  if (const Value* mask = fields.mask()) {
    d->has_mask = true;
    d->mask = p.dense(mask);
  }
  return d;
}

AtomicData* NewView(Preparer& p, const Op& op) {
  const ir::ViewUpdateOp fields(op);
  AtomicData* d = NewData(p, op, fields.value());
  d->view = PrepareView(p, op, fields.view(), fields.index());
  return d;
}

AtomicData* NewScatter(Preparer& p, const Op& op) {
  const ir::ScatterOp fields(op);
  AtomicData* d = NewData(p, op, fields.values());
  const Value* indices = fields.indices();
  d->tensor = p.raw(fields.view());
  d->origins = p.origins().SetOf(fields.view());
  d->indices = p.dense(indices);
  d->index_bytes = ir::StorageBytes(indices->type().elem());
  d->index_i1 = indices->type().elem() == Elem::kI1;
  d->dim = static_cast<int>(fields.dim());
  d->check_bounds = fields.check_bounds();
  return d;
}

}  // namespace

void PrepareAtomicRmw(Preparer& p, const Op& op) {
  AtomicData* d = NewPointers(p, op, ir::AtomicRmwOp(op).arg());
  const bool combines = AddsUnseen(op, *d) && d->ordering == MemoryOrdering::kRelaxed;
  d->may_wait = combines && MayWait(p, op);
  p.Emit(op, combines ? RunAddPointers : RunPointers, d);
}

void PrepareAtomicCas(Preparer& p, const Op& op) {
  AtomicData* d = NewPointers(p, op, ir::AtomicCasOp(op).val());
  SetCas(p, op, ir::AtomicCasOp(op).cmp(), d);
  p.Emit(op, RunPointers, d);
}

void PrepareAtomicRedView(Preparer& p, const Op& op) { p.Emit(op, RunView, NewView(p, op)); }
void PrepareAtomicRmwView(Preparer& p, const Op& op) { p.Emit(op, RunView, NewView(p, op)); }

void PrepareAtomicCasView(Preparer& p, const Op& op) {
  AtomicData* d = NewView(p, op);
  SetCas(p, op, ir::AtomicCasViewOp(op).cmp(), d);
  p.Emit(op, RunView, d);
}

void PrepareAtomicScatterView(Preparer& p, const Op& op) {
  AtomicData* d = NewScatter(p, op);
  const ir::Type view = ir::AtomicScatterViewOp(op).view()->type();
  const bool is_private = view->space == ir::MemorySpace::kShared && d->scope == ir::MemoryScope::kTlBlk;
  if (AddsUnseen(op, *d) && view.rank() == 1 && !d->index_i1 &&
      (is_private || d->ordering == MemoryOrdering::kRelaxed)) {
    d->is_private = is_private;
    d->may_wait = !is_private && MayWait(p, op);
    const bool wide = d->elem == Elem::kI64;
    d->add_lanes =
        is_private
            ? (wide ? FindAddLanes<uint64_t, true>(d->index_bytes) : FindAddLanes<uint32_t, true>(d->index_bytes))
            : (wide ? FindAddLanes<uint64_t, false>(d->index_bytes) : FindAddLanes<uint32_t, false>(d->index_bytes));
  }
  p.Emit(op, d->add_lanes != nullptr ? RunAddLanes : RunScatter, d);
}

void PrepareStoreScatterView(Preparer& p, const Op& op) {
  AtomicData* d = NewScatter(p, op);
  d->plain_store = true;
  p.Emit(op, RunScatter, d);
}

// --- multicast ------------------------------------------------------------------------------------------------------

namespace {
void RefuseMulticast(Preparer& p, const Op& op) {
  p.Refuse(op,
           "multicast memory needs several GPUs; use load_view_tko, atomic_red_view_tko or store_view_tko on one copy");
}
}  // namespace

void PrepareMultimemLoadReduce(Preparer& p, const Op& op) { RefuseMulticast(p, op); }
void PrepareMultimemReduce(Preparer& p, const Op& op) { RefuseMulticast(p, op); }
void PrepareMultimemStore(Preparer& p, const Op& op) { RefuseMulticast(p, op); }

}  // namespace tile::vm

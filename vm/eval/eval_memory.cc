// Loads and stores through tiles of pointers, and memory that a block allocates.
//
// Lanes are taken in runs whose addresses follow each other: a run is checked and copied at once. Where runs are short, as of strided
// columns or of a table, many lanes are checked by the range of their addresses and copied one by one. Where that range leaves the
// array, or an access is more than weak, and under --check=full, there are runs only.
#include <algorithm>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "ir/op_views.h"
#include "ir/platform/memory.h"
#include "vm/kernels/addresses.h"
#include "vm/machine/memory_access.h"
#include "vm/machine/unspecified.h"
#include "vm/prepare/prepare.h"

namespace tile::vm {
namespace {

using ir::Elem;
using ir::MemoryOrdering;
using ir::Op;
using ir::Value;

struct PointerData {
  Slot pointers, value, mask, padding;
  bool has_mask, has_padding;
  int64_t n;
  int bytes;
  Elem elem;
  MemoryOrdering ordering;
  ir::MemoryScope scope;
  int origins;     // of the pointers
  ir::Type type;   // of the value
  bool relied_on;  // of a masked load without padding: the result depends on elements that the mask leaves out
};

using MaskedOp = ir::OpView<ir::AnyOf<ir::Opcode::kLoadPtr, ir::Opcode::kStorePtr>>;

void FillData(Preparer& p, const MaskedOp& op, const Value* pointers, const Value* value, PointerData* d) {
  d->pointers = p.dense(pointers);
  d->origins = p.origins().SetOf(pointers);
  d->n = p.plan().elements(pointers);
  d->type = value->type();
  d->elem = value->type().elem();
  d->bytes = ir::StorageBytes(d->elem);
  d->ordering = op.ordering();
  d->scope = op.scope().value_or(ir::MemoryScope::kTlBlk);
  if (const Value* mask = op.mask()) {
    d->has_mask = true;
    d->mask = p.dense(mask);
  }
}

// First lane at or after i that is active.
int64_t NextActive(const uint8_t* mask, int64_t i, int64_t n) {
  if (mask == nullptr) return i;
  while (i < n && mask[i] == 0) ++i;
  return i;
}

int64_t RunLength(const uint64_t* pointers, const uint8_t* mask, int64_t i, int64_t n, int bytes) {
  const auto step = static_cast<uint64_t>(bytes);
  const auto follows = [&](int64_t k) {
    return (mask == nullptr || mask[k] != 0) && pointers[k] == pointers[k - 1] + step;
  };
  int64_t end = i + 1;
  while (end < n && end < i + 8 && follows(end)) ++end;
  if (end < i + 8) return end - i;
  // A long run: many lanes at a time, without a branch for each.
  end += FindAddressKernels().following(pointers + end, mask == nullptr ? nullptr : mask + end, n - end, step);
  return end - i;
}

// Memory form to tile form.
void Normalise(Elem elem, void* tile, int64_t n) {
  auto* bytes = static_cast<uint8_t*>(tile);
  if (elem == Elem::kI1) {
    for (int64_t i = 0; i < n; ++i) bytes[i] = bytes[i] != 0;
  } else if (ir::IsSubByte(elem)) {
    for (int64_t i = 0; i < n; ++i) bytes[i] &= 15;
  }
}

constexpr int64_t kShortRun = 8, kManyLanes = 256;

// Whether all active lanes of [first, first + n) pass the checks of runs, by the range of their addresses.
bool PassTogether(BlockState& b, const PointerData& d, const uint64_t* pointers, const uint8_t* mask, int64_t n,
                  bool writes) {
  if (b.checker != nullptr || d.ordering != MemoryOrdering::kWeak) return false;
  if (!b.checked) return true;
  const AddressRange range = FindAddressKernels().range(pointers, mask, n);
  const auto lowest = static_cast<uintptr_t>(range.lowest), highest = static_cast<uintptr_t>(range.highest);
  const auto element = static_cast<uint64_t>(d.bytes);
  if (range.lowest < 0 || (range.low_bits & (element - 1)) != 0) return false;
  const uint64_t bytes = highest - lowest + element;
  const Allocation*& home = b.homes[static_cast<size_t>(d.origins)];
  if (home == nullptr || !home->Contains(lowest, bytes)) {
    const Allocation* other = FindHome(b, d.origins, lowest, bytes);
    if (other == nullptr) return false;
    home = other;
  }
  return !writes || !home->read_only;
}

// Checks every active lane. Calls run(address, first lane, lanes) for those whose addresses follow each other, or
// lanes(pointers, mask, first lane, lanes) for others; false after a trap. `tile`: the elements.
template <class Run, class Lanes>
bool VisitLanes(BlockState& b, const Instr* in, const PointerData& d, Access access, const uint8_t* tile, Run&& run,
                Lanes&& lanes) {
  const auto* pointers = static_cast<const uint64_t*>(b.at(d.pointers));
  const uint8_t* mask = d.has_mask ? static_cast<const uint8_t*>(b.at(d.mask)) : nullptr;
  access.element_bytes = d.bytes;
  access.ordering = d.ordering;
  access.scope = d.scope;
  int64_t in_runs = 0;  // lanes before this one do not pass together
  for (int64_t i = NextActive(mask, 0, d.n); i < d.n;) {
    const int64_t length = RunLength(pointers, mask, i, d.n, d.bytes);
    if (length < kShortRun && i >= in_runs && d.n - i >= kShortRun) {
      const int64_t many = std::min(kManyLanes, d.n - i);
      const uint8_t* active = mask == nullptr ? nullptr : mask + i;
      if (PassTogether(b, d, pointers + i, active, many, access.writes)) {
        lanes(pointers + i, active, i, many);
        i = NextActive(mask, i + many, d.n);
        continue;
      }
      in_runs = i + many;
    }
    access.address = pointers[i];
    access.elements = length;
    access.tile = tile + i * d.bytes;
    access.lane = i;
    if (!CheckRun(b, in, access, d.type, d.origins)) return false;
    run(pointers[i], i, length);
    i = NextActive(mask, i + length, d.n);
  }
  return true;
}

void WarnOfUnspecified(BlockState& b, const Instr* in, const PointerData& d, const uint8_t* mask) {
  const void* off = std::memchr(mask, 0, static_cast<size_t>(d.n));
  if (off == nullptr) return;
  Warn(
      b, in->op, "vm.unspecified",
      [&] {
        return absl::StrCat("the mask leaves out element ", LaneText(d.type, static_cast<const uint8_t*>(off) - mask),
                            ", which has no specified value, and the result depends on it");
      },
      "give the load a padding value (`other=` of tl.load), or select another value for such elements");
}

const Instr* RunLoadPtr(BlockState& b, const Instr* in) {
  const auto& d = *static_cast<const PointerData*>(in->data);
  const uint8_t* mask = d.has_mask ? static_cast<const uint8_t*>(b.at(d.mask)) : nullptr;
  auto* out = static_cast<uint8_t*>(b.at(d.value));
  if (d.has_padding) {
    std::memcpy(out, b.at(d.padding), static_cast<size_t>(d.n * d.bytes));
  } else if (mask != nullptr) {
    FillUnspecified(b, in, out, d.n, d.elem);
    if (d.relied_on && b.checked && b.checker == nullptr) WarnOfUnspecified(b, in, d, mask);
  }
  if (b.checker != nullptr && mask != nullptr && !d.has_padding) b.checker->OnUnspecified(b, out, d.n * d.bytes);
  Access access;
  access.reads = true;
  const bool ok = VisitLanes(
      b, in, d, access, out,
      [&](uintptr_t address, int64_t i, int64_t run) {
        LoadElements(out + i * d.bytes, address, run, d.bytes, d.ordering);
        Normalise(d.elem, out + i * d.bytes, run);
      },
      [&](const uint64_t* pointers, const uint8_t* active, int64_t i, int64_t n) {
        FindAddressKernels().gather(out + i * d.bytes, pointers, active, n, d.bytes);
        Normalise(d.elem, out + i * d.bytes, n);  // padding is as it must be already
      });
  return ok ? in + 1 : nullptr;
}

const Instr* RunStorePtr(BlockState& b, const Instr* in) {
  const auto& d = *static_cast<const PointerData*>(in->data);
  const auto* value = static_cast<const uint8_t*>(b.at(d.value));
  Access access;
  access.writes = true;
  const bool ok = VisitLanes(
      b, in, d, access, value,
      [&](uintptr_t address, int64_t i, int64_t run) {
        StoreElements(address, value + i * d.bytes, run, d.bytes, d.ordering);
      },
      [&](const uint64_t* pointers, const uint8_t* active, int64_t i, int64_t n) {
        FindAddressKernels().scatter(value + i * d.bytes, pointers, active, n, d.bytes);
      });
  return ok ? in + 1 : nullptr;
}

// --- allocation -----------------------------------------------------------------------------------------------------

struct AllocaData {
  Slot out;
  uint64_t bytes, alignment;
  bool global;
  Elem elem;
};

const Instr* RunAlloca(BlockState& b, const Instr* in) {
  const auto& d = *static_cast<const AllocaData*>(in->data);
  const uint64_t limit = b.launch->launch->max_alloca_bytes;
  const uint64_t size = (d.bytes + d.alignment) / d.alignment * d.alignment;  // at least one byte: addresses differ
  if (size > limit - b.heap_bytes) {
    return Trap(
        b, in->op, "vm.out_of_memory",
        absl::StrCat("alloca of ", d.bytes, " bytes: the block already holds ", b.heap_bytes, " of at most ", limit),
        "allocate less, or outside of the loop");
  }
  void* p = platform::AllocateAligned(d.alignment, size);
  if (p == nullptr) {
    return Trap(b, in->op, "vm.out_of_memory", absl::StrCat("alloca of ", d.bytes, " bytes: no memory"));
  }
  FillUnspecifiedMemory(b, b.heap_bytes + 1, p, size);
  b.heap.push_back(p);
  b.heap_bytes += size;
  Allocation a;
  a.begin = reinterpret_cast<uintptr_t>(p);
  a.bytes = d.bytes;
  a.name = "alloca";
  a.kind = Allocation::Kind::kAlloca;
  a.element = ir::Element::Number(d.elem);
  a.initialized = false;
  a.made_by = in->op;
  const Allocation* kept = d.global ? MemoryOf(b).Publish(std::move(a)) : new Allocation(std::move(a));
  AddPrivate(b, kept);
  if (b.checker != nullptr) b.checker->OnAllocate(b, *kept);
  b.get<void*>(d.out) = p;
  return in + 1;
}

struct SharedData {
  Slot out;
  int64_t offset;
  int rank;
  const int64_t* dims;  // sizes, strides
  const SharedArray* array;
};

const Instr* RunAllocShared(BlockState& b, const Instr* in) {
  const auto& d = *static_cast<const SharedData*>(in->data);
  auto& view = b.get<ViewData>(d.out);
  view.base = b.frame + d.offset;
  view.allocation = FindAllocation(b, reinterpret_cast<uintptr_t>(view.base), 1);
  std::memcpy(view.dims, d.dims, sizeof(int64_t) * static_cast<size_t>(2 * d.rank));
  return in + 1;
}

}  // namespace

void PrepareLoadPtr(Preparer& p, const Op& op) {
  auto* d = p.New<PointerData>();
  const ir::LoadPtrOp load(op);
  FillData(p, MaskedOp(op), load.source(), load.result(), d);
  if (const Value* padding = load.padding_value()) {
    d->has_padding = true;
    d->padding = p.dense(padding);
  }
  d->relied_on = d->has_mask && !d->has_padding && p.reliance().Of(op.result(0)) != 0;
  d->value = p.result(op, 0);
  p.Emit(op, RunLoadPtr, d);
}

void PrepareStorePtr(Preparer& p, const Op& op) {
  auto* d = p.New<PointerData>();
  const ir::StorePtrOp store(op);
  FillData(p, MaskedOp(op), store.destination(), store.value(), d);
  d->value = p.dense(store.value());
  p.Emit(op, RunStorePtr, d);
}

void PrepareAlloca(Preparer& p, const Op& op) {
  const ir::AllocaOp allocation(op);
  auto* d = p.New<AllocaData>();
  d->elem = op.result(0)->type().element().pointee;
  const uint64_t element = static_cast<uint64_t>(std::max(1, ir::MemoryBits(d->elem) / 8));
  d->bytes = static_cast<uint64_t>(allocation.num_elem()) * element;
  d->alignment = std::max<uint64_t>(static_cast<uint64_t>(allocation.alignment()), 8);
  d->global = allocation.global();
  d->out = p.result(op, 0);
  p.Emit(op, RunAlloca, d);
}

void PrepareAllocShared(Preparer& p, const Op& op) {
  const ir::Type t = op.result(0)->type();
  auto* d = p.New<SharedData>();
  d->rank = t.rank();
  auto* dims = p.NewArray<int64_t>(static_cast<size_t>(2 * d->rank));
  int64_t elements = 1;
  for (int k = d->rank - 1; k >= 0; --k) {
    dims[k] = t.shape()[k];
    dims[d->rank + k] = t->strides[static_cast<size_t>(k)];
    elements *= t.shape()[k];
  }
  d->dims = dims;
  const int64_t bytes = (elements * ir::MemoryBits(t.elem()) + 7) / 8;
  d->offset = p.permanent(bytes).offset;
  d->out = p.result(op, 0);
  p.code().shared.push_back({d->offset, static_cast<uint64_t>(bytes), &op});
  p.Emit(op, RunAllocShared, d);
}

}  // namespace tile::vm

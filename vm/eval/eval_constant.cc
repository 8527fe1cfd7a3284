// Constants, block ids and what costs nothing at run time.
#include <cstring>

#include "absl/strings/str_cat.h"
#include "ir/op_views.h"
#include "vm/machine/launch_state.h"
#include "vm/machine/memory_access.h"
#include "vm/prepare/prepare.h"

namespace tile::vm {
namespace {

using ir::Op;

const Instr* RunNothing(BlockState&, const Instr* in) { return in + 1; }

struct IdsData {
  Slot out[3];
};

const Instr* RunBlockId(BlockState& b, const Instr* in) {
  const auto& d = *static_cast<const IdsData*>(in->data);
  for (int i = 0; i < 3; ++i) b.get<int32_t>(d.out[i]) = b.id[i];
  return in + 1;
}

const Instr* RunNumBlocks(BlockState& b, const Instr* in) {
  const auto& d = *static_cast<const IdsData*>(in->data);
  for (int i = 0; i < 3; ++i) b.get<int32_t>(d.out[i]) = static_cast<int32_t>(GridOf(b)[i]);
  return in + 1;
}

void PrepareIds(Preparer& p, const Op& op, ExecFn fn) {
  auto* d = p.New<IdsData>();
  for (int i = 0; i < 3; ++i) d->out[i] = p.result(op, i);
  p.Emit(op, fn, d);
}

struct AddressData {
  Slot out;
  const void* address;
};

// Indices along a dimension of `size` elements.
struct IndicesData {
  Slot indices;
  int64_t n, size, along;
  int bytes;
  ir::Type type;
};

template <class T>
int64_t FirstOutside(const void* indices, int64_t n, int64_t size) {
  const T* at = static_cast<const T*>(indices);
  for (int64_t i = 0; i < n; ++i) {
    if (at[i] < 0 || at[i] >= size) return i;
  }
  return -1;
}

int64_t SignedAt(const void* indices, int bytes, int64_t i) {
  int64_t v = 0;
  std::memcpy(&v, static_cast<const uint8_t*>(indices) + i * bytes, static_cast<size_t>(bytes));
  const int shift = 64 - 8 * bytes;
  return static_cast<int64_t>(static_cast<uint64_t>(v) << shift) >> shift;
}

const Instr* RunIndices(BlockState& b, const Instr* in) {
  const auto& d = *static_cast<const IndicesData*>(in->data);
  const void* indices = b.at(d.indices);
  if (!b.checked) return in + 1;
  const int64_t bad = d.bytes == 8   ? FirstOutside<int64_t>(indices, d.n, d.size)
                      : d.bytes == 4 ? FirstOutside<int32_t>(indices, d.n, d.size)
                      : d.bytes == 2 ? FirstOutside<int16_t>(indices, d.n, d.size)
                                     : FirstOutside<int8_t>(indices, d.n, d.size);
  if (bad < 0) return in + 1;
  return Trap(b, in->op, "vm.index_out_of_bounds",
              absl::StrCat(d.type.rank() > 0 ? absl::StrCat("element ", LaneText(d.type, bad), ": ") : "", "index ",
                           SignedAt(indices, d.bytes, bad), " of axis ", d.along, ", which has ", d.size, " elements"),
              "keep indices from 0 to below the size of the axis: select another one where the result is not used");
}

const Instr* RunGetGlobal(BlockState& b, const Instr* in) {
  const auto& d = *static_cast<const AddressData*>(in->data);
  b.get<const void*>(d.out) = d.address;
  return in + 1;
}

}  // namespace

// Lie in the constants of the program (Preparer::PrepareFunction).
void PrepareConstant(Preparer&, const Op&) {}
void PrepareIota(Preparer&, const Op&) {}

// The value is its operand's; the instruction is where --check=full looks at the promise. That indices are inside of their dimension, all
// checks but `none` look at.
void PrepareAssume(Preparer& p, const Op& op) {
  const ir::Predicate& promise = ir::AssumeOp(op).predicate();
  if (promise.kind != ir::Predicate::Kind::kBounded || !promise.along || !promise.upper) {
    p.Emit(op, RunNothing, nullptr);
    return;
  }
  const ir::Value* v = op.operand(0);
  auto* d = p.New<IndicesData>();
  d->indices = p.dense(v);
  d->n = p.plan().elements(v);
  d->size = *promise.upper + 1;
  d->along = *promise.along;
  d->bytes = ir::StorageBytes(v->type().elem());
  d->type = v->type();
  p.Emit(op, RunIndices, d);
}

void PrepareGetTileBlockId(Preparer& p, const Op& op) { PrepareIds(p, op, RunBlockId); }
void PrepareGetNumTileBlocks(Preparer& p, const Op& op) { PrepareIds(p, op, RunNumBlocks); }

void PrepareGetGlobal(Preparer& p, const Op& op) {
  auto* d = p.New<AddressData>();
  d->out = p.result(op, 0);
  d->address = p.global(ir::GetGlobalOp(op).name());
  p.Emit(op, RunGetGlobal, d);
}

}  // namespace tile::vm

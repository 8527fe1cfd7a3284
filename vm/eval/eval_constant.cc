// Constants, block ids and what costs nothing at run time.
#include <cstring>

#include "ir/op_views.h"
#include "vm/machine/launch_state.h"
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

const Instr* RunGetGlobal(BlockState& b, const Instr* in) {
  const auto& d = *static_cast<const AddressData*>(in->data);
  b.get<const void*>(d.out) = d.address;
  return in + 1;
}

}  // namespace

// Lie in the constants of the program (Preparer::PrepareFunction).
void PrepareConstant(Preparer&, const Op&) {}
void PrepareIota(Preparer&, const Op&) {}

// The value is its operand's; the instruction is where --check=full looks at the promise.
void PrepareAssume(Preparer& p, const Op& op) { p.Emit(op, RunNothing, nullptr); }

void PrepareGetTileBlockId(Preparer& p, const Op& op) { PrepareIds(p, op, RunBlockId); }
void PrepareGetNumTileBlocks(Preparer& p, const Op& op) { PrepareIds(p, op, RunNumBlocks); }

void PrepareGetGlobal(Preparer& p, const Op& op) {
  auto* d = p.New<AddressData>();
  d->out = p.result(op, 0);
  d->address = p.global(ir::GetGlobalOp(op).name());
  p.Emit(op, RunGetGlobal, d);
}

}  // namespace tile::vm

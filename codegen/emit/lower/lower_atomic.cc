// Atomic updates: each element is one indivisible update by the first thread that holds it, the old value goes to all.
//
// Orderings. Every update carries the operation's own ordering and scope. Release: tokens put a barrier between earlier
// accesses of the block and this one (codegen/emit/context/order.h); they happen before every thread's update, and a release
// publishes all that happens before it, of other threads too. Acquire: what tokens order behind it comes behind a barrier,
// so that it happens after the update of whichever thread made it.
#include <algorithm>

#include "codegen/emit/context/copies.h"
#include "codegen/emit/lower/contended.h"
#include "codegen/emit/memory/ptx_atomic.h"
#include "codegen/emit/memory/tile_box.h"
#include "ir/op_views.h"

namespace tile::codegen {
namespace {

// Updates every element: `at` gives its address, `active` (i1; null: true) whether there is one.
template <class At, class Active>
void Update(Emitter& e, const ir::Op& op, const ir::Value* value, const ir::Value* expected, bool shared, At at,
            Active active) {
  AtomicUpdate u;
  u.elem = value->type().elem();
  u.how = AccessOf(e, op, shared);
  if (expected == nullptr) u.mode = ir::OpView<ir::WithFields<ir::Field::kMode>>(op).mode();
  const ir::Value* result = op.result(0)->type().is_token() ? nullptr : op.result(0);
  u.wants_old = result != nullptr && result->has_uses();
  const Layout& layout = e.layout(value);
  const Copies copies(layout);
  llvm::Value* first = e.threads().HoldsFirstCopy(layout);
  Registers out(static_cast<size_t>(layout.registers()), nullptr);
  for (int r : copies.firsts()) {
    const auto i = static_cast<size_t>(r);
    llvm::Value* cmp = expected == nullptr ? nullptr : e.regs(expected)[i];
    // Elements that are not updated give what compare-and-swap expects.
    out[i] = EmitAtomic(e, u, at(r), e.regs(value)[i], cmp, And(e, first, active(r)), cmp);
  }
  if (result == nullptr) return;
  if (!u.wants_old) {
    // Nobody reads the result, but every value has registers.
    return e.Set(result, Registers(out.size(), llvm::PoisonValue::get(e.RegisterType(u.elem))));
  }
  e.Set(result, copies.Share(e, std::move(out)));
}

void UpdatePointers(Emitter& e, const ir::Op& op, const ir::Value* value, const ir::Value* expected) {
  const Registers& pointers = e.regs(ir::PointerUpdateOp(op).pointers());
  const ir::Value* mask = ir::PointerUpdateOp(op).mask();
  Update(
      e, op, value, expected, false,
      [&](int r) {
        return Address{pointers[static_cast<size_t>(r)], 0};
      },
      [&](int r) { return mask == nullptr ? nullptr : e.regs(mask)[static_cast<size_t>(r)]; });
}

void UpdateBox(Emitter& e, const ir::Op& op, TileBox box, const ir::Value* value, const ir::Value* expected) {
  if (e.refused()) return;
  Update(
      e, op, value, expected, box.shared(), [&](int r) { return box.At(r); }, [&](int r) { return box.Inside(r); });
}

void UpdateView(Emitter& e, const ir::Op& op, const ir::Value* expected) {
  const ir::Value* value = ir::ViewUpdateOp(op).value();
  UpdateBox(e, op, TileBox::OfView(e, op, e.layout(value)), value, expected);
}

void RefuseMulticast(Emitter& e, const ir::Op& op) {
  e.Refuse(op,
           "multicast memory of several GPUs is not supported; load_view_tko, store_view_tko and "
           "atomic_red_view_tko work on one copy");
}

}  // namespace

void LowerAtomicRmw(Emitter& e, const ir::Op& op) {
  if (!CombineUpdates(e, op)) UpdatePointers(e, op, ir::AtomicRmwOp(op).arg(), nullptr);
}
void LowerAtomicCas(Emitter& e, const ir::Op& op) {
  UpdatePointers(e, op, ir::AtomicCasOp(op).val(), ir::AtomicCasOp(op).cmp());
}
void LowerAtomicRedView(Emitter& e, const ir::Op& op) { UpdateView(e, op, nullptr); }
void LowerAtomicRmwView(Emitter& e, const ir::Op& op) { UpdateView(e, op, nullptr); }
void LowerAtomicCasView(Emitter& e, const ir::Op& op) { UpdateView(e, op, ir::AtomicCasViewOp(op).cmp()); }

void LowerAtomicScatterView(Emitter& e, const ir::Op& op) {
  const ir::Value* values = ir::AtomicScatterViewOp(op).values();
  UpdateBox(e, op, TileBox::OfScatter(e, op, e.layout(values)), values, nullptr);
}

void LowerMultimemLoadReduce(Emitter& e, const ir::Op& op) { RefuseMulticast(e, op); }
void LowerMultimemReduce(Emitter& e, const ir::Op& op) { RefuseMulticast(e, op); }
void LowerMultimemStore(Emitter& e, const ir::Op& op) { RefuseMulticast(e, op); }

}  // namespace tile::codegen

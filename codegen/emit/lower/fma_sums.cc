#include "codegen/emit/lower/fma_sums.h"

#include "codegen/gpu/ops.h"
#include "codegen/plan/mma/mma_kind.h"
#include "ir/loops.h"
#include "ir/op_views.h"

namespace tile::codegen {
namespace {

// In memory, also that in which threads exchange it.
bool IsStored(const ir::Value* v) {
  for (const ir::Use* use = v->uses(); use != nullptr; use = use->next) {
    const ir::OpInfo* info = use->owner->info();
    if (info->has(ir::kWrites) || info == GetGpuOp(GpuOpcode::kConvertLayout)) return true;
  }
  return false;
}

}  // namespace

bool LeavesFmaSums(const ir::Op& loop, int i) {
  const ir::CarryingLoop carrying(loop);
  if (carrying.latch() == nullptr) return false;
  const ir::Op* product = carrying.next(i)->def();
  return product != nullptr && ir::MmaOp::Is(product) && KindOf(*product).operands() == OperandsBy::kElements &&
         product->result(0)->type().elem() == ir::Elem::kF32 && IsStored(loop.result(i));
}

Registers InOtherRegisters(Emitter& e, const Registers& sums) {
  Registers moved;
  // What adding -0 gives is known to LLVM, which would drop it.
  for (llvm::Value* v : sums)
    moved.push_back(e.Ptx(v->getType(), "add.rn.f32 $0, $1, 0f80000000;", "=f,f", {v}, false));
  return moved;
}

}  // namespace tile::codegen

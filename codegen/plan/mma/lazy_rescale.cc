#include "codegen/plan/mma/lazy_rescale.h"

#include "codegen/analysis/product_chain.h"
#include "codegen/gpu/ops.h"
#include "ir/loops.h"
#include "ir/op_views.h"

namespace tile::codegen {
namespace {

using ir::Op;
using ir::Opcode;
using ir::Value;

bool IsPowerOfRow(const Value* v) {
  bool broadcast = false;
  const Op* def = v->def();
  while (def != nullptr && (def->opcode() == Opcode::kBroadcast || def->opcode() == Opcode::kReshape ||
                            IsGpuOp(def, GpuOpcode::kConvertLayout))) {
    broadcast = broadcast || (def->opcode() == Opcode::kBroadcast && def->operand(0)->type().shape().back() == 1);
    def = def->operand(0)->def();
  }
  return broadcast && def != nullptr && (def->opcode() == Opcode::kExp || def->opcode() == Opcode::kExp2);
}

bool IsCarried(const Value* v) { return v->def() == nullptr && ir::CarryingLoop::Around(v).has_value(); }

bool AddsToIt(const Value* v) {
  const ir::Use* use = v->uses();
  return use != nullptr && use->next == nullptr && IsProduct(*use->owner) && ir::ProductOp(*use->owner).acc() == v;
}

}  // namespace

int FactorsIn(const Op& op) { return IsPowerOfRow(op.operand(1)) ? 1 : 0; }

bool KeepsTimesOne(const Op& op) { return op.opcode() == Opcode::kMulf && !ir::FlushToZeroOp(op).flush_to_zero(); }

bool CanRescaleLazily(const Op& op) {
  if (!KeepsTimesOne(op) || op.result(0)->type().rank() != 2) return false;
  const int factors = FactorsIn(op);
  return IsPowerOfRow(op.operand(factors)) && IsCarried(op.operand(1 - factors)) && AddsToIt(op.result(0));
}

}  // namespace tile::codegen

#include "ir/ttir/choose_arms.h"

#include "ir/op_views.h"
#include "ir/ops.h"
#include "ir/passes/rewrite.h"

namespace tile::ir::ttir {
namespace {

bool MayBeComputedAnyway(const Block& arm) {
  for (const Op* op : arm) {
    if (op == arm.back()) return YieldOp::Is(op);
    const bool divides = op->opcode() == Opcode::kDivi || op->opcode() == Opcode::kRemi;
    if (!op->info()->has(kPure) || op->num_regions() > 0 || divides) return false;
  }
  return false;
}

}  // namespace

void ChooseArms(Module* module, Block* block) {
  for (Op* op = block->front(); op != nullptr;) {
    Op* next = op->next();
    if (IfOp::Is(op) && op->num_results() > 0) {
      for (int r = 0; r < 2; ++r) ChooseArms(module, op->region(r));
      if (MayBeComputedAnyway(*op->region(0)) && MayBeComputedAnyway(*op->region(1))) {
        for (int r = 0; r < 2; ++r) MoveBodyBefore(module, op->region(r), op);
        WriteBefore(module, op, [&](Builder& b) {
          for (int i = 0; i < op->num_results(); ++i) {
            Value* chosen =
                ops::Select(b, op->operand(0), op->region(0)->back()->operand(i), op->region(1)->back()->operand(i));
            Replace(op->result(i), chosen);
          }
        });
        op->Erase();
      }
    }
    op = next;
  }
}

}  // namespace tile::ir::ttir

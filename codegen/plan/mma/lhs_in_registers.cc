#include "codegen/plan/mma/lhs_in_registers.h"

#include <algorithm>

#include "codegen/analysis/live_registers.h"
#include "codegen/analysis/product_chain.h"
#include "codegen/plan/mma/mma_kind.h"
#include "codegen/plan/mma/staged_mma.h"
#include "codegen/plan/tma/tensor_maps.h"
#include "codegen/target/decisions.h"
#include "codegen/target/tuning.h"
#include "ir/loops.h"

namespace tile::codegen {
namespace {

// Of all threads, for what the loop's products give and what it makes for them: sums that go on from one product to the next are there once.
int64_t RegistersOfProducts(const ir::Op& loop) {
  int64_t registers = 0;
  for (const ir::Op* op : *loop.region(0)) {
    if (!IsProduct(*op)) continue;
    if (NextOfSum(*op) == nullptr) registers += RegistersOf(op->result(0)->type());
    if (CopyOf(*op, 0) != nullptr || DecisionOf<Decision::kStagesLhs>(*op)) continue;
    const ir::Type lhs = op->operand(0)->type();
    registers += lhs.num_elements() * ir::MemoryBits(lhs.elem()) / 32;
  }
  return registers;
}

// True if some product of the loop starts where the operands in registers are not read again, so that ptxas could overwrite them: products that run
// concurrently, of fragments from stages, in parts, or in another block than the loop's.
bool MayBeOverwritten(const ir::Op& loop) {
  bool may = false;
  ir::Walk(loop.region(0), [&](const ir::Op* op) {
    if (!IsProduct(*op) || !KindOf(*op).reads_stages() || DecisionOf<Decision::kCrossIteration>(*op)) return;
    const bool of_memory = CopyOf(*op, 0) != nullptr || DecisionOf<Decision::kStagesLhs>(*op);
    may = may || op->parent() != &loop || DecisionOf<Decision::kHeld>(*op) || DecisionOf<Decision::kPromotes>(*op) ||
          (!of_memory && DecisionOf<Decision::kOverlaps>(*op));
  });
  return may;
}

// Where threads copy themselves, they need registers for addresses.
bool Gains(const ir::Op& op) {
  if (!IsProduct(op) || !KindOf(op).asynchronous() || !DecisionOf<Decision::kStagesLhs>(op)) return false;
  const ir::Op* copy = CopyOf(op, 1);
  return copy != nullptr && CopiesByTma(*copy) &&
         StagedMmaPlanOf(op)->instruction_n <= tuning::kColumnsOfLhsInRegisters;
}

}  // namespace

std::vector<LhsInRegisters> LhsInRegistersIn(const Schedule& schedule, const ir::Op& loop) {
  if (MayBeOverwritten(loop)) return {};
  const int64_t threads = schedule.threads();
  const int64_t most = std::min<int64_t>(255, Target::kRegisters / (threads * schedule.blocks));
  int64_t room = most - tuning::kBesideLate - RegistersOfProducts(loop) / threads;
  std::vector<LhsInRegisters> kept;
  for (ir::Op* op : *loop.region(0)) {
    if (!Gains(*op)) continue;
    const StagedMmaPlan plan = *StagedMmaPlanOf(*op);
    const int64_t each = kWordsOfStep * (plan.group_rows() / plan.instruction_m);
    const int64_t steps = std::min<int64_t>(plan.steps(), room / each);
    if (steps <= 0) continue;
    kept.push_back({op, steps});
    room -= steps * each;
  }
  return kept;
}

}  // namespace tile::codegen

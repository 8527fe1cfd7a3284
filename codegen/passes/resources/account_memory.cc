#include "codegen/passes/resources/account_memory.h"

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "codegen/analysis/begins_at_block.h"
#include "codegen/analysis/live_registers.h"
#include "codegen/plan/combine_updates.h"
#include "codegen/plan/loop_invariant_rows.h"
#include "codegen/plan/resources/shared_use.h"
#include "codegen/plan/schedule.h"
#include "codegen/plan/staging/prefetch_slot.h"
#include "codegen/plan/tile_layout.h"
#include "codegen/target/decisions.h"
#include "codegen/target/gpu_ops.h"
#include "codegen/target/tuning.h"
#include "ir/op_views.h"

namespace tile::codegen {
namespace {

constexpr int64_t kBesideLive = 32;  // registers of a thread, beside tiles
// Elements of a tile and of kept rows in a thread, beside which there are registers for more addresses (H100, layer norm of 30000 rows of 2048 bf16,
// 96 of them, one and four tiles ahead: 94, 106 us; rms norm of 4096 rows of 4096, 64 of them: 26.2, 25.0).
constexpr int64_t kMostHeld = 64;

// Contended updates that are combined.
void ChooseCombinations(Program& p) {
  ir::Walk(p.function->body(), [&](ir::Op* op) {
    const std::optional<Combination> plan = PlanCombination(*op);
    if (!plan) return;
    const std::string where = p.module->Where(op->loc, op->pos);
    if (!p.trace().TakesStep(plan->in_table() ? "combine-in-shared" : "combine-to-one",
                             absl::StrCat(op->info()->mnemonic, " at ", where))) {
      return;
    }
    Decide(p.module.get(), op, *plan);
    if (!p.trace().on_remark) return;
    const int64_t elements = ir::AtomicRmwOp(op).arg()->type().num_elements();
    p.trace().on_remark(absl::StrCat(
        where, ": remark[account-memory]: ", op->info()->mnemonic, ": ",
        plan->in_table() ? absl::StrCat("at most ", plan->addresses, " addresses for ", elements,
                                        " elements: added up in shared memory first")
                         : absl::StrCat("one address for ", elements, " elements: each warp updates it once")));
  });
}

int MostCopiesAhead(const std::vector<ir::Op*>& loads, int num_warps) {
  const ir::Op& loop = *loads.front()->parent();
  if (!DecisionOf<Decision::kCoalesced>(loop) && KnownIterations(loop) < tuning::kLongWalk) return kMostCopiesAhead;
  int64_t bytes = 0;
  for (const ir::Op* load : loads) {
    const ir::Type tile = load->result(0)->type();
    bytes += PrefetchSlotBytes(tile.elem(), *LayoutOf(tile), num_warps);
  }
  return static_cast<int>(std::clamp<int64_t>(tuning::kWalkInFlight / bytes, 1, kMostCopiesAhead));
}

// A loop that copies its next tiles early copies those of several iterations, as far as shared memory holds them beside what else is there.
void ChooseCopiesAhead(Program& p) {
  std::vector<ir::Op*> loads;
  ir::Walk(p.function->body(), [&](ir::Op* op) {
    if (DecisionOf<Decision::kPrefetchSlot>(*op)) loads.push_back(op);
  });
  if (loads.empty()) return;
  LoopInvariantRows kept;
  kept.Note(p.function->body());
  int64_t held = 0, beside = 0;
  for (const ir::Op* load : loads) {
    if (load->parent() != loads.front()->parent()) return;  // groups of copies are counted in one loop
    const ir::Type tile = load->result(0)->type();
    const Layout& layout = *LayoutOf(tile);
    held += layout.registers();
    beside = std::max(beside, kept.RegistersBeside(tile.shape(), layout));
  }
  if (held + beside > kMostHeld) return;
  const Schedule schedule = *ScheduleOf(*p.function);
  // Of blocks whose registers leave no room for a second one, each has all memory.
  const int64_t registers = MostLiveRegisters(*p.function).words / schedule.threads() + kBesideLive;
  const bool alone = 2 * registers * schedule.threads() > Target::kRegisters;
  const int64_t most = p.target.shared_bytes_of(alone ? 1 : 2);
  for (int ahead = MostCopiesAhead(loads, schedule.num_warps); ahead > 0; --ahead) {
    for (ir::Op* load : loads) Decide<Decision::kPrefetchDistance>(p.module.get(), load, ahead);
    const SharedAccount account = AccountOf(p.target, schedule, p.module.get(), p.function);
    if (static_cast<int64_t>(account.bytes()) <= most) return;
  }
}

}  // namespace

absl::Status AccountMemory(Program& p) {
  ChooseCombinations(p);
  ChooseCopiesAhead(p);
  const SharedAccount account = AccountOf(p.target, *ScheduleOf(*p.function), p.module.get(), p.function);
  Decide<Decision::kSharedBytes>(p.module.get(), KernelOp(p.module.get(), p.function),
                                 static_cast<int64_t>(account.bytes()));
  const absl::Status s = account.Check(*p.function);
  if (!s.ok()) p.fit = Fit::kTooMuchShared;
  return s;
}

}  // namespace tile::codegen

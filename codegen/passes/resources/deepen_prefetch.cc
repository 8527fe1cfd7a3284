#include "codegen/passes/resources/deepen_prefetch.h"

#include <algorithm>
#include <cstdint>
#include <vector>

#include "codegen/analysis/begins_at_block.h"
#include "codegen/analysis/live_registers.h"
#include "codegen/plan/loop_invariant_rows.h"
#include "codegen/plan/resources/shared_use.h"
#include "codegen/plan/schedule.h"
#include "codegen/plan/staging/prefetch_slot.h"
#include "codegen/plan/tile_layout.h"
#include "codegen/target/decisions.h"
#include "codegen/target/tuning.h"

namespace tile::codegen {

namespace {

constexpr int64_t kBesideLive = 32;  // registers of a thread, beside tiles
// Elements of a tile and of kept rows in a thread, beside which there are registers for more addresses (H100, layer norm of 30000 rows of 2048 bf16,
// 96 of them, one and four tiles ahead: 94, 106 us; rms norm of 4096 rows of 4096, 64 of them: 26.2, 25.0).
constexpr int64_t kMostHeld = 64;

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

}  // namespace

absl::Status DeepenPrefetch(Program& p) {
  std::vector<ir::Op*> loads;
  ir::Walk(p.function->body(), [&](ir::Op* op) {
    if (DecisionOf<Decision::kPrefetchSlot>(*op)) loads.push_back(op);
  });
  if (loads.empty()) return absl::OkStatus();
  LoopInvariantRows kept;
  kept.Note(p.function->body());
  int64_t held = 0, beside = 0;
  for (const ir::Op* load : loads) {
    if (load->parent() != loads.front()->parent()) return absl::OkStatus();  // groups of copies are counted in one loop
    const ir::Type tile = load->result(0)->type();
    const Layout& layout = *LayoutOf(tile);
    held += layout.registers();
    beside = std::max(beside, kept.RegistersBeside(tile.shape(), layout));
  }
  if (held + beside > kMostHeld) return absl::OkStatus();
  const Schedule schedule = *ScheduleOf(*p.function);
  // Of blocks whose registers leave no room for a second one, each has all memory.
  const int64_t registers = MostLiveRegisters(*p.function).words / schedule.threads() + kBesideLive;
  const bool alone = 2 * registers * schedule.threads() > Target::kRegisters;
  const int64_t most = p.target.shared_bytes_of(alone ? 1 : 2);
  for (int ahead = MostCopiesAhead(loads, schedule.num_warps); ahead > 0; --ahead) {
    for (ir::Op* load : loads) Decide<Decision::kPrefetchDistance>(p.module.get(), load, ahead);
    const SharedAccount account = DecideParts(p.target, schedule, p.module.get(), p.function);
    if (static_cast<int64_t>(account.bytes()) <= most) return absl::OkStatus();
  }
  return absl::OkStatus();
}

}  // namespace tile::codegen

#include "codegen/passes/pipeline/copy_by_tma.h"

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "codegen/analysis/all_iterations.h"
#include "codegen/analysis/product_chain.h"
#include "codegen/gpu/ops.h"
#include "codegen/passes/move_loads.h"
#include "codegen/plan/mma/cross_iteration_mma.h"
#include "codegen/plan/mma/mma_kind.h"
#include "codegen/plan/mma/staged_mma.h"
#include "codegen/plan/staging/conversion_buffers.h"
#include "codegen/plan/staging/staging.h"
#include "codegen/plan/tma/device_tensor_map.h"
#include "codegen/plan/tma/tensor_maps.h"
#include "codegen/target/decisions.h"
#include "codegen/target/tuning.h"
#include "ir/op_views.h"

namespace tile::codegen {
namespace {

using ir::Op;

// Nothing but the last operation of the loop's body leads on from an iteration, or ends the kernel.
bool EndsAfterCopies(const Op& loop) {
  bool all = AllIterationsEnd(loop);
  ir::Walk(loop.region(0), [&](const Op* op) { all = all && !ir::AssertOp::Is(op); });
  return all;
}

bool AllReadStages(const Op& copy) {
  bool any = false;
  for (int i = 0; i < copy.num_results(); ++i) {
    for (const ir::Use* use = copy.result(i)->uses(); use != nullptr; use = use->next) {
      if (!IsProduct(*use->owner)) continue;
      if (!KindOf(*use->owner).reads_stages()) return false;
      any = true;
    }
  }
  return any;
}

// Why TMA can't bring what is copied; "" if it can. `from_stages`: all products that use it read shared memory.
std::string WhyNotByTma(const Op& copy, bool from_stages) {
  const StageLayout stage = StageOf(copy);
  for (size_t i = 0; i < stage.tiles.size(); ++i) {
    const StagedTile tile = stage.InStage(i);
    if (!ir::LoadViewOp::Is(tile.load)) return "it is loaded through pointers";
    if (ir::AccessOp(*tile.load).token() != nullptr) return "a token orders a load behind a write before the loop";
    if (tile.rounded != nullptr || tile.turned != 0 || !tile.fits_tma()) return "it does not lie as TMA writes it";
    if (const absl::Status known = WhyNotMapped(tile, *copy.parent()); !known.ok()) return std::string(known.message());
  }
  // A block must not end before its copies have.
  if (!EndsAfterCopies(*copy.parent())) return "an iteration may end before its last operation";
  return from_stages ? "" : "a product reads it through registers";
}

// The same, or why it should not.
std::string WhyBetterNotByTma(const Schedule& schedule, const Op& copy) {
  std::string why = WhyNotByTma(copy, AllReadStages(copy));
  if (!why.empty()) return why;
  if (schedule.stages < tuning::kStagesForTma && !WouldHaveLate(schedule, copy)) {
    return absl::StrCat(schedule.stages, " stages leave an iteration of time for it, ", tuning::kStagesForTma,
                        " were faster than other copies");
  }
  return "";
}

}  // namespace

void CopyByTma(const Target& target, const Schedule& schedule, ir::Module* module, ir::Function* function,
               Trace* trace) {
  if (!target.has(kTma)) return;
  std::vector<Op*> copies;
  ir::Walk(function->body(), [&](Op* op) {
    if (IsGpuOp(op, GpuOpcode::kCopyAhead)) copies.push_back(op);
  });
  for (Op* copy : copies) {
    const StepTexts texts = {"copy-by-tma", "tiles come by TMA", "tiles do not come by TMA"};
    if (!TakesStep(*module, *copy, texts, WhyBetterNotByTma(schedule, *copy), trace)) {
      // Threads copy, in no more room.
      if (StageOf(*copy).conversion_buffers > 0) WidenInPlace(module, copy);
      continue;
    }
    const StageLayout stage = StageOf(*copy);
    for (size_t i = 0; i < stage.tiles.size(); ++i) {
      const StagedTile tile = stage.InStage(i);
      auto* load = const_cast<Op*>(tile.load);
      if (!HostKnows(tile)) {
        Decide<Decision::kDeviceTensorMap>(module, load, true);
      } else if (!DecisionOf<Decision::kTensorMap>(*load)) {
        Decide<Decision::kTensorMap>(module, load, NumTensorMaps(*function));
      }
    }
  }
}

absl::Status CopyByTma(Program& p) {
  if (p.candidate.ahead == Ahead::kTma)
    CopyByTma(p.target, *ScheduleOf(*p.function), p.module.get(), p.function, &p.trace());
  return absl::OkStatus();
}

std::vector<ir::Op*> WidenApartForTma(const Target& target, int num_warps, ir::Module* module, ir::Function* function) {
  std::vector<Op*> apart;
  if (!target.has(kTma)) return apart;
  ir::Walk(function->body(), [&](Op* op) {
    if (!IsGpuOp(op, GpuOpcode::kCopyAhead) || !BringsToWiden(*op)) return;
    WidenApart(module, op);
    if (WhyNotByTma(*op, CanDoAllCopied(target, num_warps, *op)).empty()) {
      apart.push_back(op);
    } else {
      WidenInPlace(module, op);
    }
  });
  return apart;
}

}  // namespace tile::codegen

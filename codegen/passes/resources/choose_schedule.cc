#include "codegen/passes/resources/choose_schedule.h"

#include <optional>
#include <vector>

#include "absl/strings/str_cat.h"
#include "codegen/analysis/live_registers.h"
#include "codegen/gpu/ops.h"
#include "codegen/passes/pipeline/copy_by_tma.h"
#include "codegen/plan/resources/make_schedule.h"
#include "codegen/plan/schedule.h"
#include "codegen/plan/staging/conversion_buffers.h"
#include "codegen/plan/staging/staging.h"
#include "codegen/target/decisions.h"
#include "codegen/target/tuning.h"

namespace tile::codegen {
namespace {

constexpr int64_t kMostRegistersOfThread = 1024;  // for one tile; ptxas spills what exceeds 255

// Without this check LLVM and ptxas would take minutes to make code that is too slow to be of use.
absl::Status CheckLargestTile(Program& p) {
  const LargestTile largest = FindLargestTile(*p.function);
  if (largest.op == nullptr) return absl::OkStatus();
  const int num_warps = ScheduleOf(*p.function)->num_warps;
  const int64_t each = RegistersOf(largest.tile->type()) / (32 * num_warps);
  if (each <= kMostRegistersOfThread) return absl::OkStatus();
  p.fit = Fit::kTooManyRegisters;
  return absl::InvalidArgumentError(absl::StrCat(
      p.module->Where(largest.op->loc, largest.op->pos), ": error[codegen.registers]: ", largest.op->info()->mnemonic,
      " in kernel @", p.function->name, " works on the whole of ", largest.tile->type().ToString(), ", which is ", each,
      " registers of 32 bits in each of ", 32 * num_warps, " threads; ", p.target.arch,
      " has 255, and code for more than ", kMostRegistersOfThread, " is not made. Use tiles of 1/",
      (each + kMostRegistersOfThread - 1) / kMostRegistersOfThread * 8,
      " of the elements there, or a program that can be done in slices (--remarks says what hinders it)"));
}

// With tiles that are widened in places of their own, if TMA can bring them then and has the stages that it needs.
std::optional<Schedule> WithConversionBuffers(Program& p, const ScheduleOptions& options,
                                              std::optional<Schedule> in_place) {
  if (!in_place || !options.by_tma) return in_place;
  const std::vector<ir::Op*> apart = WidenApartForTma(p.target, in_place->num_warps, p.module.get(), p.function);
  if (apart.empty()) return in_place;
  std::optional<Schedule> with = MakeSchedule(p.target, *p.function, options);
  if (with && with->num_warps == in_place->num_warps && with->blocks >= in_place->blocks &&
      with->stages >= tuning::kStagesForTma) {
    return with;
  }
  for (ir::Op* copy : apart) WidenInPlace(p.module.get(), copy);
  return in_place;
}

}  // namespace

absl::Status ChooseSchedule(Program& p) {
  DecideStages(p.module.get(), p.function);
  const ir::Op* kernel = FindKernelOp(*p.function);
  const auto decided = kernel == nullptr ? std::nullopt : DecisionOf<Decision::kMostStages>(*kernel);
  const int most_stages = static_cast<int>(decided.value_or(p.candidate.most_stages));
  const ScheduleOptions options = {.aligned = p.permissions.may(May::kAssumeAligned),
                                   .num_warps = p.candidate.num_warps,
                                   .most_stages = most_stages,
                                   .by_tma = p.candidate.ahead == Ahead::kTma && p.target.has(kTma)};
  const std::optional<Schedule> schedule =
      WithConversionBuffers(p, options, MakeSchedule(p.target, *p.function, options));
  if (!schedule) {
    p.Remark("choose-schedule", "nothing is fetched ahead: shared memory does not hold the operands of two iterations");
    p.fit = Fit::kTooMuchShared;
    return absl::InvalidArgumentError("no room for a ring");
  }
  Decide(p.module.get(), p.function, *schedule);
  if (absl::Status s = CheckLargestTile(p); !s.ok()) return s;
  p.Remark("choose-schedule",
           absl::StrCat(schedule->num_warps, schedule->num_warps == 1 ? " warp: " : " warps: ", schedule->why));
  return absl::OkStatus();
}

}  // namespace tile::codegen

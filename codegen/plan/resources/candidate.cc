#include "codegen/plan/resources/candidate.h"

#include <algorithm>
#include <utility>

#include "codegen/gpu/ops.h"
#include "codegen/plan/schedule.h"
#include "codegen/target/tuning.h"
#include "ir/op_views.h"

namespace tile::codegen {

Ahead AheadOf(const ir::Function& function) {
  Ahead ahead = Ahead::kNothing;
  ir::Walk(function.body(), [&](const ir::Op* op) {
    if (IsGpuOp(op, GpuOpcode::kFetchAhead)) ahead = Ahead::kTma;
    if (IsGpuOp(op, GpuOpcode::kCopyAhead)) ahead = Ahead::kCopies;
  });
  return ahead;
}

Candidates::Candidates(const Target& target, const ir::Function& function, bool descriptors, int num_warps)
    : cost_(target), loops_(ProductLoopsOf(function)) {
  const auto list = [&](Ahead ahead, int most) {
    for (int stages = most; stages >= 2; --stages) left_.push_back({ahead, stages, num_warps});
  };
  if (descriptors && target.has(kTma)) list(Ahead::kTma, tuning::kMostStages);
  if (target.has(kCpAsync)) list(Ahead::kCopies, tuning::kMostCopyStages);
  left_.push_back({Ahead::kNothing, 0, num_warps});
  std::stable_sort(left_.begin(), left_.end(), [&](const Candidate& a, const Candidate& b) {
    return cost_.CyclesOf(loops_, a.ahead, a.most_stages, 1) < cost_.CyclesOf(loops_, b.ahead, b.most_stages, 1);
  });
}

std::optional<Candidate> Candidates::Next(double cycles) {
  if (left_.empty()) return std::nullopt;
  const Candidate next = left_.front();
  if (cost_.CyclesOf(loops_, next.ahead, next.most_stages, 1) >= cycles) return std::nullopt;
  left_.erase(left_.begin());
  last_ = next;
  return next;
}

double Candidates::Became(const ir::Function& program, Fit fit) {
  const Ahead ahead = AheadOf(program);
  const std::optional<Schedule> schedule = ScheduleOf(program);
  const int stages = schedule ? schedule->stages : 0;
  const auto becomes_the_same = [&](const Candidate& c) {
    if (ahead == Ahead::kNothing || (ahead < last_.ahead && c.ahead > ahead)) return true;
    if (fit == Fit::kFits && c.ahead < ahead) return true;
    // Registers do not depend on the stages.
    return c.ahead >= ahead && (c.most_stages >= stages || fit == Fit::kTooManyRegisters);
  };
  left_.erase(std::remove_if(left_.begin(), left_.end(), becomes_the_same), left_.end());
  return cost_.CyclesOf(loops_, ahead, stages, schedule ? schedule->blocks : 1);
}

}  // namespace tile::codegen

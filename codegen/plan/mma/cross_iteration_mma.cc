#include "codegen/plan/mma/cross_iteration_mma.h"

#include <algorithm>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "codegen/analysis/all_iterations.h"
#include "codegen/analysis/live_registers.h"
#include "codegen/analysis/product_chain.h"
#include "codegen/plan/mma/mma_kind.h"
#include "codegen/plan/staging/staging.h"
#include "codegen/plan/tma/tensor_maps.h"
#include "codegen/target/decisions.h"
#include "codegen/target/machine.h"
#include "codegen/target/tuning.h"
#include "ir/loops.h"

namespace tile::codegen {
namespace {

using ir::Op;
using ir::Value;

// The operation of the loop's body that is or holds this one.
const Op* InBody(const Op* op, const Op& loop) {
  while (op->parent() != &loop) op = op->parent();
  return op;
}

const Value* SumsAround(const Op& mma) { return ir::CarryingLoop(*mma.parent()).arg(CarriedSums(mma)); }

// All uses of the result are of products that are, or none are.
template <class Fn>
bool Apart(const Op& copy, Fn&& is_late) {
  for (int i = 0; i < copy.num_results(); ++i) {
    int late = 0, all = 0;
    for (const ir::Use* use = copy.result(i)->uses(); use != nullptr; use = use->next, ++all) {
      late += IsProduct(*use->owner) && is_late(*use->owner) ? 1 : 0;
    }
    if (late != 0 && late != all) return false;
  }
  return true;
}

// Why not, for any reason but who brings its operands, and what was decided about products.
std::string WhyNeverLate(const Op& mma, const Op& copy) {
  if (CopyOf(mma, 0) != nullptr || IsInvariant(mma, 0)) return "its left operand is not made in the iteration";
  if (!AllIterationsEnd(*mma.parent())) return "an iteration may end before its last operation";
  if (CarriedSums(mma) < 0) return "its result is needed before the next iteration";
  const std::vector<const Op*> leaders = LeadersOf(*mma.parent());
  for (const Op* leader : leaders) {
    if (leader == &mma || (CopyOf(*leader, 1) != &copy && CopyOf(*leader, 0) != &copy))
      return "no other asynchronous product begins the iteration";
  }
  const Op* user = FirstUserOfSums(mma);
  for (const Op* op = leaders.back(); op != nullptr; op = op->prev()) {
    if (op == user) return "the next iteration needs its result at once";
  }
  return "";
}

}  // namespace

std::vector<const Op*> LeadersOf(const Op& loop) {
  for (const Op* op : *loop.region(0)) {
    if (!IsProduct(*op)) continue;
    std::vector<const Op*> leaders = {op};
    while (const Op* next = NextOfSum(*leaders.back())) leaders.push_back(next);
    return leaders;
  }
  return {};
}

const Op* LeaderOf(const Op& loop) {
  const std::vector<const Op*> leaders = LeadersOf(loop);
  return leaders.empty() ? nullptr : leaders.back();
}

int CarriedSums(const Op& mma) {
  const ir::CarryingLoop loop(*mma.parent());
  const ir::Use* use = mma.result(0)->uses();
  if (loop.latch() == nullptr || use == nullptr || use->next != nullptr || use->owner != loop.latch()) return -1;
  for (int i = 0; i < loop.num_carried(); ++i) {
    if (loop.next(i) == mma.result(0)) return i;
  }
  return -1;
}

const Op* FirstUserOfSums(const Op& mma) {
  absl::flat_hash_set<const Op*> users;
  for (const ir::Use* use = SumsAround(mma)->uses(); use != nullptr; use = use->next)
    users.insert(InBody(use->owner, *mma.parent()));
  for (const Op* op : *mma.block()) {
    if (users.contains(op)) return op;
  }
  return nullptr;
}

bool HasCrossIterationMma(const Op& copy) {
  for (const Op* op : *copy.block()) {
    if (IsProduct(*op) && DecisionOf<Decision::kCrossIteration>(*op)) return true;
  }
  return false;
}

bool ComesApart(const Op& copy, int stages) { return stages < tuning::kStagesForLate && HasCrossIterationMma(copy); }

bool IsForLate(const Op& copy, int i) {
  const ir::Use* use = copy.result(i)->uses();
  return use != nullptr && DecisionOf<Decision::kCrossIteration>(*use->owner);
}

bool MayBeLate(const Op& mma) {
  const Op* copy = CopyOf(mma, 1);
  return copy != nullptr && copy->parent() == mma.parent() && copy->block() == mma.block() && WorksOnRows(mma) &&
         WhyNeverLate(mma, *copy).empty() && Apart(*copy, [&](const Op& op) { return &op == &mma; });
}

std::string WhyNotLate(const Op& mma) {
  const Op* copy = CopyOf(mma, 1);
  if (copy == nullptr || copy->parent() != mma.parent() || !CopiesByTma(*copy))
    return "TMA does not bring its right operand";
  if (DecisionOf<Decision::kHeld>(mma) || DecisionOf<Decision::kPromotes>(mma)) return "its sums are added to others";
  if (DecisionOf<Decision::kPieceBytes>(*copy)) return "its operands come one by one";
  if (DecisionOf<Decision::kOverlaps>(mma)) return "it runs beside others of its iteration";
  if (std::string why = WhyNeverLate(mma, *copy); !why.empty()) return why;
  for (const Op* leader : LeadersOf(*mma.parent())) {
    if (!KindOf(*leader).asynchronous()) return "no other asynchronous product begins the iteration";
    if (DecisionOf<Decision::kPromotes>(*leader)) return "the first product adds its sums to others";
  }
  return "";
}

std::string WhyBetterNotLate(const Schedule& schedule, const Op& mma) {
  if (!WorksOnRows(mma)) return "there is no work on rows beside which it would run";
  if (schedule.stages < tuning::kStagesForLate && (schedule.stages < 2 || !MayBeLate(mma))) {
    return absl::StrCat(schedule.stages, " stages, of which it would keep one longer");
  }
  const int64_t words = mma.operand(0)->type().num_elements() * ir::MemoryBits(mma.operand(0)->type().elem()) / 32;
  const int64_t tiles =
      RegistersOf(mma.result(0)->type()) + RegistersOf(LeaderOf(*mma.parent())->result(0)->type()) + words;
  const int64_t each = tiles / schedule.threads() + tuning::kBesideLate;
  const int64_t most = std::min<int64_t>(255, Target::kRegisters / (schedule.threads() * schedule.blocks));
  return each <= most ? "" : absl::StrCat("a thread would need ", each, " registers and has ", most);
}

bool WouldHaveLate(const Schedule& schedule, const Op& copy) {
  for (const Op* op : *copy.block()) {
    if (IsProduct(*op) && CopyOf(*op, 1) == &copy && MayBeLate(*op) && WhyBetterNotLate(schedule, *op).empty())
      return true;
  }
  return false;
}

bool ShouldTakeTurns(const Target& target, const Schedule& schedule, const Op& loop) {
  constexpr int kGroups = 2;
  if (schedule.num_warps != 4 * kGroups || schedule.blocks > 1) return false;
  // Fragments of the leader could go through shared memory, with barriers of the block, while the other warpgroup waits for its turn.
  for (const Op* leader : LeadersOf(loop)) {
    if (CopyOf(*leader, 1) == nullptr) return false;
    if (CopyOf(*leader, 0) == nullptr && !DecisionOf<Decision::kStagesLhs>(*leader)) return false;
  }
  double cycles = 0;
  for (const Op* op : *loop.region(0)) {
    if (!IsProduct(*op) || !KindOf(*op).asynchronous()) continue;
    const MmaShape s = ShapeOfMma(*op);
    const double rate = KindOf(*op).MacsPerCycle(MachineOf(target), ir::MemoryBits(op->operand(0)->type().elem()));
    cycles += static_cast<double>(s.m * s.n * s.k) / kGroups / rate;
  }
  return cycles >= tuning::kLeastTurn;
}

}  // namespace tile::codegen

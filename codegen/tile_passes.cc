// The passes over tile code: which of codegen/passes does what to the kernel at hand.
#include <utility>

#include "absl/strings/str_cat.h"
#include "codegen/analysis/live_registers.h"
#include "codegen/compilation.h"
#include "codegen/passes/assign_layouts.h"
#include "codegen/passes/assume_aligned.h"
#include "codegen/passes/choose_mma.h"
#include "codegen/passes/copy_ahead.h"
#include "codegen/passes/fetch_ahead.h"
#include "codegen/passes/join_blocks.h"
#include "codegen/passes/resolve_hints.h"
#include "codegen/passes/slice.h"
#include "codegen/passes/split_products.h"
#include "codegen/plan/combine_updates.h"
#include "codegen/plan/producer_slice.h"
#include "codegen/plan/schedule.h"
#include "codegen/plan/shared_use.h"
#include "codegen/plan/staging.h"
#include "codegen/plan/tensor_maps.h"
#include "codegen/plan/tma_store.h"
#include "codegen/target/decisions.h"
#include "codegen/target/gpu_ops.h"
#include "ir/op_views.h"

namespace tile::codegen {
namespace {

constexpr int64_t kMostRegistersOfThread = 1024;  // that a tile may take, in memory as what exceeds them is

// LLVM and ptxas take minutes for what would be of no use.
absl::Status CheckLargestTile(Compilation& c) {
  const LargestTile largest = FindLargestTile(*c.function);
  if (largest.op == nullptr) return absl::OkStatus();
  const int num_warps = ScheduleOf(*c.function)->num_warps;
  const int64_t each = RegistersOf(largest.tile->type()) / (32 * num_warps);
  if (each <= kMostRegistersOfThread) return absl::OkStatus();
  c.fit = Fit::kTooManyRegisters;
  return absl::InvalidArgumentError(absl::StrCat(
      c.module->Where(largest.op->loc, largest.op->pos), ": error[codegen.registers]: ", largest.op->info()->mnemonic,
      " in kernel @", c.function->name, " works on the whole of ", largest.tile->type().ToString(), ", which is ", each,
      " registers of 32 bits in each of ", 32 * num_warps, " threads; ", c.target.arch,
      " has 255, and code for more than ", kMostRegistersOfThread, " is not made. Use tiles of 1/",
      (each + kMostRegistersOfThread - 1) / kMostRegistersOfThread * 8,
      " of the elements there, or a program that can be done in slices (--remarks says what hinders it)"));
}

// Descriptors for the stores that go by TMA.
void ChooseTmaStores(const Schedule& schedule, Compilation& c) {
  if (!schedule.producer) return;
  ir::Walk(c.function->body(), [&](ir::Op* op) {
    const auto store_view = ir::As<ir::StoreViewOp>(op);
    if (!store_view) return;
    const Layout* layout = LayoutOf(store_view->tile()->type());
    const std::optional<TmaStore> plan = layout == nullptr ? std::nullopt : PlanTmaStore(*op, *layout);
    if (plan) Decide(c.module.get(), op, *plan, NumTensorMaps(*c.function));
  });
}

// Contended updates that are combined.
void ChooseCombinations(Compilation& c) {
  ir::Walk(c.function->body(), [&](ir::Op* op) {
    const std::optional<Combination> plan = PlanCombination(*op);
    if (!plan) return;
    const std::string where = c.module->Where(op->loc, op->pos);
    if (!c.trace().TakesStep(plan->in_table() ? "combine-in-shared" : "combine-to-one",
                             absl::StrCat(op->info()->mnemonic, " at ", where))) {
      return;
    }
    Decide(c.module.get(), op, *plan);
    if (!c.trace().on_remark) return;
    const int64_t elements = ir::AtomicRmwOp(op).arg()->type().num_elements();
    c.trace().on_remark(absl::StrCat(
        where, ": remark[contended]: ", op->info()->mnemonic, ": ",
        plan->in_table() ? absl::StrCat("at most ", plan->addresses, " addresses for ", elements,
                                        " elements: added up in shared memory first")
                         : absl::StrCat("one address for ", elements, " elements: each warp updates it once")));
  });
}

}  // namespace

absl::Status HintsPass(Compilation& c) {
  ResolveHints(c.target, c.module.get(), c.function);
  return absl::OkStatus();
}

absl::Status AlignPass(Compilation& c) {
  if (c.options.aligned) AssumeAligned(c.module.get(), c.function);
  return absl::OkStatus();
}

absl::Status JoinPass(Compilation& c) {
  if (!c.options.joins_blocks) return absl::OkStatus();
  const bool useful = c.target.has(kWgmma) && c.target.has(kTma) && c.candidate.ahead == Ahead::kTma;
  if (!useful || !JoinBlocks(c.module.get(), c.function)) return absl::NotFoundError("no blocks are joined");
  const std::array<int64_t, 2> joined = JoinedBlocks(*c.function);
  c.Remark("join", absl::StrCat(joined[0], " x ", joined[1], " neighbouring blocks of a large grid become one"));
  return absl::OkStatus();
}

absl::Status SplitPass(Compilation& c) {
  SplitProducts(c.target, MostProductRegisters(c.options.num_warps), c.module.get(), c.function, c.options.trace);
  return absl::OkStatus();
}

absl::Status FetchPass(Compilation& c) {
  const auto& [ahead, most_stages] = c.candidate;
  const bool any = (ahead == Ahead::kTma &&
                    FetchAhead(c.target, c.options.num_warps, c.module.get(), c.function, c.options.trace)) ||
                   (ahead != Ahead::kNothing && CopyAhead(c.target, c.module.get(), c.function, c.options.trace));
  if (!any) FitRounds(c.target, c.module.get(), c.function);
  return absl::OkStatus();
}

absl::Status SlicePass(Compilation& c) {
  Slice(SlicesFor(c.options.num_warps, static_cast<int64_t>(c.target.shared_bytes)), c.module.get(), c.function,
        c.options.trace);
  if (const LargestTile largest = FindLargestTile(*c.function); largest.op != nullptr) {
    c.trace().largest_tile = absl::StrCat(c.module->Where(largest.op->loc, largest.op->pos), ": ",
                                          largest.op->info()->mnemonic, " of ", largest.tile->type().ToString());
  }
  return absl::OkStatus();
}

absl::Status SchedulePass(Compilation& c) {
  DecideStages(c.module.get(), c.function);
  std::optional<Schedule> schedule = MakeSchedule(
      c.target, *c.function,
      {.aligned = c.options.aligned, .told_warps = c.options.num_warps, .most_stages = c.candidate.most_stages});
  if (!schedule) {
    c.Remark("fetch", "nothing is fetched ahead: shared memory does not hold the operands of two rounds");
    c.fit = Fit::kTooMuchShared;
    return absl::InvalidArgumentError("no room for a ring");
  }
  Decide(c.module.get(), c.function, *schedule);
  if (absl::Status s = CheckLargestTile(c); !s.ok()) return s;
  c.Remark("plan", absl::StrCat(schedule->num_warps, schedule->num_warps == 1 ? " warp: " : " warps: ", schedule->why));
  return absl::OkStatus();
}

absl::Status MmaPass(Compilation& c) {
  ChooseMma(c.target, *ScheduleOf(*c.function), c.module.get(), c.function);
  return absl::OkStatus();
}

absl::Status LayoutsPass(Compilation& c) {
  const Schedule schedule = *ScheduleOf(*c.function);
  if (absl::Status s = AssignLayouts(schedule, c.module.get(), c.function, &c.layouts); !s.ok()) return s;
  ChooseAsync(c.module.get(), c.function);
  ChooseTmaStores(schedule, c);
  if (schedule.producer) DecideProducerOps(c.module.get(), c.function);
  return absl::OkStatus();
}

absl::Status MemoryPass(Compilation& c) {
  ChooseCombinations(c);
  const SharedAccount account = AccountOf(c.target, *ScheduleOf(*c.function), c.module.get(), c.function);
  Decide<Decision::kSharedBytes>(c.module.get(), KernelOp(c.module.get(), c.function),
                                 static_cast<int64_t>(account.bytes()));
  const absl::Status s = account.Check(*c.function);
  if (!s.ok()) c.fit = Fit::kTooMuchShared;
  return s;
}

}  // namespace tile::codegen

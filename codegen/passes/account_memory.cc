#include "codegen/passes/account_memory.h"

#include <optional>
#include <string>

#include "absl/strings/str_cat.h"
#include "codegen/plan/combine_updates.h"
#include "codegen/plan/schedule.h"
#include "codegen/plan/shared_use.h"
#include "codegen/target/decisions.h"
#include "codegen/target/gpu_ops.h"
#include "ir/op_views.h"

namespace tile::codegen {
namespace {

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
        where, ": remark[contended]: ", op->info()->mnemonic, ": ",
        plan->in_table() ? absl::StrCat("at most ", plan->addresses, " addresses for ", elements,
                                        " elements: added up in shared memory first")
                         : absl::StrCat("one address for ", elements, " elements: each warp updates it once")));
  });
}

}  // namespace

absl::Status AccountMemory(Program& p) {
  ChooseCombinations(p);
  const SharedAccount account = AccountOf(p.target, *ScheduleOf(*p.function), p.module.get(), p.function);
  Decide<Decision::kSharedBytes>(p.module.get(), KernelOp(p.module.get(), p.function),
                                 static_cast<int64_t>(account.bytes()));
  const absl::Status s = account.Check(*p.function);
  if (!s.ok()) p.fit = Fit::kTooMuchShared;
  return s;
}

}  // namespace tile::codegen

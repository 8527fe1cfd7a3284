#include "codegen/passes/resources/combine_updates.h"

#include <optional>
#include <string>

#include "absl/strings/str_cat.h"
#include "codegen/plan/combine_updates.h"
#include "ir/op_views.h"

namespace tile::codegen {

absl::Status CombineUpdates(Program& p) {
  ir::Walk(p.function->body(), [&](ir::Op* op) {
    const std::optional<Combination> plan = PlanCombination(*op);
    if (!plan) return;
    const std::string where = p.module->Where(op->loc, op->pos);
    if (!p.trace().TakesStep("combine-updates", absl::StrCat(op->info()->mnemonic, " at ", where))) return;
    Decide(p.module.get(), op, *plan);
    if (!p.trace().on_remark) return;
    const int64_t elements = ir::AtomicRmwOp(op).arg()->type().num_elements();
    p.trace().on_remark(absl::StrCat(
        where, ": remark[combine-updates]: ", op->info()->mnemonic, ": ",
        plan->in_table() ? absl::StrCat("at most ", plan->addresses, " addresses for ", elements,
                                        " elements: added up in shared memory first")
                         : absl::StrCat("one address for ", elements, " elements: each warp updates it once")));
  });
  return absl::OkStatus();
}

}  // namespace tile::codegen

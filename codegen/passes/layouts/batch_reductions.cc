#include "codegen/passes/layouts/batch_reductions.h"

#include <optional>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "codegen/plan/fold_layout.h"
#include "codegen/plan/schedule.h"
#include "codegen/plan/tile_layout.h"
#include "codegen/target/decisions.h"
#include "ir/op_views.h"
#include "ir/passes/rewrite.h"

namespace tile::codegen {
namespace {

using ir::Block;
using ir::Op;

constexpr int kMostTogether = 4;    // their operands live at once
constexpr int kMostBetween = 4096;  // operations from one to the next

bool MovesAlone(const Op& op) {
  const uint16_t stays = ir::kReads | ir::kWrites | ir::kEffect | ir::kTerminator | ir::kRegions;
  return op.info()->has(ir::kPure) && (op.info()->traits & stays) == 0;
}

class Joiner {
 public:
  explicit Joiner(Program& p) : p_(p), num_warps_(ScheduleOf(*p.function)->num_warps) {}

  void Visit(Block* block) {
    for (Op* op = block->front(); op != nullptr; op = op->next()) {
      for (int r = 0; r < op->num_regions(); ++r) {
        if (op->region(r) != nullptr && !op->info()->has(ir::kElementBody)) Visit(op->region(r));
      }
      if (Exchanges(*op)) op = JoinTo(op);
    }
  }

 private:
  bool Exchanges(const Op& op) const {
    if (!ir::ReduceOp::Is(&op)) return false;
    const Layout* layout = LayoutOf(op.operand(0)->type());
    return layout != nullptr && WarpsOfResult(op, *layout, num_warps_) > 1;
  }

  // Later ones that can stand behind `first` do so. Returns the last of them.
  Op* JoinTo(Op* first) {
    Op* last = first;
    int together = 1, between = 0;
    for (Op* op = first->next(); op != nullptr && together < kMostTogether && ++between < kMostBetween;) {
      Op* next = op->next();
      if (const auto needs = Exchanges(*op) ? NeedsBetween(*first, *op) : std::nullopt; needs && Takes(*op)) {
        for (Op* moved : *needs) ir::MoveBefore(p_.module.get(), moved, first);
        if (op != last->next()) ir::MoveBefore(p_.module.get(), op, last->next());
        Decide<Decision::kBatched>(p_.module.get(), op, true);
        last = op;
        ++together;
      }
      op = next;
    }
    return last;
  }

  // The operations from `first` to `op` of which op needs results, in order; nullopt if they can't move.
  static std::optional<std::vector<Op*>> NeedsBetween(const Op& first, const Op& op) {
    absl::flat_hash_set<const Op*> needed = {&op};
    std::vector<Op*> found;
    for (Op* at = op.prev(); at != &first; at = at->prev()) {
      if (!Feeds(*at, needed)) continue;
      if (!MovesAlone(*at)) return std::nullopt;
      needed.insert(at);
      found.insert(found.begin(), at);
    }
    if (Feeds(first, needed)) return std::nullopt;
    return found;
  }

  static bool Feeds(const Op& op, const absl::flat_hash_set<const Op*>& users) {
    for (int i = 0; i < op.num_results(); ++i) {
      for (const ir::Use* use = op.result(i)->uses(); use != nullptr; use = use->next) {
        // Bodies of reductions use values of around them, too.
        const Op* user = use->owner;
        while (user != nullptr && !users.contains(user)) user = user->block()->parent();
        if (user != nullptr) return true;
      }
    }
    return false;
  }

  bool Takes(const Op& op) {
    const std::string where = p_.module->Where(op.loc, op.pos);
    if (!p_.trace().TakesStep("batch-reductions", absl::StrCat("reduce at ", where))) return false;
    if (p_.trace().on_remark) {
      p_.trace().on_remark(absl::StrCat(where, ": remark[batch-reductions]: reduce: with the one before it"));
    }
    return true;
  }

  Program& p_;
  const int num_warps_;
};

}  // namespace

absl::Status BatchReductions(Program& p) {
  Joiner(p).Visit(p.function->body());
  return absl::OkStatus();
}

}  // namespace tile::codegen

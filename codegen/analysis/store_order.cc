#include "codegen/analysis/store_order.h"

#include <utility>

#include "absl/container/flat_hash_set.h"
#include "codegen/analysis/view_dim.h"
#include "ir/loops.h"
#include "ir/op_views.h"

namespace tile::codegen {
namespace {

using ir::Op;
using ir::Value;

// No two tiles of the view overlap.
bool TilesAreApart(ir::Type view) {
  for (int k = 0; k < view.rank(); ++k) {
    if (GridStep(view, k) < view.shape()[static_cast<size_t>(k)]) return false;
  }
  return true;
}

// The store itself, and weak ones of such tiles through the same view.
IsAlike Like(const Op& store) {
  return [&store](const Op& op) {
    if (&op == &store) return true;
    if (!ir::StoreViewOp::Is(&op) || ir::OrderingOf(op) != ir::MemoryOrdering::kWeak) return false;
    const ir::StoreViewOp other(op), mine(store);
    return other.view() == mine.view() && other.tile()->type() == mine.tile()->type();
  };
}

// Tokens that are followed; behind so many it is not known what takes them. Each store of a chain is asked about, so that more would take
// time that grows with the square of the chain.
constexpr size_t kMostTokens = 512;

// Follows tokens from one store, and from those that it finds to be alike.
class Walker {
 public:
  explicit Walker(IsAlike alike) : alike_(std::move(alike)) {}

  // Only such stores take the token, or one that it becomes.
  bool LeadsToAlike(const Value* token) {
    if (!seen_.insert(token).second) return true;
    if (seen_.size() > kMostTokens) return false;
    for (const ir::Use* use = token->uses(); use != nullptr; use = use->next) {
      for (int i = 0; i < use->owner->num_operands(); ++i) {
        if (use->owner->operand(i) == token && !TakesAlike(*use->owner, i)) return false;
      }
    }
    return true;
  }

  // The token is the result of such stores, or of no access.
  bool ComesFromAlike(const Value* token) {
    if (token == nullptr || !seen_.insert(token).second) return true;
    if (seen_.size() > kMostTokens) return false;
    const Op* def = token->def();
    if (def == nullptr) {
      const std::optional<ir::CarryingLoop> loop = ir::CarryingLoop::Around(token);
      return loop && IsCarriedFromAlike(*loop, loop->carried_by(token));
    }
    if (ir::ForOp::Is(def)) return IsCarriedFromAlike(ir::CarryingLoop(*def), token->index());
    if (alike_(*def)) return ComesFromAlike(ir::AccessOp(*def).token());
    if (!ir::MakeTokenOp::Is(def) && !ir::JoinTokensOp::Is(def)) return false;
    for (int i = 0; i < def->num_operands(); ++i) {
      if (!ComesFromAlike(def->operand(i))) return false;
    }
    return true;
  }

  bool found() const { return found_; }

 private:
  // Of what a loop carries (-1: of none of it): where it enters, and where it comes from.
  bool CarriesToAlike(const ir::CarryingLoop& loop, int i) {
    return i >= 0 && LeadsToAlike(loop.arg(i)) && LeadsToAlike(loop.result(i));
  }
  bool IsCarriedFromAlike(const ir::CarryingLoop& loop, int i) {
    return loop.latch() != nullptr && ComesFromAlike(loop.init(i)) && ComesFromAlike(loop.next(i));
  }

  bool TakesAlike(const Op& op, int operand) {
    if (alike_(op)) {
      found_ = true;
      return LeadsToAlike(ir::AccessOp(op).result_token());
    }
    if (ir::JoinTokensOp::Is(&op)) return LeadsToAlike(op.result(0));
    if (ir::ForOp::Is(&op)) {
      const ir::CarryingLoop loop(op);
      return CarriesToAlike(loop, loop.carried_by_operand(operand));
    }
    if (ir::ContinueOp::Is(&op) && ir::ForOp::Is(ir::TargetOf(op)))
      return CarriesToAlike(ir::CarryingLoop(*ir::TargetOf(op)), operand);
    return ir::YieldOp::Is(&op) && LeadsToAlike(ir::ReceiverOf(op, operand));
  }

  const IsAlike alike_;
  absl::flat_hash_set<const Value*> seen_;
  bool found_ = false;
};

}  // namespace

WaitsForStore OrderOfStore(const Op& store) {
  const ir::StoreViewOp view_store(store);
  if (!view_store.result_token()->has_uses()) return WaitsForStore::kNothing;
  Walker walker(Like(store));
  if (!walker.LeadsToAlike(view_store.result_token())) return WaitsForStore::kOthers;
  if (!walker.found()) return WaitsForStore::kNothing;
  return TilesAreApart(view_store.view()->type()) ? WaitsForStore::kThemselves : WaitsForStore::kOthers;
}

bool FollowsNothingElse(const Op& store) { return ComesOnlyFrom(ir::StoreViewOp(store).token(), Like(store)); }

bool LeadsOnlyTo(const Value* token, const IsAlike& alike) { return Walker(alike).LeadsToAlike(token); }
bool ComesOnlyFrom(const Value* token, const IsAlike& alike) { return Walker(alike).ComesFromAlike(token); }

}  // namespace tile::codegen

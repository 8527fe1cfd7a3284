#include "codegen/passes/grid/coarsened_tiles.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "codegen/analysis/op_rules.h"
#include "codegen/analysis/product_chain.h"
#include "codegen/analysis/slice_dims.h"
#include "codegen/analysis/tile_value.h"
#include "codegen/passes/split_view.h"
#include "codegen/passes/unused.h"
#include "ir/op_views.h"
#include "ir/passes/rewrite.h"

namespace tile::codegen {
namespace {

using ir::Op;
using ir::Value;

// Which dimension of each operand grows with this one of the result; nothing if that is not known of the operation.
std::optional<std::vector<int>> OperandsOf(const Op& op, int dim) {
  if (IsProduct(op)) return ProductDims(op, dim);
  const SliceRule rule = RuleOf(op).slice;
  if (rule != SliceRule::kSame && rule != SliceRule::kConstant && rule != SliceRule::kBroadcast &&
      rule != SliceRule::kPermute && rule != SliceRule::kReshape && rule != SliceRule::kReduce)
    return std::nullopt;
  std::vector<int> dims;
  if (!OperandDims(op, dim, 2, &dims).empty()) return std::nullopt;
  // Dimensions of size 1 may come and go.
  if (rule == SliceRule::kReshape &&
      (dims[0] == kWhole || op.operand(0)->type().shape()[static_cast<size_t>(dims[0])] !=
                                op.result(0)->type().shape()[static_cast<size_t>(dim)]))
    return std::nullopt;
  return dims;
}

// Computes numbers, and may be computed twice.
bool IsPlain(const Op& op) {
  return op.info()->has(ir::kPure) && op.num_regions() == 0 && op.num_results() > 0 && !op.info()->is_load() &&
         !IsProduct(op) && !op.info()->has(ir::kTerminator);
}

}  // namespace

bool CoarsenedTiles::CanGrow() {
  return FindAccesses() && StoresNeed() && LoadsAreNeeded() && UsersGrow() && FindNumbers() && BranchesAreSimple() &&
         LoopsAreSimple();
}

int CoarsenedTiles::DimOf(const Value* v) const {
  const auto it = dims_.find(v);
  return it == dims_.end() ? -1 : it->second;
}

void CoarsenedTiles::Grow(int64_t factor) {
  ir::TypeContext& types = module_->types();
  const auto wide = [&](ir::Type t, int dim) {
    std::vector<int64_t> shape(t.shape().begin(), t.shape().end());
    shape[static_cast<size_t>(dim)] *= factor;
    return shape;
  };
  for (const auto& [access, dim] : accesses_) {
    const ir::ViewAccessOp fields(*access);
    const ir::Type old = fields.view()->type();
    Op* narrow = fields.view()->def();
    OpWriter w(module_, access);
    access->set_operand(fields.view_at(),
                        w.Make(ir::Opcode::kMakePartitionView, {narrow->operand(0)},
                               types.PartitionView(wide(old, dim), old.tensor(), old->dim_map, old->padding)));
    if (IsUnused(*narrow)) narrow->Erase();
  }
  for (Value* v : made_) {
    const ir::Type type = types.Tile(v->type().element(), wide(v->type(), dims_.at(v)));
    if (HasOwnFor(v)) {
      GrowForUsers(v, type, factor);
    } else {
      v->set_type(type);
    }
  }
}

// The kernel does nothing but weak stores, of which the place is an index, as it may be of loads.
bool CoarsenedTiles::FindAccesses() {
  bool good = true;
  ir::Walk(function_->body(), [&](Op* op) {
    const bool is_store = ir::StoreViewOp::Is(op);
    if ((op->info()->has(ir::kWrites) || op->info()->has(ir::kEffect)) && !is_store) good = false;
    if (IsAccessOfMemory(*op) && !IsWeak(*op)) good = false;
    if (is_store) stores_.push_back(op);
    if (!ir::GetTileBlockIdOp::Is(op)) return;
    if (id_ != nullptr && place_ == Place::kAny) good = false;
    id_ = op->result(grid_dim_);
    for (const ir::Use* use = id_->uses(); use != nullptr; use = use->next) {
      const bool access = ir::LoadViewOp::Is(use->owner) || ir::StoreViewOp::Is(use->owner);
      if (access || place_ == Place::kIndices) good = good && AddAccess(use->owner, id_);
    }
  });
  return good && id_ != nullptr && !stores_.empty();
}

bool CoarsenedTiles::AddAccess(Op* op, const Value* id) {
  if (!ir::LoadViewOp::Is(op) && !ir::StoreViewOp::Is(op)) return false;
  const ir::ViewAccessOp fields(*op);
  const auto view = ir::DefAs<ir::MakePartitionViewOp>(fields.view());
  if (fields.view()->type().kind() != ir::TypeKind::kPartitionView || !view) return false;
  const ir::OperandRange index = fields.index();
  int dim = -1, times = 0;
  for (int i = 0; i < static_cast<int>(index.size()); ++i) {
    if (index[static_cast<size_t>(i)] == id) dim = i, ++times;
  }
  return times == 1 && accesses_.insert({op, dim}).second;
}

bool CoarsenedTiles::StoresNeed() {
  for (const Op* store : stores_) {
    const auto it = accesses_.find(store);
    if (it == accesses_.end() || !Need(ir::StoreViewOp(store).tile(), it->second)) return false;
  }
  return true;
}

bool CoarsenedTiles::Need(Value* v, int dim) {
  const auto [known, is_new] = dims_.insert({v, dim});
  if (!is_new) return known->second == dim;
  made_.push_back(v);
  Op* def = v->def();
  if (def == nullptr) {
    const auto loop = ir::CarryingLoop::Around(v);
    return loop && loop->counts() && loop->carried_by(v) >= 0 && NeedCarried(*loop, loop->carried_by(v), dim);
  }
  if (ir::ForOp::Is(def)) return NeedCarried(ir::CarryingLoop(*def), v->index(), dim);
  if (ir::IfOp::Is(def)) return place_ == Place::kAny && NeedYielded(*def, v->index(), dim);
  if (ir::LoadViewOp::Is(def)) {
    const auto it = accesses_.find(def);
    return it != accesses_.end() && it->second == dim;
  }
  if (ir::IotaOp::Is(def)) return place_ == Place::kAny;
  if (ir::ReduceOp::Is(def) && place_ == Place::kIndices) return false;
  const std::optional<std::vector<int>> dims = OperandsOf(*def, dim);
  if (!dims) return false;
  for (int i = 0; i < def->num_results(); ++i) {
    if (IsTile(def->result(i)) && !Need(def->result(i), dim)) return false;
  }
  for (int i = 0; i < def->num_operands(); ++i) {
    if (IsTile(def->operand(i)) && (*dims)[static_cast<size_t>(i)] != kWhole &&
        !Need(def->operand(i), (*dims)[static_cast<size_t>(i)]))
      return false;
  }
  return true;
}

bool CoarsenedTiles::NeedCarried(const ir::CarryingLoop& loop, int i, int dim) {
  if (loop.latch() == nullptr) return false;
  for (Value* v : {loop.init(i), loop.arg(i), loop.next(i), loop.result(i)}) {
    if (!Need(v, dim)) return false;
  }
  return true;
}

bool CoarsenedTiles::NeedYielded(const Op& branch, int i, int dim) {
  for (int r = 0; r < branch.num_regions(); ++r) {
    const Op* end = branch.region(r) == nullptr ? nullptr : branch.region(r)->back();
    if (!ir::YieldOp::Is(end) || !Need(end->operand(i), dim)) return false;
  }
  return branch.num_regions() == 2;
}

bool CoarsenedTiles::LoadsAreNeeded() const {
  return std::all_of(accesses_.begin(), accesses_.end(), [&](const auto& access) {
    return ir::StoreViewOp::Is(access.first) || dims_.contains(access.first->result(0));
  });
}

// Constants and positions: each user gets its own.
bool CoarsenedTiles::HasOwnFor(const Value* v) const {
  return v->def() != nullptr && (ir::ConstantOp::Is(v->def()) || ir::IotaOp::Is(v->def()));
}

// Whatever takes what grows, grows as well.
bool CoarsenedTiles::UsersGrow() const {
  for (const Value* v : made_) {
    if (HasOwnFor(v)) continue;
    for (const ir::Use* use = v->uses(); use != nullptr; use = use->next) {
      for (int i = 0; i < use->owner->num_operands(); ++i) {
        if (use->owner->operand(i) == v && !Takes(*use->owner, i)) return false;
      }
    }
  }
  return true;
}

bool CoarsenedTiles::Takes(const Op& user, int i) const {
  if (ir::StoreViewOp::Is(&user)) return user.operand(i) == ir::StoreViewOp(user).tile();
  if (ir::ForOp::Is(&user)) {
    const ir::CarryingLoop loop(user);
    return loop.carried_by_operand(i) >= 0 && dims_.contains(loop.result(loop.carried_by_operand(i)));
  }
  if (ir::ContinueOp::Is(&user) || ir::YieldOp::Is(&user)) {
    const Op* to = user.parent();
    const bool known = ir::ContinueOp::Is(&user) ? ir::ForOp::Is(to) : ir::IfOp::Is(to);
    return known && i < to->num_results() && dims_.contains(to->result(i));
  }
  if (user.info()->has(ir::kTerminator) || user.num_results() == 0) return false;
  const auto result = dims_.find(user.result(0));
  if (result == dims_.end()) return false;
  const std::optional<std::vector<int>> dims = OperandsOf(user, result->second);
  return dims && (*dims)[static_cast<size_t>(i)] == dims_.at(user.operand(i));
}

bool CoarsenedTiles::FindNumbers() {
  if (place_ == Place::kIndices) return true;
  places_.insert(id_);
  std::vector<std::pair<Op*, int>> uses;
  for (const ir::Use* use = id_->uses(); use != nullptr; use = use->next) {
    if (accesses_.contains(use->owner)) continue;
    for (int i = 0; i < use->owner->num_operands(); ++i) {
      if (use->owner->operand(i) == id_ && !AddUse(use->owner, i)) return false;
    }
  }
  ir::Walk(function_->body(), [&](Op* op) {
    if (!uses_.contains(op)) return;
    const bool is_seam = !ir::ForOp::Is(op) && !ir::IfOp::Is(op) && dims_.contains(op->result(0));
    std::vector<Op*>& kind = ir::ForOp::Is(op) ? loops_ : ir::IfOp::Is(op) ? branches_ : is_seam ? seams_ : numbers_;
    kind.push_back(op);
  });
  return true;
}

bool CoarsenedTiles::AddNumber(Value* v) {
  if (!v->type().is_tile() || !places_.insert(v).second) return v->type().is_tile();
  for (const ir::Use* use = v->uses(); use != nullptr; use = use->next) {
    for (int i = 0; i < use->owner->num_operands(); ++i) {
      if (use->owner->operand(i) == v && !AddUse(use->owner, i)) return false;
    }
  }
  return true;
}

bool CoarsenedTiles::AddUse(Op* user, int i) {
  uses_.insert(user);
  if (ir::ForOp::Is(user))
    return user->operand(i) != ir::ForOp(user).step() && ir::CarryingLoop(*user).carried_by_operand(i) < 0;
  if (ir::IfOp::Is(user)) return true;
  if (!IsPlain(*user)) return false;
  if (dims_.contains(user->result(0))) return ir::BroadcastOp::Is(user);
  for (int r = 0; r < user->num_results(); ++r) {
    if (!AddNumber(user->result(r))) return false;
  }
  return true;
}

// Both ways of such a branch may be gone at once.
bool CoarsenedTiles::BranchesAreSimple() const {
  for (const Op* branch : branches_) {
    for (int i = 0; i < branch->num_results(); ++i) {
      if (!dims_.contains(branch->result(i))) return false;
    }
    for (int r = 0; r < 2; ++r) {
      if (r >= branch->num_regions() || branch->region(r) == nullptr) return false;
      for (const Op* op : *branch->region(r)) {
        if (op != branch->region(r)->back() && !IsPlain(*op)) return false;
      }
    }
  }
  return true;
}

// Rows that have no more iterations stay as they are, so everything that goes around is of rows; and nothing is loaded for them alone.
bool CoarsenedTiles::LoopsAreSimple() const {
  for (const Op* op : loops_) {
    const ir::CarryingLoop loop(*op);
    const ir::ForOp bounds(*op);
    if (!ir::IsSplat(bounds.step(), 1) || bounds.unsigned_cmp() || loop.latch() == nullptr) return false;
    for (int i = 0; i < loop.num_carried(); ++i) {
      if (!dims_.contains(loop.result(i))) return false;
    }
    for (const Op* parent = op->parent(); parent != nullptr; parent = parent->parent()) {
      if (ir::IsLoop(parent)) return false;
    }
    bool good = true;
    ir::Walk(loop.body(), [&](Op* inside) {
      if (accesses_.contains(inside) || ir::BreakOp::Is(inside)) good = false;
      if (ir::ContinueOp::Is(inside) && inside != loop.latch() && ir::TargetOf(*inside) == op) good = false;
      if (!inside->info()->is_load()) return;
      if (!ir::LoadViewOp::Is(inside)) good = false;
      // Between the two ranges of iterations a tile may be outside.
      if (ir::LoadViewOp::Is(inside) && !ir::ViewAccessOp(*inside).inbounds().empty()) good = false;
    });
    if (!good) return false;
  }
  return true;
}

void CoarsenedTiles::GrowForUsers(Value* v, ir::Type type, int64_t factor) {
  Op* def = v->def();
  OpWriter w(module_, def);
  Value* wide = nullptr;
  if (ir::ConstantOp::Is(def)) {
    wide = w.Make(ir::Opcode::kConstant, {}, type, {{"value", *ir::FindAttr(*def, ir::Field::kValue)}});
  } else {
    // Positions begin again in each block's part.
    const int64_t n = type.shape()[0] / factor;
    wide = w.Make(ir::Opcode::kAndi, {w.Make(ir::Opcode::kIota, {}, type), w.Number(n - 1, type)}, type);
  }
  std::vector<std::pair<Op*, int>> uses;
  for (const ir::Use* use = v->uses(); use != nullptr; use = use->next) {
    for (int i = 0; i < use->owner->num_operands(); ++i) {
      if (use->owner->operand(i) == v && Takes(*use->owner, i)) uses.emplace_back(use->owner, i);
    }
  }
  for (const auto& [user, i] : uses) user->set_operand(i, wide);
  if (IsUnused(*def)) def->Erase();
}

}  // namespace tile::codegen

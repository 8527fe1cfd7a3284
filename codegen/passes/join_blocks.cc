#include "codegen/passes/join_blocks.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "codegen/analysis/op_rules.h"
#include "codegen/analysis/product_chain.h"
#include "codegen/analysis/slice_dims.h"
#include "codegen/passes/split_view.h"
#include "codegen/passes/unused.h"
#include "codegen/plan/loaded_operand.h"
#include "codegen/plan/mma_layout.h"
#include "codegen/plan/schedule.h"
#include "codegen/target/chips.h"
#include "codegen/target/decisions.h"
#include "codegen/target/gpu_ops.h"
#include "ir/loops.h"
#include "ir/op_views.h"

namespace tile::codegen {
namespace {

using ir::Op;
using ir::Value;

// Of the product that blocks are joined for: its instruction has 64 rows of each of two warpgroups, and up to 256 columns.
constexpr int64_t kRows = 128, kColumns = 256;

bool IsTile(const Value* v) { return v->type().is_tile() && v->type().rank() > 0; }

// All that grows with the tile along one dimension of the grid.
class Dimension {
 public:
  Dimension(ir::Module* module, ir::Function* function, int grid_dim)
      : module_(module), function_(function), grid_dim_(grid_dim) {}

  bool CanGrow() { return FindAccesses() && StoresNeed() && LoadsAreNeeded() && UsersGrow(); }

  // Along which of its result's dimensions the product grows; -1: it does not.
  int Of(const Op& mma) const {
    const auto it = dims_.find(mma.result(0));
    return it == dims_.end() ? -1 : it->second;
  }

  void Grow(int64_t factor) {
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
      if (ir::ConstantOp::Is(v->def())) {
        GrowConstant(v, type);
      } else {
        v->set_type(type);
      }
    }
  }

 private:
  // The place in the grid is an index of loads and stores by views, and nothing else; the kernel does nothing but such stores.
  bool FindAccesses() {
    bool good = true;
    ir::Walk(function_->body(), [&](Op* op) {
      const bool is_store = ir::StoreViewOp::Is(op);
      if ((op->info()->has(ir::kWrites) || op->info()->has(ir::kEffect)) && !is_store) good = false;
      if (IsAccessOfMemory(*op) && !IsWeak(*op)) good = false;
      if (is_store) stores_.push_back(op);
      if (!ir::GetTileBlockIdOp::Is(op)) return;
      for (const ir::Use* use = op->result(grid_dim_)->uses(); use != nullptr; use = use->next)
        good = good && AddAccess(use->owner, op->result(grid_dim_));
    });
    return good && !stores_.empty();
  }

  bool AddAccess(Op* op, const Value* id) {
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

  bool StoresNeed() {
    for (const Op* store : stores_) {
      const auto it = accesses_.find(store);
      if (it == accesses_.end() || !Need(ir::StoreViewOp(store).tile(), it->second)) return false;
    }
    return true;
  }

  bool Need(Value* v, int dim) {
    const auto [known, is_new] = dims_.insert({v, dim});
    if (!is_new) return known->second == dim;
    made_.push_back(v);
    Op* def = v->def();
    if (def == nullptr) {
      const auto loop = ir::CarryingLoop::Around(v);
      return loop && loop->counts() && loop->carried_by(v) >= 0 && NeedCarried(*loop, loop->carried_by(v), dim);
    }
    if (ir::ForOp::Is(def)) return NeedCarried(ir::CarryingLoop(*def), v->index(), dim);
    if (ir::LoadViewOp::Is(def)) {
      const auto it = accesses_.find(def);
      return it != accesses_.end() && it->second == dim;
    }
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

  bool NeedCarried(const ir::CarryingLoop& loop, int i, int dim) {
    if (loop.latch() == nullptr) return false;
    for (Value* v : {loop.init(i), loop.arg(i), loop.next(i), loop.result(i)}) {
      if (!Need(v, dim)) return false;
    }
    return true;
  }

  // Which dimension of each operand grows with this one of the result; nothing if that is not known of the operation.
  static std::optional<std::vector<int>> OperandsOf(const Op& op, int dim) {
    if (IsProduct(op)) return ProductDims(op, dim);
    const SliceRule rule = RuleOf(op).slice;
    if (rule != SliceRule::kSame && rule != SliceRule::kConstant && rule != SliceRule::kBroadcast &&
        rule != SliceRule::kPermute && rule != SliceRule::kReshape)
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

  bool LoadsAreNeeded() const {
    return std::all_of(accesses_.begin(), accesses_.end(), [&](const auto& access) {
      return ir::StoreViewOp::Is(access.first) || dims_.contains(access.first->result(0));
    });
  }

  // Whatever takes what grows, grows as well.
  bool UsersGrow() const {
    for (const Value* v : made_) {
      if (v->def() != nullptr && ir::ConstantOp::Is(v->def())) continue;  // each user gets its own
      for (const ir::Use* use = v->uses(); use != nullptr; use = use->next) {
        for (int i = 0; i < use->owner->num_operands(); ++i) {
          if (use->owner->operand(i) == v && !Takes(*use->owner, i)) return false;
        }
      }
    }
    return true;
  }

  bool Takes(const Op& user, int i) const {
    if (ir::StoreViewOp::Is(&user)) return user.operand(i) == ir::StoreViewOp(user).tile();
    if (ir::ForOp::Is(&user)) {
      const ir::CarryingLoop loop(user);
      return loop.carried_by_operand(i) >= 0 && dims_.contains(loop.result(loop.carried_by_operand(i)));
    }
    if (ir::ContinueOp::Is(&user)) {
      const Op* loop = user.parent();
      return ir::ForOp::Is(loop) && i < loop->num_results() && dims_.contains(loop->result(i));
    }
    if (user.info()->has(ir::kTerminator) || user.num_results() == 0) return false;
    const auto result = dims_.find(user.result(0));
    if (result == dims_.end()) return false;
    const std::optional<std::vector<int>> dims = OperandsOf(user, result->second);
    return dims && (*dims)[static_cast<size_t>(i)] == dims_.at(user.operand(i));
  }

  void GrowConstant(Value* v, ir::Type type) {
    Op* def = v->def();
    OpWriter w(module_, def);
    Value* wide = w.Make(ir::Opcode::kConstant, {}, type, {{"value", *ir::FindAttr(*def, ir::Field::kValue)}});
    std::vector<std::pair<Op*, int>> uses;
    for (const ir::Use* use = v->uses(); use != nullptr; use = use->next) {
      for (int i = 0; i < use->owner->num_operands(); ++i) {
        if (use->owner->operand(i) == v && Takes(*use->owner, i)) uses.emplace_back(use->owner, i);
      }
    }
    for (const auto& [user, i] : uses) user->set_operand(i, wide);
    if (IsUnused(*def)) def->Erase();
  }

  ir::Module* module_;
  ir::Function* function_;
  const int grid_dim_;
  std::vector<Op*> stores_;
  absl::flat_hash_map<Op*, int> accesses_;       // that the place is an index of, and which
  absl::flat_hash_map<const Value*, int> dims_;  // along which what grows does
  std::vector<Value*> made_;                     // the same values, in a certain order
};

Op* OnlyProduct(const ir::Function& function) {
  Op* only = nullptr;
  int products = 0;
  ir::Walk(function.body(), [&](Op* op) {
    if (op->info()->family != ir::Family::kMma) return;
    ++products;
    if (IsProduct(*op)) only = op;
  });
  return products == 1 ? only : nullptr;
}

// How often the product's result should be repeated along its rows and columns.
std::array<int64_t, 2> Wanted(const Op& mma) {
  const std::optional<LoadedOperand> a = LoadedOperandOf(mma, 0), b = LoadedOperandOf(mma, 1);
  if (!a || !b || a->element_bits > 32) return {1, 1};
  const MmaShape s = ShapeOfMma(mma);
  // The right operand is the first of the instruction where it lies across and wgmma does not read that.
  const bool swapped = a->element_bits != 16 && a->k_major && !b->k_major;
  const std::array<int64_t, 2> most = swapped ? std::array{kColumns, kRows} : std::array{kRows, kColumns};
  std::array<int64_t, 2> times = {std::max<int64_t>(1, most[0] / s.m), std::max<int64_t>(1, most[1] / s.n)};
  for (int d : {0, 1}) {
    while (times[0] * s.m * times[1] * s.n > kRows * kColumns && times[static_cast<size_t>(d)] > 1)
      times[static_cast<size_t>(d)] /= 2;
  }
  return times;
}

}  // namespace

int64_t CyclesOfBlock(const Op& mma) {
  constexpr int64_t kBest = 3, kPercent = 15;
  const MmaShape s = ShapeOfMma(mma);
  const int64_t full = s.m * s.n * 16 / static_cast<int64_t>(Chip::kF16Macs), loads = 256 / s.m + 256 / s.n;
  return std::max<int64_t>(1, full * (100 + kPercent * std::max<int64_t>(0, loads - kBest)) / 100);
}

bool JoinBlocks(ir::Module* module, ir::Function* function) {
  const Op* mma = OnlyProduct(*function);
  if (mma == nullptr) return false;
  const std::array<int64_t, 2> times = Wanted(*mma);
  const int64_t cycles = CyclesOfBlock(*mma);
  std::array<int64_t, 2> joined = {1, 1};
  for (int d = 0; d < 2; ++d) {
    Dimension dimension(module, function, d);
    if (!dimension.CanGrow()) continue;
    const int along = dimension.Of(*mma);
    if (along < 0 || times[static_cast<size_t>(along)] == 1) continue;
    joined[static_cast<size_t>(d)] = times[static_cast<size_t>(along)];
    dimension.Grow(joined[static_cast<size_t>(d)]);
  }
  if (joined[0] * joined[1] == 1) return false;
  Decide<Decision::kJoinedBlocks>(module, KernelOp(module, function), {joined[0], joined[1]});
  Decide<Decision::kJoinedCycles>(module, KernelOp(module, function), {cycles, CyclesOfBlock(*mma)});
  return true;
}

absl::Status JoinBlocks(Program& p) {
  if (!p.joins_blocks) return absl::OkStatus();
  const bool useful = p.target.has(kWgmma) && p.target.has(kTma) && p.candidate.ahead == Ahead::kTma;
  if (!useful || !JoinBlocks(p.module.get(), p.function)) return absl::NotFoundError("no blocks are joined");
  const std::array<int64_t, 2> joined = JoinedBlocks(*p.function);
  p.Remark("join", absl::StrCat(joined[0], " x ", joined[1], " neighbouring blocks of a large grid become one"));
  return absl::OkStatus();
}

}  // namespace tile::codegen

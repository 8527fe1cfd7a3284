#include "ir/passes/simplify.h"

#include <algorithm>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "ir/loops.h"
#include "ir/ops.h"
#include "ir/passes/fold.h"
#include "ir/passes/rewrite.h"
#include "ir/passes/simplify_rules.h"

namespace tile::ir {
namespace {

constexpr int kMostRounds = 16;  // one or two change something

Value* Folded(Module* module, Op* op) {
  if (!op->info()->has(kElementwise) || op->num_operands() == 0) return nullptr;
  absl::InlinedVector<uint64_t, 4> operands;
  for (int i = 0; i < op->num_operands(); ++i) {
    const std::optional<uint64_t> bits = SplatOf(op->operand(i));
    if (!bits) return nullptr;
    operands.push_back(*bits);
  }
  std::optional<uint64_t> bits = FoldInteger(*op, operands);
  if (!bits) bits = FoldFloat(*op, operands);
  return bits ? MakeSplat(module, op, op->result(0)->type(), *bits) : nullptr;
}

// Tokens that wait for nothing, or twice for the same, add nothing.
Value* SimplerJoin(Module* module, Op* join) {
  std::vector<Value*> needed;
  for (int i = 0; i < join->num_operands(); ++i) {
    Value* v = join->operand(i);
    if (MakeTokenOp::Is(v->def()) || std::find(needed.begin(), needed.end(), v) != needed.end()) continue;
    needed.push_back(v);
  }
  if (needed.empty()) return join->operand(0);
  if (needed.size() == 1) return needed[0];
  if (static_cast<int>(needed.size()) == join->num_operands()) return nullptr;
  Value* result = nullptr;
  WriteBefore(module, join, [&](Builder& b) { result = ops::JoinTokens(b, needed); });
  return result;
}

// The number of tiles of a view, or of elements of a tensor, in dimension k; nullopt: known at run time only.
std::optional<int64_t> SizeOf(Type type, int k) {
  const auto u = static_cast<size_t>(k);
  if (type.is_tensor_view())
    return type.shape()[u] == kDynamic ? std::nullopt : std::optional<int64_t>(type.shape()[u]);
  if (!type.is_grid_view()) return std::nullopt;
  const int64_t size = type.tensor().shape()[static_cast<size_t>(type->dim_map[u])];
  if (size == kDynamic) return std::nullopt;
  const int64_t step = type.kind() == TypeKind::kStridedView ? type->steps[u] : type.shape()[u];
  return (size - 1) / step + 1;
}

// The operand that gives the size of a tensor in dimension k; null if its type does.
Value* SizeOperand(const Value* tensor, int k) {
  const auto made = DefAs<MakeTensorViewOp>(tensor);
  if (!made || tensor->type().shape()[static_cast<size_t>(k)] != kDynamic) return nullptr;
  size_t before = 0;
  for (int i = 0; i < k; ++i) before += tensor->type().shape()[static_cast<size_t>(i)] == kDynamic ? 1 : 0;
  return made->dynamic_shape()[before];
}

class Simplifier {
 public:
  Simplifier(Module* module, Function* function) : module_(module), function_(function) {}

  bool Run() {
    bool changed = false;
    for (int round = 0; round < kMostRounds; ++round) {
      changed_ = false;
      VisitBlock(function_->body());
      if (!changed_) break;
      changed = true;
    }
    return changed;
  }

 private:
  void VisitBlock(Block* block) {
    if (block == nullptr) return;
    for (Op* op = block->front(); op != nullptr;) {
      for (int r = 0; r < op->num_regions(); ++r) VisitBlock(op->region(r));
      Op* next = op->next();
      Visit(op);
      // A branch that is always taken may have brought the end of the block.
      op = next != nullptr && next->block() == nullptr ? nullptr : next;
    }
  }

  void Visit(Op* op) {
    if (IfOp::Is(op)) return VisitIf(op);
    if (IsLoop(op)) return VisitLoop(op);
    if (GetTensorShapeOp::Is(op) || GetIndexSpaceShapeOp::Is(op)) return VisitSizes(op);
    if (!op->info()->has(kPure) || op->num_results() != 1 || op->num_operands() == 0) return;
    Value* simpler = Folded(module_, op);
    if (simpler == nullptr) simpler = SimplerValue(module_, op);
    if (simpler == nullptr) return;
    ReplaceOp(op, simpler);
    changed_ = true;
  }

  void Change(Value* from, Value* to) {
    if (from == to || !from->has_uses()) return;
    Replace(from, to);
    changed_ = true;
  }

  void VisitIf(Op* op);
  void TakeRegion(Op* op, Block* region);
  void VisitLoop(Op* op);
  void RunOnce(Op* op, const CarryingLoop& loop, Op* leave);
  bool RunCounted(Op* op, const CarryingLoop& loop, const std::vector<Op*>& latches);
  void VisitSizes(Op* op);

  Module* module_;
  Function* function_;
  bool changed_ = false;
};

void Simplifier::VisitIf(Op* op) {
  if (const std::optional<uint64_t> condition = SplatOf(IfOp(op).condition())) {
    return TakeRegion(op, op->region(*condition != 0 ? 0 : 1));
  }
  // A result that is the same whichever region gives it.
  for (int i = 0; i < op->num_results(); ++i) {
    Value* given = nullptr;
    bool one = true;
    for (int r = 0; r < op->num_regions(); ++r) {
      const Op* end = op->region(r) == nullptr ? nullptr : op->region(r)->terminator();
      if (!YieldOp::Is(end)) continue;  // leaves
      one = one && (given == nullptr || given == end->operand(i));
      given = end->operand(i);
    }
    if (one && given != nullptr && !IsInside(given, op)) Change(op->result(i), given);
  }
}

void Simplifier::TakeRegion(Op* op, Block* region) {
  changed_ = true;
  Op* end = region == nullptr ? nullptr : region->terminator();
  if (region != nullptr) MoveBodyBefore(module_, region, op);
  if (end != nullptr && !YieldOp::Is(end)) {
    // Nothing behind it runs.
    MoveBefore(module_, end, op);
    while (end->next() != nullptr) end->block()->back()->Erase();
    return;
  }
  for (int i = 0; i < op->num_results(); ++i) Replace(op->result(i), end->operand(i));
  op->Erase();
}

// How often a for with constant bounds runs, if that is not more than once.
std::optional<int> RoundsUpToOne(const ForOp& loop) {
  const auto [from, to, by] = BoundsOf(loop);
  const std::optional<uint64_t> lower = SplatOf(from), upper = SplatOf(to), step = SplatOf(by);
  if (!lower || !upper || !step) return std::nullopt;
  const int width = WidthOf(from);
  const bool runs = loop.unsigned_cmp() ? *lower < *upper : AsSigned(*lower, width) < AsSigned(*upper, width);
  if (!runs) return 0;
  if (AsSigned(*step, width) <= 0 || LowBits(*upper - *lower, width) > *step) return std::nullopt;
  return 1;
}

// A counted loop that runs once, or not at all. One with products stays: on a GPU their operands are fetched ahead by the loop.
bool Simplifier::RunCounted(Op* op, const CarryingLoop& loop, const std::vector<Op*>& latches) {
  const std::optional<int> rounds = RoundsUpToOne(ForOp(op));
  if (!rounds) return false;
  if (*rounds == 0) {
    for (int i = 0; i < op->num_results(); ++i) Replace(op->result(i), loop.init(i));
    op->Erase();
    return changed_ = true;
  }
  bool multiplies = false;
  Walk(loop.body(), [&](Op* inner) { multiplies = multiplies || inner->info()->has(kProduct); });
  if (multiplies || latches.size() != 1 || loop.latch() == nullptr) return false;
  loop.index()->ReplaceAllUsesWith(ForOp(op).lower_bound());
  RunOnce(op, loop, loop.latch());
  return true;
}

// A loop that ends in a break does not repeat.
void Simplifier::RunOnce(Op* op, const CarryingLoop& loop, Op* leave) {
  for (int i = 0; i < loop.num_carried(); ++i) loop.arg(i)->ReplaceAllUsesWith(loop.init(i));
  MoveBodyBefore(module_, loop.body(), op);
  for (int i = 0; i < op->num_results(); ++i) Replace(op->result(i), leave->operand(i));
  op->Erase();
  changed_ = true;
}

// What every way around the loop hands on as it came is what came in.
void Simplifier::VisitLoop(Op* op) {
  const CarryingLoop loop(*op);
  std::vector<Op*> latches, breaks;
  Walk(loop.body(), [&](Op* inner) {
    if (ContinueOp::Is(inner) && TargetOf(*inner) == op) latches.push_back(inner);
    if (BreakOp::Is(inner) && TargetOf(*inner) == op) breaks.push_back(inner);
  });
  if (latches.empty() && breaks.size() == 1 && breaks[0] == loop.body()->back()) return RunOnce(op, loop, breaks[0]);
  if (loop.counts() && breaks.empty() && RunCounted(op, loop, latches)) return;
  for (int i = 0; i < loop.num_carried(); ++i) {
    const auto same = [&](const Op* latch) {
      return latch->operand(i) == loop.arg(i) || latch->operand(i) == loop.init(i);
    };
    if (!std::all_of(latches.begin(), latches.end(), same)) continue;
    Change(loop.arg(i), loop.init(i));
    if (loop.counts()) Change(loop.result(i), loop.init(i));
  }
  if (loop.counts() || breaks.empty()) return;
  for (int i = 0; i < op->num_results(); ++i) {
    Value* left = breaks[0]->operand(i);
    const auto same = [&](const Op* leave) { return leave->operand(i) == left; };
    if (!IsInside(left, op) && std::all_of(breaks.begin(), breaks.end(), same)) Change(op->result(i), left);
  }
}

void Simplifier::VisitSizes(Op* op) {
  for (int k = 0; k < op->num_results(); ++k) {
    Value* result = op->result(k);
    if (!result->has_uses()) continue;
    const std::optional<int64_t> size = SizeOf(op->operand(0)->type(), k);
    if (size && LowBits(static_cast<uint64_t>(*size), WidthOf(result)) == static_cast<uint64_t>(*size)) {
      Change(result, MakeSplat(module_, op, result->type(), static_cast<uint64_t>(*size)));
    }
    if (!op->operand(0)->type().is_tensor_view()) continue;
    Value* operand = SizeOperand(op->operand(0), k);
    if (operand != nullptr && operand->type() == result->type()) Change(result, operand);
  }
}

}  // namespace

Value* MakeSplat(Module* module, Op* op, Type type, uint64_t bits) {
  Value* splat = nullptr;
  WriteBefore(module, op, [&](Builder& b) { splat = ops::Integer(b, type, static_cast<int64_t>(bits)); });
  return splat;
}

Value* SimplerValue(Module* module, Op* op) {
  switch (op->info()->family) {
    case Family::kInteger: return SimplerInteger(module, op);
    case Family::kMemory: return OffsetOp::Is(op) ? SimplerInteger(module, op) : nullptr;
    case Family::kFloat: return SimplerFloat(op);
    case Family::kCompare: return SimplerCompare(module, op);
    case Family::kConvert: return SimplerConvert(module, op);
    case Family::kShape: return SimplerShape(module, op);
    case Family::kToken: return JoinTokensOp::Is(op) ? SimplerJoin(module, op) : nullptr;
    default: return nullptr;
  }
}

bool Simplify(Module* module, Function* function) { return Simplifier(module, function).Run(); }

}  // namespace tile::ir

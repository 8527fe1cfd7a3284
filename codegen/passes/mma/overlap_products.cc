#include "codegen/passes/mma/overlap_products.h"

#include <algorithm>
#include <string>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "codegen/analysis/live_registers.h"
#include "codegen/analysis/product_chain.h"
#include "codegen/gpu/ops.h"
#include "codegen/passes/move_loads.h"
#include "codegen/plan/mma/overlapped_products.h"
#include "codegen/plan/resources/warps.h"
#include "codegen/plan/schedule.h"
#include "codegen/plan/staging/staging.h"
#include "codegen/target/decisions.h"
#include "codegen/target/tuning.h"
#include "ir/op_views.h"
#include "ir/passes/rewrite.h"

namespace tile::codegen {
namespace {

using ir::Op;
using ir::Value;

bool IsBefore(const Op* op, const Op* other) {
  for (const Op* at = op->next(); at != nullptr; at = at->next()) {
    if (at == other) return true;
  }
  return false;
}

// Products of the loop's iteration are waited for before the value is there: element by element it is computed from what one of them gives.
bool WaitsForProduct(const Value* value, const Op& loop) {
  absl::flat_hash_set<const Value*> seen;
  std::vector<const Value*> open = {value};
  while (!open.empty()) {
    const Value* v = open.back();
    open.pop_back();
    const Op* def = v->def();
    if (def == nullptr || !v->type().is_tile() || !seen.insert(v).second) continue;
    if (IsProduct(*def) && def->parent() == &loop) return true;
    const bool moves = ir::PermuteOp::Is(def) || ir::ReshapeOp::Is(def) || ir::BroadcastOp::Is(def);
    if (moves || def->info()->has(ir::kElementwise) || IsGpuOp(def, GpuOpcode::kConvertLayout)) {
      for (int i = 0; i < def->num_operands(); ++i) open.push_back(def->operand(i));
    }
    for (int r = 0; ir::IfOp::Is(def) && r < def->num_regions(); ++r) {
      const Op* end = def->region(r) != nullptr ? def->region(r)->back() : nullptr;
      if (end != nullptr && ir::YieldOp::Is(end)) open.push_back(end->operand(v->index()));
    }
  }
  return false;
}

// It may still run when the next iteration begins: that does not write registers which it reads before it waits for products itself.
bool MayRunOn(const Op& mma) {
  const bool in_registers = CopyOf(mma, 0) == nullptr && !DecisionOf<Decision::kStagesLhs>(mma);
  return GoesAround(mma) && (!in_registers || IsInvariant(mma, 0) || WaitsForProduct(mma.operand(0), *mma.parent()));
}

// What a thread holds in registers, and may.
class Registers {
 public:
  Registers(const Target& target, const Schedule& schedule, const ir::Function& function)
      : target_(target), schedule_(schedule), function_(function) {}

  int64_t Each(int64_t words) const { return words / schedule_.threads(); }
  int64_t Live() const { return LiveBesideStages(target_, schedule_.num_warps, function_) / schedule_.threads(); }
  bool Hold(int64_t live) const {
    const int64_t most = std::min<int64_t>(255, Target::kRegisters / (schedule_.threads() * schedule_.blocks));
    return live + tuning::kBesideStaged <= most;
  }

 private:
  const Target& target_;
  const Schedule& schedule_;
  const ir::Function& function_;
};

// A loop whose products read what is copied ahead.
class Loop {
 public:
  explicit Loop(const Op& loop) {
    for (Op* op : *loop.region(0)) {
      if (!IsProduct(*op)) continue;
      products_.push_back(op);
      hinders_ = hinders_.empty() ? WhyNotRunning(*op) : hinders_;
      if (DecisionOf<Decision::kAsync>(*op)) hinders_ = "it runs on already";
    }
  }

  // Why its products wait where they stand; "" if they should not.
  std::string WhyNot(const Registers& registers) const {
    if (!hinders_.empty()) return hinders_;
    size_t i = 1;
    while (i < products_.size() && FirstToFollow(i) == i) ++i;
    if (i == products_.size()) return "each product needs what comes of the one before";
    return registers.Hold(registers.Each(RunningWords())) ? "" : "a thread has too few registers for what runs";
  }

  void Rewrite(const Registers& registers, bool keeps, ir::Module* module) {
    for (size_t i = 1; i < products_.size(); ++i) MoveUp(registers, i, module);
    for (Op* mma : products_) {
      Decide<Decision::kOverlaps>(module, mma, true);
      if (keeps && MayRunOn(*mma)) Decide<Decision::kAsync>(module, mma, true);
    }
  }

  const Op& first() const { return *products_[0]; }

 private:
  // Constants are made where they are used.
  static bool IsConstant(const Value* v) { return v->def() != nullptr && v->def()->opcode() == ir::Opcode::kConstant; }

  // All that it takes is there when the other begins.
  static bool CanFollow(const Op& mma, const Op* other) {
    for (int i = 0; i < mma.num_operands(); ++i) {
      const Value* v = mma.operand(i);
      if (v->def() == nullptr || v->def()->block() != mma.block() || IsConstant(v)) continue;
      if (!IsBefore(v->def(), other)) return false;
    }
    return true;
  }

  // The number of the first product from `from` on beside which product i can begin; i if there is none.
  size_t FirstToFollow(size_t i, size_t from = 0) const {
    while (from < i && !CanFollow(*products_[i], products_[from])) ++from;
    return from;
  }

  // Behind the first product beside which it can begin and those that stand next to that, as long as there are registers.
  void MoveUp(const Registers& registers, size_t i, ir::Module* module) {
    Op *mma = products_[i], *behind = mma->next();
    const int64_t before = registers.Live();
    for (size_t first = FirstToFollow(i); first < i; first = FirstToFollow(i, first + 1)) {
      while (first + 1 < i && products_[first]->next() == products_[first + 1]) ++first;
      MoveBehind(module, mma, products_[first]);
      const int64_t live = registers.Live();
      if ((live > before && !registers.Hold(live)) || !registers.Hold(registers.Each(RunningWords()))) {
        ir::MoveBefore(module, mma, behind);
        continue;
      }
      const auto begin = products_.begin() + static_cast<int64_t>(first) + 1,
                 at = products_.begin() + static_cast<int64_t>(i);
      std::rotate(begin, at, at + 1);
      return;
    }
  }

  static void MoveBehind(ir::Module* module, Op* mma, Op* other) {
    for (int i = 0; i < mma->num_operands(); ++i) {
      Op* def = mma->operand(i)->def();
      if (IsConstant(mma->operand(i)) && def->block() == mma->block() && IsBefore(other, def))
        ir::MoveBefore(module, def, other);
    }
    if (other->next() != mma) ir::MoveBefore(module, mma, other->next());
  }

  // Registers of 32 bits, over all threads, of what runs when an iteration begins: products of the one before, with left operands that are
  // in registers, and those that stand next to each other.
  int64_t RunningWords() const {
    int64_t words = 0;
    for (const Op* mma : products_) {
      if (!GoesAround(*mma)) continue;
      words += RegistersOf(mma->result(0)->type());
      const ir::Type left = mma->operand(0)->type();
      if (CopyOf(*mma, 0) == nullptr && !IsInvariant(*mma, 0))
        words += left.num_elements() * ir::MemoryBits(left.elem()) / 32;
    }
    for (const Op* op = products_[0]; op != nullptr && IsProduct(*op); op = op->next()) {
      if (!GoesAround(*op)) words += RegistersOf(op->result(0)->type());
    }
    return words;
  }

  std::vector<Op*> products_;
  std::string hinders_;
};

}  // namespace

absl::Status OverlapProducts(Program& p) {
  const Schedule schedule = *ScheduleOf(*p.function);
  std::vector<Op*> loops;
  ir::Walk(p.function->body(), [&](Op* op) {
    if (op->opcode() != ir::Opcode::kFor || op->region(0) == nullptr || CopyIn(*op) == nullptr) return;
    int products = 0;
    for (const Op* inside : *op->region(0)) products += IsProduct(*inside) ? 1 : 0;
    if (products > 1) loops.push_back(op);
  });
  for (Op* op : loops) {
    Loop loop(*op);
    const StepTexts texts = {"overlap-products", "products run beside each other",
                             "products do not run beside each other"};
    const Registers registers(p.target, schedule, *p.function);
    if (!TakesStep(*p.module, loop.first(), texts, loop.WhyNot(registers), &p.trace())) continue;
    loop.Rewrite(registers, schedule.stages >= tuning::kStagesToKeep, p.module.get());
  }
  return absl::OkStatus();
}

}  // namespace tile::codegen

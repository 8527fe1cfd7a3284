#include "codegen/passes/canonical/elide_masks.h"

#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "codegen/analysis/product_chain.h"
#include "codegen/analysis/uniform_iterations.h"
#include "ir/create_like.h"
#include "ir/op_views.h"
#include "ir/ops.h"
#include "ir/passes/rewrite.h"

namespace tile::codegen {
namespace {

namespace op = ir::ops;

using ir::Builder;
using ir::Op;
using ir::Value;

constexpr int64_t kLeastElements = 2048;  // of a mask that is worth a branch: a few for each thread

// In front of a loop: what the iterations must be for all of some limits to hold.
class Bounds {
 public:
  explicit Bounds(Builder& b) : b_(b), wide_(b.types().Scalar(ir::Elem::kI64)) {}

  void Add(const IterationLimit& limit) {
    Value* sum = op::Integer(b_, wide_, limit.constant);
    for (const auto& [scalar, factor] : limit.terms) {
      Value* term = op::Exti(b_, wide_, scalar, ir::Signedness::kSigned);
      if (factor != 1) term = op::Muli(b_, term, op::Integer(b_, wide_, factor));
      sum = op::Addi(b_, sum, term);
    }
    if (limit.step == 0) {
      Value* zero = op::Integer(b_, wide_, 0);
      Value* holds = op::CmpI(b_, ir::ComparisonPredicate::kGreaterThanOrEqual, sum, zero, ir::Signedness::kSigned);
      return AddUntil(op::Select(b_, holds, op::Integer(b_, wide_, INT32_MAX), op::Integer(b_, wide_, INT32_MIN)));
    }
    Value* quotient = Divided(sum, std::abs(limit.step));
    if (limit.step < 0) return AddUntil(op::Addi(b_, quotient, op::Integer(b_, wide_, 1)));
    Value* least = op::Subi(b_, op::Integer(b_, wide_, 0), quotient);
    from_ = from_ == nullptr ? least : op::Maxi(b_, from_, least, ir::Signedness::kSigned);
  }

  // As a number of the index's type; null: it has no such end.
  Value* From(ir::Type index) { return Narrow(from_, index); }
  Value* Until(ir::Type index) { return Narrow(until_, index); }

 private:
  void AddUntil(Value* end) { until_ = until_ == nullptr ? end : op::Mini(b_, until_, end, ir::Signedness::kSigned); }
  // Towards minus infinity.
  Value* Divided(Value* v, int64_t by) {
    if (by == 1) return v;
    if ((by & (by - 1)) == 0)
      return op::Shri(b_, v, op::Integer(b_, wide_, __builtin_ctzll(by)), ir::Signedness::kSigned);
    return op::Divi(b_, v, op::Integer(b_, wide_, by), ir::Signedness::kSigned, ir::Rounding::kNegativeInf);
  }
  Value* Narrow(Value* v, ir::Type index) {
    if (v == nullptr) return nullptr;
    v = op::Maxi(b_, v, op::Integer(b_, wide_, INT32_MIN), ir::Signedness::kSigned);
    v = op::Mini(b_, v, op::Integer(b_, wide_, INT32_MAX), ir::Signedness::kSigned);
    return op::Trunci(b_, index, v);
  }

  Builder& b_;
  const ir::Type wide_;
  Value *from_ = nullptr, *until_ = nullptr;
};

struct Skipped {
  Op* select;
  bool is;  // what the mask is everywhere
  std::vector<IterationLimit> limits;
};

class Skipper {
 public:
  Skipper(Program& p, Op* loop) : p_(p), module_(p.module.get()), loop_(loop) {}

  void Run() {
    std::vector<Op*> selects;
    for (Op* op : *loop_->region(0)) {
      if (ir::SelectOp::Is(op) && IsWorthIt(*op)) selects.push_back(op);
    }
    for (Op* select : selects) {
      if (const std::optional<Skipped> s = Find(select); s && Takes(*select)) Skip(*s);
    }
  }

 private:
  bool IsWorthIt(const Op& select) const {
    const ir::Type type = select.result(0)->type();
    return type.is_tile() && !type.is_scalar() && type.num_elements() >= kLeastElements &&
           select.operand(0)->type().rank() == type.rank() && ir::IsInside(select.operand(0), loop_);
  }

  std::optional<Skipped> Find(Op* select) const {
    for (const bool is : {true, false}) {
      // Zeros to be added, say: a tile of them would be there in both cases.
      if (IsConstant(*select->operand(is ? 1 : 2))) continue;
      auto limits = IterationsWhere(*select->operand(0), *loop_, is);
      if (limits) return Skipped{select, is, std::move(*limits)};
    }
    return std::nullopt;
  }

  static bool IsConstant(const Value& v) {
    const Op* def = v.def();
    while (def != nullptr && (ir::BroadcastOp::Is(def) || ir::ReshapeOp::Is(def))) def = def->operand(0)->def();
    return ir::ConstantOp::Is(def);
  }

  bool Takes(const Op& select) {
    const std::string where = p_.module->Where(select.loc, select.pos);
    if (!p_.trace().TakesStep("elide-masks", absl::StrCat("select at ", where))) return false;
    if (p_.trace().on_remark) {
      p_.trace().on_remark(
          absl::StrCat(where, ": remark[elide-masks]: select: only in iterations in which its mask differs"));
    }
    return true;
  }

  // Whether this iteration is one of those, in front of the select.
  Value* Condition(const Skipped& s) {
    const auto known = conditions_.find({s.select->operand(0), s.is});
    if (known != conditions_.end()) return known->second;
    Value* index = loop_->region(0)->arg(0);
    Value *from = nullptr, *until = nullptr;
    ir::WriteBefore(module_, loop_, [&](Builder& b) {
      Bounds bounds(b);
      for (const IterationLimit& limit : s.limits) bounds.Add(limit);
      from = bounds.From(index->type());
      until = bounds.Until(index->type());
    });
    Value* all = nullptr;
    ir::WriteBefore(module_, s.select, [&](Builder& b) {
      const auto add = [&](ir::ComparisonPredicate predicate, Value* bound) {
        if (bound == nullptr) return;
        Value* one = op::CmpI(b, predicate, index, bound, ir::Signedness::kSigned);
        all = all == nullptr ? one : op::Andi(b, all, one);
      };
      add(ir::ComparisonPredicate::kGreaterThanOrEqual, from);
      add(ir::ComparisonPredicate::kLessThan, until);
    });
    return conditions_[{s.select->operand(0), s.is}] = all;
  }

  // In the place where b writes: v, computed once more as far as this iteration computes it of scalars and of tiles of before the loop.
  Value* Again(Builder& b, Value* v, ir::ValueMap* copies) {
    const auto copied = copies->find(v);
    if (copied != copies->end()) return copied->second;
    Op* def = v->def();
    const bool here = def != nullptr && def->parent() == loop_ && v->type().is_tile() && !v->type().is_scalar();
    const bool plain = here && def->info()->has(ir::kPure) && def->num_regions() == 0 && def->num_results() == 1 &&
                       !IsProduct(*def) && !def->info()->is_load();
    if (!plain) return v;
    for (int i = 0; i < def->num_operands(); ++i) Again(b, def->operand(i), copies);
    Op* copy = ir::CopyOp(module_, *def, copies);
    module_->Append(b.block(), copy);
    return (*copies)[v] = copy->result(0);
  }

  void Skip(const Skipped& s) {
    Value* same = s.select->operand(s.is ? 1 : 2);
    Value* all = Condition(s);
    if (all == nullptr) return ir::ReplaceOp(s.select, same);
    Value* result = nullptr;
    ir::WriteBefore(module_, s.select, [&](Builder& b) {
      result = op::If(
          b, all, [&]() -> op::Values { return {same}; },
          [&]() -> op::Values {
            ir::ValueMap copies;
            Value* mask = Again(b, s.select->operand(0), &copies);
            return {op::Select(b, mask, s.select->operand(1), s.select->operand(2))};
          })[0];
    });
    ir::ReplaceOp(s.select, result);
  }

  Program& p_;
  ir::Module* const module_;
  Op* const loop_;
  absl::flat_hash_map<std::pair<const Value*, bool>, Value*> conditions_;
};

}  // namespace

absl::Status ElideMasks(Program& p) {
  std::vector<Op*> loops;
  ir::Walk(p.function->body(), [&](Op* op) {
    if (ir::ForOp::Is(op) && op->region(0) != nullptr && Multiplies(*op)) loops.push_back(op);
  });
  for (Op* loop : loops) Skipper(p, loop).Run();
  return absl::OkStatus();
}

}  // namespace tile::codegen

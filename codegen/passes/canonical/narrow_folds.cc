#include "codegen/passes/canonical/narrow_folds.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "codegen/analysis/reduce_body.h"
#include "ir/create_like.h"
#include "ir/float.h"
#include "ir/op_views.h"
#include "ir/ops.h"
#include "ir/passes/rewrite.h"

namespace tile::codegen {
namespace {

using ir::Elem;
using ir::Op;
using ir::Value;
using ir::ops::Values;

constexpr int kMostSteps = 16;  // between widening and reduction

// The reduction gives one of its elements, whichever type they have.
bool TakesAnElement(const Op& op) {
  if (!ir::ReduceOp::Is(&op) || op.num_operands() != 1 || op.operand(0)->type().elem() != Elem::kF32) return false;
  const ir::Block& body = *op.region(0);
  return NeutralOf(body).has_value() && (ir::MaxfOp::Is(body.front()) || ir::MinfOp::Is(body.front()));
}

bool MovesOrTurns(const Op& op) {
  return ir::AbsfOp::Is(&op) || ir::NegfOp::Is(&op) || ir::ReshapeOp::Is(&op) || ir::PermuteOp::Is(&op);
}

// How a reduced tile comes from tiles of 16 bits.
class Chain {
 public:
  // False: not, as far as is seen.
  bool Follow(Value* v) {
    if (ops_.size() > kMostSteps) return false;
    Op* def = v->def();
    if (def == nullptr) return false;
    if (std::find(ops_.begin(), ops_.end(), def) != ops_.end()) return true;
    if (ir::FToFOp::Is(def)) {
      const ir::Type narrow = def->operand(0)->type();
      const Elem from = narrow.elem();
      if (!IsNarrowFloat(narrow) || (elem_ && *elem_ != from)) return false;
      elem_ = from;
    } else if (const auto choice = ir::As<ir::SelectOp>(def)) {
      if (!FollowOrConstant(choice->val_if_true()) || !FollowOrConstant(choice->val_if_false())) return false;
    } else if (!MovesOrTurns(*def) || !Follow(def->operand(0))) {
      return false;
    }
    ops_.push_back(def);
    return true;
  }

  // A constant may be met before it is known which type is to hold it.
  bool Holds() const {
    return elem_ && std::all_of(constants_.begin(), constants_.end(), [&](double c) {
             return std::isnan(c) || ir::ToDouble(*elem_, ir::FromDouble(*elem_, c)) == c;
           });
  }
  Elem elem() const { return *elem_; }
  // In order.
  const std::vector<Op*>& ops() const { return ops_; }

  // The same of 16 bits.
  Value* Narrowed(ir::Builder& b, Value* v) const {
    if (const std::optional<double> c = ir::FloatSplatOf(v))
      return ir::ops::Splat(b, b.types().Tile(ir::Element::Number(elem()), v->type().shape()), *c);
    Op* def = v->def();
    if (ir::FToFOp::Is(def)) return def->operand(0);
    std::vector<Value*> operands = ir::OperandsOf(*def);
    for (Value*& operand : operands) {
      if (operand->type().elem() == Elem::kF32) operand = Narrowed(b, operand);
    }
    Op* again = ir::CreateLike(b.module(), *def, operands,
                               {ir::WithElement(b.module(), v->type(), ir::Element::Number(elem()))});
    b.module()->Append(b.block(), again);
    return again->result(0);
  }

 private:
  bool FollowOrConstant(Value* v) {
    if (const std::optional<double> c = ir::FloatSplatOf(v)) {
      constants_.push_back(*c);
      return true;
    }
    return Follow(v);
  }

  std::optional<Elem> elem_;
  std::vector<Op*> ops_;
  std::vector<double> constants_;
};

// Where operations stand in their block, as they stood when the pass began: those that move keep the place of what they moved to.
class Places {
 public:
  // Of an operation around it, or its own, in this block; nullopt: it is not inside.
  std::optional<int> Of(const Op* op, const ir::Block* block) {
    while (op != nullptr && op->block() != block) op = op->parent();
    if (op == nullptr) return std::nullopt;
    auto [known, is_new] = blocks_.try_emplace(block);
    if (is_new) {
      int n = 0;
      for (const Op* in : *block) known->second[in] = n++;
    }
    const auto at = known->second.find(op);
    return at == known->second.end() ? std::nullopt : std::optional(at->second);
  }
  void Follow(const Op* moved, const Op* other) {
    auto& block = blocks_[moved->block()];
    block[moved] = block[other];
  }

 private:
  absl::flat_hash_map<const ir::Block*, absl::flat_hash_map<const Op*, int>> blocks_;
};

// Moves an operation to the first use of its result, if all uses are behind the reduction, in its block or deeper. Without uses it goes.
void MoveBehind(ir::Module* module, const Op& reduce, Op* op, Places* places) {
  if (!op->result(0)->has_uses()) return op->Erase();
  if (op->block() != reduce.block()) return;
  const std::optional<int> reduced = places->Of(&reduce, reduce.block());
  Op* first = nullptr;
  for (const ir::Use* use = op->result(0)->uses(); use != nullptr; use = use->next) {
    const std::optional<int> at = places->Of(use->owner, reduce.block());
    if (!at || *at <= *reduced) return;
    Op* user = use->owner;
    while (user->block() != reduce.block()) user = user->parent();
    if (first == nullptr || *at < *places->Of(first, reduce.block())) first = user;
  }
  ir::MoveBefore(module, op, first);
  places->Follow(op, first);
}

void Narrow(Program& p, Op* reduce, const Chain& chain, Places* places) {
  const Op& combine = *reduce->region(0)->front();
  ir::FoldKind kind = ir::FoldKindOf(combine);
  const bool nan = kind.propagate_nan;
  kind.elem = chain.elem();
  Value *narrow = nullptr, *wide = nullptr;
  ir::WriteBefore(p.module.get(), reduce, [&](ir::Builder& b) {
    Value* row = chain.Narrowed(b, reduce->operand(0));
    const auto body = [&](const Values& element, const Values& sum) -> Values {
      return {ir::MaxfOp::Is(&combine) ? ir::ops::Maxf(b, element[0], sum[0], nan)
                                       : ir::ops::Minf(b, element[0], sum[0], nan)};
    };
    const auto dim = static_cast<int64_t>(ir::FoldOp(*reduce).dim());
    narrow = ir::ops::Reduce(b, {row}, dim, {{chain.elem(), *ir::NeutralBits(kind)}}, body)[0];
    wide = ir::ops::FToF(b, reduce->result(0)->type(), narrow);
  });
  // Where the old one stood: what is behind it stays behind it.
  const Op& again = *narrow->def();
  places->Of(reduce, reduce->block());
  places->Follow(&again, reduce);
  ir::ReplaceOp(reduce, wide);
  for (auto op = chain.ops().rbegin(); op != chain.ops().rend(); ++op) MoveBehind(p.module.get(), again, *op, places);
}

}  // namespace

absl::Status NarrowFolds(Program& p) {
  if (!p.target.has(kCpAsync)) return absl::OkStatus();  // chips before it compare f16 and bf16 as f32
  std::vector<Op*> folds;
  ir::Walk(p.function->body(), [&](Op* op) {
    if (TakesAnElement(*op)) folds.push_back(op);
  });
  Places places;
  for (Op* fold : folds) {
    Chain chain;
    if (!chain.Follow(fold->operand(0)) || !chain.Holds()) continue;
    const std::string where = p.module->Where(fold->loc, fold->pos);
    if (!p.trace().TakesStep("narrow-folds", absl::StrCat("reduce at ", where))) continue;
    if (p.trace().on_remark) {
      p.trace().on_remark(absl::StrCat(where, ": remark[narrow-folds]: reduce: of ",
                                       ir::ElemInfoOf(chain.elem()).spelling, ", from which the row was widened"));
    }
    Narrow(p, fold, chain, &places);
  }
  return absl::OkStatus();
}

}  // namespace tile::codegen

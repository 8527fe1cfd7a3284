#include "codegen/passes/canonical/nest_loops.h"

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "codegen/analysis/product_chain.h"
#include "codegen/passes/canonical/flat_loop.h"
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

class Nester {
 public:
  Nester(ir::Module* module, Op* loop, FlatLoop* flat)
      : module_(module), old_(loop), flat_(*flat), loop_(flat->loop()) {}

  void Rewrite() {
    for (int i = 0; i < loop_.num_carried(); ++i) {
      const bool is_counter = i == flat_.counter(), resets = flat_.Resets(i);
      if (!is_counter && !resets) outer_.push_back(i);
      if (!is_counter && !flat_.Stays(i)) inner_.push_back(i);
    }
    op::Values results;
    ir::WriteBefore(module_, old_, [&](Builder& b) { results = WriteOuter(b); });
    for (size_t k = 0; k < outer_.size(); ++k) ir::Replace(old_->result(outer_[k]), results[k]);
    old_->Erase();
  }

 private:
  Value* Number(Builder& b, int64_t n) const { return op::Integer(b, loop_.index()->type(), n); }

  op::Values WriteOuter(Builder& b) {
    const ir::ForOp flat(old_);
    ir::ValueMap before;
    const Shifted& last = flat_.last();
    Value* end = Number(b, last.by);
    if (last.base != nullptr) {
      Value* base = Copy(b, last.base, &before);
      end = last.by == 0 ? base : op::Addi(b, base, end);
    }
    // Below 0 it is never reached, and all parts are those of one tile.
    Value* most = Number(b, INT32_MAX);
    Value* is_reached = op::CmpI(b, ir::ComparisonPredicate::kLessThan, end, most, ir::Signedness::kUnsigned);
    parts_ = op::Select(b, is_reached, op::Addi(b, end, Number(b, 1)), most);
    Value* rounds = op::Divi(b, flat.upper_bound(), parts_, ir::Signedness::kSigned, ir::Rounding::kPositiveInf);
    op::Values inits;
    for (int i : outer_) inits.push_back(loop_.init(i));
    const op::Values results =
        op::For(b, Number(b, 0), rounds, Number(b, 1), inits,
                [&](Value* round, const op::Values& carried) { return WriteRound(b, round, carried); });
    b.block()->back()->pos = old_->pos;
    return results;
  }

  op::Values WriteRound(Builder& b, Value* round, const op::Values& carried) {
    first_ = op::Muli(b, round, parts_);
    count_ = op::Mini(b, parts_, op::Subi(b, ir::ForOp(old_).upper_bound(), first_), ir::Signedness::kSigned);
    op::Values entering(static_cast<size_t>(loop_.num_carried()), nullptr);
    for (int i = 0; i < loop_.num_carried(); ++i) entering[static_cast<size_t>(i)] = loop_.init(i);
    for (size_t k = 0; k < outer_.size(); ++k) entering[static_cast<size_t>(outer_[k])] = carried[k];
    WriteHeads(b, entering);
    op::Values inits;
    for (int i : inner_) {
      const Value* head = flat_.EnteringOf(i);
      inits.push_back(head != nullptr ? heads_[head] : entering[static_cast<size_t>(i)]);
    }
    const op::Values results =
        op::For(b, Number(b, 0), count_, Number(b, 1), inits,
                [&](Value* part, const op::Values& now) { return WritePart(b, part, entering, now); });
    b.block()->back()->pos = old_->pos;
    return WriteTails(b, entering, results);
  }

  void WriteHeads(Builder& b, const op::Values& entering) {
    ir::ValueMap& map = before_;
    map[flat_.position()] = Number(b, 0);
    map[loop_.index()] = first_;
    for (int i = 0; i < loop_.num_carried(); ++i) map.try_emplace(loop_.arg(i), entering[static_cast<size_t>(i)]);
    for (const Op* head : *loop_.body()) {
      if (!flat_.IsHead(head)) continue;
      if (!ir::IfOp::Is(head)) {
        heads_[head->result(0)] = map[head->result(0)] = Copy(b, flat_.Operand(*head, true), &map);
        continue;
      }
      for (Value* v : UsedInRegions(*head)) Copy(b, v, &map);
      const ir::Block* region = flat_.Region(*head, true);
      CopyRegion(b, *head, region, &map);
      for (int k = 0; k < head->num_results(); ++k) heads_[head->result(k)] = map[head->result(k)];
    }
  }

  // The operations of a region of an `if`, whose results become what it yields.
  void CopyRegion(Builder& b, const Op& branch, const ir::Block* region, ir::ValueMap* map) {
    if (region == nullptr) return;
    for (const Op* inner : *region) {
      if (inner != region->back()) module_->Append(b.block(), ir::CopyOp(module_, *inner, map));
    }
    for (int k = 0; k < branch.num_results(); ++k) (*map)[branch.result(k)] = Mapped(region->back()->operand(k), *map);
  }

  op::Values WritePart(Builder& b, Value* part, const op::Values& entering, const op::Values& now) {
    ir::ValueMap map = heads_;
    map[flat_.position()] = part;
    if (loop_.index()->has_uses()) map[loop_.index()] = op::Addi(b, first_, part);
    for (size_t k = 0; k < inner_.size(); ++k) {
      // What stands for it in this part is carried.
      const Value* head = flat_.EnteringOf(inner_[k]);
      map[head != nullptr ? head : loop_.arg(inner_[k])] = now[k];
    }
    for (int i = 0; i < loop_.num_carried(); ++i) {
      if (i != flat_.counter()) map.try_emplace(loop_.arg(i), entering[static_cast<size_t>(i)]);
    }
    for (const Op* one : *loop_.body()) {
      if (one == loop_.latch() || flat_.IsHead(one) || flat_.IsForHeads(one) || map.contains(Only(*one)) ||
          flat_.IsForCounter(one))
        continue;
      if (!flat_.IsTail(one)) {
        module_->Append(b.block(), ir::CopyOp(module_, *one, &map));
      } else if (ir::IfOp::Is(one)) {
        CopyRegion(b, *one, flat_.Region(*one, false), &map);
      } else {
        map[one->result(0)] = Mapped(flat_.Operand(*one, false), map);
      }
    }
    op::Values next;
    for (int i : inner_) next.push_back(Mapped(loop_.next(i), map));
    return next;
  }

  static const Value* Only(const Op& op) { return op.num_results() == 1 ? op.result(0) : nullptr; }

  op::Values WriteTails(Builder& b, const op::Values& entering, const op::Values& results) {
    ir::ValueMap map = heads_;
    Value* last = op::Subi(b, count_, Number(b, 1));
    map[flat_.position()] = last;
    map[loop_.index()] = op::Addi(b, first_, last);
    for (size_t k = 0; k < inner_.size(); ++k) {
      const Value* given = flat_.Given(loop_.next(inner_[k]), false);
      if (!flat_.Changes(given)) map[given] = results[k];
      if (flat_.IsLaterToken(inner_[k])) map.try_emplace(loop_.arg(inner_[k]), results[k]);
    }
    for (int i = 0; i < loop_.num_carried(); ++i) {
      if (i != flat_.counter() && flat_.Stays(i)) map.try_emplace(loop_.arg(i), entering[static_cast<size_t>(i)]);
    }
    tokens_ = results;
    for (const Op* one : *loop_.body()) {
      if (!flat_.IsTail(one) || !ir::IfOp::Is(one)) continue;
      for (Value* v : UsedInRegions(*one)) Copy(b, v, &map);
      Copy(b, one->operand(0), &map);
      module_->Append(b.block(), ir::CopyOp(module_, *one, &map));
    }
    op::Values next;
    for (int i : outer_) {
      const Value* head = flat_.EnteringOf(i);
      Value* given = flat_.Changes(loop_.next(i)) ? Copy(b, loop_.next(i), &map) : nullptr;
      if (given == nullptr && flat_.Stays(i)) given = head != nullptr ? heads_[head] : entering[static_cast<size_t>(i)];
      next.push_back(given != nullptr ? given : map[flat_.Given(loop_.next(i), false)]);
    }
    return next;
  }

  static Value* Mapped(Value* v, const ir::ValueMap& map) {
    const auto at = map.find(v);
    return at == map.end() ? v : at->second;
  }

  // v, computed once more with what is in the map. A token of the last part is what the inner loop ends with.
  Value* Copy(Builder& b, Value* v, ir::ValueMap* map) {
    const auto at = map->find(v);
    if (at != map->end()) return at->second;
    if (!flat_.IsInBody(v)) return v;
    if (v->type().is_token() && !flat_.Changes(v)) {
      const int with = flat_.CarriedWith(v);
      for (size_t k = 0; k < inner_.size(); ++k) {
        if (inner_[k] == with) return (*map)[v] = tokens_[k];
      }
    }
    for (int i = 0; i < v->def()->num_operands(); ++i) Copy(b, v->def()->operand(i), map);
    module_->Append(b.block(), ir::CopyOp(module_, *v->def(), map));
    return (*map)[v];
  }

  ir::Module* const module_;
  Op* const old_;
  FlatLoop& flat_;
  const ir::CarryingLoop& loop_;
  std::vector<int> outer_, inner_;  // numbers of carried values
  Value *parts_ = nullptr, *first_ = nullptr, *count_ = nullptr;
  ir::ValueMap before_, heads_;  // in front of the inner loop: everything, results of heads
  op::Values tokens_;            // results of the inner loop
};

}  // namespace

absl::Status NestLoops(Program& p) {
  std::vector<Op*> loops;
  ir::Walk(p.function->body(), [&](Op* op) {
    if (ir::ForOp::Is(op)) loops.push_back(op);
  });
  // Those inside come first: a loop that becomes a nest is copied with them.
  std::reverse(loops.begin(), loops.end());
  for (Op* loop : loops) {
    FlatLoop flat(*loop);
    if (!flat.Counts()) continue;
    const std::string where = p.module->Where(loop->loc, loop->pos), why = flat.WhyNot();
    const bool takes = why.empty() && p.trace().TakesStep("nest-loops", absl::StrCat("for at ", where));
    if (p.trace().on_remark) {
      p.trace().on_remark(
          absl::StrCat(where, ": remark[nest-loops]: for: ",
                       takes ? "a loop over tiles around a loop over parts" : absl::StrCat("stays flat: ", why)));
    }
    if (takes) Nester(p.module.get(), loop, &flat).Rewrite();
  }
  return absl::OkStatus();
}

}  // namespace tile::codegen

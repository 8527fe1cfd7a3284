#include "ir/passes/rotate_loop.h"

#include <optional>
#include <vector>

#include "ir/loops.h"
#include "ir/passes/fold.h"
#include "ir/passes/rewrite.h"

namespace tile::ir {
namespace {

constexpr int kMostCopies = 64;  // operations that may come to be by advancing in several places

class Rotation {
 public:
  Rotation(Module* module, Op* op) : module_(module), op_(op), loop_(*op) {
    Walk(loop_.body(), [&](Op* inner) {
      if (ContinueOp::Is(inner) && TargetOf(*inner) == op_) latches_.push_back(inner);
    });
  }

  bool Run() {
    choice_ = FirstImpure(loop_.body());
    if (latches_.empty() || !IfOp::Is(choice_) || !FindFlag()) return false;
    Block *first = choice_->region(first_region_), *later = choice_->region(1 - first_region_);
    if (!Falls(first) || !Falls(later) || Count(later) * static_cast<int>(latches_.size()) > kMostCopies) return false;
    std::vector<Value*> inits;
    ValueMap entering;
    for (int i = 0; i < loop_.num_carried(); ++i) {
      inits.push_back(loop_.init(i));
      entering[loop_.arg(i)] = loop_.init(i);
    }
    Append(Copy(first, op_, &entering), &inits);
    for (Op*& latch : latches_) Advance(later, &latch);
    Rebuild(inits);
    return true;
  }

 private:
  // Which region of the `if` at the head runs in the first iteration only, if that is known.
  bool FindFlag() {
    const Value* condition = IfOp(choice_).condition();
    const auto cmp = DefAs<CmpIOp>(condition);
    const Value* flag = cmp ? cmp->lhs() : condition;
    if (flag->def() != nullptr || flag->block() != loop_.body()) return false;
    if (cmp && !SplatOf(cmp->rhs())) return false;
    const uint64_t with = cmp ? *SplatOf(cmp->rhs()) : 0;
    const auto holds = [&](const Value* v) -> std::optional<bool> {
      const std::optional<uint64_t> bits = SplatOf(v);
      if (!bits) return std::nullopt;
      return cmp ? Compare(cmp->predicate(), cmp->signedness(), *bits, with, WidthOf(v)) : *bits != 0;
    };
    const int i = loop_.carried_by(flag);
    const std::optional<bool> at_first = holds(loop_.init(i));
    if (!at_first) return false;
    for (const Op* latch : latches_) {
      const std::optional<bool> later = holds(latch->operand(i));
      if (!later || *later == *at_first) return false;
    }
    first_region_ = *at_first ? 0 : 1;
    return true;
  }

  // Its end is the end of the `if`.
  static bool Falls(const Block* region) {
    return region == nullptr || region->terminator() == nullptr || YieldOp::Is(region->terminator());
  }

  static int Count(Block* region) {
    int count = 0;
    Walk(region, [&](Op*) { ++count; });
    return count;
  }

  static void Append(const std::vector<Value*>& more, std::vector<Value*>* values) {
    values->insert(values->end(), more.begin(), more.end());
  }

  // What stands in front of the `if`, and a region of it, in front of `where`. Returns what the region gives.
  std::vector<Value*> Copy(const Block* region, Op* where, ValueMap* values) {
    for (Op* op = loop_.body()->front(); op != choice_; op = op->next()) CopyBefore(module_, *op, where, values);
    std::vector<Value*> given;
    if (region == nullptr) return given;
    for (const Op* op : *region) {
      if (op != region->terminator()) CopyBefore(module_, *op, where, values);
    }
    for (int i = 0; i < choice_->num_results(); ++i) {
      Value* v = region->terminator()->operand(i);
      const auto it = values->find(v);
      given.push_back(it == values->end() ? v : it->second);
    }
    return given;
  }

  // The latch with what the next iteration would begin with.
  void Advance(const Block* later, Op** latch) {
    ValueMap handed;
    std::vector<Value*> operands;
    for (int i = 0; i < loop_.num_carried(); ++i) {
      operands.push_back((*latch)->operand(i));
      handed[loop_.arg(i)] = (*latch)->operand(i);
    }
    Append(Copy(later, *latch, &handed), &operands);
    Op* longer = nullptr;
    WriteBefore(module_, *latch, [&](Builder& b) { longer = b.Create(Opcode::kContinue, {operands}, {}); });
    (*latch)->Erase();
    *latch = longer;
  }

  void Rebuild(const std::vector<Value*>& inits) {
    std::vector<Type> results, args;
    for (int i = 0; i < op_->num_results(); ++i) results.push_back(op_->result(i)->type());
    for (const Value* v : inits) args.push_back(v->type());
    Op* rotated = nullptr;
    WriteBefore(module_, op_, [&](Builder& b) { rotated = b.Create(Opcode::kLoop, {inits}, results); });
    Block* body = module_->CreateBlock(args);
    rotated->set_region(0, body);
    const int carried = loop_.num_carried();
    for (int i = 0; i < carried; ++i) {
      body->arg(i)->name = loop_.arg(i)->name;
      loop_.arg(i)->ReplaceAllUsesWith(body->arg(i));
    }
    for (int i = 0; i < choice_->num_results(); ++i) {
      body->arg(carried + i)->name = choice_->result(i)->name;
      choice_->result(i)->ReplaceAllUsesWith(body->arg(carried + i));
    }
    choice_->Erase();
    while (!loop_.body()->empty()) {
      Op* op = loop_.body()->front();
      op->Unlink();
      module_->Append(body, op);
    }
    for (int i = 0; i < op_->num_results(); ++i) Replace(op_->result(i), rotated->result(i));
    op_->Erase();
  }

  Module* module_;
  Op* op_;
  const CarryingLoop loop_;
  std::vector<Op*> latches_;
  Op* choice_ = nullptr;  // the `if` at the head
  int first_region_ = 0;
};

}  // namespace

bool IsPure(const Op& op) {
  return op.info()->has(kPure) && (op.info()->traits & (kReads | kWrites | kEffect | kTerminator)) == 0;
}

Op* FirstImpure(const Block* block) {
  Op* op = block->front();
  while (op != nullptr && IsPure(*op)) op = op->next();
  return op;
}

bool RotateLoop(Module* module, Op* loop) { return Rotation(module, loop).Run(); }

}  // namespace tile::ir

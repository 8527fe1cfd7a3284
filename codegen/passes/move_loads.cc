#include "codegen/passes/move_loads.h"

#include <utility>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "ir/create_like.h"
#include "ir/loops.h"

namespace tile::codegen {
namespace {

using ir::Block;
using ir::Op;
using ir::Opcode;
using ir::Value;

bool OnlyUse(const Value* v) { return v->uses() != nullptr && v->uses()->next == nullptr; }

// No write comes before this token.
bool IsHarmless(const Value* token, absl::flat_hash_set<const Value*>* seen) {
  if (!seen->insert(token).second) return true;
  const Op* def = token->def();
  if (def == nullptr) {
    if (!ir::ForOp::Is(token->block()->parent())) return false;
    const ir::CarryingLoop loop(*token->block()->parent());
    const int i = loop.carried_by(token);
    return loop.latch() != nullptr && IsHarmless(loop.init(i), seen) && IsHarmless(loop.next(i), seen);
  }
  if (def->num_regions() > 0 || def->info()->has(ir::kWrites) || def->info()->has(ir::kEffect)) return false;
  if (ir::OrderingOf(*def) != ir::MemoryOrdering::kWeak) return false;
  for (int i = 0; i < def->num_operands(); ++i) {
    if (def->operand(i)->type().is_token() && !IsHarmless(def->operand(i), seen)) return false;
  }
  return true;
}

}  // namespace

bool LoopLoads::InLoop(const Value* v) const {
  for (const Block* b = v->def() != nullptr ? v->def()->block() : v->block(); b != nullptr;) {
    if (b == body_) return true;
    b = b->parent() != nullptr ? b->parent()->block() : nullptr;
  }
  return false;
}

// The value can be computed for another value of the induction variable, at another time.
bool LoopLoads::CanCopy(const Value* v, absl::FunctionRef<bool(const Value*)> outside) const {
  if (v == body_->arg(0)) return true;
  if (!InLoop(v)) return outside(v);
  const Op* def = v->def();
  if (def == nullptr || def->block() != body_ || !def->info()->has(ir::kPure) || def->num_regions() > 0) return false;
  if (v->type().is_tile() && !v->type().is_scalar()) return false;
  for (int i = 0; i < def->num_operands(); ++i) {
    if (!CanCopy(def->operand(i), outside)) return false;
  }
  return true;
}

std::string LoopLoads::WhyNot(const Op& mma, int i, const Op& load,
                              absl::FunctionRef<bool(const Value*)> outside) const {
  for (const Value* v = mma.operand(i);; v = v->def()->operand(0)) {
    if (IsFetch(v->def())) return "it is fetched ahead already";
    if (!OnlyUse(v) || v->def()->block() != body_) return "a loaded tile is used elsewhere too";
    if (v->def() == &load) break;
  }
  const ir::LoadViewOp fields(load);
  bool copies = CanCopy(fields.view(), outside);
  for (const Value* index : fields.index()) copies = copies && CanCopy(index, outside);
  if (!copies)
    return "where a load begins does not follow from the induction variable and from scalars of before the loop";
  absl::flat_hash_set<const Value*> seen;
  const Value* token = fields.token();
  return token == nullptr || IsHarmless(token, &seen) ? "" : "a token orders a load behind something";
}

Op* LoopLoads::Move(GpuOpcode code, absl::Span<const ProductOperand> products) {
  std::vector<Value*> operands;
  std::vector<ir::Type> types;
  for (const ProductOperand& p : products) operands.push_back(p.mma->operand(p.index));
  for (const Value* v : operands) types.push_back(v->type());
  Value* iv = body_->arg(0);
  const uint32_t end = 1;
  ir::OpSpec spec;
  spec.info = GetGpuOp(code);
  spec.operands = {&iv, 1};
  spec.operand_ends = {&end, 1};
  spec.results = types;
  spec.loc = products[0].mma->loc;
  spec.pos = products[0].mma->pos;
  Op* fetch = module_->CreateOp(spec);
  region_ = module_->CreateBlock({iv->type()});
  fetch->set_region(0, region_);
  copies_[iv] = region_->arg(0);
  module_->InsertBefore(body_, body_->front(), fetch);

  std::vector<Value*> yielded;
  for (Value* v : operands) yielded.push_back(Copy(v));
  const uint32_t all = static_cast<uint32_t>(yielded.size());
  ir::OpSpec yield;
  yield.info = ir::GetOp(Opcode::kYield);
  yield.operands = yielded;
  yield.operand_ends = {&all, 1};
  module_->Append(region_, module_->CreateOp(yield));
  for (size_t i = 0; i < operands.size(); ++i) {
    products[i].mma->set_operand(products[i].index, fetch->result(static_cast<int>(i)));
    Remove(operands[i]);
  }
  return fetch;
}

Value* LoopLoads::Copy(Value* v) {
  if (auto it = copies_.find(v); it != copies_.end()) return it->second;
  if (!InLoop(v)) return v;
  Op* def = v->def();
  std::vector<Value*> operands;
  std::vector<uint32_t> ends;
  const auto& fields = def->info()->format->operands;
  for (size_t f = 0; f < fields.size(); ++f) {
    for (int i = def->group_begin(static_cast<int>(f)); i < def->group_end(static_cast<int>(f)); ++i) {
      // Tokens that order loads behind no write say nothing.
      if (!def->operand(i)->type().is_token()) operands.push_back(Copy(def->operand(i)));
    }
    ends.push_back(static_cast<uint32_t>(operands.size()));
  }
  Op* op = ir::CreateLike(module_, *def, operands, ir::ResultTypesOf(*def), ends);
  module_->Append(region_, op);
  for (int i = 0; i < def->num_results(); ++i) copies_[def->result(i)] = op->result(i);
  return op->result(v->index());
}

// The load and what stands between it and the product. What waited for the load waits for nothing more than it did.
void LoopLoads::Remove(Value* v) {
  while (true) {
    Op* def = v->def();
    Value* source = def->opcode() == Opcode::kLoadView ? nullptr : def->operand(0);
    if (source == nullptr) {
      Value* token = ir::LoadViewOp(def).result_token();
      if (token != nullptr && token->has_uses()) {
        Value* before = ir::LoadViewOp(def).token();
        if (before == nullptr) {
          ir::OpSpec spec;
          spec.info = ir::GetOp(Opcode::kMakeToken);
          const ir::Type type = token->type();
          spec.results = {&type, 1};
          Op* make = module_->CreateOp(spec);
          module_->InsertBefore(def->block(), def, make);
          before = make->result(0);
        }
        token->ReplaceAllUsesWith(before);
      }
    }
    def->Erase();
    if (source == nullptr) return;
    v = source;
  }
}

bool StandsInOrHolds(const Op* loop, const Op* other) {
  for (const Op* p = loop->parent(); p != nullptr; p = p->parent()) {
    if (p == other) return true;
  }
  for (const Op* p = other->parent(); p != nullptr; p = p->parent()) {
    if (p == loop) return true;
  }
  return false;
}

bool TakesFetch(const ir::Module& module, const Op& mma, const char* step, const char* what, std::string why,
                Trace* trace) {
  const std::string where = module.Where(mma.loc, mma.pos);
  if (why.empty() && trace != nullptr && !trace->TakesStep(step, absl::StrCat(mma.info()->mnemonic, " at ", where))) {
    why = "left out";
  }
  if (trace != nullptr && trace->on_remark) {
    trace->on_remark(absl::StrCat(where, ": remark[fetch]: ", mma.info()->mnemonic, ": ", what,
                                  why.empty() ? " fetched ahead" : " not fetched ahead: ", why));
  }
  return why.empty();
}

}  // namespace tile::codegen

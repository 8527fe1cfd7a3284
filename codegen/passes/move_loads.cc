#include "codegen/passes/move_loads.h"

#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/strings/str_cat.h"
#include "codegen/analysis/all_iterations.h"
#include "codegen/analysis/op_rules.h"
#include "codegen/analysis/tile_value.h"
#include "codegen/passes/unused.h"
#include "ir/create_like.h"
#include "ir/loops.h"
#include "ir/passes/rewrite.h"

namespace tile::codegen {
namespace {

using ir::Block;
using ir::Op;
using ir::Opcode;
using ir::Value;

// Operations that are done again for the pointers and the mask of a load, one for each use of its result. The rows of a convolution's image, which follow
// from quotients of their number, take about 100.
constexpr int kMostTileOps = 256;

// No write comes before this token, as far as `known` (values of which that is settled) does not say so already.
bool NoWriteBefore(const Value* token, absl::FunctionRef<bool(const Value*)> known,
                   absl::flat_hash_set<const Value*>* seen) {
  if (!seen->insert(token).second || known(token)) return true;
  const Op* def = token->def();
  if (def == nullptr) {
    if (!ir::ForOp::Is(token->block()->parent())) return false;
    const ir::CarryingLoop loop(*token->block()->parent());
    const int i = loop.carried_by(token);
    return loop.latch() != nullptr && NoWriteBefore(loop.init(i), known, seen) &&
           NoWriteBefore(loop.next(i), known, seen);
  }
  if (def->num_regions() > 0 || def->info()->has(ir::kWrites) || def->info()->has(ir::kEffect)) return false;
  if (ir::OrderingOf(*def) != ir::MemoryOrdering::kWeak) return false;
  for (int i = 0; i < def->num_operands(); ++i) {
    if (def->operand(i)->type().is_token() && !NoWriteBefore(def->operand(i), known, seen)) return false;
  }
  return true;
}

bool NoWriteBefore(const Value* token) {
  absl::flat_hash_set<const Value*> seen;
  return NoWriteBefore(
      token, [](const Value*) { return false; }, &seen);
}

// Where a load begins: view and indices, pointers and mask.
std::vector<Value*> PlacesOf(const Op& load) {
  std::vector<Value*> places;
  for (int i = 0; i < load.num_operands(); ++i) {
    if (!load.operand(i)->type().is_token()) places.push_back(load.operand(i));
  }
  return places;
}

}  // namespace

bool LoopLoads::InLoop(const Value* v) const { return ir::IsInside(v, loop_); }

// The value can be computed for another value of the induction variable, at another time. `tiles`: how many operations on tiles
// that still may take; null: none.
bool LoopLoads::CanCopy(const Value* v, int* tiles, absl::flat_hash_set<const Value*>* scalars) const {
  if (v == body_->arg(0) || scalars->contains(v)) return true;
  if (!InLoop(v)) return rules_.outside == nullptr || rules_.outside(v);
  const Op* def = v->def();
  if (def == nullptr || def->block() != body_ || def->num_regions() > 0) return false;
  if (!def->info()->has(ir::kPure)) {
    if (!IsIndexLoad(*def, tiles != nullptr)) return false;
  } else if (IsTile(v)) {
    const LayoutRule rule = RuleOf(*def).layout;
    const bool by_elements = def->info()->has(ir::kElementwise) || ir::ConstantOp::Is(def) || ir::IotaOp::Is(def) ||
                             ir::AssumeOp::Is(def) || rule == LayoutRule::kBroadcast || rule == LayoutRule::kReshape ||
                             rule == LayoutRule::kPermute;
    if (tiles == nullptr || !by_elements || --*tiles < 0) return false;
  }
  for (int i = 0; i < def->num_operands(); ++i) {
    if (!def->operand(i)->type().is_token() && !CanCopy(def->operand(i), tiles, scalars)) return false;
  }
  if (!IsTile(v)) scalars->insert(v);
  return true;
}

// It brings numbers from which the place of another load follows, as a table of pages does. In iterations that exist they are there
// early, too, unless something writes them.
bool LoopLoads::IsIndexLoad(const Op& load, bool tiles) const {
  if (!rules_.by_workers || !load.info()->is_load() || ir::OrderingOf(load) != ir::MemoryOrdering::kWeak) return false;
  if (IsTile(load.result(0)) && (!tiles || !ir::LoadPtrOp::Is(&load))) return false;
  const Value* token = ir::AccessOp(load).token();
  return (token == nullptr || IsHarmless(token)) && AllIterationsRun();
}

bool LoopLoads::AllIterationsRun() const {
  bool all = AllIterationsEnd(*loop_);
  ir::Walk(body_, [&](const Op* op) { all = all && !ir::AssertOp::Is(op); });
  return all;
}

bool LoopLoads::IsHarmless(const Value* token) const {
  if (!rules_.by_workers) return NoWriteBefore(token);
  absl::flat_hash_set<const Value*> seen;
  return NoWriteBefore(
      token, [&](const Value* t) { return !InLoop(t); }, &seen);
}

// Nothing but products of this loop use the tile, permuted or not, and what reads it in its stage.
bool LoopLoads::FeedsProducts(const Value* v) const {
  for (const ir::Use* use = v->uses(); use != nullptr; use = use->next) {
    const Op& user = *use->owner;
    if (user.block() != body_) return false;
    if (IsGpuOp(&user, GpuOpcode::kConvertLayout)) continue;  // reads it where it is
    if (user.opcode() == Opcode::kPermute || user.opcode() == Opcode::kReshape) {
      if (!FeedsProducts(user.result(0))) return false;
    } else if (!user.info()->has(ir::kProduct) || (user.operand(0) != v && user.operand(1) != v) ||
               ir::MmaOp(user).acc() == v) {
      return false;
    }
  }
  return true;
}

std::string LoopLoads::WhyNot(const ProductOperand& operand) const {
  const Op& load = *operand.tile->load;
  const Value* tile = load.result(0);
  const auto only_use = [](const Value* v) { return v->uses() != nullptr && v->uses()->next == nullptr; };
  const bool shared = rules_.by_workers && FeedsProducts(tile);
  for (const Value* v = operand.mma->operand(operand.index);; v = v->def()->operand(0)) {
    if (IsFetch(v->def())) return "it is fetched ahead already";
    if ((!shared && !only_use(v)) || v->def()->block() != body_) return "a loaded tile is used elsewhere too";
    if (v == tile) break;
  }
  return WhyNot(load);
}

std::string LoopLoads::WhyNot(const Op& load) const {
  const bool through_pointers = ir::LoadPtrOp::Is(&load);
  int tiles = kMostTileOps;
  absl::flat_hash_set<const Value*> scalars;
  for (const Value* place : PlacesOf(load)) {
    if (CanCopy(place, through_pointers ? &tiles : nullptr, &scalars)) continue;
    if (tiles < 0) return "it takes too many operations to compute the pointers of a load";
    return through_pointers
               ? "the pointers of a load do not follow from the induction variable and from values of before the loop, "
                 "element by element"
               : "where a load begins does not follow from the induction variable and from scalars of before the loop";
  }
  if (through_pointers && !AllIterationsRun())
    return "an iteration may end the loop, and pointers of later ones need not lead anywhere";
  const Value* token = ir::AccessOp(load).token();
  return token == nullptr || IsHarmless(token) ? "" : "a token orders a load behind something";
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
  if (rules_.by_workers) RemoveUnused();
  return fetch;
}

// Loads and what is made of them are shared, scalars too. Other tiles are made for each use, so that each use can have its layout.
Value* LoopLoads::Copy(Value* v) {
  if (auto it = copies_.find(v); it != copies_.end()) return it->second;
  if (!InLoop(v)) return v;
  return CopyOp(v->def(), v->index());
}

Value* LoopLoads::CopyOp(Op* def, int result) {
  std::vector<Value*> operands;
  std::vector<uint32_t> ends;
  bool of_load = def->info()->is_load();
  const auto& fields = def->info()->format->operands;
  for (size_t f = 0; f < fields.size(); ++f) {
    for (int i = def->group_begin(static_cast<int>(f)); i < def->group_end(static_cast<int>(f)); ++i) {
      Value* operand = def->operand(i);
      if (!operand->type().is_token()) {
        operands.push_back(Copy(operand));
        of_load = of_load || (IsTile(operand) && copies_.contains(operand));
      } else if (!NoWriteBefore(operand)) {  // tokens that order loads after no write say nothing
        operands.push_back(Before(operand));
      }
    }
    ends.push_back(static_cast<uint32_t>(operands.size()));
  }
  Op* op = ir::CreateLike(module_, *def, operands, ir::ResultTypesOf(*def), ends);
  module_->Append(region_, op);
  for (int i = 0; i < op->num_results(); ++i) {
    if (of_load || !IsTile(op->result(i))) copies_[def->result(i)] = op->result(i);
  }
  return op->result(result);
}

// A token from before the loop that is ordered after all writes before the loop after which this one is ordered.
Value* LoopLoads::Before(Value* token) {
  std::vector<Value*> open = {token}, outside;
  absl::flat_hash_set<const Value*> seen;
  while (!open.empty()) {
    Value* t = open.back();
    open.pop_back();
    if (!seen.insert(t).second) continue;
    if (!InLoop(t)) {
      outside.push_back(t);
    } else if (t->def() == nullptr) {
      const ir::CarryingLoop loop(*t->block()->parent());
      open.push_back(loop.init(loop.carried_by(t)));
      open.push_back(loop.next(loop.carried_by(t)));
    } else {
      for (int i = 0; i < t->def()->num_operands(); ++i) {
        if (t->def()->operand(i)->type().is_token()) open.push_back(t->def()->operand(i));
      }
    }
  }
  if (outside.size() == 1) return outside[0];
  const ir::Type type = token->type();
  const auto end = static_cast<uint32_t>(outside.size());
  Op* join = module_->CreateOp({.info = ir::GetOp(Opcode::kJoinTokens),
                                .operands = outside,
                                .operand_ends = {&end, 1},
                                .results = {&type, 1},
                                .attrs = {},
                                .loc = loop_->loc,
                                .pos = loop_->pos});
  module_->InsertBefore(loop_->block(), loop_, join);
  return join->result(0);
}

// The load and the operations between it and the product, once nothing uses them.
void LoopLoads::Remove(Value* v) {
  while (!v->has_uses()) {
    Op* def = v->def();
    if (def->info()->is_load()) return EraseLoad(module_, def);
    v = def->operand(0);
    def->Erase();
  }
}

// What pointers and masks were computed by.
void LoopLoads::RemoveUnused() {
  for (Op* op = body_->back(); op != nullptr;) {
    Op* before = op->prev();
    if (op->num_results() > 0 && IsTile(op->result(0)) && IsUnused(*op)) op->Erase();
    op = before;
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

bool TakesStep(const ir::Module& module, const Op& op, const StepTexts& texts, std::string why, Trace* trace) {
  const std::string where = module.Where(op.loc, op.pos);
  if (why.empty() && trace != nullptr &&
      !trace->TakesStep(texts.step, absl::StrCat(op.info()->mnemonic, " at ", where))) {
    why = "left out";
  }
  if (trace != nullptr && trace->on_remark) {
    trace->on_remark(absl::StrCat(where, ": remark[", texts.step, "]: ", op.info()->mnemonic, ": ",
                                  why.empty() ? texts.taken : absl::StrCat(texts.not_taken, ": ", why)));
  }
  return why.empty();
}

bool TakesFetch(const ir::Module& module, const Op& mma, const char* step, const char* what, std::string why,
                Trace* trace) {
  const std::string taken = absl::StrCat(what, " fetched ahead"), not_taken = absl::StrCat(what, " not fetched ahead");
  return TakesStep(module, mma, {step, taken, not_taken}, std::move(why), trace);
}

}  // namespace tile::codegen

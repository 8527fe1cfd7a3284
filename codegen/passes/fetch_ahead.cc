#include "codegen/passes/fetch_ahead.h"

#include <algorithm>
#include <utility>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "codegen/gpu_ops.h"
#include "codegen/producer_slice.h"
#include "codegen/wgmma_plan.h"

namespace tile::codegen {
namespace {

using ir::Block;
using ir::Op;
using ir::Opcode;
using ir::Value;

bool OnlyUse(const Value* v) { return v->uses() != nullptr && v->uses()->next == nullptr; }

// The operation that ends every way through the body of a loop and carries values on; null if there are several.
const Op* ContinueOf(const Op& loop) {
  const Op* last = loop.region(0)->back();
  return last->opcode() == Opcode::kContinue ? last : nullptr;
}

// No write comes before this token.
bool IsHarmless(const Value* token, absl::flat_hash_set<const Value*>* seen) {
  if (!seen->insert(token).second) return true;
  const Op* def = token->def();
  if (def == nullptr) {
    const Op* loop = token->block()->parent();
    if (loop == nullptr || loop->opcode() != Opcode::kFor) return false;
    const Op* end = ContinueOf(*loop);
    return end != nullptr && IsHarmless(loop->operand(token->index() + 2), seen) &&
           IsHarmless(end->operand(token->index() - 1), seen);
  }
  if (def->num_regions() > 0 || def->info()->has(ir::kWrites) || def->info()->has(ir::kEffect)) return false;
  const int ordering = def->info()->format->attr_index("ordering");
  if (ordering >= 0 && def->attr(ordering).as_enum<ir::MemoryOrdering>() != ir::MemoryOrdering::kWeak) return false;
  for (int i = 0; i < def->num_operands(); ++i) {
    if (def->operand(i)->type().is_token() && !IsHarmless(def->operand(i), seen)) return false;
  }
  return true;
}

class Loop {
 public:
  Loop(ir::Module* module, Op* loop) : module_(module), loop_(loop), body_(loop->region(0)) {}

  // Products whose operands can be fetched ahead, for the pass to choose from.
  void Find(const Target& target, int num_warps, Trace* trace, std::vector<Op*>* products) const {
    for (Op* op : *body_) {
      if (op->opcode() != Opcode::kMmaF && op->opcode() != Opcode::kMmaI) continue;
      const std::string where = module_->Where(op->loc, op->pos);
      std::string why;
      if (!PlanWgmma(target, num_warps > 0 ? num_warps : WgmmaWarps(*op), *op)) {
        why = "wgmma does not multiply these tiles from shared memory: it needs operands that are nothing but loaded, of "
              "f16, bf16, or others along K, results in f32 or i32, 64 rows and more";
      } else {
        why = WhyNot(*op, 0);
        if (why.empty()) why = WhyNot(*op, 1);
      }
      if (why.empty() && trace != nullptr && !trace->TakesStep("fetch-ahead", absl::StrCat(op->info()->mnemonic, " at ", where))) {
        why = "left out";
      }
      if (why.empty()) products->push_back(op);
      if (trace != nullptr && trace->on_remark) {
        trace->on_remark(absl::StrCat(where, ": remark[fetch]: ", op->info()->mnemonic, ": ",
                                      why.empty() ? "operands are fetched ahead" : "operands are not fetched ahead: ", why));
      }
    }
  }

  // Returns the fetch_ahead.
  const Op* Rewrite(const std::vector<Op*>& products) {
    std::vector<Value*> operands;
    std::vector<ir::Type> types;
    for (Op* mma : products) {
      for (int i = 0; i < 2; ++i) operands.push_back(mma->operand(i));
    }
    for (const Value* v : operands) types.push_back(v->type());
    Value* iv = body_->arg(0);
    const uint32_t end = 1;
    ir::OpSpec spec;
    spec.info = GetGpuOp(GpuOpcode::kFetchAhead);
    spec.operands = {&iv, 1};
    spec.operand_ends = {&end, 1};
    spec.results = types;
    spec.loc = products[0]->loc;
    spec.pos = products[0]->pos;
    Op* fetch = module_->CreateOp(spec);
    region_ = module_->CreateBlock({iv->type()});
    fetch->set_region(0, region_);
    copies_[iv] = region_->arg(0);
    module_->InsertBefore(body_, body_->front(), fetch);

    std::vector<Value*> yielded;
    for (size_t i = 0; i < operands.size(); ++i) {
      yielded.push_back(Copy(operands[i]));
    }
    const uint32_t all = static_cast<uint32_t>(yielded.size());
    ir::OpSpec yield;
    yield.info = ir::GetOp(Opcode::kYield);
    yield.operands = yielded;
    yield.operand_ends = {&all, 1};
    module_->Append(region_, module_->CreateOp(yield));
    for (size_t i = 0; i < operands.size(); ++i) {
      products[i / 2]->set_operand(static_cast<int>(i % 2), fetch->result(static_cast<int>(i)));
      Remove(operands[i]);
    }
    return fetch;
  }

 private:
  bool InLoop(const Value* v) const {
    for (const Block* b = v->def() != nullptr ? v->def()->block() : v->block(); b != nullptr;) {
      if (b == body_) return true;
      b = b->parent() != nullptr ? b->parent()->block() : nullptr;
    }
    return false;
  }

  // The value can be computed for another value of the induction variable, at another time.
  bool CanCopy(const Value* v) const {
    if (v == body_->arg(0)) return true;
    if (!InLoop(v)) return IsSliceable(v);
    const Op* def = v->def();
    if (def == nullptr || def->block() != body_ || !def->info()->has(ir::kPure) || def->num_regions() > 0) return false;
    if (v->type().is_tile() && !v->type().is_scalar()) return false;
    for (int i = 0; i < def->num_operands(); ++i) {
      if (!CanCopy(def->operand(i))) return false;
    }
    return true;
  }

  // Why operand i can't be fetched ahead; "" if it can.
  std::string WhyNot(const Op& mma, int i) const {
    const std::optional<StagedTile> tile = StageOperand(mma, i);
    if (!tile || !MapTensor(*tile->load, *tile, 1)) {
      return "the host does not know the tensor: its address must be a parameter, sizes and strides parameters or constants";
    }
    for (const Value* v = mma.operand(i);; v = v->def()->operand(0)) {
      if (!OnlyUse(v) || v->def()->block() != body_) return "a loaded tile is used elsewhere too";
      if (v->def() == tile->load) break;
    }
    const Op& load = *tile->load;
    bool copies = CanCopy(load.operand("view"));
    for (const Value* index : load.group("index")) copies = copies && CanCopy(index);
    if (!copies || !IsSliceableLoop(*loop_)) {
      return "where a load or the loop begins or ends does not follow from parameters, block numbers and induction variables "
             "alone";
    }
    absl::flat_hash_set<const Value*> seen;
    const Value* token = load.operand("token");
    return token == nullptr || IsHarmless(token, &seen) ? "" : "a token orders a load behind something";
  }

  Value* Copy(Value* v) {
    if (auto it = copies_.find(v); it != copies_.end()) return it->second;
    if (!InLoop(v)) return v;
    Op* def = v->def();
    std::vector<Value*> operands;
    std::vector<uint32_t> ends;
    std::vector<ir::Attr> attrs;
    std::vector<ir::Type> results;
    const auto& fields = def->info()->format->operands;
    for (size_t f = 0; f < fields.size(); ++f) {
      for (int i = def->group_begin(static_cast<int>(f)); i < def->group_end(static_cast<int>(f)); ++i) {
        // Tokens that order loads behind no write say nothing.
        if (!def->operand(i)->type().is_token()) operands.push_back(Copy(def->operand(i)));
      }
      ends.push_back(static_cast<uint32_t>(operands.size()));
    }
    for (size_t i = 0; i < def->info()->format->attrs.size(); ++i) attrs.push_back(def->attr(static_cast<int>(i)));
    for (int i = 0; i < def->num_results(); ++i) results.push_back(def->result(i)->type());
    Op* op = module_->CreateOp({.info = def->info(), .operands = operands, .operand_ends = ends, .results = results,
                                .attrs = attrs, .loc = def->loc, .pos = def->pos});
    module_->Append(region_, op);
    for (int i = 0; i < def->num_results(); ++i) copies_[def->result(i)] = op->result(i);
    return op->result(v->index());
  }

  // The load and what stands between it and the product. What waited for the load waits for nothing more than it did.
  void Remove(Value* v) {
    while (true) {
      Op* def = v->def();
      Value* source = def->opcode() == Opcode::kLoadView ? nullptr : def->operand(0);
      if (source == nullptr) {
        Value* token = def->result("token");
        if (token != nullptr && token->has_uses()) {
          Value* before = def->operand("token");
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

  ir::Module* module_;
  Op* loop_;
  Block* body_;
  Block* region_ = nullptr;
  absl::flat_hash_map<const Value*, Value*> copies_;
};

bool StandsInOrHolds(const Op* loop, const Op* other) {
  for (const Op* p = loop->parent(); p != nullptr; p = p->parent()) {
    if (p == other) return true;
  }
  for (const Op* p = other->parent(); p != nullptr; p = p->parent()) {
    if (p == loop) return true;
  }
  return false;
}

}  // namespace

FetchPlan FetchAhead(const Target& target, int num_warps, ir::Module* module, ir::Function* function, Trace* trace) {
  FetchPlan plan;
  if (!target.has(kWgmma) || !target.has(kTma) || num_warps % 4 != 0) return plan;
  std::vector<std::pair<Op*, std::vector<Op*>>> loops;
  ir::Walk(function->body(), [&](Op* op) {
    if (op->opcode() != Opcode::kFor || op->region(0) == nullptr) return;
    for (const auto& [other, products] : loops) {
      if (StandsInOrHolds(op, other)) return;  // one ring at a time
    }
    std::vector<Op*> products;
    Loop(module, op).Find(target, num_warps, trace, &products);
    if (!products.empty()) loops.emplace_back(op, std::move(products));
  });
  int warps = num_warps;
  if (warps == 0) {
    for (const auto& [loop, products] : loops) {
      for (const Op* mma : products) warps = std::max(warps, WgmmaWarps(*mma));
    }
  }
  std::vector<const Op*> fetches;
  for (auto& [loop, products] : loops) {
    products.erase(std::remove_if(products.begin(), products.end(),
                                  [&](const Op* mma) { return !PlanWgmma(target, warps, *mma).has_value(); }),
                   products.end());
    if (products.empty()) continue;
    fetches.push_back(Loop(module, loop).Rewrite(products));
    plan.num_warps = warps;
  }
  if (target.has(kCluster)) plan.sharing = FindSharing(*function);
  for (const Op* fetch : fetches) {
    for (const StagedTile& tile : LayoutStage(*fetch).tiles) {
      plan.map_of[tile.load] = static_cast<int>(plan.maps.size());
      plan.maps.push_back(*MapTensor(*tile.load, tile, plan.sharing.loads.contains(tile.load) ? kClusterBlocks : 1));
    }
  }
  return plan;
}

}  // namespace tile::codegen

#include "codegen/passes/split_products.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "codegen/passes/slice_order.h"
#include "codegen/passes/slice_rules.h"
#include "codegen/passes/split_rounds.h"
#include "codegen/passes/split_view.h"
#include "codegen/staging.h"
#include "ir/ops.h"

namespace tile::codegen {
namespace {

using ir::Block;
using ir::Op;
using ir::Opcode;
using ir::Value;

constexpr int kParts = 2;
constexpr int64_t kLeastRows = 64;  // of a part: what wgmma multiplies

bool IsTile(const Value* v) { return v->type().is_tile() && v->type().rank() > 0; }

// One product loop, what is computed from its result, and the store.
class Product {
 public:
  Product(ir::Module* module, Op* mma) : module_(module), mma_(mma), loop_(mma->parent()) {}

  // Why it can't be split so that the result is along this dimension (0: rows, 1: columns); "": it can.
  std::string WhyNot(int dim) {
    dims_.clear();
    store_ = nullptr;
    if (std::string why = FindStore(); !why.empty()) return why;
    if (loop_->result(0)->type().shape()[static_cast<size_t>(dim)] < kParts * kLeastRows) return "its parts would be too small";
    // The store's dimension that the result's becomes.
    std::string why = "the result's dimension is none of what is stored";
    for (int d = 0; d < store_->operand("tile")->type().rank(); ++d) {
      dims_.clear();
      std::vector<int> dims;
      why = OperandDims(*store_, d, kParts, &dims);
      if (why.empty()) why = NeedOperands(*store_, dims);
      if (!why.empty()) continue;
      const auto it = dims_.find(loop_->result(0));
      if (it == dims_.end() || it->second != dim) {
        why = "the result's dimension is none of what is stored";
        continue;
      }
      stored_dim_ = d;
      break;
    }
    if (!why.empty()) return why;
    if (why = Need(loop_->operand(3), dim); !why.empty()) return why;
    if (!CanSplitAccess(*store_, stored_dim_, kParts)) return "the store's view can't be cut";
    const StagedTile tile = *StageOperand(*mma_, dim);
    if (!CanSplitAccess(*tile.load, DimOf(tile), kParts)) return "an operand's view can't be cut";
    return WhyNotLegal();
  }

  void Split(int dim) {
    std::vector<Op*> moved;
    for (Op* op : *loop_->block()) {
      if (op == loop_ || op == store_ || IsMade(*op)) moved.push_back(op);
    }
    Block* apart = module_->CreateBlock({});
    ir::Builder b(module_, apart);
    b.set_loc(loop_->loc);
    const ir::Type i32 = b.types().Scalar(ir::Elem::kI32);
    Value *zero = ir::ops::Integer(b, i32, 0), *one = ir::ops::Integer(b, i32, 1), *end = ir::ops::Integer(b, i32, kParts);
    // Who waits for the store waits for those of all parts.
    Value* stored = store_->result("token");
    ir::ops::Values tokens;
    if (stored != nullptr && stored->has_uses()) {
      tokens.push_back(store_->operand("token") != nullptr ? store_->operand("token") : ir::ops::MakeToken(b));
    }
    const ir::ops::Values done =
        ir::ops::For(b, zero, end, one, tokens, [](Value*, const ir::ops::Values& carried) { return carried; });
    Block* body = apart->back()->region(0);
    if (!done.empty()) {
      stored->ReplaceAllUsesWith(done[0]);
      body->back()->set_operand(0, stored);
    }
    while (!apart->empty()) {
      Op* op = apart->front();
      op->Unlink();
      module_->InsertBefore(store_->block(), store_, op);
    }
    for (Op* op : moved) {
      op->Unlink();
      module_->InsertBefore(body, body->back(), op);
    }
    Retype(moved, body);
    Value* part = body->arg(0);
    SplitAccess(module_, store_, stored_dim_, kParts, part);
    for (Op* op : moved) {
      if (op->opcode() == Opcode::kLoadView) SplitAccess(module_, op, dims_.at(op->result("tile")), kParts, part);
    }
    SplitOperand(module_, mma_, dim, DimOf(*StageOperand(*mma_, dim)), kParts, part);
  }

  const Op& loop() const { return *loop_; }

 private:
  // Of the load's tile, not along K.
  static int DimOf(const StagedTile& t) { return t.k_major ? t.other : t.contiguous; }
  bool IsMade(const Op& op) const {
    return &op != loop_ && op.opcode() != Opcode::kConstant && op.num_results() > 0 && dims_.contains(op.result(0));
  }

  // The one store that all uses of the result lead to.
  std::string FindStore() {
    std::vector<const Value*> open = {loop_->result(0)};
    absl::flat_hash_set<const Value*> seen;
    while (!open.empty()) {
      const Value* v = open.back();
      open.pop_back();
      for (const ir::Use* use = v->uses(); use != nullptr; use = use->next) {
        Op* op = use->owner;
        const std::string name(op->info()->mnemonic);
        if (op->block() != loop_->block()) return absl::StrCat(name, " uses the result elsewhere");
        if (op->opcode() == Opcode::kStoreView) {
          if (!IsWeak(*op)) return "the store is ordered";
          if (store_ != nullptr && store_ != op) return "there are several stores";
          store_ = op;
          continue;
        }
        if (!op->info()->has(ir::kPure) || op->num_regions() > 0) return absl::StrCat(name, " needs all of the result");
        for (int i = 0; i < op->num_results(); ++i) {
          if (seen.insert(op->result(i)).second) open.push_back(op->result(i));
        }
      }
    }
    return store_ == nullptr ? "nothing is stored" : "";
  }

  std::string NeedOperands(const Op& op, const std::vector<int>& dims) {
    for (int i = 0; i < op.num_operands(); ++i) {
      if (!IsTile(op.operand(i)) || dims[static_cast<size_t>(i)] == kWhole) continue;
      if (std::string why = Need(op.operand(i), dims[static_cast<size_t>(i)]); !why.empty()) return why;
    }
    return "";
  }

  std::string Need(const Value* v, int dim) {
    if (const auto [it, fresh] = dims_.insert({v, dim}); !fresh) {
      return it->second == dim ? "" : "a tile would be cut in two ways";
    }
    const Op* def = v->def();
    if (def == loop_) return "";
    const std::string name(def == nullptr ? "" : def->info()->mnemonic);
    if (def == nullptr) return "a tile goes round in a loop";
    std::vector<int> dims;
    if (std::string why = OperandDims(*def, dim, kParts, &dims); !why.empty()) return absl::StrCat(name, ": ", why);
    if (def->opcode() == Opcode::kConstant) return "";
    if (def->block() != loop_->block()) return absl::StrCat(name, " stands elsewhere");
    const bool copies = def->info()->has(ir::kElementwise) || def->opcode() == Opcode::kBroadcast ||
                        def->opcode() == Opcode::kPermute || def->opcode() == Opcode::kLoadView;
    if (!copies) return absl::StrCat(name, " is not cut");
    if (def->opcode() == Opcode::kLoadView) {
      if (!CanSplitAccess(*def, dim, kParts)) return absl::StrCat(name, ": its view can't be cut");
      if (def->result("token") != nullptr && def->result("token")->has_uses()) return absl::StrCat(name, ": something waits for it");
    }
    return NeedOperands(*def, dims);
  }

  std::string WhyNotLegal() {
    const Op* first = nullptr;
    std::vector<const Op*> loads;
    for (const Op* op : *loop_->block()) {
      const bool in_parts = op == loop_ || IsMade(*op);
      if (in_parts && first == nullptr) first = op;
      if (op == store_) break;
      if (in_parts && op->opcode() == Opcode::kLoadView) loads.push_back(op);
      // What is made in parts is needed by nothing else.
      for (int i = 0; in_parts && op != loop_ && i < op->num_results(); ++i) {
        for (const ir::Use* use = op->result(i)->uses(); use != nullptr; use = use->next) {
          if (use->owner != store_ && use->owner != loop_ && !IsMade(*use->owner))
            return absl::StrCat(use->owner->info()->mnemonic, " needs all of a tile");
        }
      }
      if (first == nullptr || in_parts) continue;
      bool passes = true;
      const auto look = [&](const Op& o) {
        passes = passes && !o.info()->has(ir::kWrites) && !o.info()->has(ir::kEffect) && (!o.info()->has(ir::kReads) || IsWeak(o));
      };
      look(*op);
      for (int r = 0; r < op->num_regions(); ++r) {
        if (op->region(r) != nullptr) ir::Walk(op->region(r), [&](Op* inside) { look(*inside); });
      }
      if (!passes) return absl::StrCat(op->info()->mnemonic, " stands between");
    }
    SliceOrder order;
    for (const Op* load : loads) {
      if (order.MustFollow(*store_, *load) && !SliceOrder::SameElements(*store_, *load))
        return "the store may overwrite other elements of what is loaded for it";
    }
    for (int i = 0; i < 2; ++i) {
      if (order.MustFollow(*store_, *StageOperand(*mma_, i)->load)) return "the store may overwrite an operand";
    }
    return "";
  }

  void Retype(const std::vector<Op*>& moved, Block* body) {
    ir::TypeContext& types = module_->types();
    const auto retype = [&](Value* v, int dim) { v->set_type(SlicedType(types, v->type(), dim, kParts)); };
    // Constants may be used by others, too.
    absl::flat_hash_map<const Value*, Value*> constants;
    for (Op* op : moved) {
      for (int i = 0; i < op->num_operands(); ++i) {
        Value* v = op->operand(i);
        const auto it = dims_.find(v);
        if (it == dims_.end() || v->def()->opcode() != Opcode::kConstant) continue;
        Value*& part = constants[v];
        if (part == nullptr) {
          OpWriter w(module_, body->front());
          part = w.Make(Opcode::kConstant, {}, SlicedType(types, v->type(), it->second, kParts), {{"value", v->def()->attr("value")}});
        }
        op->set_operand(i, part);
      }
    }
    for (Op* op : moved) {
      // Loads change with their views.
      if (!IsMade(*op) || op->opcode() == Opcode::kLoadView) continue;
      for (int i = 0; i < op->num_results(); ++i) retype(op->result(i), dims_.at(op->result(0)));
    }
    const int dim = dims_.at(loop_->result(0));
    for (Value* v : {loop_->result(0), loop_->region(0)->arg(1), mma_->result(0)}) retype(v, dim);
  }

  ir::Module* module_;
  Op* mma_;
  Op* loop_;
  Op* store_ = nullptr;
  int stored_dim_ = 0;
  absl::flat_hash_map<const Value*, int> dims_;  // of which parts are made, along which dimension
};

}  // namespace

int SplitProducts(int64_t limit, ir::Module* module, ir::Function* function, Trace* trace) {
  int splits = 0;
  absl::flat_hash_set<const Op*> left;
  for (bool again = true; again;) {
    again = false;
    std::vector<Op*> large;
    ir::Walk(function->body(), [&](Op* op) {
      const bool product = op->opcode() == Opcode::kMmaF || op->opcode() == Opcode::kMmaI;
      if (product && !left.contains(op) && op->result(0)->type().num_elements() > limit && IsProductLoop(*op)) large.push_back(op);
    });
    for (Op* mma : large) {
      Product product(module, mma);
      const auto shape = mma->result(0)->type().shape();
      const int longer = shape[0] >= shape[1] ? 0 : 1;
      int dim = longer;
      std::string why = product.WhyNot(dim);
      if (!why.empty() && product.WhyNot(1 - longer).empty()) {
        dim = 1 - longer;
        why.clear();
      }
      const std::string where = module->Where(mma->loc, mma->pos);
      if (why.empty() && trace != nullptr && !trace->TakesStep("split-product", absl::StrCat(mma->info()->mnemonic, " at ", where))) {
        why = "left out";
      }
      if (trace != nullptr && trace->on_remark) {
        trace->on_remark(absl::StrCat(where, ": remark[split]: ", mma->info()->mnemonic, ": ", mma->result(0)->type().ToString(),
                                      why.empty() ? absl::StrCat(" in ", kParts, " parts along dimension ", dim)
                                                  : absl::StrCat(" exceeds the registers and stays whole: ", why)));
      }
      if (!why.empty()) {
        left.insert(mma);
        continue;
      }
      product.Split(dim);
      ++splits;
      again = true;
    }
  }
  return splits;
}

int64_t MostProductElements(int num_warps) {
  // 128 of a thread's 255 registers; with 16 warps it has half of them.
  const int warps = num_warps == 0 ? 8 : std::min(num_warps, 8);
  return int64_t{128} * 32 * warps;
}

}  // namespace tile::codegen

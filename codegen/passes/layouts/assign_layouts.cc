#include "codegen/passes/layouts/assign_layouts.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "codegen/analysis/op_rules.h"
#include "codegen/gpu/ops.h"
#include "codegen/passes/layouts/layout_rules.h"
#include "codegen/passes/unused.h"
#include "ir/create_like.h"
#include "ir/op_views.h"
#include "ir/passes/hoist.h"
#include "ir/passes/rewrite.h"

namespace tile::codegen {
namespace {

using ir::Op;
using ir::Value;

constexpr int kRemakeDepth = 12;   // operations that are made again for one value
constexpr int64_t kRowBits = 128;  // of a thread, which one instruction loads

class Assigner : public LayoutRules {
 public:
  using LayoutRules::LayoutRules;

  void Run(ir::Function* f) {
    NoteAccesses(f->body());
    while (InferBlock(f->body())) {
    }
    LetRowsDecide(f->body());
    while (InferBlock(f->body())) {
    }
    SettleBlock(f->body());
    RemoveUnused(f->body());
    ReplaceLoads();
    RemoveUnused(f->body());
  }

 private:
  bool InferBlock(ir::Block* block) {
    changed_ = false;
    ir::Walk(block, [&](Op* op) { Infer(*op); });
    return changed_;
  }

  void SettleBlock(ir::Block* block) {
    for (Op* op = block->front(); op != nullptr;) {
      Op* next = op->next();
      Settle(op);
      op = next;
    }
  }

  void Settle(Op* op) {
    if (op->info()->has(ir::kElementBody)) return SettleOperation(op);  // the body is scalar
    for (int r = 0; r < op->num_regions(); ++r) {
      if (op->region(r) == nullptr) continue;
      for (Value* arg : op->region(r)->args()) SettleValue(arg);
    }
    SettleOperation(op);
    for (int r = 0; r < op->num_regions(); ++r) {
      if (op->region(r) != nullptr) SettleBlock(op->region(r));
    }
  }

  void SettleOperation(Op* op) {
    for (int i = 0; i < op->num_results(); ++i) SettleValue(op->result(i));
    // What this operation asks of its operands.
    SetOperands(op);
  }

  void SetOperands(Op* op) {
    const auto wanted = Wanted(*op);
    for (int i = 0; i < op->num_operands(); ++i) {
      if (const Layout* layout = wanted[static_cast<size_t>(i)]) op->set_operand(i, In(op->operand(i), layout));
    }
  }

  void SettleValue(Value* v) {
    if (!NeedsLayout(v->type()) || LayoutOf(v->type()) != nullptr) return;
    SetLayout(module(), v, Decided(v));
  }

  // The value in this layout: itself, made again, or converted. It follows the definition, so it serves all uses.
  Value* In(Value* v, const Layout* layout) {
    if (LayoutOf(v->type()) == layout) return v;
    // Not by way of a third layout, in which nobody may want it in the end.
    while (v->def() != nullptr && v->def()->info() == GetGpuOp(GpuOpcode::kConvertLayout)) v = v->def()->operand(0);
    if (LayoutOf(v->type()) == layout && !IsFetch(v->def())) return v;
    Value*& known = made_[{v, layout}];
    if (known != nullptr) return known;
    // Of a row, a few neighbours in each thread, which load them as soon as they would get them from others.
    const int64_t bits = layout->RemoveZeroRegisters().registers() * ir::MemoryBits(ElementOf(v->type()));
    Value* made = Cheap(v, kRemakeDepth, bits <= kRowBits) ? Remake(v, layout) : Convert(v, layout);
    return made_[{v, layout}] = made;
  }

  // Loads that nobody takes any more: what came behind them comes behind those in their place.
  void ReplaceLoads() {
    for (const auto& [old, made] : loads_) {
      if (old->result(0)->has_uses()) continue;
      for (int i = 1; i < old->num_results(); ++i) old->result(i)->ReplaceAllUsesWith(made->result(i));
      old->Erase();
    }
  }

  static ir::Elem ElementOf(ir::Type type) { return type.element().is_pointer() ? ir::Elem::kI64 : type.elem(); }

  // Worth making again rather than moving through shared memory. `rows`: loads of rows are.
  static bool Cheap(const Value* v, int depth, bool rows) {
    const Op* def = v->def();
    if (v->type().is_scalar()) return true;
    if (def == nullptr || depth == 0 || IsGpuOp(*def->info())) return false;
    if (const auto load = ir::As<ir::LoadPtrOp>(def)) {
      const auto shape = v->type().shape();
      const bool is_row = *std::max_element(shape.begin(), shape.end()) == v->type().num_elements();
      return rows && is_row && !IsFetch(def->parent()) && ir::OrderingOf(*def) == ir::MemoryOrdering::kWeak &&
             Cheap(load->source(), depth - 1, false) &&
             (load->mask() == nullptr || Cheap(load->mask(), depth - 1, false));
    }
    switch (def->info()->family) {
      case ir::Family::kConstant:
        return def->opcode() == ir::Opcode::kAssume ? Cheap(def->operand(0), depth - 1, rows) : true;
      case ir::Family::kShape:
        // A broadcast asks for its small source elsewhere, which is cheaper than moving its result.
        if (RuleOf(*def).registers == RegisterRule::kRepeat) return true;
        return RuleOf(*def).registers == RegisterRule::kSource && Cheap(def->operand(0), depth - 1, rows);
      case ir::Family::kMath: return false;
      default:
        if (!def->info()->has(ir::kElementwise)) return false;
        for (int i = 0; i < def->num_operands(); ++i) {
          if (!Cheap(def->operand(i), depth - 1, rows)) return false;
        }
        return true;
    }
  }

  Value* Remake(Value* v, const Layout* layout) {
    Op* def = v->def();
    Op* op = ir::CreateLike(module(), *def, ir::OperandsOf(*def), ir::ResultTypesOf(*def));
    SetLayout(module(), op->result(0), layout);
    module()->InsertBefore(def->block(), def->next(), op);
    SetOperands(op);
    if (op->info()->is_load()) loads_.emplace_back(def, op);
    return op->result(0);
  }

  Value* Convert(Value* v, const Layout* layout) {
    ir::Type type = v->type();
    const uint32_t end = 1;
    Value* operand = v;
    ir::OpSpec spec;
    spec.info = GetGpuOp(GpuOpcode::kConvertLayout);
    spec.operands = {&operand, 1};
    spec.operand_ends = {&end, 1};
    spec.results = {&type, 1};
    Op* op = module()->CreateOp(spec);
    SetLayout(module(), op->result(0), layout);
    if (Op* def = v->def()) {
      MoveOut(def);
      op->loc = def->loc;
      op->pos = def->pos;
      module()->InsertBefore(def->block(), def->next(), op);
    } else {
      module()->InsertBefore(v->block(), v->block()->front(), op);
    }
    return op->result(0);
  }

  // What a loop does not change is converted once, in front of it. Of what is only seen in another shape that costs no register: its
  // source is there anyway.
  void MoveOut(Op* def) {
    if (RuleOf(*def).registers != RegisterRule::kSource || !ir::MayRunAnywhere(*def)) return;
    for (Op* loop = def->parent(); loop != nullptr && loop->info()->has(ir::kLoop); loop = def->parent()) {
      for (int i = 0; i < def->num_operands(); ++i) {
        if (ir::IsInside(def->operand(i), loop)) return;
      }
      ir::MoveBefore(module(), def, loop);
    }
  }

  static void RemoveUnused(ir::Block* block) {
    std::vector<Op*> ops;
    ir::Walk(block, [&](Op* op) { ops.push_back(op); });
    for (auto it = ops.rbegin(); it != ops.rend(); ++it) {
      if (IsUnused(**it)) (*it)->Erase();
    }
  }

  absl::flat_hash_map<std::pair<Value*, const Layout*>, Value*> made_;
  std::vector<std::pair<Op*, Op*>> loads_;  // that were made again
};

}  // namespace

absl::Status AssignLayouts(const Schedule& plan, ir::Module* module, ir::Function* function, LayoutTable* layouts) {
  Assigner(plan, module, layouts).Run(function);
  return absl::OkStatus();
}

absl::Status AssignLayouts(Program& p) {
  return AssignLayouts(*ScheduleOf(*p.function), p.module.get(), p.function, &p.layouts);
}

}  // namespace tile::codegen

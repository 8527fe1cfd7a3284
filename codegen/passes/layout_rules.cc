#include "codegen/passes/layout_rules.h"

#include <algorithm>

#include "codegen/analysis/op_rules.h"
#include "codegen/analysis/product_chain.h"
#include "codegen/plan/mma_layout.h"
#include "codegen/plan/staging.h"
#include "codegen/plan/tma_store.h"
#include "codegen/plan/wgmma_plan.h"
#include "ir/loops.h"

namespace tile::codegen {
namespace {

using ir::Op;
using ir::Type;
using ir::Value;

using Rule = LayoutRule;

// Of a thread, in which fragments may wait over all rounds of a loop.
constexpr int kInvariantBits = 32 * 32;

bool IsTile(const Value* v) { return v->type().is_tile() && v->type().rank() > 0; }

Layout SourceOfBroadcast(Layout layout, absl::Span<const int64_t> shape) {
  for (int d = 0; d < layout.rank(); ++d) {
    if (shape[d] == 1) layout = layout.Collapse(d);
  }
  return layout.RemoveZeroRegisters();
}

Layout OnlyDimension(Layout layout, int dim) {
  for (int d = layout.rank() - 1; d >= 0; --d) {
    if (d != dim) layout = layout.Slice(d);
  }
  return layout.RemoveZeroRegisters();
}

absl::InlinedVector<int, 8> PermutationOf(const Op& op) {
  const auto p = ir::PermuteOp(op).permutation();
  return {p.begin(), p.end()};
}

int64_t VectorOf(Type t) {
  const ir::Elem e = t.element().is_pointer() ? t.element().pointee : t.elem();
  return 128 / ir::MemoryBits(e);
}

}  // namespace

const Layout* LayoutRules::Inferred(const Value* v) const {
  auto it = inferred_.find(v);
  return it == inferred_.end() ? nullptr : it->second;
}

void LayoutRules::SetInferred(const Value* v, const Layout* layout) {
  if (!IsTile(v) || layout == nullptr) return;
  const Layout*& known = inferred_[v];
  if (known != nullptr) return;
  known = layout;
  changed_ = true;
}

const Value* LayoutRules::Receiver(const Op& branch, int i) {
  // Bodies of reduce are scalar, and what a stage holds has no layout.
  if (ir::YieldOp::Is(&branch) && !ir::IfOp::Is(branch.parent())) return nullptr;
  return ir::ReceiverOf(branch, i);
}

template <class Known>
const Layout* LayoutRules::Forward(const Op& op, const Value* result, Known known) {
  switch (RuleOf(op).layout) {
    case Rule::kSame:
      for (int i = 0; i < op.num_operands(); ++i) {
        if (!IsTile(op.operand(i))) continue;
        if (const Layout* l = known(op.operand(i))) return l;
      }
      return nullptr;
    case Rule::kReshape: {
      const Layout* l = IsTile(op.operand(0)) ? known(op.operand(0)) : nullptr;
      return l == nullptr ? nullptr : Intern(l->Reshape(result->type().shape()));
    }
    case Rule::kPermute: {
      const Layout* l = known(op.operand(0));
      return l == nullptr ? nullptr : Intern(l->Permute(PermutationOf(op)));
    }
    case Rule::kInsert: return known(ir::InsertOp(op).destination());
    case Rule::kReduce: {
      const Layout* l = known(op.operand(0));
      return l == nullptr ? nullptr : Intern(l->Slice(static_cast<int>(ir::ReduceOp(op).dim())).RemoveZeroRegisters());
    }
    case Rule::kLoadView: return ForView(ir::LoadViewOp(op).view()->type());
    case Rule::kMma: return Intern(MmaResultLayout(target_, plan_, op));
    default: return nullptr;
  }
}

void LayoutRules::Infer(const Op& op) {
  auto known = [&](const Value* v) { return Inferred(v); };
  switch (RuleOf(op).layout) {
    case Rule::kBranch:
      for (int i = 0; i < op.num_operands(); ++i) {
        if (const Value* to = Receiver(op, i)) SetInferred(to, Inferred(op.operand(i)));
      }
      return;
    case Rule::kLoop: {
      const ir::CarryingLoop loop(op);
      for (int i = 0; i < loop.num_carried(); ++i) {
        SetInferred(loop.arg(i), Inferred(loop.init(i)));
        if (loop.counts()) SetInferred(loop.result(i), Inferred(loop.arg(i)));
      }
      return;
    }
    default:
      for (int i = 0; i < op.num_results(); ++i) {
        if (IsTile(op.result(i))) SetInferred(op.result(i), Forward(op, op.result(i), known));
      }
  }
}

const Layout* LayoutRules::Decided(const Value* v) {
  const Op* def = v->def();
  // What comes out of a for is what went around.
  if (ir::ForOp::Is(def)) return LayoutOf(ir::CarryingLoop(*def).arg(v->index())->type());
  if (const Layout* l = Inferred(v)) return l;
  if (def != nullptr) {
    if (const Layout* l = Forward(*def, v, [](const Value* x) { return LayoutOf(x->type()); })) return l;
  }
  return DefaultFor(v->type());
}

const Layout* LayoutRules::Wanted(const Op& op, int i) {
  const Value* v = op.operand(i);
  switch (RuleOf(op).layout) {
    case Rule::kSame: {
      for (int r = 0; r < op.num_results(); ++r) {
        if (IsTile(op.result(r))) return LayoutOf(op.result(r)->type());
      }
      // A store: the operand that something decided about, the later (the value) before the earlier (the pointers).
      const Layout* best = nullptr;
      for (int k = 0; k < op.num_operands(); ++k) {
        if (!IsTile(op.operand(k))) continue;
        if (best == nullptr || Inferred(op.operand(k)) != nullptr) best = LayoutOf(op.operand(k)->type());
      }
      return best;
    }
    case Rule::kReshape:
      return Intern(LayoutOf(op.result(0)->type()) != nullptr
                        ? LayoutOf(op.result(0)->type())->Reshape(v->type().shape())
                        : Layout::Replicated(v->type().shape(), plan_.num_warps));
    case Rule::kPermute: {
      const auto p = PermutationOf(op);
      absl::InlinedVector<int, 8> inverse(p.size());
      for (size_t k = 0; k < p.size(); ++k) inverse[p[k]] = static_cast<int>(k);
      return Intern(LayoutOf(op.result(0)->type())->Permute(inverse));
    }
    case Rule::kBroadcast: return Intern(SourceOfBroadcast(*LayoutOf(op.result(0)->type()), v->type().shape()));
    case Rule::kInsert: return v == ir::InsertOp(op).destination() ? LayoutOf(op.result(0)->type()) : nullptr;
    case Rule::kReduce: return LayoutOf(op.operand(0)->type());
    case Rule::kLoadView: {  // the index tile of a gather
      const Type view = ir::LoadViewOp(op).view()->type();
      return Intern(OnlyDimension(*LayoutOf(op.result(0)->type()), view->sparse_dim));
    }
    case Rule::kStoreView: {
      const Type view = ir::ViewAccessOp(op).view()->type();
      const Value* tile = ir::StoreViewOp::Is(&op) ? ir::StoreViewOp(op).tile() : ir::ViewUpdateOp(op).value();
      const Layout* l = ForStore(op, LayoutOf(tile->type()));
      return v == tile ? l : Intern(OnlyDimension(*l, view->sparse_dim));
    }
    case Rule::kMma: return v == ir::MmaOp(op).acc() ? LayoutOf(op.result(0)->type()) : ForInvariant(op, i);
    case Rule::kLoop: {
      const ir::CarryingLoop loop(op);
      const int carried = loop.carried_by_operand(i);
      return carried < 0 ? nullptr : LayoutOf(loop.arg(carried)->type());
    }
    case Rule::kBranch: {
      const Value* to = Receiver(op, i);
      return to == nullptr ? nullptr : LayoutOf(to->type());
    }
    default: return nullptr;
  }
}

const Layout* LayoutRules::ForInvariant(const Op& mma, int i) {
  const Value* v = mma.operand(i);
  if (!IsInvariant(mma, i) || FetchOf(mma) != nullptr || CopyOf(mma, i) != nullptr) return nullptr;
  if (PlanWgmmaOfCopies(target_, plan_.num_warps, mma)) return nullptr;  // it is staged in shared memory
  const auto plan = PlanMma(target_, plan_, mma);
  if (!plan) return nullptr;
  const Layout fragment = MmaLayout(plan->tile, i == 0 ? Operand::kA : Operand::kB);
  const int bits = ir::ElemInfoOf(v->type().elem()).storage * 8;
  return fragment.registers() * bits <= kInvariantBits ? Intern(fragment) : nullptr;
}

const Layout* LayoutRules::DefaultFor(Type t) {
  return Intern(Layout::Default(t.shape(), plan_.num_warps, static_cast<int>(VectorOf(t))));
}

const Layout* LayoutRules::ForView(Type view) {
  const int fastest = FastestDim(view), last = view.rank() - 1;
  absl::InlinedVector<int, 8> swap;
  Shape shape(view.shape().begin(), view.shape().end());
  for (int d = 0; d <= last; ++d) swap.push_back(d);
  std::swap(swap[fastest], swap[last]);
  std::swap(shape[fastest], shape[last]);
  return Intern(Layout::Default(shape, plan_.num_warps, static_cast<int>(VectorOf(view))).Permute(swap));
}

const Layout* LayoutRules::ForStore(const Op& op, const Layout* own) {
  if (plan_.producer && PlanTmaStore(op, *own)) return own;
  const Type view = ir::ViewAccessOp(op).view()->type();
  const int fastest = FastestDim(view);
  const int bits = ir::MemoryBits(view.elem());
  // How much of the fastest dimension a warp writes in one go, and a thread.
  auto run = [&](std::initializer_list<In> ins) {
    Subspace span;
    for (In in : ins) {
      for (Mask base : own->bases(in)) span.Insert(base);
    }
    int n = 0;
    while (n < own->dim_bits(fastest) && span.Contains(Mask{1} << (own->dim_shift(fastest) + n))) ++n;
    return bits << n;
  };
  const bool whole_sectors = run({In::kRegister, In::kLane}) >= 256 || view.shape()[fastest] * bits < 256;
  const bool whole_words = run({In::kRegister}) >= 32 || view.shape()[fastest] * bits < 32;
  const bool byte_pairs = bits >= 8 || run({In::kRegister}) >= 8;
  if (whole_sectors && whole_words && byte_pairs) return own;
  return ForView(view);
}

}  // namespace tile::codegen

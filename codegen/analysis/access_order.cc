#include "codegen/analysis/access_order.h"

#include <algorithm>
#include <vector>

#include "codegen/analysis/slice_dims.h"
#include "ir/op_views.h"

namespace tile::codegen {
namespace {

using ir::Op;
using ir::Value;

constexpr int kDepth = 32;  // operations that are looked at for one question

// Where an address comes from: a parameter, a global, an allocation, a word in memory; null: unknown.
struct Root {
  const Value* value = nullptr;
  bool shared = false;
  bool own = false;     // an allocation of this block
  bool loaded = false;  // it may be any address, that of an allocation, too
};

// An integer, or a part of it, that memory holds, as a list of tensors is passed.
bool IsLoaded(const Value* v) {
  for (int depth = 0; depth < kDepth && v->def() != nullptr; ++depth) {
    if (v->def()->info()->is_load()) return true;
    if (!v->def()->info()->has(ir::kMoves)) return false;
    v = v->def()->operand(0);
  }
  return false;
}

bool PointsToMemory(ir::Type t) { return t.is_tile() ? t.element().is_pointer() : t.is_tensor_view() || t.is_view(); }

Root RootOf(const Value* v) {
  for (int depth = 0; depth < kDepth; ++depth) {
    const Op* def = v->def();
    if (def == nullptr) return v->block()->parent() == nullptr ? Root{v} : Root{};
    if (ir::AllocSharedOp::Is(def)) return {v, true, true};
    if (ir::AllocaOp::Is(def)) return {v, false, true};
    if (ir::GetGlobalOp::Is(def)) return {v};
    const bool same_place = def->info()->has(ir::kAlias) || def->info()->has(ir::kMoves) || ir::OffsetOp::Is(def) ||
                            ir::MakeTensorViewOp::Is(def);
    if (ir::IntToPtrOp::Is(def) && IsLoaded(def->operand(0))) return {.value = v, .loaded = true};
    if (!same_place || !PointsToMemory(def->operand(0)->type())) return {};
    v = def->operand(0);
  }
  return {};
}

const Value* AddressOf(const Op& access) {
  for (ir::Field field : {ir::Field::kView, ir::Field::kSource, ir::Field::kDestination, ir::Field::kPointers}) {
    if (const Value* v = ir::FindOperand(access, field)) return v;
  }
  return nullptr;
}

Root RootOf(const Op& access) {
  const Value* address = AddressOf(access);
  return address == nullptr ? Root{} : RootOf(address);
}

using Pairs = absl::flat_hash_set<std::pair<const Value*, const Value*>>;

// One value, or the same operations on the same values. `seen`: pairs that are the same, unless one that is not has ended the search.
bool Same(const Value* a, const Value* b, int depth, Pairs* seen) {
  if (a == b || seen->contains({a, b})) return true;
  if (a == nullptr || b == nullptr || depth > kDepth || a->type() != b->type() || a->index() != b->index())
    return false;
  const Op *x = a->def(), *y = b->def();
  if (x == nullptr || y == nullptr || x->info() != y->info() || !x->info()->has(ir::kPure) || x->num_regions() > 0)
    return false;
  if (x->num_operands() != y->num_operands()) return false;
  for (size_t i = 0; i < x->info()->format->attrs.size(); ++i) {
    const ir::Attr &p = x->attr(static_cast<int>(i)), &q = y->attr(static_cast<int>(i));
    if (p.present() != q.present() || (p.present() && !ir::Equal(p, q))) return false;
  }
  for (int i = 0; i < x->num_operands(); ++i) {
    if (!Same(x->operand(i), y->operand(i), depth + 1, seen)) return false;
  }
  seen->insert({a, b});
  return true;
}

bool Same(const Value* a, const Value* b) {
  Pairs seen;
  return Same(a, b, 0, &seen);
}

// The same tensor cut in the same way; what is outside may read as something else.
bool SameView(const Value* a, const Value* b) {
  const ir::Type s = a->type(), t = b->type();
  return s.kind() == t.kind() && s->shape == t->shape && s->dim_map == t->dim_map && s->steps == t->steps &&
         Same(a->def()->operand(0), b->def()->operand(0));
}

}  // namespace

const SliceOrder::Ops& SliceOrder::Followers(const Op& load) {
  if (auto it = followers_.find(&load); it != followers_.end()) return it->second;
  Ops ops;
  absl::flat_hash_set<const Value*> seen;
  std::vector<const Value*> open;
  auto reach = [&](const Value* v) {
    if (v->type().is_token() && seen.insert(v).second) open.push_back(v);
  };
  auto reach_results = [&](const Op& op) {
    for (int i = 0; i < op.num_results(); ++i) reach(op.result(i));
  };
  reach_results(load);
  while (!open.empty()) {
    const Value* v = open.back();
    open.pop_back();
    for (const ir::Use* use = v->uses(); use != nullptr; use = use->next) {
      const Op* op = use->owner;
      ops.insert(op);
      reach_results(*op);
      for (int r = 0; r < op->num_regions(); ++r) {
        for (int i = 0; op->region(r) != nullptr && i < op->region(r)->num_args(); ++i) reach(op->region(r)->arg(i));
      }
      // Out of a region, not around the loop that contains the load.
      for (const Op* in = op; in->block() != load.block() && in->parent() != nullptr; in = in->parent()) {
        ops.insert(in->parent());
        if (op->info()->has(ir::kTerminator)) reach_results(*in->parent());
      }
    }
  }
  return followers_[&load] = std::move(ops);
}

bool SliceOrder::MustFollow(const Op& store, const Op& load) {
  const Root s = RootOf(store), l = RootOf(load);
  if (s.value != nullptr && l.value != nullptr) {
    if (Same(s.value, l.value)) return true;
    if ((s.loaded && l.own) || (l.loaded && s.own)) return true;
    if (s.shared != l.shared || s.own || l.own) return false;
    return Followers(load).contains(&store);
  }
  return true;  // it is not known where
}

bool SliceOrder::ReadsOwn(const Op& load) { return RootOf(load).own; }

bool SliceOrder::SameElements(const Op& store, const Op& load) {
  if (ir::StorePtrOp::Is(&store) && ir::LoadPtrOp::Is(&load)) {
    const ir::StorePtrOp to(store);
    const ir::LoadPtrOp of(load);
    return Same(to.destination(), of.source()) && Same(to.mask(), of.mask());
  }
  if (!ir::StoreViewOp::Is(&store) || !ir::LoadViewOp::Is(&load)) return false;
  const ir::StoreViewOp to(store);
  const ir::LoadViewOp of(load);
  const ir::OperandRange at = to.index(), from = of.index();
  return SameView(to.view(), of.view()) && std::equal(at.begin(), at.end(), from.begin(), from.end(),
                                                      [](const Value* a, const Value* b) { return Same(a, b); });
}

}  // namespace tile::codegen

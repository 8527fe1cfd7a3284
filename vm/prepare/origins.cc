#include "vm/prepare/origins.h"

#include <algorithm>
#include <iterator>

#include "ir/loops.h"
#include "ir/op_views.h"

namespace tile::vm {
namespace {

using ir::Op;
using ir::Opcode;
using ir::Value;

bool IsPointers(ir::Type t) { return t.is_tile() && t.element().is_pointer(); }

constexpr int kAny = -1;             // in place of origins
constexpr size_t kMostOrigins = 64;  // that one pointer may have; chains of selections would take n² otherwise

OriginSet Union(const OriginSet& a, const OriginSet& b) {
  if (a.empty() || (!b.empty() && b.front() == kAny)) return b;
  if (b.empty() || a.front() == kAny) return a;
  OriginSet all;
  std::set_union(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(all));
  return all.size() > kMostOrigins ? OriginSet{kAny} : all;
}

// Each element of a result is one of an operand.
bool Chooses(const Op& op) {
  return op.opcode() == Opcode::kSelect || op.info()->has(ir::kMoves) || op.info()->has(ir::kAlias) ||
         op.info()->family == ir::Family::kShape;
}

}  // namespace

PointerOrigins::PointerOrigins(const ir::Function& f, size_t num_values, Code* code)
    : code_(code), known_(num_values), sets_(num_values, kAnywhere) {
  code->origin_sets.assign(1, {});  // kAnywhere
  ir::Walk(f.body(), [&](const Op* op) { integers_ |= op->opcode() == Opcode::kIntToPtr; });
  for (int i = 0; i < f.num_params(); ++i) {
    if (!Follows(f.param(i))) continue;
    Known known;
    if (IsPointers(f.param(i)->type())) {
      PointerOrigin origin;
      origin.param = i;
      known.origins = {Number(origin, f.param(i))};
    } else {
      known.plain = true;
    }
    Join(f.param(i), known);
  }
  ir::Walk(f.body(), [&](const Op* op) { Visit(*op); });
  while (!open_.empty()) {
    const Op* op = open_.front();
    open_.pop_front();
    is_open_.erase(op);
    Visit(*op);
  }
  sets_with_.resize(code->origins.size());
  for (const Value* v : f.body()->args()) NumberSets(v);
  ir::Walk(f.body(), [&](const Op* op) {
    for (int i = 0; i < op->num_results(); ++i) NumberSets(op->result(i));
    for (int r = 0; r < op->num_regions(); ++r) {
      if (op->region(r) == nullptr) continue;
      for (const Value* v : op->region(r)->args()) {
        NumberSets(v);
        for (const int origin : At(v).origins) {
          if (origin != kAny) code_->origins[static_cast<size_t>(origin)].carried |= ir::IsLoop(op);
        }
      }
    }
  });
}

int PointerOrigins::MadeBy(const Op* op) const {
  const auto it = numbers_.find(op);
  if (it == numbers_.end()) return -1;
  return code_->origins[static_cast<size_t>(it->second)].kind == PointerOrigin::Kind::kMade ? it->second : -1;
}

bool PointerOrigins::Follows(const Value* v) const {
  const ir::Type t = v->type();
  if (t.is_token()) return false;
  return !t.is_tile() || IsPointers(t) || integers_;
}

int PointerOrigins::Number(const PointerOrigin& origin, const void* key) {
  const auto [it, is_new] = numbers_.try_emplace(key, static_cast<int>(code_->origins.size()));
  if (is_new) code_->origins.push_back(origin);
  return it->second;
}

void PointerOrigins::Join(const Value* to, const Known& from) {
  if (!Follows(to)) return;
  Known& known = known_[static_cast<size_t>(to->id)];
  OriginSet all = Union(known.origins, from.origins);
  if (all == known.origins && (known.plain || !from.plain)) return;
  known.origins = std::move(all);
  known.plain |= from.plain;
  for (const ir::Use* use = to->uses(); use != nullptr; use = use->next) {
    if (is_open_.insert(use->owner).second) open_.push_back(use->owner);
  }
}

// --- operations -----------------------------------------------------------------------------------------------------

void PointerOrigins::Make(const Op& op, PointerOrigin::Kind kind) {
  PointerOrigin origin;
  origin.kind = kind;
  origin.op = &op;
  code_->makes_pointers |= kind == PointerOrigin::Kind::kMade;
  Join(op.result(0), {{Number(origin, &op)}, false});
}

void PointerOrigins::Visit(const Op& op) {
  if (op.info()->has(ir::kTerminator) || op.num_regions() > 0) return VisitRegions(op);
  if (ir::OffsetOp::Is(&op)) return Join(op.result(0), At(ir::OffsetOp(op).lhs()));
  if (ir::MakeTensorViewOp::Is(&op)) return Join(op.result(0), At(ir::MakeTensorViewOp(op).base()));
  if (ir::AllocaOp::Is(&op)) return Make(op, PointerOrigin::Kind::kAlloca);
  if (ir::IntToPtrOp::Is(&op)) {
    const Known& from = At(op.operand(0));
    if (from.plain) Make(op, PointerOrigin::Kind::kMade);
    return Join(op.result(0), {from.origins, false});
  }
  if (const auto get = ir::As<ir::GetGlobalOp>(&op)) {
    PointerOrigin origin;
    origin.kind = PointerOrigin::Kind::kGlobal;
    origin.global = code_->module->FindGlobal(get->name());
    return Join(op.result(0), {{Number(origin, origin.global)}, false});
  }
  if (op.info()->is_access() || op.info()->has(ir::kEffect)) {
    for (int i = 0; i < op.num_results(); ++i) {
      if (!op.result(i)->type().is_tile()) continue;
      if (IsPointers(op.result(i)->type())) {
        Make(op, PointerOrigin::Kind::kMade);
      } else {
        Join(op.result(i), {{}, true});
      }
    }
    return;
  }
  Compute(op);
}

// A sum with an address is one; the difference of two is none.
bool PointerOrigins::MovesAddress(const Op& op) const {
  return op.opcode() == Opcode::kAddi || (op.opcode() == Opcode::kSubi && At(op.operand(1)).origins.empty());
}

void PointerOrigins::Compute(const Op& op) {
  Known all;
  bool any = false, every = true;  // operands that may be plain
  for (int i = op.opcode() == Opcode::kSelect ? 1 : 0; i < op.num_operands(); ++i) {
    const Value* v = op.operand(i);
    if (!Follows(v)) continue;
    const Known& known = At(v);
    all.origins = Union(all.origins, known.origins);
    any |= known.plain;
    every &= known.plain;
  }
  // The size of a tensor or the outcome of a comparison is no address any more; what else is computed from one may be.
  if (op.info()->family == ir::Family::kCompare && op.opcode() != Opcode::kSelect) all.origins.clear();
  if (op.info()->family == ir::Family::kView && op.result(0)->type().is_tile()) all.origins.clear();
  all.plain = Chooses(op) ? any : MovesAddress(op) ? every : true;
  for (int i = 0; i < op.num_results(); ++i) Join(op.result(i), all);
}

PointerOrigins::Known PointerOrigins::OfOperands(const Op& op) const {
  Known all;
  for (int i = 0; i < op.num_operands(); ++i) {
    const Known& known = At(op.operand(i));
    all.origins = Union(all.origins, known.origins);
    all.plain |= known.plain;
  }
  return all;
}

void PointerOrigins::VisitRegions(const Op& op) {
  if (ir::IsLoop(&op)) {
    const ir::CarryingLoop loop(op);
    if (loop.counts()) Join(loop.index(), {{}, true});
    for (int i = 0; i < loop.num_carried(); ++i) {
      Join(loop.arg(i), At(loop.init(i)));
      if (loop.counts()) Join(loop.result(i), At(loop.init(i)));
    }
    return;
  }
  if (op.info()->has(ir::kElementBody)) {
    // Elements in any order, and what the body has from outside.
    const Known all = OfOperands(op);
    for (const Value* arg : op.region(0)->args()) Join(arg, all);
    for (int k = 0; k < op.num_results(); ++k) Join(op.result(k), all);
    return;
  }
  const Op* to = op.info()->has(ir::kTerminator) ? ir::TargetOf(op) : nullptr;
  if (to == nullptr) return;
  const bool elements = to->info()->has(ir::kElementBody);
  if (elements) {
    const Known all = OfOperands(op);
    for (const Value* arg : to->region(0)->args()) Join(arg, all);
  }
  for (int i = 0; i < op.num_operands(); ++i) {
    const Known& known = At(op.operand(i));
    if (elements) {
      Join(to->result(i), known);
      continue;
    }
    Join(ir::ReceiverOf(op, i), known);
    // What goes around a `for` comes out of it in the end.
    if (ir::ForOp::Is(to) && ir::ContinueOp::Is(&op)) Join(to->result(i), known);
  }
}

// --- sets -----------------------------------------------------------------------------------------------------------

void PointerOrigins::NumberSets(const Value* v) {
  if (v->type().is_token() || (v->type().is_tile() && !IsPointers(v->type()))) return;
  const Known& known = At(v);
  if (known.origins.empty() || known.origins.front() == kAny) return;  // of no pointer, as shared memory is; of any
  const auto [it, is_new] = set_numbers_.try_emplace(known.origins, static_cast<int>(code_->origin_sets.size()));
  if (is_new) {
    code_->origin_sets.push_back(known.origins);
    for (const int origin : known.origins) sets_with_[static_cast<size_t>(origin)].push_back(it->second);
  }
  sets_[static_cast<size_t>(v->id)] = it->second;
}

}  // namespace tile::vm

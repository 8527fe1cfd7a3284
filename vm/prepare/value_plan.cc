#include "vm/prepare/value_plan.h"

#include <algorithm>

#include "ir/loops.h"
#include "vm/prepare/fold_select.h"

namespace tile::vm {
namespace {

using ir::Block;
using ir::Op;
using ir::Opcode;
using ir::Type;
using ir::Value;

constexpr int64_t kMaxBatch = 4096;
constexpr int64_t kFewLanes = 16, kMaxParts = 64;  // together within a batch
// A compact value is worth keeping when a kernel call covers at least this many elements.
constexpr int64_t kMinRun = 32;

bool HasBodyPerElement(const Op* op) { return op->info()->has(ir::kElementBody); }

}  // namespace

int64_t StoredElementBytes(Type t) {
  if (t.is_tile()) return ir::StorageBytes(t.elem());
  if (t.is_token()) return 0;
  const int rank = t.is_tensor_view() ? t.rank() : t.tensor().rank();
  return 16 + 16 * static_cast<int64_t>(rank);
}

Form BroadcastForm(absl::Span<const int64_t> from, absl::Span<const int64_t> to) {
  int first = -1, last = -1;
  for (int d = 0; d < static_cast<int>(to.size()); ++d) {
    if (from[d] > 1) {
      if (first < 0) first = d;
      last = d;
    }
  }
  if (first < 0) return {1, 1};
  int64_t run = 1, count = 1;
  for (int d = 0; d < static_cast<int>(to.size()); ++d) {
    if (d >= first && d <= last && from[d] != to[d]) return {0, 0};
    if (d >= first && d <= last) count *= to[d];
    if (d > last) run *= to[d];
  }
  return {run, count};
}

bool MovesNothing(const Op* op) { return op->info()->has(ir::kAlias); }

bool IsBatchable(const Block* body) {
  for (const Op* op : *body) {
    if (op->info()->has(ir::kElementwise) || op->opcode() == Opcode::kConstant || op->opcode() == Opcode::kAssume ||
        op->opcode() == Opcode::kYield) {
      continue;
    }
    return false;
  }
  return true;
}

bool WorksInPlace(const Op* op, int operand) {
  if (op->info()->has(ir::kElementwise)) return true;
  if (const auto product = ir::As<ir::ProductOp>(op)) return operand == product->acc_at();
  if (const auto insert = ir::As<ir::InsertOp>(op)) return operand == insert->destination_at();
  return false;
}

Plan::Plan(const ir::Function& f) {
  Number(f.body());
  forms_.resize(values_.size());
  storage_.assign(values_.size(), -1);
  Assign(f.body());
  sharers_.resize(storages_.size());
  for (const Value* v : values_) {
    if (storage(v) >= 0) sharers_[storage(v)].push_back(v);
  }
  CoalesceLoops(f.body());
  forwarded_.resize(values_.size());
  FindForwarded(f.body());
  ComputeLiveness(f.body());
}

int64_t Plan::batch(const Op* reduce) const { return batches_.at(reduce); }
int64_t Plan::parts(const Op* reduce) const { return parts_.at(reduce); }

int64_t Plan::batch_around(const Block* block) const {
  for (const Op* op = block->parent(); op != nullptr; op = op->parent()) {
    if (HasBodyPerElement(op)) return batches_.at(op);
  }
  return 1;
}

int64_t Plan::elements(const Value* v) const {
  if (!v->type().is_tile()) return 1;
  const Block* block = v->def() ? v->def()->block() : v->block();
  return v->type().num_elements() * batch_around(block);
}

// --- numbering ------------------------------------------------------------------------------------------------------

void Plan::Number(const Block* block) {
  const auto add = [this](Value* v) {
    v->id = static_cast<int32_t>(values_.size());
    values_.push_back(v);
  };
  for (Value* v : block->args()) add(v);
  for (Op* op : *block) {
    const int begin = next_position_++;
    for (int i = 0; i < op->num_results(); ++i) add(op->result(i));
    if (HasBodyPerElement(op)) {
      const Type t = op->operand(0)->type();
      const int64_t n = t.shape()[ir::FoldOp(op).dim()];
      const int64_t lanes = std::max<int64_t>(1, t.num_elements() / std::max<int64_t>(1, n));
      // Few long lines: their parts are lanes too, where the body allows it.
      const bool cut = ir::ReduceOp::Is(op) && lanes <= kFewLanes && n >= 16 && SideKept(*op) == Kept::kLeftmost;
      const int64_t parts = cut ? std::min(n / 4, kMaxParts) : 1;
      parts_[op] = parts;
      batches_[op] = IsBatchable(op->region(0)) ? std::min(lanes * parts, kMaxBatch) : 1;
    }
    for (int r = 0; r < op->num_regions(); ++r) {
      if (op->region(r) != nullptr) Number(op->region(r));
    }
    positions_[op] = {begin, next_position_++};
  }
}

// --- storages and forms ---------------------------------------------------------------------------------------------

int Plan::NewStorage(const Value* v, const Form& form) {
  forms_[v->id] = form;
  if (v->type().is_token()) return storage_[v->id] = -1;
  Storage s;
  s.bytes = form.count * StoredElementBytes(v->type());
  s.start = 1 << 30;
  s.end = -1;
  storages_.push_back(s);
  return storage_[v->id] = static_cast<int>(storages_.size()) - 1;
}

void Plan::Share(const Value* v, const Value* with, const Form& form) {
  forms_[v->id] = form;
  storage_[v->id] = storage_[with->id];
}

void Plan::Assign(const Block* block) {
  for (const Value* v : block->args()) NewStorage(v, {1, elements(v)});
  for (const Op* op : *block) {
    AssignOp(op);
    for (int r = 0; r < op->num_regions(); ++r) {
      if (op->region(r) != nullptr) Assign(op->region(r));
    }
    // A for loop's results are its carried values after the last round.
    if (ir::ForOp::Is(op)) {
      const ir::CarryingLoop loop(*op);
      for (int i = 0; i < loop.num_carried(); ++i) Share(loop.result(i), loop.arg(i), form(loop.arg(i)));
    }
  }
}

void Plan::AssignOp(const Op* op) {
  if (op->opcode() == Opcode::kFor) return;
  if (MovesNothing(op)) {
    Share(op->result(0), op->operand(0), form(op->operand(0)));
    return;
  }
  if (op->opcode() == Opcode::kConstant) {
    const Value* v = op->result(0);
    const ir::Dense& d = ir::ConstantOp(op).value();
    const int s = NewStorage(v, {1, d.splat ? 1 : v->type().num_elements()});
    storages_[s].constant = true;
    return;
  }
  if (op->opcode() == Opcode::kIota) {
    const Value* v = op->result(0);
    storages_[NewStorage(v, {1, elements(v)})].constant = true;
    return;
  }
  if (op->opcode() == Opcode::kBroadcast) {
    const Value *from = op->operand(0), *to = op->result(0);
    if (form(from).count == 1) return Share(to, from, {1, 1});
    if (dense(from)) {
      const Form f = BroadcastForm(from->type().shape(), to->type().shape());
      if (f.count > 0 && (f.run >= kMinRun || (f.run == 1 && f.count >= kMinRun))) return Share(to, from, f);
    }
  }
  if (op->opcode() == Opcode::kPermute && form(op->operand(0)).count == 1) {
    return Share(op->result(0), op->operand(0), {1, 1});
  }
  if (op->info()->has(ir::kElementwise)) {
    // Compact like its operands, where they agree.
    Form f{1, 1};
    bool agree = true;
    for (int i = 0; i < op->num_operands(); ++i) {
      const Form& g = form(op->operand(i));
      if (g.count == 1) continue;
      if (f.count == 1) f = g;
      agree = agree && f == g;
    }
    const Value* v = op->result(0);
    NewStorage(v, agree ? f : Form{1, elements(v)});
    return;
  }
  for (int i = 0; i < op->num_results(); ++i) NewStorage(op->result(i), {1, elements(op->result(i))});
}

// --- loops without copies -------------------------------------------------------------------------------------------

void Plan::CoalesceLoops(const Block* block) {
  for (const Op* op : *block) {
    for (int r = 0; r < op->num_regions(); ++r) {
      if (op->region(r) != nullptr) CoalesceLoops(op->region(r));
    }
    if (!ir::IsLoop(op)) continue;
    const ir::CarryingLoop loop(*op);
    if (loop.latch() == nullptr) continue;
    for (int i = 0; i < loop.num_carried(); ++i) TryCoalesce(op, loop.arg(i), loop.next(i));
  }
}

// `next` may be written over `carried` if it is computed in the loop's own body, after the last use of `carried` (or
// by it, in place), and nothing else shares its storage.
void Plan::TryCoalesce(const Op* loop, const Value* carried, const Value* next) {
  const Op* def = next->def();
  if (def == nullptr || def->block() != loop->region(0) || def->num_regions() > 0) return;
  const int a = storage(carried), b = storage(next);
  if (a < 0 || b < 0 || a == b || storages_[b].constant || storages_[a].bytes != storages_[b].bytes) return;
  if (!dense(carried) || !dense(next) || MovesNothing(def)) return;
  if (sharers_[b].size() != 1) return;
  const int at = position(def);
  for (const Value* v : sharers_[a]) {
    for (const ir::Use* use = v->uses(); use != nullptr; use = use->next) {
      const Op* user = use->owner;
      // Results of the loop share the storage; uses after the loop come after everything.
      if (v->def() == loop) continue;
      if (user == def) {
        for (int i = 0; i < def->num_operands(); ++i) {
          if (storage(def->operand(i)) == a && (!WorksInPlace(def, i) || !dense(def->operand(i)))) return;
        }
      } else if (end_position(user) > at) {
        return;
      }
    }
  }
  storage_[next->id] = a;
  sharers_[a].push_back(next);
  sharers_[b].clear();
  storages_[b].bytes = 0;
}

// --- loads without copies -------------------------------------------------------------------------------------------

void Plan::FindForwarded(const Block* block) {
  for (const Op* op : *block) {
    for (int r = 0; r < op->num_regions(); ++r) {
      if (op->region(r) != nullptr) FindForwarded(op->region(r));
    }
    const auto load = ir::As<ir::LoadViewOp>(op);
    if (!load || load->ordering() != ir::MemoryOrdering::kWeak) {
      continue;
    }
    const Value* tile = op->result(0);
    const ir::Elem elem = tile->type().elem();
    if (elem == ir::Elem::kI1 || ir::IsSubByte(elem) || !load->view()->type().is_grid_view()) continue;
    if (batch_around(block) != 1) continue;
    const std::vector<const Value*>& names = sharers_[static_cast<size_t>(storage(tile))];
    int last = -1;
    bool suits = true;
    for (const Value* v : names) {
      suits = suits && (v == tile || (v->def() != nullptr && v->def()->block() == block && MovesNothing(v->def())));
      for (const ir::Use* use = v->uses(); use != nullptr && suits; use = use->next) {
        const Op* user = use->owner;
        suits = user->block() == block &&
                (user->info()->has(ir::kElementwise) || MovesNothing(user) || HasBodyPerElement(user) ||
                 (user->opcode() == Opcode::kStoreView && user->operand(0) == v));
        last = std::max(last, suits ? position(user) : 0);
      }
    }
    // Far uses would make this scan long; they gain nothing.
    int steps = 0;
    for (const Op* next = op->next(); suits && next != nullptr && position(next) < last; next = next->next()) {
      suits = ++steps < 64 && (next->num_regions() == 0 || HasBodyPerElement(next)) &&
              !next->info()->has(ir::kWrites) && !next->info()->has(ir::kEffect);
    }
    for (const Value* v : names) forwarded_[static_cast<size_t>(v->id)] = suits && last >= 0;
  }
}

// --- liveness -------------------------------------------------------------------------------------------------------

void Plan::Extend(int s, int at) {
  if (s < 0) return;
  storages_[s].start = std::min(storages_[s].start, at);
  storages_[s].end = std::max(storages_[s].end, at);
}

void Plan::UseAt(const Value* v, const Op* user) {
  const int s = storage(v);
  if (s < 0) return;
  Extend(s, position(user));
  // What is defined outside of a loop and used inside must survive the whole loop.
  const Block* home = v->def() ? v->def()->block() : v->block();
  for (const Block* block = user->block(); block != home && block->parent() != nullptr;) {
    const Op* around = block->parent();
    if (ir::IsLoop(around) || HasBodyPerElement(around)) Extend(s, end_position(around));
    block = around->block();
  }
}

void Plan::ComputeLiveness(const Block* block) {
  const Op* around = block->parent();
  for (const Value* v : block->args()) {
    // Parameters and what a loop carries: from before the block to its end.
    Extend(storage(v), around ? position(around) : 0);
    if (around != nullptr) Extend(storage(v), end_position(around));
  }
  for (const Op* op : *block) {
    for (int i = 0; i < op->num_results(); ++i) {
      Extend(storage(op->result(i)), position(op));
      if (op->num_regions() > 0) Extend(storage(op->result(i)), end_position(op));
    }
    for (int i = 0; i < op->num_operands(); ++i) UseAt(op->operand(i), op);
    for (int r = 0; r < op->num_regions(); ++r) {
      if (op->region(r) != nullptr) ComputeLiveness(op->region(r));
    }
  }
}

}  // namespace tile::vm

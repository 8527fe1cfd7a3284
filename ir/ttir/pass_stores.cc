#include "ir/ttir/pass_stores.h"

#include <utility>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "ir/loops.h"
#include "ir/op_views.h"
#include "ir/ops.h"

namespace tile::ir::ttir {
namespace {

using Values = absl::flat_hash_set<const Value*>;

// The values of which one is the pointer `v`: of a branch, or of a loop that carries it. Empty: it is a parameter, or computed otherwise.
std::vector<const Value*> SourcesOf(const Value* v) {
  const Op* def = v->def();
  if (def == nullptr) {
    const auto loop = CarryingLoop::Around(v);
    if (!loop || !loop->counts() || loop->latch() == nullptr) return {};
    const int i = loop->carried_by(v);
    return {loop->init(i), loop->next(i)};
  }
  if (ForOp::Is(def)) return {CarryingLoop(*def).init(v->index()), CarryingLoop(*def).next(v->index())};
  if (IfOp::Is(def)) {
    std::vector<const Value*> given;
    for (int r = 0; r < def->num_regions(); ++r) {
      if (def->region(r) != nullptr && YieldOp::Is(def->region(r)->back()))
        given.push_back(def->region(r)->back()->operand(v->index()));
    }
    return given;
  }
  if (SelectOp::Is(def)) return {def->operand(1), def->operand(2)};
  const bool same_place = def->info()->has(kAlias) || def->info()->has(kMoves) || OffsetOp::Is(def);
  return same_place ? std::vector<const Value*>{def->operand(0)} : std::vector<const Value*>();
}

// Adds the parameters that the pointer may come from. False: it may come from elsewhere.
bool AddParameters(const Value* pointer, Values* parameters) {
  Values seen;
  std::vector<const Value*> open = {pointer};
  while (!open.empty()) {
    const Value* v = open.back();
    open.pop_back();
    if (!seen.insert(v).second) continue;
    if (!v->type().is_tile() || !v->type().element().is_pointer()) return false;
    if (v->def() == nullptr && v->block()->parent() == nullptr) {
      parameters->insert(v);
      continue;
    }
    const std::vector<const Value*> sources = SourcesOf(v);
    if (sources.empty()) return false;
    open.insert(open.end(), sources.begin(), sources.end());
  }
  return true;
}

bool IsWeak(const Op& access) { return OrderedOp(access).ordering() == MemoryOrdering::kWeak; }

// Adds the parameters that the loop writes through. False: it may write elsewhere, or does what others could wait for.
bool AddWritten(const Op& loop, Values* written) {
  bool all = true;
  Walk(loop.region(0), [&](Op* op) {
    if (!op->info()->has(kTko) || JoinTokensOp::Is(op) || MakeTokenOp::Is(op)) {
      all = all && !op->info()->has(kWrites) && !ReturnOp::Is(op);
    } else if (StorePtrOp::Is(op)) {
      all = all && IsWeak(*op) && AddParameters(StorePtrOp(op).destination(), written);
    } else if (AtomicRmwOp::Is(op)) {
      all = all && !op->result(0)->has_uses() && AddParameters(AtomicRmwOp(op).pointers(), written);
    } else {
      all = all && LoadPtrOp::Is(op) && IsWeak(*op);
    }
  });
  return all;
}

// Operations of the block that factors of its products are computed from.
absl::flat_hash_set<const Op*> FactorsOf(const Block& block) {
  absl::flat_hash_set<const Op*> found;
  std::vector<const Value*> open;
  for (const Op* op : block) {
    if (op->info()->has(kProduct)) open.insert(open.end(), {op->operand(0), op->operand(1)});
  }
  while (!open.empty()) {
    const Op* def = open.back()->def();
    open.pop_back();
    if (def == nullptr || def->block() != &block || !found.insert(def).second) continue;
    for (int i = 0; i < def->num_operands(); ++i) open.push_back(def->operand(i));
  }
  return found;
}

bool IsIn(const Value* v, const Block* block) {
  return (v->def() != nullptr ? v->def()->block() : v->block()) == block;
}

int TokenAt(const Op& load) {
  const Value* token = AccessOp(load).token();
  for (int i = 0; i < load.num_operands(); ++i) {
    if (load.operand(i) == token) return i;
  }
  return -1;
}

// The load waits for `token`; what waited for the load waits for what it waited for, too.
void WaitFor(Module* module, Op* load, Value* token) {
  Value *before = AccessOp(*load).token(), *loaded = AccessOp(*load).result_token();
  std::vector<std::pair<Op*, int>> users;
  for (const Use* use = loaded->uses(); use != nullptr; use = use->next) {
    for (int i = 0; i < use->owner->num_operands(); ++i) {
      if (use->owner->operand(i) == loaded) users.emplace_back(use->owner, i);
    }
  }
  load->set_operand(TokenAt(*load), token);
  if (users.empty()) return;
  Block* apart = module->CreateBlock({});
  Builder b(module, apart);
  b.set_loc(load->loc);
  Value* both = ops::JoinTokens(b, {loaded, before});
  Op* join = both->def();
  join->Unlink();
  join->pos = load->pos;
  module->InsertBefore(load->block(), load->next(), join);
  for (const auto& [user, i] : users) user->set_operand(i, both);
}

}  // namespace

void PassStores(Module* module, absl::Span<Op* const> loops) {
  for (const Op* op : loops) {
    const CarryingLoop loop(*op);
    const int last = loop.num_carried() - 1;
    if (loop.latch() == nullptr || last < 0 || !loop.init(last)->type().is_token()) continue;
    const absl::flat_hash_set<const Op*> factors = FactorsOf(*loop.body());
    Values written;
    if (factors.empty() || !AddWritten(*op, &written)) continue;
    std::vector<Op*> loads;
    for (Op* inside : *loop.body()) {
      if (LoadPtrOp::Is(inside) && factors.contains(inside)) loads.push_back(inside);
    }
    for (Op* load : loads) {
      Values read;
      if (AccessOp(*load).token() == nullptr || !IsIn(AccessOp(*load).token(), loop.body()) ||
          !AddParameters(LoadPtrOp(load).source(), &read))
        continue;
      bool meets = false;
      for (const Value* parameter : read) meets = meets || written.contains(parameter);
      if (!meets) WaitFor(module, load, loop.init(last));
    }
  }
}

}  // namespace tile::ir::ttir

#include "codegen/emit/context/order.h"

#include "codegen/target/decisions.h"
#include "ir/op_views.h"

namespace tile::codegen {
namespace {

constexpr size_t kMostPending = 512;

// A store by TMA whose threads wait for their own copies, if its token comes from no other access.
bool OrdersItself(const ir::Op& op) {
  return DecisionOf<Decision::kAwaitsOwn>(op) && !DecisionOf<Decision::kProxyFence>(op);
}

}  // namespace

bool Acquires(const ir::Op& op) {
  const ir::MemoryOrdering o = ir::OrderingOf(op);
  return o == ir::MemoryOrdering::kAcquire || o == ir::MemoryOrdering::kAcqRel;
}

bool Releases(const ir::Op& op) {
  const ir::MemoryOrdering o = ir::OrderingOf(op);
  return o == ir::MemoryOrdering::kRelease || o == ir::MemoryOrdering::kAcqRel;
}

const Order::Sources& Order::SourcesOf(const ir::Value* token) const {
  if (auto it = sources_.find(token); it != sources_.end()) return it->second;
  Sources s;
  const ir::Op* def = token->def();
  if (def == nullptr || def->num_regions() > 0) {
    s.all = true;
  } else {
    if (def->info()->is_access()) s.ops.insert(def);
    for (int i = 0; i < def->num_operands(); ++i) {
      if (!def->operand(i)->type().is_token()) continue;
      const Sources& from = SourcesOf(def->operand(i));
      s.all = s.all || from.all;
      s.ops.insert(from.ops.begin(), from.ops.end());
    }
    // Long chains: everything before is close enough.
    if (s.ops.size() > 64) s = {.all = true, .ops = {}};
  }
  return sources_[token] = std::move(s);
}

void Order::Pending::Add(const ir::Op& op) {
  if (!is_all_) ops_.insert(&op);
  if (ops_.size() <= kMostPending) return;
  is_all_ = true;
  ops_.clear();
}

void Order::Pending::Add(const Pending& other) {
  if (other.is_all_) {
    is_all_ = true;
    ops_.clear();
  }
  for (const ir::Op* op : other.ops_) Add(*op);
}

bool Order::NeedsBarrier(const ir::Op& op) const {
  if (pending_.empty() || OrdersItself(op)) return false;
  for (int i = 0; i < op.num_operands(); ++i) {
    if (!op.operand(i)->type().is_token()) continue;
    const Sources& s = SourcesOf(op.operand(i));
    if (pending_.is_all_ && (s.all || !s.ops.empty())) return true;
    for (const ir::Op* before : pending_.ops_) {
      if (!s.all && !s.ops.contains(before)) continue;
      if (op.info()->has(ir::kWrites) || before->info()->has(ir::kWrites)) return true;
      if (Acquires(*before) || Releases(op)) return true;
    }
  }
  return false;
}

void Order::Did(const ir::Op& op) { pending_.Add(op); }

void Order::AddAll(const ir::Block& block) {
  ir::Walk(const_cast<ir::Block*>(&block), [&](ir::Op* op) {
    if (op->info()->is_access()) pending_.Add(*op);
  });
}

}  // namespace tile::codegen

#include "vm/check/check_races.h"

#include <bit>

#include "absl/strings/str_cat.h"
#include "ir/loops.h"

namespace tile::vm {

using ir::MemoryOrdering;
using ir::MemoryScope;
using ir::Op;
using ir::Opcode;

namespace {

// Longer lists of reads keep their last two: enough to tell two blocks apart.
constexpr uint32_t kMaxReads = 64;

// Some branch of the if ends in break, continue or return: what follows depends on the condition.
bool Leaves(const ir::Block* block) {
  if (block == nullptr) return false;
  for (const Op* op : *block) {
    if (op->info()->has(ir::kTerminator) && op->opcode() != Opcode::kYield) return true;
    if (op->opcode() == Opcode::kIf && (Leaves(op->region(0)) || Leaves(op->region(1)))) return true;
  }
  return false;
}

void Merge(Order& to, const Order& from) {
  to.events = Union(to.events, from.events);
  to.known = Union(to.known, from.known);
}

}  // namespace

Races::Races(LaunchState& state, ShadowMemory& memory) : state_(state), memory_(memory), records_(1), reads_(1) {
  memory_ops_.resize(static_cast<size_t>(state.code->num_memory_ops));
  for (const InstrNote& note : state.code->notes) {
    if (note.places == nullptr) continue;
    if (note.places->memory_op >= 0) memory_ops_[static_cast<size_t>(note.places->memory_op)] = note.places;
    const Op* op = note.places->op;
    if (op->opcode() == Opcode::kIf && !leaving_.contains(op)) {
      leaving_[op] = Leaves(op->region(0)) || Leaves(op->region(1));
    }
  }
  for (int i = 0; i < 3; ++i) {
    cluster_[i] = std::max(1, state.code->function->blocks_per_cluster[i]);
    has_clusters_ = has_clusters_ || cluster_[i] > 1;
  }
}

BlockOrder Races::NewBlock() const {
  BlockOrder order;
  order.values.resize(static_cast<size_t>(state_.code->num_values));
  order.executions.resize(memory_ops_.size());
  return order;
}

// --- orders of values -----------------------------------------------------------------------------------------------

// A value is there when its operands are.
void Races::Pass(const OpPlaces& o, BlockOrder& order) {
  const int results = o.op->num_results();
  if (results == 0) return;
  Order out;
  for (int i = 0; i < o.op->num_operands(); ++i) Merge(out, order.values[static_cast<size_t>(o.operands[i].value)]);
  for (const Place& p : o.captured) Merge(out, order.values[static_cast<size_t>(p.value)]);
  for (int i = 1; i < results; ++i) order.values[static_cast<size_t>(o.results[i].value)] = out;
  order.values[static_cast<size_t>(o.results[0].value)] = std::move(out);
}

void Races::Terminate(const OpPlaces& o, BlockOrder& order) {
  const OpPlaces* to = o.parent;
  const bool yields = o.op->opcode() == Opcode::kYield;
  if (!yields) {
    while (to != nullptr && !ir::IsLoop(to->op)) to = to->parent;
  }
  // Bodies of reduce and scan: the operation itself passes the orders on.
  if (to == nullptr || (yields && to->op->opcode() != Opcode::kIf)) return;
  const bool next_round = o.op->opcode() == Opcode::kContinue;
  const Place* places = next_round ? to->args + ir::CarryingLoop(*to->op).first_arg() : to->results;
  std::vector<Order> values;
  for (int i = 0; i < o.op->num_operands(); ++i)
    values.push_back(order.values[static_cast<size_t>(o.operands[i].value)]);
  for (size_t i = 0; i < values.size(); ++i) {
    // Which value an if gives depends on its condition.
    if (yields)
      values[i].events = Union(values[i].events, order.values[static_cast<size_t>(to->operands[0].value)].events);
    order.values[static_cast<size_t>(places[i].value)] = std::move(values[i]);
  }
}

void Races::Before(const InstrNote& note, BlockOrder& order, int64_t block) {
  const OpPlaces& o = *note.places;
  const Op* op = o.op;
  if (note.role == Role::kEnter) {
    const ir::CarryingLoop loop(*op);
    if (loop.counts()) {
      Order bounds;
      for (int i = 0; i < loop.init_at(0); ++i) Merge(bounds, order.values[static_cast<size_t>(o.operands[i].value)]);
      order.values[static_cast<size_t>(o.args[0].value)] = bounds;
    }
    for (int i = 0; i < loop.num_carried(); ++i) {
      const Place &arg = o.args[loop.first_arg() + i], &init = o.operands[loop.init_at(i)];
      order.values[static_cast<size_t>(arg.value)] = order.values[static_cast<size_t>(init.value)];
    }
    return;
  }
  if (o.memory_op < 0) {
    if (op->info()->has(ir::kTerminator)) return Terminate(o, order);
    if (op->opcode() == Opcode::kIf) {
      if (leaving_[op])
        order.branches = Union(order.branches, order.values[static_cast<size_t>(o.operands[0].value)].events);
      return;
    }
    return Pass(o, order);
  }
  if (records_.size() + reads_.size() > collect_at_) CollectGarbage();
  Order in;
  for (int i = 0; i < op->num_operands(); ++i) Merge(in, order.values[static_cast<size_t>(o.operands[i].value)]);
  in.events = Union(in.events, order.branches);
  for (const OpPlaces* p = o.parent; p != nullptr; p = p->parent) {
    // The condition, or the bounds and the step.
    const int steering = ir::IfOp::Is(p->op) ? 1 : ir::IsLoop(p->op) ? ir::CarryingLoop(*p->op).init_at(0) : 0;
    for (int i = 0; i < steering; ++i) {
      in.events = Union(in.events, order.values[static_cast<size_t>(p->operands[i].value)].events);
    }
  }
  now_ = Current{};
  now_.places = &o;
  now_.block = block;
  const auto number = static_cast<size_t>(o.memory_op);
  now_.event = EventId{number} << kInstanceBits | order.executions[number]++;
  now_.before = std::move(in.events);
  now_.done = Add(now_.before, now_.event);
  now_.known = std::move(in.known);
  const ir::Value* view = ir::FindOperand(*op, ir::Field::kView);
  now_.duplicates_allowed = view != nullptr && ir::IsSubByte(view->type().elem());
}

void Races::After(const InstrNote& note, BlockOrder& order) {
  const OpPlaces& o = *note.places;
  if (o.memory_op < 0 || now_.places != &o) return;
  for (int i = 0; i < o.op->num_results(); ++i) {
    Order& out = order.values[static_cast<size_t>(o.results[i].value)];
    out.events = now_.done;
    out.known = o.op->result(i)->type().is_token() ? Union(now_.known, now_.gained) : nullptr;
  }
  now_ = Current{};
}

// --- accesses -------------------------------------------------------------------------------------------------------

int64_t Races::ClusterOf(int64_t block) const {
  if (!has_clusters_) return block;
  const int64_t* g = state_.launch->grid;
  const int64_t x = block % g[0] / cluster_[0], y = block / g[0] % g[1] / cluster_[1],
                z = block / g[0] / g[1] / cluster_[2];
  return (z * g[1] + y) * g[0] + x;
}

// One launch on one device: sys is device. A cluster of one block is the block.
MemoryScope Races::Normal(MemoryScope s) const {
  if (s == MemoryScope::kSys) return MemoryScope::kDevice;
  return s == MemoryScope::kCluster && !has_clusters_ ? MemoryScope::kTlBlk : s;
}

bool Races::Includes(MemoryScope scope, int64_t a, int64_t b) const {
  switch (Normal(scope)) {
    case MemoryScope::kTlBlk: return a == b;
    case MemoryScope::kCluster: return ClusterOf(a) == ClusterOf(b);
    default: return true;
  }
}

bool Races::Ordered(const Record& r) const {
  if (r.block == now_.block && Contains(now_.before, r.event)) return true;
  return now_.known && Knows(now_.known, r.block, r.event);
}

bool Races::Compatible(const Record& r, const Record& now) const {
  return r.strong() && now.strong() && r.bytes == now.bytes && Includes(r.scope, r.block, now.block) &&
         Includes(now.scope, r.block, now.block);
}

uint32_t Races::Push(uint32_t reads) {
  if (reads == now_.pushed_on && now_.pushed != 0) return now_.pushed;
  const Reads head = reads_[reads];
  if (head.record == now_.record) return reads;
  uint32_t older = reads;
  if (reads != 0) {
    const Record &r = records_[head.record], &now = records_[now_.record];
    // A read that comes before this one, or a strong one of the same operation (a block that waits), is told by it.
    const bool again = r.block == now.block && (Ordered(r) || (r.strong() && now.strong() && r.bytes == now.bytes &&
                                                               r.event >> kInstanceBits == now.event >> kInstanceBits));
    if (again) {
      older = head.older;
    } else if (head.length >= kMaxReads) {
      reads_.push_back({head.record, 0, 1});
      older = static_cast<uint32_t>(reads_.size() - 1);
    }
  }
  reads_.push_back({now_.record, older, reads_[older].length + 1});
  now_.pushed_on = reads;
  return now_.pushed = static_cast<uint32_t>(reads_.size() - 1);
}

bool Races::CheckCell(BlockState& b, const Region& region, const Cell& cell, uintptr_t address) {
  const Record now = records_[now_.record];
  if (cell.write != 0 && cell.write == now_.record && now.writes) {
    if (now.strong() || now_.duplicates_allowed) return true;
    Trap(
        b, now_.places->op, "vm.duplicate_store",
        absl::StrCat("two elements of one weak store go to `", region.allocation->name, "`",
                     IndexText(*region.allocation, address)),
        "make the addresses distinct, mask all but one of them off, or combine the values by an atomic update; a relaxed store keeps one of them");
    return false;
  }
  if (cell.write != 0 && cell.write != now_.ordered_write) {
    const Record& r = records_[cell.write];
    if (!Ordered(r) && !Compatible(r, now)) {
      Report(b, region, address, r);
      return false;
    }
    now_.ordered_write = cell.write;
  }
  if (!now.writes || cell.reads == now_.ordered_reads) return true;
  for (uint32_t i = cell.reads; i != 0; i = reads_[i].older) {
    const Record& r = records_[reads_[i].record];
    if (reads_[i].record == now_.record || Ordered(r) || Compatible(r, now)) continue;
    Report(b, region, address, r);
    return false;
  }
  now_.ordered_reads = cell.reads;
  return true;
}

bool Races::OnAccess(BlockState& b, const Access& access, Region& region) {
  // store_scatter is recorded as an update that reads nothing: a weak store whose order is open.
  const bool scatter = access.atomic && !access.reads;
  if (now_.record == 0) {
    Record r;
    r.event = now_.event;
    r.block = now_.block;
    r.ordering = scatter ? MemoryOrdering::kWeak : access.ordering;
    r.scope = access.scope;
    r.reads = access.reads;
    r.writes = access.writes;
    r.bytes = access.element_bytes;
    now_.duplicates_allowed = now_.duplicates_allowed || scatter;
    now_.record = static_cast<uint32_t>(records_.size());
    records_.push_back(r);
  }
  const int shift = std::countr_zero(static_cast<unsigned>(access.element_bytes));
  const uint64_t bytes = static_cast<uint64_t>(access.elements) << shift;
  uintptr_t at = access.address;
  bool ok = true;
  region.ForEachChunk(access.address, bytes, [&](Chunk& chunk, uintptr_t offset, uint64_t n) {
    if (!ok) return;
    // Elements with the same history are judged at once.
    chunk.Update(offset, n, shift, [&](const Cell& old, uintptr_t first) {
      if (!ok || !CheckCell(b, region, old, at - offset + first)) {
        ok = false;
        return old;
      }
      return access.writes ? Cell{now_.record, 0} : Cell{old.write, Push(old.reads)};
    });
    at += n;
  });
  if (ok && (region.strong || (access.ordering != MemoryOrdering::kWeak && !scatter))) Synchronise(access, region);
  return ok;
}

// --- releases and acquires ------------------------------------------------------------------------------------------

void Races::Synchronise(const Access& access, Region& region) {
  const MemoryOrdering o = access.ordering;
  const bool strong = o != MemoryOrdering::kWeak && !(access.atomic && !access.reads);
  const bool acquires = strong && access.reads && (o == MemoryOrdering::kAcquire || o == MemoryOrdering::kAcqRel);
  const bool releases = strong && access.writes && (o == MemoryOrdering::kRelease || o == MemoryOrdering::kAcqRel);
  const uintptr_t end = access.address + static_cast<uintptr_t>(access.elements * access.element_bytes);
  const MemoryScope scope = Normal(access.scope);
  const int64_t cluster = ClusterOf(now_.block);
  if (acquires) {
    for (auto it = published_.lower_bound(access.address); it != published_.end() && it->first < end; ++it) {
      for (const Published& p : it->second) {
        const int64_t own = p.scope == MemoryScope::kTlBlk     ? now_.block
                            : p.scope == MemoryScope::kCluster ? cluster
                                                               : 0;
        const bool theirs = p.group == own;
        const bool mine = scope == MemoryScope::kDevice || (scope == MemoryScope::kCluster && p.cluster == cluster) ||
                          (p.scope == MemoryScope::kTlBlk && p.group == now_.block);
        if (theirs && mine) now_.gained = Union(now_.gained, p.known);
      }
    }
  }
  // A plain store ends the chains of the releases before it.
  if (access.writes && !access.reads && region.strong) {
    published_.erase(published_.lower_bound(access.address), published_.lower_bound(end));
  }
  if (!releases) return;
  region.strong = true;
  const KnowledgeRef known = Learn(Union(now_.known, now_.gained), now_.block, now_.done);
  const int64_t group = scope == MemoryScope::kTlBlk ? now_.block : scope == MemoryScope::kCluster ? cluster : 0;
  const int64_t from = has_clusters_ ? cluster : 0;
  for (uintptr_t at = access.address; at != end; at += static_cast<uintptr_t>(access.element_bytes)) {
    std::vector<Published>& list = published_[at];
    bool found = false;
    for (Published& p : list) {
      if (p.scope != scope || p.group != group || p.cluster != from) continue;
      p.known = Union(p.known, known);
      found = true;
    }
    if (!found) list.push_back({scope, group, from, known});
  }
}

// --- messages -------------------------------------------------------------------------------------------------------

void Races::Forget(const Allocation& a) {
  published_.erase(published_.lower_bound(a.begin), published_.lower_bound(a.end()));
}

std::string Races::BlockText(int64_t index) const {
  const int64_t* g = state_.launch->grid;
  return absl::StrCat("block (", index % g[0], ", ", index / g[0] % g[1], ", ", index / g[0] / g[1], ")");
}

std::string Races::IndexText(const Allocation& a, uintptr_t address) {
  const int64_t bits = a.element.is_pointer() ? 64 : ir::MemoryBits(a.element.kind);
  int64_t index = static_cast<int64_t>(address - a.begin) * 8 / bits;
  std::string text;
  for (size_t k = a.shape.size(); k-- > 1;) {
    if (a.shape[k] <= 0) break;
    text = absl::StrCat(", ", index % a.shape[k], text);
    index /= a.shape[k];
  }
  return absl::StrCat("[", index, text, "]");
}

const Instr* Races::Report(BlockState& b, const Region& region, uintptr_t address, const Record& earlier) {
  const Record& now = records_[now_.record];
  const Op* before = memory_ops_[earlier.event >> kInstanceBits]->op;
  const Op* op = now_.places->op;
  const bool same_block = earlier.block == now_.block;
  const auto ordering = [](const Record& r) {
    return absl::StrCat(ir::Keyword(r.ordering), r.strong() ? absl::StrCat(" ", ir::Keyword(r.scope)) : "");
  };
  const auto noun = [](const Record& r) { return r.reads && r.writes ? "update" : r.writes ? "store" : "load"; };
  const std::string message = absl::StrCat(now.reads && now.writes ? "updates"
                                           : now.writes            ? "writes"
                                                                   : "reads",
                                           " `", region.allocation->name, "`", IndexText(*region.allocation, address),
                                           ", which ", same_block ? "this block" : BlockText(earlier.block), " ",
                                           earlier.reads && earlier.writes ? "updated"
                                           : earlier.writes                ? "wrote"
                                                                           : "read",
                                           " at ", b.code->module->Where(before->loc, before->pos), " (",
                                           before->info()->mnemonic, ", ", ordering(earlier), ")");
  if (same_block) {
    return Trap(
        b, op, "vm.missing_token",
        absl::StrCat(message, ": no token orders this ", ordering(now), " ", noun(now), " after that ", noun(earlier)),
        absl::StrCat("pass the token of that ", noun(earlier), " to this ", noun(now),
                     ", as it is or joined with others"));
  }
  if (earlier.strong() && now.strong() && earlier.bytes != now.bytes) {
    return Trap(b, op, "vm.race",
                absl::StrCat(message, ": elements of ", earlier.bytes, " and ", now.bytes, " bytes at one address"),
                "use one element size for memory that blocks share");
  }
  if (earlier.strong() && now.strong()) {
    return Trap(b, op, "vm.race",
                absl::StrCat(message, ": the scope ",
                             ir::Keyword(Includes(now.scope, earlier.block, now.block) ? earlier.scope : now.scope),
                             " does not hold both blocks"),
                "use the scope device");
  }
  return Trap(
      b, op, "vm.race", absl::StrCat(message, ": nothing orders this ", ordering(now), " ", noun(now), " after it"),
      "let each block have its own elements, use atomic operations, or order the two: a release whose token comes "
      "after the first, read by an acquire whose token goes to the second");
}

std::pair<const Op*, int64_t> Races::LastWriter(Region& region, uintptr_t address) const {
  const Chunk& c = region.chunks[(address >> Chunk::kShift) - region.first_chunk()];
  const uint32_t record = c.At(address & (Chunk::kBytes - 1)).write;
  if (record == 0) return {nullptr, 0};
  return {memory_ops_[records_[record].event >> kInstanceBits]->op, records_[record].block};
}

// --- garbage --------------------------------------------------------------------------------------------------------

// Drops the records and lists that no cell names any more.
void Races::CollectGarbage() {
  std::vector<uint32_t> new_record(records_.size()), new_reads(reads_.size());
  std::vector<Record> records(1);
  std::vector<Reads> reads(1);
  const auto keep_record = [&](uint32_t r) {
    if (r != 0 && new_record[r] == 0) {
      new_record[r] = static_cast<uint32_t>(records.size());
      records.push_back(records_[r]);
    }
    return new_record[r];
  };
  const auto keep_reads = [&](uint32_t first) {
    // Oldest first, so that a list follows what it builds on.
    std::vector<uint32_t> chain;
    for (uint32_t i = first; i != 0 && new_reads[i] == 0; i = reads_[i].older) chain.push_back(i);
    for (auto i = chain.rbegin(); i != chain.rend(); ++i) {
      new_reads[*i] = static_cast<uint32_t>(reads.size());
      reads.push_back({keep_record(reads_[*i].record), new_reads[reads_[*i].older], reads_[*i].length});
    }
    return new_reads[first];
  };
  for (auto& [begin, region] : memory_.regions()) {
    for (Chunk& c : region->chunks) {
      c.ForEachCell([&](Cell& cell) { cell = {keep_record(cell.write), keep_reads(cell.reads)}; });
    }
  }
  records_ = std::move(records);
  reads_ = std::move(reads);
  collect_at_ = std::max(collect_at_, 2 * (records_.size() + reads_.size()));
}

}  // namespace tile::vm

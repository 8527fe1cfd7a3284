#include "codegen/passes/slicing/slice_write.h"

#include <algorithm>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "codegen/analysis/slice_dims.h"
#include "codegen/passes/slicing/slice_nest.h"
#include "codegen/passes/unused.h"
#include "ir/op_views.h"

namespace tile::codegen {
namespace {

using ir::Block;
using ir::Op;
using ir::Opcode;
using ir::Value;

class Writer {
 public:
  Writer(ir::Module* module, Block* block, const absl::flat_hash_set<const Op*>& kept, SliceOrder* order)
      : module_(module), block_(block), kept_(kept), order_(order) {
    int n = 0;
    for (const Op* op : *block_) position_[op] = n++;
  }

  void Write(std::vector<SliceLoop>* loops) {
    // What is ordered after loads, by tokens that will not be there.
    absl::flat_hash_map<const Op*, std::vector<SliceLoop*>> loops_with;
    std::vector<Op*> loads;
    for (SliceLoop& loop : *loops) {
      for (const auto& [load, dim] : LoadsOf(loop)) {
        std::vector<SliceLoop*>& with = loops_with[load];
        if (with.empty()) loads.push_back(const_cast<Op*>(load));
        if (with.empty() || with.back() != &loop) with.push_back(&loop);
      }
    }
    absl::flat_hash_map<const Op*, std::vector<const Op*>> waits_for;
    for (const Op* load : loads) {
      for (const Op* op : order_->Followers(*load)) waits_for[op].push_back(load);
    }
    std::vector<std::pair<Op*, std::vector<SliceLoop*>>> later;
    absl::flat_hash_set<const Op*> sinks;
    for (const SliceLoop& loop : *loops) {
      for (const SliceSink& sink : loop.sinks) sinks.insert(sink.op);
    }
    ir::Walk(block_, [&](Op* op) {
      if (sinks.contains(op) || op->opcode() == Opcode::kJoinTokens) return;
      std::vector<SliceLoop*> behind = LoopsBefore(*op, waits_for, loops_with);
      if (!behind.empty()) later.emplace_back(op, std::move(behind));
    });

    const SliceWaits waits = {[&](const Op& store, const Op& load) { return order_->Followers(load).contains(&store); },
                              [&](const Op& store) {
                                std::vector<Value*> tokens;
                                for (const SliceLoop* loop : LoopsBefore(store, waits_for, loops_with)) {
                                  if (loop->done != nullptr) tokens.push_back(loop->done);
                                }
                                return tokens;
                              }};
    for (SliceLoop& loop : *loops) {
      WriteLoop(module_, &loop, waits);
    }
    for (auto& [op, behind] : later) AddTokens(op, behind);
    for (const SliceLoop& loop : *loops) {
      for (const SliceSink& sink : loop.sinks) sink.op->Erase();
    }
    RemoveUnused();
    // The last first: what it loads may have served for the addresses of another.
    for (Op*& load : loads) load = const_cast<Op*>(AtIn(*block_, *load));
    std::sort(loads.begin(), loads.end(), [&](const Op* a, const Op* b) { return Precedes(*b, *a); });
    loads.erase(std::unique(loads.begin(), loads.end()), loads.end());
    for (Op* load : loads) {
      // Unless somebody also uses it whole.
      if (ir::ForOp::Is(load)) {
        EraseNest(module_, load);
      } else if (!load->result(0)->has_uses()) {
        EraseLoad(module_, load);
      }
      RemoveUnused();
    }
  }

 private:
  bool Precedes(const Op& a, const Op& b) const { return position_.at(&a) < position_.at(&b); }

  // The loops in front of the operation that load what it waits for.
  std::vector<SliceLoop*> LoopsBefore(const Op& op,
                                      const absl::flat_hash_map<const Op*, std::vector<const Op*>>& waits_for,
                                      const absl::flat_hash_map<const Op*, std::vector<SliceLoop*>>& loops_with) {
    std::vector<SliceLoop*> out;
    const auto it = waits_for.find(&op);
    if (it == waits_for.end()) return out;
    const Op* at = AtIn(*block_, op);
    for (const Op* load : it->second) {
      for (SliceLoop* loop : loops_with.at(load)) {
        const bool before = loop->place() == at || Precedes(*loop->place(), *at);
        if (before && std::find(out.begin(), out.end(), loop) == out.end()) out.push_back(loop);
      }
    }
    std::sort(out.begin(), out.end(),
              [&](const SliceLoop* a, const SliceLoop* b) { return Precedes(*a->place(), *b->place()); });
    return out;
  }

  // Every token that the operation takes waits for the loops, too.
  void AddTokens(Op* op, const std::vector<SliceLoop*>& loops) {
    for (int i = 0; i < op->num_operands(); ++i) {
      if (!op->operand(i)->type().is_token()) continue;
      std::vector<Value*> tokens = {op->operand(i)};
      for (const SliceLoop* loop : loops) tokens.push_back(loop->done);
      const uint32_t end = static_cast<uint32_t>(tokens.size());
      const ir::Type type = module_->types().Token();
      Op* join = module_->CreateOp({.info = ir::GetOp(Opcode::kJoinTokens),
                                    .operands = tokens,
                                    .operand_ends = {&end, 1},
                                    .results = {&type, 1},
                                    .attrs = {},
                                    .loc = op->loc,
                                    .pos = op->pos});
      module_->InsertBefore(op->block(), op, join);
      op->set_operand(i, join->result(0));
    }
  }

  // Pure operations that nobody needs any more.
  void RemoveUnused() {
    for (Op* op = block_->back(); op != nullptr;) {
      Op* before = op->prev();
      if (IsUnused(*op) && !kept_.contains(op)) op->Erase();
      op = before;
    }
  }

  ir::Module* module_;
  Block* block_;
  const absl::flat_hash_set<const Op*>& kept_;
  SliceOrder* order_;
  absl::flat_hash_map<const Op*, int> position_;
};

}  // namespace

void WriteLoops(ir::Module* module, Block* block, const absl::flat_hash_set<const Op*>& kept, SliceOrder* order,
                std::vector<SliceLoop>* loops) {
  Writer(module, block, kept, order).Write(loops);
}

}  // namespace tile::codegen

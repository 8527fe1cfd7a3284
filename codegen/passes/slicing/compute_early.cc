#include "codegen/passes/slicing/compute_early.h"

#include <algorithm>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "codegen/analysis/live_registers.h"
#include "codegen/analysis/product_chain.h"
#include "codegen/analysis/tile_value.h"
#include "codegen/passes/slicing/kept_tiles.h"
#include "codegen/passes/slicing/slice.h"
#include "codegen/passes/slicing/slice_cone.h"
#include "ir/op_views.h"
#include "ir/passes/hoist.h"
#include "ir/passes/rewrite.h"

namespace tile::codegen {
namespace {

using ir::Op;
using ir::Value;

class EarlyBlock {
 public:
  EarlyBlock(ir::Module* module, ir::Block* block) : module_(module), block_(block) {
    for (Op* op : *block) {
      ops_.push_back(op);
      position_[op] = 2 * static_cast<int>(position_.size());
      if (ir::FoldOp::Is(op)) exchanges_.push_back(op);
    }
  }

  void Run() {
    if (exchanges_.empty()) return;
    for (Op* op : ops_) Move(op);
  }

 private:
  // What an operation saves across an exchange: the registers of operands of this block that nothing else uses any more behind the position `from`,
  // less those of its result.
  struct Gain {
    int64_t words = 0;
    int from = 0;
  };

  void Move(Op* op) {
    if (!op->info()->has(ir::kElementwise) || !ir::MayRunAnywhere(*op) || op->num_results() != 1) return;
    if (RegistersOf(op->result(0)->type()) == 0 || registers_.OnlySays(op->result(0))) return;
    const Gain gain = GainOf(*op);
    if (gain.words <= 0) return;
    const auto exchange = std::upper_bound(exchanges_.begin(), exchanges_.end(), gain.from,
                                           [&](int at, const Op* e) { return at < position_.at(e); });
    if (exchange == exchanges_.end() || position_.at(*exchange) > position_.at(op)) return;
    ir::MoveBefore(module_, op, *exchange);
    position_[op] = position_.at(*exchange) - 1;
  }

  Gain GainOf(const Op& op) {
    Gain gain = {.words = -RegistersOf(op.result(0)->type())};
    std::vector<const Value*> seen;
    for (int i = 0; i < op.num_operands(); ++i) {
      const Value* v = op.operand(i);
      const auto def = position_.find(v->def());
      if (def != position_.end()) gain.from = std::max(gain.from, def->second);
      if (!IsTile(v) || def == position_.end() || std::find(seen.begin(), seen.end(), v) != seen.end()) continue;
      seen.push_back(v);
      const int other = LastBeside(*v, op);
      if (other >= position_.at(&op) || registers_.OnlySays(v) || IsFreeTile(v)) continue;
      gain.from = std::max(gain.from, other - 1);  // an exchange may be its user
      gain.words += WordsOf(*v);
    }
    return gain;
  }

  // What is converted from a loaded tile is kept as it lies in memory.
  static int64_t WordsOf(const Value& v) {
    const Value* from = Unconverted(&v);
    const bool loaded = from->def() != nullptr && from->def()->info()->is_load();
    const int64_t words = RegistersOf(v.type());
    return loaded ? std::min(words, WordsInMemory(from->type())) : words;
  }

  // The last use of a value by others.
  int LastBeside(const Value& v, const Op& op) const {
    int last = 0;
    for (const ir::Use* use = v.uses(); use != nullptr; use = use->next) {
      const Op* user = use->owner;
      while (user != nullptr && user->block() != block_) user = user->parent();
      if (user != nullptr && user != &op) last = std::max(last, position_.at(user));
    }
    return last;
  }

  ir::Module* module_;
  ir::Block* block_;
  std::vector<Op*> ops_, exchanges_;
  absl::flat_hash_map<const Op*, int> position_;
  TileRegisters registers_;
};

// In the block, and in those in it.
void ComputeEarlyIn(ir::Module* module, ir::Block* block) {
  EarlyBlock(module, block).Run();
  for (Op* op : *block) {
    for (int r = 0; r < op->num_regions() && !op->info()->has(ir::kElementBody); ++r) {
      if (op->region(r) != nullptr) ComputeEarlyIn(module, op->region(r));
    }
  }
}

}  // namespace

absl::Status ComputeEarly(Program& p) {
  const SliceOptions slices = SlicesFor(p.candidate.num_warps);
  if (HasProducts(*p.function) || MostLiveData(*p.function).words <= slices.carried) return absl::OkStatus();
  ComputeEarlyIn(p.module.get(), p.function->body());
  return absl::OkStatus();
}

}  // namespace tile::codegen

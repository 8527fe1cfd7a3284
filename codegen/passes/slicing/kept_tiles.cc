#include "codegen/passes/slicing/kept_tiles.h"

#include <algorithm>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "codegen/analysis/live_registers.h"
#include "codegen/analysis/op_rules.h"
#include "codegen/analysis/slice_dims.h"
#include "codegen/analysis/tile_value.h"
#include "ir/create_like.h"
#include "ir/op_views.h"
#include "ir/passes/rewrite.h"

namespace tile::codegen {
namespace {

using ir::Op;
using ir::Value;

// Of one operand, and cheap: from what is loaded it is computed again.
bool IsConversion(const Op& op) { return op.info()->family == ir::Family::kConvert && op.num_operands() == 1; }

class Kept {
 public:
  explicit Kept(const ir::Block& block) : block_(block) {
    for (const Op* op : block) position_[op] = static_cast<int>(position_.size());
  }

  std::optional<int64_t> Words() {
    for (const Op* op : block_) {
      if (!IsKnown(*op)) return std::nullopt;
      for (int i = 0; i < op->num_operands(); ++i) Use(op->operand(i), position_.at(op));
    }
    int64_t most = 0;
    for (const Op* op : block_) {
      if (ir::ReduceOp::Is(op)) most = std::max(most, LiveAcross(position_.at(op)));
      if (const Value* stored = WrittenTile(*op)) most = std::max(most, LiveAtStore(*op, stored));
    }
    return most;
  }

 private:
  static bool IsKnown(const Op& op) {
    if (op.num_regions() > 0) return ir::ReduceOp::Is(&op) || HasNoTiles(op);
    if (IsAccessOfMemory(op)) return IsWeak(op) && op.info()->family != ir::Family::kAtomic;
    const bool takes_tile = [&] {
      for (int i = 0; i < op.num_operands(); ++i) {
        if (IsTile(op.operand(i))) return true;
      }
      return false;
    }();
    return !takes_tile || op.info()->has(ir::kElementwise) || RuleOf(op).registers == RegisterRule::kSource ||
           RuleOf(op).registers == RegisterRule::kRepeat;
  }
  static bool HasNoTiles(const Op& op) {
    bool none = true;
    for (int i = 0; i < op.num_operands(); ++i) none = none && !IsTile(op.operand(i));
    for (int r = 0; r < op.num_regions(); ++r) {
      ir::Walk(op.region(r), [&](const Op* inside) {
        for (int i = 0; i < inside->num_results(); ++i) none = none && !IsTile(inside->result(i));
        for (int i = 0; i < inside->num_operands(); ++i) none = none && !IsTile(inside->operand(i));
      });
    }
    return none;
  }

  // The value whose registers serve for it, across an exchange: what is converted is converted again.
  static const Value* Source(const Value* v) {
    const Value* from = v;
    while (from->def() != nullptr && from->def()->num_operands() > 0) {
      const Op& def = *from->def();
      const RegisterRule rule = RuleOf(def).registers;
      if (rule == RegisterRule::kSource || rule == RegisterRule::kRepeat || IsModifier(def)) {
        v = from = def.operand(0);
        continue;
      }
      if (!IsConversion(def)) break;
      from = def.operand(0);
    }
    return from->def() != nullptr && from->def()->info()->is_load() &&
                   WordsInMemory(from->type()) <= WordsInMemory(v->type())
               ? from
               : v;
  }

  void Use(const Value* v, int at) {
    if (!IsTile(v)) return;
    // An operand of what is converted is used there; behind that its conversion stands for it.
    for (const Value* used : {v, Source(v)}) {
      int& last = last_.try_emplace(used, at).first->second;
      last = std::max(last, at);
    }
  }

  int64_t WordsOf(const Value* v) {
    const Op* def = v->def();
    if (def == nullptr || def->opcode() == ir::Opcode::kConstant || registers_.OnlySays(v) || Source(v) != v) return 0;
    if (RuleOf(*def).registers != RegisterRule::kOwn) return 0;
    return def->info()->is_load() ? WordsInMemory(v->type()) : RegistersOf(v->type());
  }

  bool LivesAcross(const Value* v, int at) const {
    const auto last = last_.find(v);
    return last != last_.end() && v->def() != nullptr && v->def()->block() == &block_ && position_.at(v->def()) < at &&
           last->second > at;
  }

  int64_t LiveAcross(int at) {
    int64_t words = 0;
    for (const auto& [v, last] : last_) {
      if (LivesAcross(v, at)) words += WordsOf(v);
    }
    return words;
  }

  // All loads in front of it come before it: what it stores is there whole, unless it is computed from what lives anyway.
  int64_t LiveAtStore(const Op& store, const Value* stored) {
    const int at = position_.at(&store);
    const bool is_there = LivesAcross(Source(stored), at) || LivesAcross(Unconverted(stored), at);
    return LiveAcross(at) + (is_there ? 0 : WordsInMemory(stored->type()));
  }

  const ir::Block& block_;
  absl::flat_hash_map<const Op*, int> position_;
  absl::flat_hash_map<const Value*, int> last_;  // position of the last use
  TileRegisters registers_;
};

}  // namespace

int64_t WordsInMemory(const ir::Type& t) { return t.num_elements() * std::max(8, ir::MemoryBits(t.elem())) / 32; }

const Value* Unconverted(const Value* v) {
  while (v->def() != nullptr && IsConversion(*v->def())) v = v->def()->operand(0);
  return v;
}

std::optional<int64_t> KeptWords(const ir::Block& block) { return Kept(block).Words(); }

void ConvertAgain(ir::Module* module, ir::Block* block) {
  absl::flat_hash_map<const Op*, int> segment;  // how many exchanges precede the operation
  int exchanges = 0;
  std::vector<Op*> conversions;
  for (Op* op : *block) {
    segment[op] = exchanges;
    if (ir::ReduceOp::Is(op)) ++exchanges;
    const bool of_loaded = IsConversion(*op) && IsTile(op->result(0)) && op->operand(0)->def() != nullptr &&
                           op->operand(0)->def()->info()->is_load();
    if (of_loaded && WordsInMemory(op->operand(0)->type()) < WordsInMemory(op->result(0)->type()))
      conversions.push_back(op);
  }
  for (Op* conversion : conversions) {
    absl::flat_hash_map<int, std::vector<std::pair<Op*, int>>> later;
    std::vector<int> order;
    for (const ir::Use* use = conversion->result(0)->uses(); use != nullptr; use = use->next) {
      const auto at = segment.find(use->owner);
      if (at == segment.end() || at->second == segment.at(conversion)) continue;
      for (int i = 0; i < use->owner->num_operands(); ++i) {
        if (use->owner->operand(i) == conversion->result(0)) later[at->second].emplace_back(use->owner, i);
      }
    }
    for (auto& [number, users] : later) order.push_back(number);
    std::sort(order.begin(), order.end());
    for (int number : order) {
      Op* first = nullptr;
      for (Op* op : *block) {
        if (first != nullptr) break;
        for (const auto& [user, i] : later[number]) first = user == op ? op : first;
      }
      ir::ValueMap same;
      Op* again = ir::CopyOp(module, *conversion, &same);
      module->InsertBefore(block, first, again);
      segment[again] = number;
      for (const auto& [user, i] : later[number]) user->set_operand(i, again->result(0));
    }
  }
}

}  // namespace tile::codegen

#include "codegen/passes/slicing/eliminate_loads.h"

#include <cstdint>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "codegen/analysis/live_registers.h"
#include "codegen/analysis/product_chain.h"
#include "codegen/gpu/ops.h"
#include "codegen/passes/equivalence.h"
#include "codegen/passes/kept_registers.h"
#include "codegen/passes/move_loads.h"
#include "codegen/passes/value_numbers.h"
#include "ir/passes/remove_unused.h"
#include "ir/passes/rewrite.h"

namespace tile::codegen {
namespace {

using ir::Block;
using ir::Op;

// A tile that is used more than once is kept as what it is converted to, which may be wider, for each use.
constexpr int64_t kGrowth = 8;

bool IsConverted(const ir::Value& v) {
  for (const ir::Use* use = v.uses(); use != nullptr; use = use->next) {
    if (use->owner->info()->family == ir::Family::kConvert) return true;
  }
  return false;
}

class Reuse {
 public:
  Reuse(Program& p, KeptRegisters* registers) : p_(p), registers_(*registers) {}

  void Run() {
    while (true) {
      changed_ = false;
      const bool is_done = Visit(p_.function->body());
      // What is not computed twice any more takes no registers either.
      if (changed_) ir::RemoveUnused(p_.module.get(), p_.function);
      if (is_done) return;
      registers_.Count();
      kept_.clear();
      numbers_ = {};
      first_.clear();
    }
  }

 private:
  // False: the registers are to be counted before it goes on.
  bool Visit(Block* block) {
    std::vector<int64_t> here;
    for (Op* op = block->front(); op != nullptr;) {
      Op* next = op->next();
      for (int r = 0; r < op->num_regions(); ++r) {
        if (op->region(r) != nullptr && !IsFetch(op) && !Visit(op->region(r))) return false;
      }
      if (MayLoadOnce(*op)) {
        const int64_t number = numbers_.OfLoaded(*op);
        const auto [it, is_first] = first_.try_emplace(number, op);
        if (is_first) {
          here.push_back(number);
        } else if (!stay_.contains(op) && !Replace(op, it->second)) {
          return false;
        }
      }
      op = next;
    }
    for (int64_t number : here) first_.erase(number);  // no other block is sure to have loaded it
    return true;
  }

  bool Replace(Op* load, Op* first) {
    const int64_t words = RegistersOf(load->result(0)->type());
    const int bits = ir::MemoryBits(load->result(0)->type().elem());
    if (changed_ && registers_.IsOpen(words, bits)) return false;
    const StepTexts texts = {"eliminate-loads", "what was loaded before is used again", "loaded once more"};
    if (!TakesStep(*p_.module, *load, texts, registers_.WhyNot(words, bits), &p_.trace())) {
      stay_.insert(load);
      return true;
    }
    if (kept_.insert(first).second || IsConverted(*load->result(0))) registers_.Grew(kGrowth * words);
    for (int i = 0; i < load->num_results(); ++i) ir::Replace(load->result(i), first->result(i));
    load->Erase();
    changed_ = true;
    return true;
  }

  Program& p_;
  KeptRegisters& registers_;
  ValueNumbers numbers_;
  absl::flat_hash_map<int64_t, Op*> first_;  // loads in this block and those around it
  absl::flat_hash_set<const Op*> stay_,
      kept_;  // loads that are done again; that others became since registers were counted
  bool changed_ = false;
};

}  // namespace

absl::Status EliminateLoads(Program& p) {
  if (HasProducts(*p.function)) return absl::OkStatus();
  KeptRegisters registers(p);
  Reuse(p, &registers).Run();
  return absl::OkStatus();
}

}  // namespace tile::codegen

#include "codegen/passes/reuse_loads.h"

#include <string>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "codegen/analysis/live_registers.h"
#include "codegen/passes/alike.h"
#include "codegen/passes/move_loads.h"
#include "codegen/passes/unroll_rounds.h"
#include "codegen/target/gpu_ops.h"
#include "ir/passes/remove_unused.h"
#include "ir/passes/rewrite.h"

namespace tile::codegen {
namespace {

using ir::Block;
using ir::Op;

class Reuse {
 public:
  explicit Reuse(Program& p) : p_(p) {}

  // One after the other, since what is not computed twice any more takes no registers either.
  void Run() {
    while (Visit(p_.function->body())) {
      ir::RemoveUnused(p_.module.get(), p_.function);
      loaded_.clear();
      alike_ = {};
    }
  }

 private:
  // Whether a load was replaced.
  bool Visit(Block* block) {
    const size_t outside = loaded_.size();
    for (Op* op : *block) {
      for (int r = 0; r < op->num_regions(); ++r) {
        if (op->region(r) != nullptr && !IsFetch(op) && Visit(op->region(r))) return true;
      }
      if (!MayLoadOnce(*op)) continue;
      if (Find(op)) return true;
      loaded_.push_back(op);
    }
    loaded_.resize(outside);  // no other block is sure to have loaded it
    return false;
  }

  bool Find(Op* load) {
    for (Op* first : loaded_) {
      if (stay_.contains(load) || !alike_.LoadTheSame(*first, *load)) continue;
      const StepTexts texts = {"reuse-load", "what was loaded before is used again", "loaded once more"};
      if (!TakesStep(*p_.module, *load, texts, WhyNotKept(p_, RegistersOf(load->result(0)->type())), &p_.trace())) {
        stay_.insert(load);
        return false;
      }
      for (int i = 0; i < load->num_results(); ++i) ir::Replace(load->result(i), first->result(i));
      load->Erase();
      return true;
    }
    return false;
  }

  Program& p_;
  Alike alike_;
  std::vector<Op*> loaded_;  // in this block and those around it
  absl::flat_hash_set<const Op*> stay_;
};

}  // namespace

absl::Status ReuseLoads(Program& p) {
  bool multiplies = false;
  ir::Walk(p.function->body(), [&](Op* op) { multiplies = multiplies || op->info()->has(ir::kProduct); });
  if (multiplies) return absl::OkStatus();
  UnrollRounds(p);
  Reuse(p).Run();
  return absl::OkStatus();
}

}  // namespace tile::codegen

#include "codegen/passes/pipeline/release_stores.h"

#include <algorithm>
#include <vector>

#include "codegen/analysis/access_order.h"
#include "codegen/target/decisions.h"
#include "ir/op_views.h"

namespace tile::codegen {
namespace {

using ir::Block;
using ir::Op;

class Marker {
 public:
  explicit Marker(Program& p) : p_(p) {}

  void Visit(Block* block) {
    std::vector<Op*> loads, stores;  // of one group: stores behind all of the loads
    for (Op* op = block->front(); op != nullptr; op = op->next()) {
      for (int r = 0; r < op->num_regions(); ++r) {
        if (op->region(r) != nullptr && !op->info()->has(ir::kElementBody)) Visit(op->region(r));
      }
      const bool load = ir::LoadPtrOp::Is(op) || ir::LoadViewOp::Is(op);
      const bool store = ir::StorePtrOp::Is(op) || ir::StoreViewOp::Is(op);
      if ((!load && !store) || ir::OrderingOf(*op) != ir::MemoryOrdering::kWeak) continue;
      const bool waits =
          store && std::any_of(loads.begin(), loads.end(), [&](const Op* l) { return order_.MustFollow(*op, *l); });
      if (waits || (load && !stores.empty())) Mark(&loads, &stores);
      (load ? loads : stores).push_back(op);
    }
    Mark(&loads, &stores);
  }

 private:
  // Gives both a number, if there are both, and empties them.
  void Mark(std::vector<Op*>* loads, std::vector<Op*>* stores) {
    if (!loads->empty() && !stores->empty()) {
      ++group_;
      for (Op* op : *loads) Decide<Decision::kUnordered>(p_.module.get(), op, group_);
      for (Op* op : *stores) Decide<Decision::kUnordered>(p_.module.get(), op, group_);
    }
    loads->clear();
    stores->clear();
  }

  Program& p_;
  SliceOrder order_;
  int64_t group_ = 0;
};

}  // namespace

absl::Status ReleaseStores(Program& p) {
  Marker(p).Visit(p.function->body());
  return absl::OkStatus();
}

}  // namespace tile::codegen

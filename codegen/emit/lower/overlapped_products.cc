#include "codegen/emit/lower/overlapped_products.h"

#include <algorithm>
#include <utility>

#include "codegen/analysis/product_chain.h"
#include "codegen/emit/pipeline/async_products.h"
#include "codegen/emit/pipeline/copy_ring.h"
#include "codegen/plan/mma/overlapped_products.h"
#include "codegen/target/decisions.h"

namespace tile::codegen {

OverlappedProducts::OverlappedProducts(Emitter& e, const ir::Op& loop) : e_(e), loop_(loop) {
  for (const ir::Op* op : *loop.region(0)) {
    if (IsProduct(*op) && DecisionOf<Decision::kOverlaps>(*op)) ring_ = e.control().copy_rings.back();
  }
}

bool OverlappedProducts::Reads(const ir::Op& op, const ir::Op& mma) const {
  const ir::Value* sums = mma.result(0);
  if (AddsInOrder(op, sums)) return false;
  if (&op == loop_.region(0)->back() && DecisionOf<Decision::kAsync>(mma)) return false;
  for (const ir::Use* use = sums->uses(); use != nullptr; use = use->next) {
    const ir::Op* at = use->owner;
    while (at->parent() != &loop_) at = at->parent();
    if (at == &op) return true;
  }
  return false;
}

void OverlappedProducts::Before(const ir::Op& op) {
  for (size_t i = 0; i < running_.size();) {
    const ir::Op* mma = running_[i];
    if (!Reads(op, *mma)) {
      ++i;
      continue;
    }
    const auto at = std::find(begun_.begin(), begun_.end(), mma);
    Registers sums = Wait(static_cast<size_t>(begun_.end() - at) - 1, e_.regs(mma->result(0)));
    if (HandsOnElsewhere(*mma)) sums = InRegistersOfTheirOwn(e_, std::move(sums));
    e_.Set(mma->result(0), std::move(sums));
    running_.erase(running_.begin() + static_cast<int64_t>(i));
  }
}

void OverlappedProducts::Begun(const ir::Op& mma) {
  begun_.push_back(&mma);
  running_.push_back(&mma);
}

Registers OverlappedProducts::Wait(size_t running, Registers sums) {
  // Copies begin beside what has begun.
  ring_->FetchMeanwhile();
  sums = WaitForProducts(e_, static_cast<int>(running), std::move(sums));
  waited_ = true;
  return sums;
}

void OverlappedProducts::EndIteration() {
  if (ring_ != nullptr && !waited_) Wait(begun_.size(), {});
}

}  // namespace tile::codegen

#include "codegen/plan/resources/warps.h"

#include <algorithm>
#include <vector>

#include "absl/strings/str_cat.h"
#include "codegen/analysis/begins_at_block.h"
#include "codegen/analysis/facts.h"
#include "codegen/analysis/live_registers.h"
#include "codegen/analysis/product_chain.h"
#include "codegen/gpu/ops.h"
#include "codegen/plan/fold_layout.h"
#include "codegen/plan/mma/mma_kind.h"
#include "codegen/plan/mma/staged_mma.h"
#include "codegen/plan/resources/candidate.h"
#include "codegen/target/tuning.h"
#include "ir/op_views.h"

namespace tile::codegen {
namespace {

constexpr int64_t kWarpRows = 16;  // of a product

// The loop in which the operation loads a tile; null: it doesn't.
const ir::Op* LoopOver(const ir::Op& op) {
  if (!op.info()->is_load() || op.result(0)->type().is_scalar()) return nullptr;
  const ir::Op* parent = op.parent();
  return ir::ForOp::Is(parent) ? parent : nullptr;
}

// The access moves in vectors of eight bytes or more, without a test at run time, or takes few registers anyway.
bool IsWide(const ir::Op& op, bool aligned, Facts* facts) {
  const ir::Type type = op.operand(0)->type();
  if (type.is_tile() && (type.rank() == 0 || type.num_elements() < 32)) return true;
  if (!ir::LoadPtrOp::Is(&op) && !ir::StorePtrOp::Is(&op)) return aligned && op.info()->family != ir::Family::kAtomic;
  const ir::Value* mask = ir::LoadPtrOp::Is(&op) ? ir::LoadPtrOp(op).mask() : ir::StorePtrOp(op).mask();
  const auto bytes = static_cast<uint64_t>(std::max(1, ir::MemoryBits(type.element().pointee) / 8));
  for (int d = 0; d < type.rank(); ++d) {
    const Facts::Line line = facts->LineOf(op.operand(0), d);
    const uint64_t vector = std::min(line.rising, 16 / std::min<uint64_t>(16, bytes));
    if (vector * bytes >= 8 && line.start >= vector * bytes &&
        (mask == nullptr || facts->LineOf(mask, d).equal >= vector)) {
      return true;
    }
  }
  return false;
}

bool ReducesAcrossWarps(const ir::Op& op) {
  if (!ir::ReduceOp::Is(&op) || op.operand(0)->type().rank() == 0) return false;
  const Layout layout = Layout::Default(op.operand(0)->type().shape(), tuning::kMaxWarps, 4);
  return WarpsOfResult(op, layout, tuning::kMaxWarps) >= tuning::kWarpsOfRow;
}

// A load gives the value; at most its elements are moved on the way to the product.
bool IsOnlyLoaded(const ir::Value* v) {
  const ir::Op* op = v->def();
  while (op != nullptr && op->info()->family == ir::Family::kShape) op = op->operand(0)->def();
  return op != nullptr && op->info()->is_load();
}

bool WaitsForOthers(const ir::Op& op) {
  if (op.info()->family != ir::Family::kAtomic) return false;
  for (const ir::Op* at = op.parent(); at != nullptr; at = at->parent()) {
    if (ir::LoopOp::Is(at)) return true;
  }
  return false;
}

}  // namespace

RowWork RowWorkOf(const ir::Function& function, bool aligned) {
  Facts facts;
  RowWork work;
  ir::Walk(function.body(), [&](ir::Op* op) {
    work.multiplies = work.multiplies || op->info()->family == ir::Family::kMma;
    if (const ir::Op* loop = LoopOver(*op)) {
      work.in_iterations = true;
      work.in_iterations_of_tile = work.in_iterations_of_tile || !BeginsAtBlock(*loop);
      work.loaded_bits = std::max(work.loaded_bits, ir::MemoryBits(op->result(0)->type().elem()));
      work.loaded_words = std::max(work.loaded_words, RegistersOf(op->result(0)->type()));
    }
    if (op->info()->is_load() && !op->result(0)->type().is_scalar()) {
      work.widest_bits = std::max(work.widest_bits, ir::MemoryBits(op->result(0)->type().elem()));
    }
    work.reduces = work.reduces || ir::FoldOp::Is(op);
    work.across_warps = work.across_warps || ReducesAcrossWarps(*op);
    work.waits = work.waits || WaitsForOthers(*op);
    work.walks = work.walks || (ir::ForOp::Is(op) && BeginsAtBlock(*op));
    if (op->info()->is_access() && !IsFetch(op)) work.known = work.known && IsWide(*op, aligned, &facts);
  });
  return work;
}

int64_t LiveBesideStages(const Target& target, int num_warps, const ir::Function& function) {
  return MostLiveRegisters(function,
                           [&](const ir::Op& op, int i) { return i == 0 && StagesLhs(target, num_warps, op); })
      .words;
}

namespace {

// What the threads of a block hold, and how many warps are enough for it.
class Held {
 public:
  Held(const Target& target, const ir::Function& function, bool aligned)
      : target_(target), function_(function), live_(MostLiveRegisters(function)) {
    TileRegisters registers;
    const bool multiplies = HasProducts(function);
    // What products give is stored element by element: addresses need not be there at once.
    if (multiplies) live_ = MostLiveBesideStores(function);
    ir::Walk(function.body(), [&](ir::Op* op) {
      if (op->info()->family == ir::Family::kMma) {
        products_.push_back(op);
        only_loads_ = only_loads_ && !WorksOnRows(*op) && HasMatrixInstruction(target, *op) &&
                      IsOnlyLoaded(op->operand(0)) && IsOnlyLoaded(op->operand(1));
        if (WorksOnRows(*op)) chain_rows_ = std::max(chain_rows_, op->result(0)->type().shape()[0]);
      }
      // Constants are made where they are used; what is fetched ahead is in shared memory.
      if (op->opcode() == ir::Opcode::kConstant || IsFetch(op) || IsFetch(op->parent())) return;
      for (int i = 0; i < op->num_results(); ++i) {
        if (registers.Of(op->result(i)) <= largest_ || (multiplies && registers.ServesStore(op->result(i)))) continue;
        largest_ = registers.Of(op->result(i));
        largest_type_ = op->result(i)->type().ToString();
      }
    });
    tuning::Share memory = aligned ? tuning::kAlignedMemory : tuning::kMemory;
    const RowWork work = RowWorkOf(function, aligned);
    if (!work.multiplies && work.walks && work.known && work.across_warps && !work.in_iterations_of_tile) {
      if (work.loaded_bits > 0) memory.largest = tuning::kLoadedOfWalks / work.loaded_bits;
      fewest_ = tuning::kWarpsOfWalks;
    } else if (!work.multiplies && !work.walks && work.known && work.across_warps) {
      memory = tuning::kRows;
      if (!work.in_iterations && work.widest_bits <= 16) memory.largest = tuning::kLargestOfNarrowRows;
      of_few_ = tuning::kRowsOfFewWarps;
      fewest_ = work.waits ? tuning::kWarpsOfWaiting : 1;
      live_ = MostLiveData(function);
    } else if (work.in_iterations && work.known && !work.multiplies && work.loaded_words < largest_) {
      loaded_ = work.loaded_words;
    } else if (work.in_iterations) {
      memory.largest = tuning::kLargestOfLoops;
    } else if (!work.multiplies && work.known && !work.reduces) {
      memory.largest = tuning::kLargestOfElements;
    }
    only_loads_ = only_loads_ && multiplies;
    comes_ahead_ = AheadOf(function) != Ahead::kNothing;
    if (multiplies && !comes_ahead_) data_ = MostLiveData(function).words;
    share_ = chain_rows_ > 0     ? tuning::ChainShare(StagedKindOn(target) != nullptr)
             : products_.empty() ? memory
                                 : tuning::kProducts;
  }

  bool HoldsLargest(int warps) const {
    if (IsAlone(warps) || IsBesideOthers(warps)) return true;
    if (warps < fewest_ || (warps < 4 && largest_ > 32 * of_few_ * warps)) return false;
    if (loaded_ > 32 * tuning::kLargestOfLoops * warps) return false;
    if (largest_ <= 32 * share_.largest * warps) return true;
    if (TwoWarpgroupsDo(warps) && largest_ <= 32 * tuning::kTwoWarpgroups.largest * warps) return true;
    return StagedKindOn(target_) != nullptr && HasAllRows(warps) && largest_ <= 32 * tuning::kLargestOfRows * warps;
  }

  // Of all tiles that live at once.
  bool HoldsAll(int warps) const {
    if (IsAlone(warps) || IsBesideOthers(warps)) return true;
    if (live_.words <= 32 * share_.live * warps) return true;
    if (TwoWarpgroupsDo(warps) && live_.words <= 32 * tuning::kTwoWarpgroups.live * warps) return true;
    return HasAllRows(warps) && LiveBesideStages(target_, warps, function_) <= 32 * tuning::kChains.live * warps;
  }

  std::string DescribeLargest(int warps) const {
    return largest_ == 0
               ? "there are no tiles"
               : absl::StrCat("the largest tile, ", largest_type_, ", takes ", largest_, " registers of 32 bits, ",
                              (largest_ + 32 * warps - 1) / (32 * warps), " in a thread");
  }
  std::string DescribeAll() const {
    return absl::StrCat("tiles of ", live_.words, " registers live at once, behind ", live_.at->info()->mnemonic);
  }

 private:
  bool HoldsData(int warps) const { return data_ <= 32 * tuning::kDataOfFewWarps * warps; }

  // One warp has all rows of a chain of products whose loads do not come ahead: it exchanges nothing with others, and waits for no barrier.
  bool IsAlone(int warps) const {
    return warps == 1 && !comes_ahead_ && chain_rows_ > 0 && HasAllRows(warps) && HoldsData(warps);
  }

  // Four warps of a block wait for what they load, while those of another block multiply it.
  bool IsBesideOthers(int warps) const { return warps == 4 && only_loads_ && !comes_ahead_ && HoldsData(warps); }

  // Rows are whole in a warp, while registers last.
  bool HasAllRows(int warps) const { return chain_rows_ > 0 && kWarpRows * warps >= chain_rows_; }

  // Two warpgroups, each with a larger part of the result, read less of the operands from shared memory than four do.
  bool TwoWarpgroupsDo(int warps) const {
    return chain_rows_ == 0 && warps == 8 && !products_.empty() &&
           std::all_of(products_.begin(), products_.end(),
                       [&](const ir::Op* mma) { return PlanCopied(target_, warps, *mma).has_value(); });
  }

  const Target& target_;
  const ir::Function& function_;
  LiveRegisters live_;
  int64_t largest_ = 0;  // registers of 32 bits, in all threads, of one tile
  std::string largest_type_;
  int64_t loaded_ = 0;  // the same of what a loop loads, where that is less
  std::vector<const ir::Op*> products_;
  int64_t chain_rows_ = 0;  // of products that work on rows; 0: none does
  bool only_loads_ = true;  // products take what is loaded and computed no further
  bool comes_ahead_ = false;
  int64_t data_ =
      0;  // registers of tiles that live at once, without addresses and masks; only counted for products whose loads do not come ahead
  tuning::Share share_;  // registers of a thread
  int fewest_ = 1;       // warps
  int64_t of_few_ = 4;   // elements that a thread should have before there is another warp, up to four warps
};

}  // namespace

WarpChoice FewestWarps(const Target& target, const ir::Function& function, bool aligned) {
  const Held held(target, function, aligned);
  const auto fewest = [](const auto& holds) {
    int warps = 1;
    while (warps < tuning::kMaxWarps && !holds(warps)) warps *= 2;
    return warps;
  };
  WarpChoice choice;
  choice.num_warps = fewest([&](int warps) { return held.HoldsLargest(warps) && held.HoldsAll(warps); });
  const int for_largest = fewest([&](int warps) { return held.HoldsLargest(warps); });
  choice.why = held.DescribeLargest(choice.num_warps);
  if (choice.num_warps > for_largest) absl::StrAppend(&choice.why, "; ", held.DescribeAll());
  return choice;
}

}  // namespace tile::codegen

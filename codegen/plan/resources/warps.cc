#include "codegen/plan/resources/warps.h"

#include <algorithm>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "codegen/analysis/begins_at_block.h"
#include "codegen/analysis/facts.h"
#include "codegen/analysis/live_registers.h"
#include "codegen/analysis/product_chain.h"
#include "codegen/analysis/recurrence.h"
#include "codegen/gpu/ops.h"
#include "codegen/plan/fold_layout.h"
#include "codegen/plan/mma/mma_kind.h"
#include "codegen/plan/mma/staged_mma.h"
#include "codegen/plan/resources/candidate.h"
#include "codegen/target/tuning.h"
#include "ir/op_views.h"

namespace tile::codegen {
namespace {

constexpr int64_t kWarpRows = 16;     // of a product
constexpr int64_t kVectorBits = 128;  // that a thread loads at once
// One warp of a block that is alone on its multiprocessor issues an instruction in three or four cycles. So a block has eight, each thread with two
// elements or more (columns of 128 x 4 f32, 128 blocks, H200, 1 to 16 warps: 72, 24, 21, 19, 20 us; of 64 x 64 4.0, 3.4, 3.1, 2.9, 3.3).
constexpr int kWarpsAddingDown = 8;
constexpr int64_t kElementsAddedDown = 2;
// Elements of 8 bits that four warps load for a product, in a thread. Loads that may be byte by byte take a register each before they are packed:
// with 256 of e4m3 (64 x 256 and 256 x 64) a thread spills 11 kB.
constexpr int64_t kBytesOfFewWarps = 192;
// Elements that four warps update by atomics, in a thread. Addresses and values live at once: with 128 f32 a thread spills 2800 bytes, with 64 it
// spills 80.
constexpr int64_t kUpdatesOfFewWarps = 64;
// Columns of a product that a warpgroup should have: it reads the rows of the other operand for them.
constexpr int64_t kColumnsOfGroup = 64;
// Elements that a thread of a small product should have before there is another warp: warps exchange fragments through shared memory.
constexpr int64_t kElementsOfProducts = 16;
// Elements of a thread, and warps, of a tile that a loop keeps in registers while iterations wait for each other: one warp issues too slowly, eight
// exchange for too long. H200, us with 1, 2, 4, 8 warps: delta rules of 64 x 16 f32 6480, 3466, 3359, 4111; 128 x 8 6293, 4643, 4741, 7411; 64 x 32 5808,
// 4697, 3930, 4347; 128 x 32 8814, 4087, 4405, 4993; sinkhorn of 64 x 16 69, 14, 12, 12; rows of attention's weights of 16 x 64 69, 68, 90, 92 and of
// 16 x 128 153, 125, 122, 175.
constexpr int64_t kElementsOfRecurrences = 16, kLeastOfRecurrences = 1024, kMostOfRecurrences = 4096;
constexpr int64_t kMostWarpsOfRecurrences = 4;

// The loop is a condition: it has one iteration or none.
bool IsCondition(const ir::Op& loop, Facts* facts) {
  const ir::ForOp counted(loop);
  const Facts::Range begin = facts->RangeOf(counted.lower_bound()), end = facts->RangeOf(counted.upper_bound()),
                     step = facts->RangeOf(counted.step());
  return static_cast<__int128>(end.upper) - begin.lower <= step.lower;
}

// The loop in which the operation loads a tile again and again; null: it doesn't.
const ir::Op* LoopOver(const ir::Op& op, Facts* facts) {
  if (!op.info()->is_load() || op.result(0)->type().is_scalar()) return nullptr;
  const ir::Op* parent = op.parent();
  return ir::ForOp::Is(parent) && !IsCondition(*parent, facts) ? parent : nullptr;
}

// What iterations added up, all columns side by side, is added down the columns behind the loop. A block has a strip of columns, so there are
// few blocks, and each goes over all rows.
bool AddsDown(const ir::Op& op) {
  if (!ir::ReduceOp::Is(&op) || op.operand(0)->type().rank() < 2 || !ir::ForOp::Is(op.operand(0)->def())) return false;
  return ir::FoldOp(op).dim() != op.operand(0)->type().rank() - 1;
}

// In each iteration a fold works on what another one of the iteration gave, and one of them goes down the rows of a tile.
bool FoldsOfFolds(const ir::Op& loop) {
  absl::flat_hash_set<const ir::Value*> folded;
  bool rows = false, follows = false;
  ir::Walk(loop.region(0), [&](const ir::Op* op) {
    const bool is_fold = ir::FoldOp::Is(op);
    bool of_folded = false;
    for (int i = 0; i < op->num_operands(); ++i) of_folded = of_folded || folded.contains(op->operand(i));
    rows = rows || (is_fold && ir::FoldOp(*op).dim() < op->operand(0)->type().rank() - 1);
    follows = follows || (is_fold && of_folded);
    for (int i = 0; (is_fold || of_folded) && i < op->num_results(); ++i) folded.insert(op->result(i));
  });
  return rows && follows;
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
    if (const ir::Op* loop = LoopOver(*op, &facts)) {
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

int64_t BesideProducts(const Target& target, int num_warps, const ir::Block& body) {
  return CanDoAllCopied(target, num_warps, body) ? tuning::kBesideStaged : tuning::kFragmentRegisters;
}

int64_t LiveBesideStages(const Target& target, int num_warps, const ir::Function& function) {
  return MostLiveRegisters(function,
                           [&](const ir::Op& op, int i) { return i == 0 && StagesLhs(target, num_warps, op); })
      .words;
}

namespace {

int64_t ElementsOf(ir::Type type) { return type.is_tile() ? type.num_elements() : 0; }

// What kernels without products fold, beside RowWork.
struct Folds {
  int64_t vectors = 0;     // of 16 bytes, of the largest tile that is loaded; of several of that size the narrowest
  bool adds_down = false;  // columns, behind a loop that adds up rows of them
  bool of_folds = false;   // in each iteration of a loop, down the rows of a tile

  // At most `warps`, and no more than load a vector in each thread. H200: rows of 128 bf16, walked over, take 140 us with four warps, Triton 60 with
  // one. Rows of 512 bf16 whose blocks wait for each other take 54, 55, 65, 92 us with 1, 2, 4, 8 warps.
  int AtMost(int warps) const { return static_cast<int>(std::clamp<int64_t>(vectors / 32, 1, warps)); }
};
Folds FoldsOf(const ir::Function& function) {
  Folds folds;
  int64_t elements = 0;
  int narrowest = 0;
  ir::Walk(function.body(), [&](const ir::Op* op) {
    folds.adds_down = folds.adds_down || AddsDown(*op);
    folds.of_folds = folds.of_folds || (ir::ForOp::Is(op) && !BeginsAtBlock(*op) && FoldsOfFolds(*op));
    if (!op->info()->is_load() || op->result(0)->type().is_scalar()) return;
    const ir::Type type = op->result(0)->type();
    const int bits = ir::MemoryBits(type.elem());
    if (type.num_elements() < elements || (type.num_elements() == elements && bits > narrowest)) return;
    elements = type.num_elements();
    narrowest = bits;
  });
  folds.vectors = elements * narrowest / kVectorBits;
  return folds;
}

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
      if (op->info()->family == ir::Family::kAtomic && op->num_operands() > 0)
        updates_ = std::max(updates_, ElementsOf(op->operand(0)->type()));
      if (op->info()->is_load() && ir::MemoryBits(op->result(0)->type().elem()) <= 8)
        bytes_ += ElementsOf(op->result(0)->type());
      for (int i = 0; i < op->num_results(); ++i) {
        elements_ = std::max(elements_, std::min(registers.Of(op->result(i)), ElementsOf(op->result(i)->type())));
        if (registers.Of(op->result(i)) <= largest_ || (multiplies && registers.ServesStore(op->result(i)))) continue;
        largest_ = registers.Of(op->result(i));
        largest_type_ = op->result(i)->type().ToString();
      }
    });
    tuning::Share memory = aligned ? tuning::kAlignedMemory : tuning::kMemory;
    const RowWork work = RowWorkOf(function, aligned);
    const Folds folds = FoldsOf(function);
    if (!work.multiplies && work.walks && work.known && work.across_warps && !work.in_iterations_of_tile) {
      if (work.loaded_bits > 0) memory.largest = tuning::kLoadedOfWalks / work.loaded_bits;
      fewest_ = folds.AtMost(tuning::kWarpsOfWalks);
    } else if (!work.multiplies && !work.walks && work.known && work.across_warps) {
      memory = tuning::kRows;
      if (!work.in_iterations && work.widest_bits <= 16) memory.largest = tuning::kLargestOfNarrowRows;
      of_few_ = tuning::kRowsOfFewWarps;
      if (folds.adds_down)
        fewest_ =
            static_cast<int>(std::clamp<int64_t>(work.loaded_words / kElementsAddedDown / 32, 1, kWarpsAddingDown));
      if (work.waits) fewest_ = folds.AtMost(tuning::kWarpsOfWaiting);
      live_ = MostLiveData(function);
    } else if (work.in_iterations && work.known && !work.multiplies && work.loaded_words < largest_) {
      loaded_ = work.loaded_words;
    } else if (work.in_iterations) {
      memory.largest = tuning::kLargestOfLoops;
    } else if (!work.multiplies && work.known && !work.reduces) {
      memory.largest = tuning::kLargestOfElements;
    }
    const int64_t recurrent = multiplies ? 0 : ElementsOfRecurrences(function);
    if (recurrent >= kLeastOfRecurrences && recurrent <= kMostOfRecurrences)
      exactly_ = static_cast<int>(std::min(recurrent / (32 * kElementsOfRecurrences), kMostWarpsOfRecurrences));
    if (multiplies && !MayReadStages()) of_few_ = kElementsOfProducts;
    only_loads_ = only_loads_ && multiplies;
    comes_ahead_ = AheadOf(function) != Ahead::kNothing;
    folds_of_folds_ = folds.of_folds && !multiplies;
    if ((multiplies && !comes_ahead_) || folds_of_folds_) data_ = MostLiveData(function).words;
    if (multiplies && AheadOf(function) != Ahead::kTma && CopiedKindOn(target) != nullptr &&
        !CopiedKindOn(target)->through_columns())
      product_data_ = MostLiveData(function).words;
    share_ = chain_rows_ > 0     ? tuning::ChainShare(CopiedKindOn(target) != nullptr)
             : products_.empty() ? memory
                                 : tuning::kProducts;
  }

  bool HoldsLargest(int warps) const {
    if (exactly_ > 0) return warps >= exactly_;
    if (IsAlone(warps) || IsBesideOthers(warps) || KeepsWarpgroups(warps)) return true;
    if (warps < fewest_ || (warps < 4 && elements_ > 32 * of_few_ * warps)) return false;
    if (loaded_ > 32 * tuning::kLargestOfLoops * warps) return false;
    if (largest_ <= 32 * share_.largest * warps) return true;
    if (TwoWarpgroupsDo(warps) && largest_ <= 32 * tuning::kTwoWarpgroups.largest * warps) return true;
    return CopiedKindOn(target_) != nullptr && HasAllRows(warps) && largest_ <= 32 * tuning::kLargestOfRows * warps;
  }

  // Of all tiles that live at once.
  bool HoldsAll(int warps) const {
    if (exactly_ > 0) return warps >= exactly_;
    if (IsAlone(warps) || IsBesideOthers(warps) || KeepsWarpgroups(warps)) return true;
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
  // A product has rows enough for instructions that read stages, which four warps execute together.
  bool MayReadStages() const {
    const StagedMmaKind* kind = CopiedKindOn(target_);
    return kind != nullptr && std::any_of(products_.begin(), products_.end(),
                                          [&](const ir::Op* mma) { return kind->Takes(target_, *mma); });
  }

  bool HoldsData(int warps) const { return data_ <= 32 * tuning::kDataOfFewWarps * warps; }

  // One warp has all rows of a chain of products whose loads do not come ahead: it exchanges nothing with others, and waits for no barrier. One
  // warp serves a chain of folds for the same reason. H200: decoding with weights by softmax, 64 keys of 128 f16 an iteration, takes 1652 us with
  // sixteen warps, Triton 127 with one.
  bool IsAlone(int warps) const {
    const bool in_chain = folds_of_folds_ || (chain_rows_ > 0 && HasAllRows(warps));
    return warps == 1 && !comes_ahead_ && in_chain && HoldsData(warps);
  }

  // Four warps of a block wait for what they load, while those of another block multiply it.
  bool IsBesideOthers(int warps) const {
    return warps == 4 && only_loads_ && !comes_ahead_ && HoldsData(warps) &&
           elements_ <= 32 * tuning::kElementsOfFewWarps * warps && updates_ <= 32 * kUpdatesOfFewWarps * warps &&
           bytes_ <= 32 * kBytesOfFewWarps * warps;
  }

  // Registers of data, without operands that shared memory has for a whole loop.
  int64_t DataBesideStored(int warps) const {
    const auto is_stored = [&](const ir::Op& op, int i) {
      if (i > 1 || !IsProduct(op) || !IsInvariant(op, i)) return false;
      return (i == 0 && StagesLhs(target_, warps, op)) || PlanStored(target_, warps, op).has_value();
    };
    return MostLiveData(function_, is_stored).words;
  }

  std::optional<StagedMmaPlan> CopiedPlan(const ir::Op& mma, int warps) const {
    return PlanCopied(target_, warps, mma);
  }

  std::optional<StagedMmaPlan> PlanOf(const ir::Op& mma, int warps) const {
    const auto copied = CopiedPlan(mma, warps);
    return copied ? copied : PlanStored(target_, warps, mma);
  }

  // Warpgroups do all products that they can do, and twice as many warps would have too few columns of one: of 64 x 64, say. Then these warps may have
  // more registers than others.
  bool KeepsWarpgroups(int warps) const {
    const int64_t most = 32 * warps * (comes_ahead_ ? tuning::kMostLive : tuning::kDataOfWarpgroups);
    if (warps < 4 || product_data_ == 0 || (product_data_ > most && DataBesideStored(warps) > most)) return false;
    const StagedMmaKind& kind = *CopiedKindOn(target_);
    bool narrow = false;
    for (const ir::Op* mma : products_) {
      if (!kind.Takes(target_, *mma)) continue;
      if (!PlanOf(*mma, warps)) return false;
      const auto twice = PlanOf(*mma, 2 * warps);
      narrow = narrow || !twice || twice->instruction_n < std::min(kColumnsOfGroup, twice->n);
    }
    return narrow;
  }

  // Rows are whole in a warp, while registers last.
  bool HasAllRows(int warps) const { return chain_rows_ > 0 && kWarpRows * warps >= chain_rows_; }

  // Two warpgroups, each with a larger part of the result, read less of the operands from shared memory than four do.
  bool TwoWarpgroupsDo(int warps) const {
    return chain_rows_ == 0 && warps == 8 && !products_.empty() &&
           std::all_of(products_.begin(), products_.end(),
                       [&](const ir::Op* mma) { return CopiedPlan(*mma, warps).has_value(); });
  }

  const Target& target_;
  const ir::Function& function_;
  LiveRegisters live_;
  int64_t largest_ = 0;   // registers of 32 bits, in all threads, of one tile
  int64_t elements_ = 0;  // of the tile with most; of addresses those that a thread keeps
  int64_t updates_ = 0;   // the same of the largest tile that atomics update
  int64_t bytes_ = 0;     // elements of up to 8 bits that are loaded, all together
  std::string largest_type_;
  int64_t loaded_ = 0;  // the same of what a loop loads, where that is less
  std::vector<const ir::Op*> products_;
  int64_t chain_rows_ = 0;  // of products that work on rows; 0: none does
  bool only_loads_ = true;  // products take what is loaded and computed no further
  bool comes_ahead_ = false;
  bool folds_of_folds_ = false;
  // Registers of tiles that live at once, without addresses and masks; counted for products whose loads do not come ahead, and chains of folds.
  int64_t data_ = 0;
  int64_t product_data_ =
      0;  // the same of kernels whose products may be by warpgroups, while no producer fetches for them; 0: of others
  tuning::Share share_;  // registers of a thread
  int exactly_ = 0;      // warps of loops whose iterations wait for each other; 0: there is none
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

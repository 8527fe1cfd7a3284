#include "codegen/plan/mma/staged_mma.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "codegen/analysis/product_chain.h"
#include "codegen/gpu/ops.h"
#include "codegen/layout/block_scales.h"
#include "codegen/plan/tensor_memory.h"
#include "codegen/target/decisions.h"
#include "ir/loops.h"
#include "ir/op_views.h"

namespace tile::codegen {
namespace {

constexpr int64_t kSwizzled = 1024;  // alignment of any swizzled tile
constexpr int kLeastSwizzle = 32, kMostRowBytes = 128;
// The least K of a product whose operands threads store. Fences and barriers take as long for fewer steps (linear attention, 64 x 64 with K of 16 in a loop: 36 us by
// mma.sync, 67 so; with K of 64: 100 us by mma.sync, 85 so; H200).
constexpr int64_t kLeastStoredK = 32;

const StagedMmaKind* AsStaged(const MmaKind* kind) {
  return kind != nullptr && kind->reads_stages() ? static_cast<const StagedMmaKind*>(kind) : nullptr;
}

// The values of an iteration, or of those before it, too.
enum class Within : uint8_t { kIteration, kLoop };

// No product of the block is part of it.
bool IsMadeOfLoads(const ir::Value& v, const ir::Block& block, Within within) {
  absl::flat_hash_set<const ir::Value*> seen;
  std::vector<const ir::Value*> open = {&v};
  const auto add = [&](const ir::Value* part) {
    if (seen.insert(part).second) open.push_back(part);
  };
  while (!open.empty()) {
    const ir::Value* part = open.back();
    open.pop_back();
    if (within == Within::kLoop && part->block() == &block) {
      const std::optional<ir::CarryingLoop> loop = ir::CarryingLoop::Around(part);
      const int carried = loop && loop->latch() != nullptr ? loop->carried_by(part) : -1;
      if (carried >= 0) add(loop->next(carried));
    }
    const ir::Op* def = part->def();
    if (def == nullptr || def->block() != &block || IsFetch(def)) continue;
    if (IsProduct(*def) || def->num_regions() > 0) return false;
    for (int i = 0; i < def->num_operands(); ++i) add(def->operand(i));
  }
  return true;
}

// Its sums have fewer bits than the instruction's, and are rounded when it has ended. So it can't run on.
bool ConvertsSums(const ir::Op& mma) { return ir::MemoryBits(mma.result(0)->type().elem()) < 32; }

// How the right operand of a product in a loop that copies ahead lies in shared memory; nullopt: it is not there.
std::optional<StagedTile> StagedRhs(const ir::Op& mma) {
  if (CopyOf(mma, 1) != nullptr) return StagedOperandOf(mma, 1);
  return StoresRhs(mma) ? std::optional(StoredRhs(mma.operand(1)->type())) : std::nullopt;
}

// Threads store the left operand, too. It is not held as fragments for several products: ptxas 13.0 overwrites fragments that live longer than one product.
bool StoresLhs(const ir::Op& mma) {
  for (const ir::Use* use = mma.operand(0)->uses(); use != nullptr; use = use->next) {
    if (use->owner != &mma && IsProduct(*use->owner)) return true;
  }
  return !IsInvariant(mma, 0) && IsMadeOfLoads(*mma.operand(0), *mma.block(), Within::kLoop);
}

bool LhsInMemory(const ir::Op& mma) { return CopyOf(mma, 0) != nullptr || DecisionOf<Decision::kStagesLhs>(mma); }

}  // namespace

Layout StagedMmaPlan::ResultLayout() const { return kind->ResultLayoutOf(*this); }
Layout StagedMmaPlan::FirstLayout() const { return kind->FirstLayoutOf(*this); }

bool StagedMmaKind::Choose(const Target& target, int num_warps, ir::Module* module, ir::Op* mma) const {
  const bool fetched = FetchOf(*mma) != nullptr;
  const bool stored = MayStoreOperands(*mma);
  const std::optional<StagedMmaPlan> plan =
      !IsProduct(*mma) ? Plan(target, num_warps, *mma, nullptr, StagedTile(), false)  // threads store what it reads
      : fetched        ? PlanFetched(target, num_warps, *mma, *StagedOperandOf(*mma, 0), *StagedOperandOf(*mma, 1))
      : stored         ? PlanStored(target, num_warps, *mma)
                       : PlanCopied(target, num_warps, *mma);
  if (!plan || plan->kind != this) return false;
  Decide(module, mma, *plan);
  if (stored ? StoresLhs(*mma) : !fetched && StagesLhs(target, num_warps, *mma))
    codegen::Decide<Decision::kStagesLhs>(module, mma, true);
  return true;
}

Layout StagedMmaKind::ResultLayout(int, const ir::Op& mma) const { return PlanOf(mma).ResultLayout(); }

std::optional<Layout> StagedMmaKind::FragmentLayout(const ir::Op& mma, int operand) const {
  if (operand != 0 || !IsProduct(mma) || FetchOf(mma) != nullptr || LhsInMemory(mma)) return std::nullopt;
  return PlanOf(mma).FirstLayout();
}

int64_t StagedMmaKind::StepsAlongK(const ir::Op& mma) const { return PlanOf(mma).steps(); }

// The few that begin products; nothing brings operands.
double StagedMmaKind::WarpInstructions(double, int) const { return 0; }

double StagedMmaKind::MacsPerCycle(const Machine& machine, int element_bits) const {
  return machine.staged_macs * 16 / element_bits;
}

const StagedMmaKind* StagedKindOn(const Target& target) {
  for (const MmaKind* kind : MmaKinds()) {
    if (const StagedMmaKind* staged = AsStaged(kind); staged != nullptr && staged->IsOn(target)) return staged;
  }
  return nullptr;
}

const StagedMmaKind* CopiedKindOn(const Target& target) {
  for (const MmaKind* kind : MmaKinds()) {
    const StagedMmaKind* staged = AsStaged(kind);
    if (staged != nullptr && staged->IsOn(target) && !staged->sums_in_columns()) return staged;
  }
  return nullptr;
}

bool MultipliesFromTma(const Target& target) { return target.has(kTma) && StagedKindOn(target) != nullptr; }

std::optional<StagedMmaPlan> PlanFetched(const Target& target, int num_warps, const ir::Op& mma, const StagedTile& a,
                                         const StagedTile& b) {
  const StagedMmaKind* kind = StagedKindOn(target);
  // TMA brings what the products read: nobody converts it in between.
  if (kind == nullptr || !IsProduct(mma) || ConvertsSums(mma) || !a.tma_converts() || !b.tma_converts())
    return std::nullopt;
  return kind->Plan(target, num_warps, mma, &a, b, true);
}

std::optional<StagedMmaPlan> PlanCopied(const Target& target, int num_warps, const ir::Op& mma) {
  const StagedMmaKind* kind = CopiedKindOn(target);
  if (kind == nullptr || !IsProduct(mma) || ConvertsSums(mma)) return std::nullopt;
  const std::optional<StagedTile> b = StagedRhs(mma);
  if (!b) return std::nullopt;
  std::optional<StagedTile> a;
  if (CopyOf(mma, 0) != nullptr) {
    a = StagedOperandOf(mma, 0);
  } else if (!IsInvariant(mma, 0) && !kind->through_columns()) {
    for (const ir::Use* use = mma.operand(0)->uses(); use != nullptr; use = use->next) {
      if (use->owner != &mma && IsProduct(*use->owner)) return std::nullopt;
    }
  }
  return kind->Plan(target, num_warps, mma, a ? &*a : nullptr, *b, false);
}

bool CanDoAllCopied(const Target& target, int num_warps, const ir::Op& copy) {
  for (int i = 0; i < copy.num_results(); ++i) {
    for (const ir::Use* use = copy.result(i)->uses(); use != nullptr; use = use->next) {
      if (IsProduct(*use->owner) && !PlanCopied(target, num_warps, *use->owner)) return false;
    }
  }
  return true;
}

bool CanDoAllCopied(const Target& target, int num_warps, const ir::Block& body) {
  for (const ir::Op* op : body) {
    if (IsProduct(*op) && !PlanCopied(target, num_warps, *op)) return false;
  }
  return true;
}

int64_t SumsApart(const Target& target, int num_warps, const ir::Op& mma) {
  const StagedMmaKind* kind = StagedKindOn(target);
  return kind != nullptr && IsProduct(mma) ? kind->SumsApart(num_warps, mma) : 0;
}

int PreferredWarps(const Target& target, const ir::Op& mma) {
  const StagedMmaKind* kind = StagedKindOn(target);
  return kind == nullptr ? 0 : kind->PreferredWarps(mma);
}

bool StagesLhs(const Target& target, int num_warps, const ir::Op& mma) {
  if (!IsProduct(mma) || CopyOf(mma, 0) != nullptr) return false;
  const std::optional<StagedMmaPlan> plan = PlanCopied(target, num_warps, mma);
  return plan && (plan->kind->through_columns() || IsInvariant(mma, 0));
}

StagedTile StagedLhs(const ir::Op& mma) { return StagedLhs(mma.operand(0)->type()); }

StagedTile StagedLhs(ir::Type lhs) {
  StagedTile t;
  t.lhs = t.k_major = true;
  t.element_bits = ir::MemoryBits(lhs.elem());
  t.mn = lhs.shape()[0];
  t.k = lhs.shape()[1];
  t.contiguous = 1;
  t.other = 0;
  t.swizzle = static_cast<int>(std::min<int64_t>(kMostRowBytes, t.k * t.element_bits / 8));
  return t;
}

StagedTile TileOfOperand(const ir::Op& stage_operand) {
  StagedTile tile = StagedLhs(stage_operand.operand(0)->type());
  if (const auto swizzle = DecisionOf<Decision::kSwizzle>(stage_operand))
    tile.swizzle = static_cast<int>((*swizzle)[0]);
  return tile;
}

bool StoresScales(const ir::Op& stage_operand) { return TileOfOperand(stage_operand).swizzle == kScaleRowBytes; }

int64_t BytesOfOperand(const ir::Op& stage_operand) {
  const StagedTile tile = TileOfOperand(stage_operand);
  return StoresScales(stage_operand) ? kScalePieceBytes * ScalePieces(tile.mn, tile.k) : tile.bytes();
}

bool StoresRhs(const ir::Op& mma) {
  const ir::Op* copy = IsProduct(mma) ? CopyOf(mma, 0) : nullptr;
  if (copy == nullptr || copy->block() != mma.block() || CopyOf(mma, 1) != nullptr) return false;
  const ir::Type rhs = mma.operand(1)->type();
  return rhs.rank() == 2 && ir::MemoryBits(rhs.elem()) == 16 && !IsInvariant(mma, 1) &&
         IsMadeOfLoads(*mma.operand(1), *mma.block(), Within::kIteration);
}

StagedTile StoredRhs(ir::Type rhs) {
  StagedTile t = StagedLhs(rhs);
  t.lhs = t.k_major = false;
  std::swap(t.mn, t.k);
  return t;
}

bool MayStoreOperands(const ir::Op& mma) {
  if (!IsProduct(mma) || StageTileOf(mma.operand(1)) != nullptr) return false;
  for (int i = 0; i < 2; ++i) {
    const ir::Type type = mma.operand(i)->type();
    if (type.rank() != 2 || ir::MemoryBits(type.elem()) != 16) return false;
  }
  if (ShapeOfMma(mma).k < kLeastStoredK || CopyOf(mma, 0) != nullptr || CopyOf(mma, 1) != nullptr) return false;
  for (const ir::Op* loop = mma.parent(); loop != nullptr; loop = loop->parent()) {
    if (ir::ForOp::Is(loop) && FetchIn(*loop) != nullptr) return false;
  }
  return true;
}

std::optional<StagedMmaPlan> PlanStored(const Target& target, int num_warps, const ir::Op& mma) {
  const StagedMmaKind* kind = CopiedKindOn(target);
  if (kind == nullptr || kind->through_columns() || !MayStoreOperands(mma)) return std::nullopt;
  const StagedTile a = StagedLhs(mma);
  StagedTile b = StoredRhs(mma.operand(1)->type());
  std::optional<StagedMmaPlan> plan;
  // A chunk that is as narrow as the part of a group.
  for (; !plan && b.swizzle >= kLeastSwizzle; b.swizzle /= 2)
    plan = kind->Plan(target, num_warps, mma, StoresLhs(mma) ? &a : nullptr, b, false);
  return plan;
}

bool HasOperandsStored(const ir::Op& mma) { return MayStoreOperands(mma) && KindOf(mma).reads_stages(); }

int64_t WordsOfLhs(const ir::Op& mma) {
  return StagedMmaPlanOf(mma)->FirstLayout().registers() * ir::MemoryBits(mma.operand(0)->type().elem()) / 32;
}

void DecideFragments(ir::Module* module, ir::Op* fragment_words, const ir::Op& mma) {
  Decide<Decision::kInstruction>(module, fragment_words, KindOf(mma).name());
  Decide<Decision::kShape>(module, fragment_words, DecisionOf<Decision::kShape>(mma).value());
  Decide<Decision::kWarpgroups>(module, fragment_words, DecisionOf<Decision::kWarpgroups>(mma).value());
}

Layout LhsFragments(const ir::Op& fragment_words) {
  const auto groups = DecisionOf<Decision::kWarpgroups>(fragment_words).value();
  return AsStaged(FindKindOf(fragment_words))
      ->LhsLayout(fragment_words.operand(0)->type(), static_cast<int>(groups[0]), static_cast<int>(groups[1]));
}

std::vector<ir::Op*> ProductsOf(const ir::Op& fetch) {
  std::vector<ir::Op*> products;
  for (ir::Op* op : *fetch.block()) {
    if (IsProduct(*op) && FetchOf(*op) == &fetch) products.push_back(op);
  }
  return products;
}

bool SumsInColumns(const ir::Op& fetch) {
  const std::vector<ir::Op*> products = ProductsOf(fetch);
  return !products.empty() && KindOf(*products[0]).sums_in_columns();
}

int64_t ColumnsOfFetched(const Target& target, const ir::Function& function) {
  const StagedMmaKind* kind = StagedKindOn(target);
  int64_t columns = 0;
  if (kind == nullptr || !kind->sums_in_columns()) return columns;
  ir::Walk(function.body(), [&](const ir::Op* op) {
    if (IsProduct(*op) && FetchOf(*op) != nullptr) columns += ColumnsOf(op->result(0)->type());
  });
  return columns;
}

int64_t ColumnsThrough(const ir::Op& copy) {
  int64_t columns = 0;
  for (int i = 0; i < copy.num_results(); ++i) {
    for (const ir::Use* use = copy.result(i)->uses(); use != nullptr; use = use->next) {
      const MmaKind* kind = FindKindOf(*use->owner);
      if (kind != nullptr && kind->through_columns())
        columns = std::max(columns, ColumnsOf(use->owner->result(0)->type()));
    }
  }
  return columns;
}

std::optional<StagedMmaPlan> StagedMmaPlanOf(const ir::Op& mma) {
  const StagedMmaKind* kind = AsStaged(&KindOf(mma));
  return kind == nullptr ? std::nullopt : std::optional(kind->PlanOf(mma));
}

}  // namespace tile::codegen

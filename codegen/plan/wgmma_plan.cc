#include "codegen/plan/wgmma_plan.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "codegen/analysis/product_chain.h"
#include "codegen/plan/mma_layout.h"
#include "codegen/target/decisions.h"

namespace tile::codegen {
namespace {

struct Instruction {
  ir::Elem element;
  int k;
  ir::Elem accumulator;
  const char* types;
  bool scales, transposes;
};

constexpr Instruction kInstructions[] = {
#define TILE_WGMMA(Element, depth, Accumulator, types, scales, transposes) \
  {ir::Elem::k##Element, depth, ir::Elem::k##Accumulator, types, scales, transposes},
#include "codegen/target/wgmma_instructions.def"
};

constexpr int64_t kM = 64, kMostN = 256, kGroupThreads = 128;
// Of a thread, which has 227 registers beside 256 others and a producer warp, 120 beside 512.
constexpr int64_t kMostAccumulators = 128, kMostOfManyThreads = 64, kManyGroups = 4;

// Null: none takes these types.
const Instruction* FindInstruction(const ir::Op& mma) {
  const ir::Elem element = mma.operand(0)->type().elem();
  for (const Instruction& i : kInstructions) {
    if (i.element == element && mma.operand(1)->type().elem() == element &&
        mma.result(0)->type().elem() == i.accumulator)
      return &i;
  }
  return nullptr;
}

WgmmaPlan PlanWith(const Instruction& in, const ir::Op& mma, int instruction_n, int groups_m, int groups_n) {
  const MmaShape s = ShapeOfMma(mma);
  WgmmaPlan p;
  p.tile = {instruction_n, ir::MemoryBits(in.element), s.m, s.n, s.k, groups_m, groups_n};
  p.k = in.k;
  p.scales = in.scales;
  p.transposes = in.transposes;
  p.instruction =
      absl::StrCat("wgmma.mma_async.sync.aligned.m64n", instruction_n, "k", in.k, ".", WithSigns(mma, in.types));
  return p;
}

// With the left operand in registers if `a` is null.
std::optional<WgmmaPlan> PlanOf(const Target& target, int num_warps, const ir::Op& mma, const StagedTile* a,
                                const StagedTile& b) {
  if (!target.has(kWgmma) || num_warps % 4 != 0) return std::nullopt;
  if ((a != nullptr && !a->fits_tma()) || !b.fits_tma()) return std::nullopt;
  const Instruction* in = FindInstruction(mma);
  if (in == nullptr) return std::nullopt;
  if (!in->transposes && !((a == nullptr || a->k_major) && b.k_major)) return std::nullopt;
  const MmaShape s = ShapeOfMma(mma);
  const int64_t groups = num_warps / 4;
  const int groups_m = static_cast<int>(std::min<int64_t>(groups, std::max<int64_t>(1, s.m / kM)));
  const int groups_n = static_cast<int>(groups / groups_m);
  const int instruction_n = static_cast<int>(std::min(kMostN, s.n / groups_n));
  if (s.m < kM || instruction_n < 8 || s.k < in->k) return std::nullopt;
  const int64_t most = groups < kManyGroups ? kMostAccumulators : kMostOfManyThreads;
  if (s.m * s.n > most * kGroupThreads * groups) return std::nullopt;
  // A group's rows and columns begin where a chunk does, or a multiple of eight rows.
  if (!b.k_major && instruction_n < b.chunk_elements() && instruction_n < s.n) return std::nullopt;
  return PlanWith(*in, mma, instruction_n, groups_m, groups_n);
}

}  // namespace

int WgmmaWarps(const ir::Op& mma) {
  const MmaShape s = ShapeOfMma(mma);
  int64_t groups = 1;
  while (groups < 2 && s.m * s.n > kGroupThreads * 64 * groups) groups *= 2;
  return static_cast<int>(4 * groups);
}

std::optional<WgmmaPlan> PlanWgmma(const Target& target, int num_warps, const ir::Op& mma) {
  if (!IsProduct(mma)) return std::nullopt;
  const std::optional<StagedTile> a = StageOperand(mma, 0), b = StageOperand(mma, 1);
  // TMA brings what the products read: nobody converts it in between.
  return a && b && !a->rounded && !b->rounded ? PlanOf(target, num_warps, mma, &*a, *b) : std::nullopt;
}

std::optional<WgmmaPlan> PlanWgmmaOfCopies(const Target& target, int num_warps, const ir::Op& mma) {
  if (!IsProduct(mma) || CopyOf(mma, 1) == nullptr) return std::nullopt;
  std::optional<StagedTile> a;
  if (CopyOf(mma, 0) != nullptr) {
    a = StageOperand(mma, 0);
  } else if (!IsInvariant(mma, 0)) {
    for (const ir::Use* use = mma.operand(0)->uses(); use != nullptr; use = use->next) {
      if (use->owner != &mma && IsProduct(*use->owner)) return std::nullopt;
    }
  }
  const std::optional<StagedTile> b = StageOperand(mma, 1);
  return b ? PlanOf(target, num_warps, mma, a ? &*a : nullptr, *b) : std::nullopt;
}

void Decide(ir::Module* module, ir::Op* mma, const WgmmaPlan& plan) {
  Decide<Decision::kInstruction>(module, mma, kByWgmma);
  Decide<Decision::kShape>(module, mma, {kM, plan.tile.instruction_n, plan.k});
  Decide<Decision::kWarpgroups>(module, mma, {plan.tile.groups_m, plan.tile.groups_n});
}

std::optional<WgmmaPlan> WgmmaPlanOf(const ir::Op& mma) {
  if (InstructionOf(mma) != kByWgmma) return std::nullopt;
  const auto shape = DecisionOf<Decision::kShape>(mma).value(), groups = DecisionOf<Decision::kWarpgroups>(mma).value();
  return PlanWith(*FindInstruction(mma), mma, static_cast<int>(shape[1]), static_cast<int>(groups[0]),
                  static_cast<int>(groups[1]));
}

StagedTile StagedLhs(const ir::Op& mma) {
  const ir::Type type = mma.operand(0)->type();
  StagedTile t;
  t.lhs = t.k_major = true;
  t.element_bits = ir::MemoryBits(type.elem());
  t.mn = type.shape()[0];
  t.k = type.shape()[1];
  t.contiguous = 1;
  t.other = 0;
  t.swizzle = static_cast<int>(std::min<int64_t>(128, t.k * t.element_bits / 8));
  return t;
}

}  // namespace tile::codegen

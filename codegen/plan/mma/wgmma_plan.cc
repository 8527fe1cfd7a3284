#include "codegen/plan/mma/wgmma_plan.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "codegen/analysis/origin.h"
#include "codegen/analysis/product_chain.h"
#include "codegen/gpu/ops.h"
#include "codegen/plan/mma/with_signs.h"
#include "codegen/target/decisions.h"
#include "ir/op_views.h"

namespace tile::codegen {
namespace {

struct Instruction {
  ir::Elem element;
  int k;
  ir::Elem accumulator;
  const char* types;
  bool scales, transposes, short_sums;
};

constexpr Instruction kInstructions[] = {
#define TILE_WGMMA(Element, depth, Accumulator, types, scales, transposes, short_sums) \
  {ir::Elem::k##Element, depth, ir::Elem::k##Accumulator, types, scales, transposes, short_sums},
#include "codegen/target/wgmma_instructions.def"
};

constexpr int kM = 64, kGroupWarps = 4;
constexpr int64_t kMostN = 256, kGroupThreads = 128;
// Of a thread, which has 168 registers beside 256 others and a producer warp (warps are counted in fours), 96 beside 512. Registers can
// move from a producer to two warpgroups (Schedule::moves_registers).
constexpr int64_t kMostAccumulators = 128, kMostOfManyThreads = 64, kManyGroups = 4, kMovingGroups = 2;
// Columns of an instruction whose sums are added to others: half as many registers hold them meanwhile. With the first operand in registers, which
// smaller instructions do not read more often, there are two of them, of which one is added while the other is multiplied. Not where that takes fewer
// than four steps along K: of 64 along K, 256 x 128, it was 2 % faster, and spilled.
constexpr int64_t kMostPromoted = 128, kMostPromotedOfManyThreads = 64, kMostPromotedOfHeld = 64, kStepsBesideSums = 4;

// Sums of 16 bits are added to as f32, and rounded behind the product.
ir::Elem SumsOf(const ir::Op& mma) {
  const ir::Elem sums = mma.result(0)->type().elem();
  return sums == ir::Elem::kF16 || sums == ir::Elem::kBF16 ? ir::Elem::kF32 : sums;
}

// Null: none takes these types.
const Instruction* FindInstruction(const ir::Op& mma) {
  const ir::Elem element = mma.operand(0)->type().elem();
  for (const Instruction& i : kInstructions) {
    if (i.element == element && mma.operand(1)->type().elem() == element && SumsOf(mma) == i.accumulator) return &i;
  }
  return nullptr;
}

// How the operands get to the instruction.
struct Roles {
  bool swapped = false, held = false;
};

// M, N, K of what the instruction computes.
MmaShape ShapeOf(const ir::Op& mma, const Roles& roles) {
  MmaShape s = ShapeOfMma(mma);
  if (roles.swapped) std::swap(s.m, s.n);
  return s;
}

// Sums that begin with zero are those of one iteration: there are no others to which they would be added.
bool Promotes(const Instruction& in, const ir::Op& mma) {
  return in.short_sums && !ir::MmaFOp(mma).fast_acc() && !IsZero(ir::MmaFOp(mma).acc());
}

StagedMmaPlan PlanWith(const Instruction& in, const ir::Op& mma, const Roles& roles, int instruction_n, int groups_m,
                       int groups_n) {
  const MmaShape s = ShapeOf(mma, roles);
  StagedMmaPlan p;
  p.kind = &WgmmaKind();
  p.m = s.m, p.n = s.n, p.k = s.k;
  p.instruction_m = kM, p.instruction_n = instruction_n, p.instruction_k = in.k;
  p.element_bits = ir::MemoryBits(in.element);
  p.groups_m = groups_m, p.groups_n = groups_n;
  p.swapped = roles.swapped;
  p.held = roles.held;
  p.promotes = Promotes(in, mma);
  return p;
}

// Types that wgmma reads in one order only must lie along K in shared memory: always in the second operand, in the first unless it
// comes to registers. Nullopt if that holds in no roles.
std::optional<Roles> ChooseRoles(const Instruction& in, const StagedTile* a, const StagedTile& b, bool by_tma) {
  if (in.transposes || ((a == nullptr || a->k_major) && b.k_major)) return Roles{};
  // Fragments of bytes that lie across are made by ldmatrix, words are just read. What threads copied they would have to round to tf32
  // where it lies, twice the traffic of shared memory: mma.sync rounds as it reads.
  if (a == nullptr || (a->element_bits != 8 && !(a->element_bits == 32 && by_tma))) return std::nullopt;
  if (b.k_major) return Roles{false, true};
  if (a->k_major) return Roles{true, true};
  return std::nullopt;
}

Roles DecidedRoles(const ir::Op& mma) {
  return {DecisionOf<Decision::kSwapped>(mma), DecisionOf<Decision::kHeld>(mma)};
}

WgmmaTile TileOf(const StagedMmaPlan& p) {
  return {p.instruction_n, p.element_bits, p.m, p.n, p.k, p.groups_m, p.groups_n, p.held};
}

Layout InProduct(Layout layout, bool swapped) { return swapped ? layout.Permute({1, 0}) : layout; }

// Where each operand of the product lies, once the instruction is decided; "" if it can read it there.
std::string OperandFault(const Instruction& in, const Roles& roles, const ir::Op& mma) {
  const auto in_stage = [&](int i) { return IsFetch(mma.operand(i)->def()) || StageTileOf(mma.operand(i)) != nullptr; };
  if ((!in_stage(1) && !StoresRhs(mma) && !MayStoreOperands(mma)) || (!in_stage(0) && (roles.swapped || roles.held)))
    return "what wgmma reads from a stage does not lie in one";
  if (in.transposes) return roles.swapped || roles.held ? "wgmma reads these types in any order" : "";
  const auto operand = [&](int i) -> std::optional<LoadedOperand> {
    if (StageTileOf(mma.operand(i)) != nullptr) return StagedOperandOf(mma, i);
    return LoadedOperandOf(mma, i);
  };
  const std::optional<LoadedOperand> left = operand(0), right = operand(1);
  const auto along_k = [](const std::optional<LoadedOperand>& x) { return !x || x->k_major; };
  if (!along_k(roles.swapped ? left : right)) return "its second operand does not lie along K";
  // One that is in registers may lie in any order.
  if (in_stage(0) && !roles.held && !along_k(roles.swapped ? right : left))
    return "its first operand does not lie along K, and is not held";
  return "";
}

class Wgmma : public StagedMmaKind {
 public:
  Wgmma() : StagedMmaKind({"wgmma", OperandsBy::kStages, /*asynchronous=*/true, kGroupWarps}) {}

  uint32_t features() const override { return kWgmma; }
  bool Takes(const Target& target, const ir::Op& mma) const override;
  std::optional<StagedMmaPlan> Plan(const Target& target, int num_warps, const ir::Op& mma, const StagedTile* a,
                                    const StagedTile& b, bool by_tma) const override;
  int64_t SumsApart(int num_warps, const ir::Op& mma) const override;
  int PreferredWarps(const ir::Op& mma) const override;
  StagedMmaPlan PlanOf(const ir::Op& mma) const override;
  void Decide(ir::Module* module, ir::Op* mma, const StagedMmaPlan& plan) const override;
  Layout ResultLayoutOf(const StagedMmaPlan& plan) const override {
    return InProduct(WgmmaLayout(TileOf(plan), Operand::kC), plan.swapped);
  }
  Layout FirstLayoutOf(const StagedMmaPlan& plan) const override {
    return InProduct(WgmmaLayout(TileOf(plan), Operand::kA), plan.swapped);
  }
  Layout LhsLayout(ir::Type lhs, int groups_m, int groups_n) const override {
    constexpr int kColumns = 8;  // of a group; a left operand lies in the same way for any number
    const int64_t m = lhs.shape()[0], k = lhs.shape()[1];
    return WgmmaLayout(
        {kColumns, ir::MemoryBits(lhs.elem()), m, kColumns * groups_n, k, groups_m, groups_n, /*held=*/false},
        Operand::kA);
  }
  std::string Fault(const ir::Op& mma, int num_warps) const override;
};

bool Wgmma::Takes(const Target& target, const ir::Op& mma) const {
  if (!target.has(kWgmma) || !IsProduct(mma)) return false;
  const Instruction* in = FindInstruction(mma);
  const MmaShape s = ShapeOfMma(mma);
  return in != nullptr && s.k >= in->k && std::max(s.m, s.n) >= kM;
}

std::optional<StagedMmaPlan> Wgmma::Plan(const Target& target, int num_warps, const ir::Op& mma, const StagedTile* a,
                                         const StagedTile& b, bool by_tma) const {
  if (!target.has(kWgmma) || num_warps % kGroupWarps != 0) return std::nullopt;
  if ((a != nullptr && !a->fits_tma()) || !b.fits_tma()) return std::nullopt;
  const Instruction* in = FindInstruction(mma);
  if (in == nullptr) return std::nullopt;
  const std::optional<Roles> roles = ChooseRoles(*in, a, b, by_tma);
  if (!roles) return std::nullopt;
  const MmaShape s = ShapeOf(mma, *roles);
  const int64_t groups = num_warps / kGroupWarps;
  const int groups_m = static_cast<int>(std::min<int64_t>(groups, std::max<int64_t>(1, s.m / kM)));
  const int groups_n = static_cast<int>(groups / groups_m);
  int64_t most_n = kMostN;
  if (Promotes(*in, mma)) {
    const bool overlaps = roles->held && s.k >= kStepsBesideSums * in->k;
    most_n = groups >= kManyGroups ? kMostPromotedOfManyThreads : overlaps ? kMostPromotedOfHeld : kMostPromoted;
  }
  const int instruction_n = static_cast<int>(std::min(most_n, s.n / groups_n));
  if (s.m < kM || instruction_n < 8 || s.k < in->k) return std::nullopt;
  const bool has_room = !Promotes(*in, mma) || (by_tma && groups == kMovingGroups);
  const int64_t most = groups < kManyGroups && has_room ? kMostAccumulators : kMostOfManyThreads;
  if (s.m * s.n > most * kGroupThreads * groups) return std::nullopt;
  // A group's rows and columns begin where a chunk does, or a multiple of eight rows.
  if (!roles->swapped && !b.k_major && instruction_n < b.chunk_elements() && instruction_n < s.n) return std::nullopt;
  return PlanWith(*in, mma, *roles, instruction_n, groups_m, groups_n);
}

// 64 accumulators in a thread, or 128 where that takes too many warps.
int Wgmma::PreferredWarps(const ir::Op& mma) const {
  const MmaShape s = ShapeOfMma(mma);
  int64_t groups = 1;
  while (groups < 2 && s.m * s.n > kGroupThreads * 64 * groups) groups *= 2;
  return static_cast<int>(kGroupWarps * groups);
}

// As many as its result has, at most 64 in a thread.
int64_t Wgmma::SumsApart(int num_warps, const ir::Op& mma) const {
  const Instruction* in = FindInstruction(mma);
  if (in == nullptr || !Promotes(*in, mma)) return 0;
  return std::min(mma.result(0)->type().num_elements(), kMostPromoted / 2 * 32 * num_warps);
}

void Wgmma::Decide(ir::Module* module, ir::Op* mma, const StagedMmaPlan& plan) const {
  codegen::Decide<Decision::kInstruction>(module, mma, name());
  codegen::Decide<Decision::kShape>(module, mma, {plan.instruction_m, plan.instruction_n, plan.instruction_k});
  codegen::Decide<Decision::kWarpgroups>(module, mma, {plan.groups_m, plan.groups_n});
  if (plan.swapped) codegen::Decide<Decision::kSwapped>(module, mma, true);
  if (plan.held) codegen::Decide<Decision::kHeld>(module, mma, true);
  if (plan.promotes) codegen::Decide<Decision::kPromotes>(module, mma, true);
}

StagedMmaPlan Wgmma::PlanOf(const ir::Op& mma) const {
  const auto shape = DecisionOf<Decision::kShape>(mma).value(), groups = DecisionOf<Decision::kWarpgroups>(mma).value();
  StagedMmaPlan p = PlanWith(*FindInstruction(mma), mma, DecidedRoles(mma), static_cast<int>(shape[1]),
                             static_cast<int>(groups[0]), static_cast<int>(groups[1]));
  p.promotes = DecisionOf<Decision::kPromotes>(mma);
  return p;
}

std::string Wgmma::Fault(const ir::Op& mma, int num_warps) const {
  const Instruction* in = FindInstruction(mma);
  if (in == nullptr) return "wgmma does not multiply these types";
  const auto shape = DecisionOf<Decision::kShape>(mma), groups = DecisionOf<Decision::kWarpgroups>(mma);
  if (!shape || shape->size() != 3 || !groups || groups->size() != 2) return "wgmma has a shape and warpgroups";
  const int64_t n = (*shape)[1], groups_m = (*groups)[0], groups_n = (*groups)[1];
  const Roles roles = DecidedRoles(mma);
  const MmaShape s = ShapeOf(mma, roles);
  if ((*shape)[0] != kM || (*shape)[2] != in->k || n < 8 || n > kMostN) return "there is no wgmma of this shape";
  if (kGroupWarps * groups_m * groups_n != num_warps)
    return absl::StrCat("its warpgroups are not ", num_warps, " warps");
  if (s.m < kM * groups_m || s.n < n * groups_n || s.k < in->k)
    return "its warpgroups have more rows or columns than the product";
  if (DecisionOf<Decision::kPromotes>(mma) != Promotes(*in, mma))
    return "it promotes where sums are short and that was not allowed";
  return OperandFault(*in, roles, mma);
}

}  // namespace

const StagedMmaKind& WgmmaKind() {
  static const Wgmma kind;
  return kind;
}

WgmmaForm WgmmaFormOf(const StagedMmaPlan& plan, const ir::Op& mma) {
  const Instruction& in = *FindInstruction(mma);
  return {absl::StrCat("wgmma.mma_async.sync.aligned.m", plan.instruction_m, "n", plan.instruction_n, "k",
                       plan.instruction_k, ".", WithSigns(mma, in.types, plan.swapped)),
          in.scales, in.transposes};
}

}  // namespace tile::codegen

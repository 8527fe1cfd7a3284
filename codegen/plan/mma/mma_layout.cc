#include "codegen/plan/mma/mma_layout.h"

#include <algorithm>
#include <functional>
#include <numeric>

#include "absl/strings/str_cat.h"
#include "codegen/analysis/product_chain.h"
#include "codegen/layout/block_scales.h"
#include "codegen/plan/mma/scaled_mma.h"
#include "codegen/plan/mma/with_signs.h"
#include "codegen/plan/staging/staging.h"
#include "codegen/target/decisions.h"
#include "ir/check.h"
#include "ir/op_views.h"

namespace tile::codegen {
namespace {

struct Instruction {
  ir::Elem element;
  Feature feature;
  int m, n, k, words_a, words_b, registers_c;
  const char *shape, *types;
};

constexpr Instruction kInstructions[] = {
#define TILE_MMA(Element, feature, ...) {ir::Elem::k##Element, feature, __VA_ARGS__},
#include "codegen/target/mma_instructions.def"
};

// Null: the product is multiplied out with fma.
const Instruction* FindInstruction(const Target& target, const ir::Op& op) {
  const MmaShape s = ShapeOfMma(op);
  if (!op.info()->has(ir::kProduct)) return nullptr;
  const ir::Elem element = ir::MmaOp(op).lhs()->type().elem();
  for (const Instruction& i : kInstructions) {
    if (i.element == element && target.has(i.feature) && s.k >= i.k) return &i;
  }
  return nullptr;
}

// Of this shape; null: there is none.
const Instruction* DecidedInstruction(const ir::Op& op, absl::Span<const int64_t> shape) {
  const ir::Elem element = ir::MmaOp(op).lhs()->type().elem();
  for (const Instruction& i : kInstructions) {
    if (i.element == element && shape == absl::Span<const int64_t>({i.m, i.n, i.k})) return &i;
  }
  return nullptr;
}

// An operand that comes piece by piece along M or N: so does the result.
int PiecesOfResult(const ir::Op& op, int operand) {
  const ir::Op* copy = CopyOf(op, operand);
  if (copy == nullptr || !DecisionOf<Decision::kPieceBytes>(*copy)) return 1;
  const StageLayout stage = StageOf(*copy);
  const auto i = static_cast<size_t>(op.operand(operand)->index());
  return stage.tiles[i].k_major ? 1 : stage.pieces(i);
}

// Without warps.
MmaPlan PlanOf(const Instruction& i, const ir::Op& op) {
  const MmaShape s = ShapeOfMma(op);
  MmaPlan p;
  p.tile = {{i.m, i.n, i.k, ir::ElemInfoOf(i.element).storage * 8}, s.m, s.n, s.k, 1, 1};
  p.tile.pieces_m = PiecesOfResult(op, 0);
  p.tile.pieces_n = PiecesOfResult(op, 1);
  p.tile.batch = s.batch;
  p.instruction = absl::StrCat("mma.sync.aligned.", i.shape, ".", WithSigns(op, i.types, false));
  p.words_a = i.words_a;
  p.words_b = i.words_b;
  p.registers_c = i.registers_c;
  return p;
}

// Warps along m and n such that a warp's piece is as square as can be: it loads m·k + k·n elements for m·n products.
void Share(int num_warps, const MmaInstruction& i, int64_t size_m, int64_t size_n, MmaTile* tile) {
  int64_t best = 0;
  for (int wm = 1; wm <= num_warps; wm *= 2) {
    const int wn = num_warps / wm;
    const int64_t m = std::max<int64_t>(size_m / wm, i.m), n = std::max<int64_t>(size_n / wn, i.n);
    // Pieces smaller than an instruction are work done twice.
    const int64_t cost = (m * wm * n * wn) * 1024 + m + n;
    if (best == 0 || cost < best) {
      best = cost;
      tile->warps_m = wm;
      tile->warps_n = wn;
    }
  }
}

}  // namespace

void ShareTile(int num_warps, const ir::Op& op, MmaTile* tile) {
  // A product of its own for each warp: what a warp reads, no other one reads.
  tile->warps_batch = static_cast<int>(std::clamp<int64_t>(tile->batch, 1, num_warps));
  num_warps /= tile->warps_batch;
  const int64_t m = tile->m / tile->pieces_m, n = tile->n / tile->pieces_n;
  tile->warps_m = num_warps;
  tile->warps_n = 1;
  if (m >= static_cast<int64_t>(tile->instruction.m) * num_warps && WorksOnRows(op)) return;
  Share(num_warps, tile->instruction, m, n, tile);
}

std::optional<MmaPlan> PlanMma(const Target& target, int num_warps, const ir::Op& op) {
  return MmaSyncKind().Plan(target, num_warps, op);
}

void Decide(ir::Module* module, ir::Op* mma, const MmaPlan& plan) {
  const auto& [m, n, k, bits] = plan.tile.instruction;
  const MmaKind& kind = plan.scales == 0 ? MmaSyncKind() : MmaSyncScaledKind();
  Decide<Decision::kInstruction>(module, mma, kind.name());
  Decide<Decision::kShape>(module, mma, {m, n, k});
  if (plan.tile.batch == 0) return Decide<Decision::kWarps>(module, mma, {plan.tile.warps_m, plan.tile.warps_n});
  Decide<Decision::kWarps>(module, mma, {plan.tile.warps_m, plan.tile.warps_n, plan.tile.warps_batch});
}

std::optional<MmaPlan> MmaPlanOf(const ir::Op& mma) {
  const MmaKind& kind = KindOf(mma);
  if (kind.operands() != OperandsBy::kFragments) return std::nullopt;
  const auto shape = DecisionOf<Decision::kShape>(mma).value(), warps = DecisionOf<Decision::kWarps>(mma).value();
  std::optional<MmaPlan> plan = static_cast<const FragmentKind&>(kind).Of(mma, shape);
  TILE_CHECK(plan.has_value(), "a product has an instruction that does not exist");
  plan->tile.warps_m = static_cast<int>(warps[0]);
  plan->tile.warps_n = static_cast<int>(warps[1]);
  if (warps.size() == 3) plan->tile.warps_batch = static_cast<int>(warps[2]);
  return plan;
}

bool FragmentKind::Choose(const Target& target, int num_warps, ir::Module* module, ir::Op* mma) const {
  const std::optional<MmaPlan> plan = Plan(target, num_warps, *mma);
  if (plan) Decide(module, mma, *plan);
  return plan.has_value();
}

Layout FragmentKind::ResultLayout(int, const ir::Op& mma) const { return MmaLayout(MmaPlanOf(mma)->tile, Operand::kC); }

std::optional<Layout> FragmentKind::FragmentLayout(const ir::Op& mma, int operand) const {
  const MmaPlan plan = *MmaPlanOf(mma);
  if (const int scale = ScaleOf(mma, operand); scale >= 0)
    return MmaScaleLayout(plan.tile, scale == 0 ? Operand::kA : Operand::kB, plan.blocks);
  return MmaLayout(plan.tile, operand == 0 ? Operand::kA : Operand::kB);
}

int64_t FragmentKind::StepsAlongK(const ir::Op& mma) const {
  const MmaTile tile = MmaPlanOf(mma)->tile;
  return tile.k / tile.instruction.k;
}

std::string FragmentKind::Fault(const ir::Op& mma, int num_warps) const {
  const auto shape = DecisionOf<Decision::kShape>(mma), warps = DecisionOf<Decision::kWarps>(mma);
  if (!shape || !warps) return absl::StrCat(name(), " has a shape and warps");
  if (warps->size() != (ShapeOfMma(mma).batch == 0 ? 2 : 3)) return "its warps are not one number a dimension";
  if (!Of(mma, *shape)) return absl::StrCat("there is no ", name(), " of this shape");
  const int64_t all = std::accumulate(warps->begin(), warps->end(), int64_t{1}, std::multiplies<>());
  return all == num_warps ? "" : absl::StrCat("its warps are not ", num_warps);
}

namespace {

class MmaSync : public FragmentKind {
 public:
  MmaSync() : FragmentKind({"mma.sync", OperandsBy::kFragments}) {}

  uint32_t features() const override { return kMma1688; }
  bool Takes(const Target& target, const ir::Op& mma) const override { return FindInstruction(target, mma) != nullptr; }
  std::optional<MmaPlan> Plan(const Target& target, int num_warps, const ir::Op& mma) const override {
    const Instruction* i = FindInstruction(target, mma);
    if (i == nullptr) return std::nullopt;
    MmaPlan plan = PlanOf(*i, mma);
    ShareTile(num_warps, mma, &plan.tile);
    return plan;
  }
  std::optional<MmaPlan> Of(const ir::Op& mma, absl::Span<const int64_t> shape) const override {
    const Instruction* i = DecidedInstruction(mma, shape);
    return i == nullptr ? std::nullopt : std::optional(PlanOf(*i, mma));
  }

  // Three quarters more for its fragments.
  double WarpInstructions(double macs, int element_bits) const override {
    return macs / (16 * 8 * (256.0 / element_bits)) * 1.75;
  }
  // 8-bit floats go through f16.
  double MacsPerCycle(const Machine& machine, int element_bits) const override {
    return machine.fragment_macs * 16 / std::max(16, element_bits);
  }
};

}  // namespace

const FragmentKind& MmaSyncKind() {
  static const MmaSync kind;
  return kind;
}

}  // namespace tile::codegen

#include "codegen/plan/mma/mma_layout.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "codegen/analysis/product_chain.h"
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

// Warps along m and n such that a warp's piece is as square as can be: it loads m·k + k·n elements for m·n products.
void ShareTile(int num_warps, const Instruction& i, const MmaShape& s, int* warps_m, int* warps_n) {
  int64_t best = 0;
  for (int wm = 1; wm <= num_warps; wm *= 2) {
    const int wn = num_warps / wm;
    const int64_t m = std::max<int64_t>(s.m / wm, i.m), n = std::max<int64_t>(s.n / wn, i.n);
    // Pieces smaller than an instruction are work done twice.
    const int64_t cost = (m * wm * n * wn) * 1024 + m + n;
    if (best == 0 || cost < best) {
      best = cost;
      *warps_m = wm;
      *warps_n = wn;
    }
  }
}

// Null: the product is multiplied out with fma.
const Instruction* FindInstruction(const Target& target, const ir::Op& op) {
  const MmaShape s = ShapeOfMma(op);
  if (s.batch != 0 || !op.info()->has(ir::kProduct)) return nullptr;
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

MmaPlan PlanOf(const Instruction& i, const ir::Op& op, int warps_m, int warps_n) {
  const MmaShape s = ShapeOfMma(op);
  MmaPlan p;
  p.tile = {{i.m, i.n, i.k, ir::ElemInfoOf(i.element).storage * 8}, s.m, s.n, s.k, warps_m, warps_n};
  p.tile.pieces_m = PiecesOfResult(op, 0);
  p.tile.pieces_n = PiecesOfResult(op, 1);
  p.instruction = absl::StrCat("mma.sync.aligned.", i.shape, ".", WithSigns(op, i.types, false));
  p.words_a = i.words_a;
  p.words_b = i.words_b;
  p.registers_c = i.registers_c;
  return p;
}

}  // namespace

std::optional<MmaPlan> PlanMma(const Target& target, int num_warps, const ir::Op& op) {
  const Instruction* i = FindInstruction(target, op);
  if (i == nullptr) return std::nullopt;
  MmaShape s = ShapeOfMma(op);
  s.m /= PiecesOfResult(op, 0);
  s.n /= PiecesOfResult(op, 1);
  int warps_m = 1, warps_n = 1;
  if (s.m >= static_cast<int64_t>(i->m) * num_warps && WorksOnRows(op)) {
    warps_m = num_warps;
  } else {
    ShareTile(num_warps, *i, s, &warps_m, &warps_n);
  }
  return PlanOf(*i, op, warps_m, warps_n);
}

void Decide(ir::Module* module, ir::Op* mma, const MmaPlan& plan) {
  const auto& [m, n, k, bits] = plan.tile.instruction;
  Decide<Decision::kInstruction>(module, mma, MmaSyncKind().name());
  Decide<Decision::kShape>(module, mma, {m, n, k});
  Decide<Decision::kWarps>(module, mma, {plan.tile.warps_m, plan.tile.warps_n});
}

std::optional<MmaPlan> MmaPlanOf(const ir::Op& mma) {
  if (&KindOf(mma) != &MmaSyncKind()) return std::nullopt;
  const auto shape = DecisionOf<Decision::kShape>(mma).value(), warps = DecisionOf<Decision::kWarps>(mma).value();
  const Instruction* i = DecidedInstruction(mma, shape);
  TILE_CHECK(i != nullptr, "a product has an instruction that does not exist");
  return PlanOf(*i, mma, static_cast<int>(warps[0]), static_cast<int>(warps[1]));
}

namespace {

class MmaSync : public MmaKind {
 public:
  MmaSync() : MmaKind({"mma.sync", OperandsBy::kFragments}) {}

  uint32_t features() const override { return kMma1688; }
  bool Takes(const Target& target, const ir::Op& mma) const override { return FindInstruction(target, mma) != nullptr; }
  bool Choose(const Target& target, int num_warps, ir::Module* module, ir::Op* mma) const override {
    const std::optional<MmaPlan> plan = PlanMma(target, num_warps, *mma);
    if (plan) Decide(module, mma, *plan);
    return plan.has_value();
  }

  Layout ResultLayout(int, const ir::Op& mma) const override { return MmaLayout(MmaPlanOf(mma)->tile, Operand::kC); }
  std::optional<Layout> FragmentLayout(const ir::Op& mma, int operand) const override {
    return MmaLayout(MmaPlanOf(mma)->tile, operand == 0 ? Operand::kA : Operand::kB);
  }
  int64_t StepsAlongK(const ir::Op& mma) const override {
    const MmaTile tile = MmaPlanOf(mma)->tile;
    return tile.k / tile.instruction.k;
  }
  std::string Fault(const ir::Op& mma, int num_warps) const override {
    const auto shape = DecisionOf<Decision::kShape>(mma), warps = DecisionOf<Decision::kWarps>(mma);
    if (!shape || !warps || warps->size() != 2) return "mma.sync has a shape and warps";
    if (DecidedInstruction(mma, *shape) == nullptr) return "there is no mma.sync of this shape";
    return (*warps)[0] * (*warps)[1] == num_warps ? "" : absl::StrCat("its warps are not ", num_warps);
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

const MmaKind& MmaSyncKind() {
  static const MmaSync kind;
  return kind;
}

}  // namespace tile::codegen

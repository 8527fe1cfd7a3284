#include "codegen/plan/mma/scaled_mma.h"

#include "absl/strings/str_cat.h"
#include "ir/op_views.h"

namespace tile::codegen {
namespace {

constexpr int kM = 16, kN = 8;
constexpr int kFirstScale = 3;  // among the operands of mmaf_scaled

struct Instruction {
  ir::Elem element, scale;
  int block, k, scales;
  const char *kind, *types;
};

constexpr Instruction kInstructions[] = {
#define TILE_SCALED_MMA(Element, Scale, ...) {ir::Elem::k##Element, ir::Elem::k##Scale, __VA_ARGS__},
#include "codegen/target/scaled_mma_instructions.def"
};

MmaPlan PlanOf(const Instruction& i, const ir::Op& op) {
  const MmaShape s = ShapeOfMma(op);
  const int bits = ir::MemoryBits(i.element), words = i.k * bits / 32;  // of a row
  MmaPlan p;
  p.tile = {{kM, kN, i.k, bits}, s.m, s.n, s.k, 1, 1};
  p.instruction = absl::StrCat("mma.sync.aligned.m16n8k", i.k, ".row.col.kind::", i.kind,
                               ".block_scale.scale_vec::", i.scales, "X.", i.types);
  p.words_a = kM * words / 32;
  p.words_b = kN * words / 32;
  p.registers_c = kM * kN / 32;
  p.scales = i.scales;
  p.blocks = s.k / i.block;
  return p;
}

class MmaSyncScaled : public FragmentKind {
 public:
  MmaSyncScaled() : FragmentKind({"mma.sync.block_scale", OperandsBy::kFragments}) {}

  uint32_t features() const override { return kBlockScaleMma; }
  bool Takes(const Target& target, const ir::Op& mma) const override {
    return ir::MmaScaledOp::Is(&mma) && WhyNotByBlockScales(target, mma).empty();
  }
  std::optional<MmaPlan> Plan(const Target& target, int num_warps, const ir::Op& mma) const override {
    if (!Takes(target, mma)) return std::nullopt;
    MmaPlan plan = PlanOf(*FindScaledInstruction(kInstructions, mma), mma);
    ShareTile(num_warps, mma, &plan.tile);
    return plan;
  }
  std::optional<MmaPlan> Of(const ir::Op& mma, absl::Span<const int64_t> shape) const override {
    const Instruction* i = FindScaledInstruction(kInstructions, mma);
    if (i == nullptr || shape != absl::Span<const int64_t>({kM, kN, i->k})) return std::nullopt;
    return PlanOf(*i, mma);
  }

  // As many for its fragments as mma.sync without scales has.
  double WarpInstructions(double macs, int element_bits) const override {
    return MmaSyncKind().WarpInstructions(macs, element_bits);
  }
  // The data sheet's rates of 8 and 4 bits.
  double MacsPerCycle(const Machine& machine, int element_bits) const override {
    return machine.fragment_macs * 16 / element_bits;
  }
};

}  // namespace

const FragmentKind& MmaSyncScaledKind() {
  static const MmaSyncScaled kind;
  return kind;
}

int ScaleOf(const ir::Op& mma, int operand) {
  return ir::MmaScaledOp::Is(&mma) && operand >= kFirstScale ? operand - kFirstScale : -1;
}

int64_t ElementsOfScale(const ir::MmaScaledOp& mma) {
  return ShapeOfMma(mma.op()).k / mma.lhs_scale()->type().shape().back();
}

std::string NoScaledInstruction(const ir::MmaScaledOp& mma) {
  return absl::StrCat("no instruction takes ", ir::ElemInfoOf(mma.lhs()->type().elem()).spelling, " with one ",
                      ir::ElemInfoOf(mma.lhs_scale()->type().elem()).spelling, " for ", ElementsOfScale(mma),
                      " elements");
}

std::string WhyNotByBlockScales(const Target& target, const ir::Op& mma) {
  if (!target.has(kBlockScaleMma)) {
    return absl::StrCat("mma.sync of ", target.arch, " takes no block scales; that of ", TargetsWith(kBlockScaleMma),
                        " does");
  }
  const Instruction* i = FindScaledInstruction(kInstructions, mma);
  if (i == nullptr) return NoScaledInstruction(ir::MmaScaledOp(mma));
  const MmaShape s = ShapeOfMma(mma);
  if (s.batch != 0) return "it is a batch of products";
  if (s.k < i->k) return absl::StrCat("K of its tile is ", s.k, ", and the instruction's ", i->k);
  return "";
}

}  // namespace tile::codegen

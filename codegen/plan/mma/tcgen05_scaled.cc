#include "codegen/plan/mma/tcgen05_scaled.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "codegen/gpu/ops.h"
#include "codegen/layout/algebra.h"
#include "codegen/layout/block_scales.h"
#include "codegen/plan/mma/scaled_mma.h"
#include "codegen/plan/mma/tcgen05_plan.h"
#include "codegen/plan/tensor_memory.h"
#include "codegen/target/decisions.h"
#include "ir/check.h"
#include "ir/op_views.h"

namespace tile::codegen {
namespace {

struct Instruction {
  ir::Elem element, scale;
  int block, k, scales;
  const char* kind;
  uint32_t operand;
  bool power_of_two;
};

constexpr Instruction kInstructions[] = {
#define TILE_TCGEN05_SCALED(Element, Scale, ...) {ir::Elem::k##Element, ir::Elem::k##Scale, __VA_ARGS__},
#include "codegen/target/tcgen05_scaled_instructions.def"
};

constexpr int kGroupWarps = 4;
constexpr int64_t kRows = 128, kMostN = 256, kLeastN = 32;

StagedMmaPlan PlanWith(const Instruction& in, const ir::Op& mma, const ColumnGroups& groups) {
  const MmaShape s = ShapeOfMma(mma);
  StagedMmaPlan p;
  p.kind = &Tcgen05ScaledKind();
  p.m = s.m, p.n = s.n, p.k = s.k;
  p.instruction_m = kRows;
  p.instruction_n = static_cast<int>(std::min(kMostN, s.n));
  p.instruction_k = in.k;
  p.element_bits = ir::MemoryBits(in.element);
  p.groups_m = static_cast<int>(groups.m), p.groups_n = static_cast<int>(groups.n);
  return p;
}

// "" if there is an instruction for its types and its tile, whatever the warps.
std::string TypeFault(const ir::Op& mma) {
  const Instruction* in = FindScaledInstruction(kInstructions, mma);
  if (in == nullptr) return NoScaledInstruction(ir::MmaScaledOp(mma));
  const MmaShape s = ShapeOfMma(mma);
  if (s.batch != 0) return "it is a batch of products";
  if (s.m < kRows || s.n < kLeastN || s.k < in->k)
    return absl::StrCat("its tile is ", s.m, " x ", s.n, " x ", s.k, ", and tcgen05 multiplies at least ", kRows, " x ",
                        kLeastN, " x ", in->k);
  return ColumnsOfProduct(mma) <= Target::kColumns ? "" : "its sums and scales have more columns than tensor memory";
}

// Of both operands and the scales in shared memory.
int64_t StagedBytes(const ir::Op& mma) {
  const MmaShape s = ShapeOfMma(mma);
  const int64_t blocks = ir::MmaScaledOp(mma).lhs_scale()->type().shape()[1];
  return (s.m + s.n) * s.k * ir::MemoryBits(mma.operand(0)->type().elem()) / 8 +
         kScalePieceBytes * (ScalePieces(s.m, blocks) + ScalePieces(s.n, blocks));
}

// "" if the kernel has nothing else that such a product would be beside.
std::string KernelFault(const Target& target, const ir::Op& mma) {
  ir::Block* body = mma.block();
  while (body->parent() != nullptr) body = body->parent()->block();
  bool ahead = false;
  int64_t bytes = 0;
  ir::Walk(body, [&](const ir::Op* op) {
    ahead = ahead || IsFetch(op);
    if (ir::MmaScaledOp::Is(op) && TypeFault(*op).empty()) bytes += StagedBytes(*op);
  });
  if (ahead) return "the kernel brings operands of other products ahead";
  // The other half is for elements that threads exchange.
  if (bytes > target.shared_bytes / 2)
    return absl::StrCat("its operands would take ", bytes, " bytes of shared memory, of which ",
                        target.shared_bytes / 2, " are for them");
  return "";
}

class Tcgen05Scaled : public StagedMmaKind {
 public:
  Tcgen05Scaled()
      : StagedMmaKind({"tcgen05.block_scale", OperandsBy::kStages, /*asynchronous=*/false, kGroupWarps,
                       /*sums_in_columns=*/false, /*through_columns=*/true}) {}

  uint32_t features() const override { return kTcgen05; }
  bool Takes(const Target& target, const ir::Op& mma) const override {
    return ir::MmaScaledOp::Is(&mma) && target.has(kTcgen05) && TypeFault(mma).empty();
  }
  // Whatever the tiles: threads store its operands.
  std::optional<StagedMmaPlan> Plan(const Target& target, int num_warps, const ir::Op& mma, const StagedTile*,
                                    const StagedTile&, bool) const override {
    if (!ir::MmaScaledOp::Is(&mma) || !WhyNotScaledInColumns(target, num_warps, mma).empty()) return std::nullopt;
    return PlanWith(*FindScaledInstruction(kInstructions, mma), mma, GroupsOf(ShapeOfMma(mma), num_warps));
  }
  int64_t SumsApart(int, const ir::Op&) const override { return 0; }
  int PreferredWarps(const ir::Op& mma) const override { return WarpsForSums(ShapeOfMma(mma)); }
  StagedMmaPlan PlanOf(const ir::Op& mma) const override {
    const auto groups = DecisionOf<Decision::kWarpgroups>(mma).value();
    return PlanWith(*FindScaledInstruction(kInstructions, mma), mma, {groups[0], groups[1]});
  }
  void Decide(ir::Module* module, ir::Op* mma, const StagedMmaPlan& plan) const override {
    codegen::Decide<Decision::kInstruction>(module, mma, name());
    codegen::Decide<Decision::kShape>(module, mma, {plan.instruction_m, plan.instruction_n, plan.instruction_k});
    codegen::Decide<Decision::kWarpgroups>(module, mma, {plan.groups_m, plan.groups_n});
  }
  Layout ResultLayoutOf(const StagedMmaPlan& plan) const override { return ColumnSumsLayout(plan); }
  Layout FirstLayoutOf(const StagedMmaPlan&) const override { return NotInRegisters(); }
  Layout LhsLayout(ir::Type, int, int) const override { return NotInRegisters(); }
  std::string Fault(const ir::Op& mma, int num_warps) const override;

 private:
  static Layout NotInRegisters() {
    TILE_CHECK(false, "tcgen05 takes no operand from registers");
    return {};
  }
};

std::string Tcgen05Scaled::Fault(const ir::Op& mma, int num_warps) const {
  if (!ir::MmaScaledOp::Is(&mma)) return "only a product with block scales has this instruction";
  if (std::string fault = TypeFault(mma); !fault.empty()) return fault;
  const auto shape = DecisionOf<Decision::kShape>(mma), groups = DecisionOf<Decision::kWarpgroups>(mma);
  if (!shape || shape->size() != 3 || !groups || groups->size() != 2) return "tcgen05 has a shape and warpgroups";
  if ((*shape)[0] != kRows || (*shape)[1] != std::min(kMostN, ShapeOfMma(mma).n) ||
      (*shape)[2] != FindScaledInstruction(kInstructions, mma)->k)
    return "there is no tcgen05.mma of this shape";
  if (kGroupWarps * (*groups)[0] * (*groups)[1] != num_warps)
    return absl::StrCat("its warpgroups are not ", num_warps, " warps");
  return SharingFault(ShapeOfMma(mma), {(*groups)[0], (*groups)[1]});
}

}  // namespace

const StagedMmaKind& Tcgen05ScaledKind() {
  static const Tcgen05Scaled kind;
  return kind;
}

std::string WhyNotScaledInColumns(const Target& target, int num_warps, const ir::Op& mma) {
  if (!target.has(kTcgen05)) return absl::StrCat(target.arch, " has no tcgen05");
  if (std::string fault = TypeFault(mma); !fault.empty()) return fault;
  if (num_warps % kGroupWarps != 0) return absl::StrCat("a block has ", num_warps, " warps, which are no warpgroups");
  const MmaShape s = ShapeOfMma(mma);
  if (std::string fault = SharingFault(s, GroupsOf(s, num_warps)); !fault.empty()) return fault;
  return KernelFault(target, mma);
}

Tcgen05ScaledForm Tcgen05ScaledFormOf(const StagedMmaPlan& plan, const ir::Op& mma) {
  const Instruction& in = *FindScaledInstruction(kInstructions, mma);
  const uint32_t n = static_cast<uint32_t>(plan.instruction_n) >> 3, m = static_cast<uint32_t>(plan.instruction_m) >> 4;
  return {absl::StrCat("tcgen05.mma.cta_group::1.kind::", in.kind, ".block_scale.block", in.block),
          in.operand << 7 | in.operand << 10 | n << 17 | (in.power_of_two ? 1u : 0u) << 23 | m << 24, in.block};
}

uint32_t ScaleByteBits(int64_t byte) { return static_cast<uint32_t>(byte) << 4 | static_cast<uint32_t>(byte) << 29; }

Layout StorableLayout(const Layout& own, ir::Type type, int operand, int num_warps) {
  constexpr int64_t kNeighbours = 32, kLanes = 32;  // 16 bytes
  const int along = operand == 0 ? 1 : 0;
  if (!ir::IsSubByte(type.elem()) || OfPairs(own, Mask{1} << own.dim_shift(along))) return own;
  const auto k = static_cast<size_t>(along), other = static_cast<size_t>(1 - along);
  Shape elements(2, 1), lanes(2, 1), warps(2, 1);
  elements[k] = std::min(kNeighbours, type.shape()[k]);
  lanes[k] = std::min(kLanes, type.shape()[k] / elements[k]);
  lanes[other] = kLanes / lanes[k];
  warps[other] = num_warps;
  return Layout::Blocked(type.shape(), elements, lanes, warps, {along, 1 - along});
}

int64_t ColumnsOfScaled(const ir::Function& function) {
  int64_t columns = 0;
  ir::Walk(function.body(), [&](const ir::Op* op) {
    if (IsScaledInColumns(*op)) columns = std::max(columns, ColumnsOfProduct(*op));
  });
  return columns;
}

}  // namespace tile::codegen

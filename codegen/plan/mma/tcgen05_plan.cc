#include "codegen/plan/mma/tcgen05_plan.h"

#include <algorithm>
#include <initializer_list>
#include <iterator>

#include "absl/strings/str_cat.h"
#include "codegen/analysis/all_iterations.h"
#include "codegen/analysis/origin.h"
#include "codegen/analysis/product_chain.h"
#include "codegen/gpu/op_views.h"
#include "codegen/plan/mma/overlapped_products.h"
#include "codegen/plan/tensor_memory.h"
#include "codegen/target/decisions.h"
#include "ir/check.h"
#include "ir/loops.h"
#include "ir/op_views.h"

namespace tile::codegen {
namespace {

struct Instruction {
  ir::Elem element;
  int k;
  ir::Elem accumulator;
  Feature feature;
  const char* kind;
  uint32_t operand, sum;
  bool transposes;
};

constexpr Instruction kInstructions[] = {
#define TILE_TCGEN05(Element, depth, Accumulator, ...) \
  {ir::Elem::k##Element, depth, ir::Elem::k##Accumulator, __VA_ARGS__},
#include "codegen/target/tcgen05_instructions.def"
};

constexpr int kGroupWarps = 4, kGroupThreads = 128;
constexpr int64_t kFewRows = 64, kMostN = 256, kLeastN = 32;
// Columns of sums that a warp takes to registers, at least; and the most sums that a thread then has, of one or two warpgroups and of more.
constexpr int64_t kLeastColumns = 16, kMostSums = 128, kMostOfManyThreads = 64, kManyGroups = 4;

bool IsUnsigned(const ir::Op& mma) {
  if (!ir::MmaIOp::Is(&mma)) return false;
  const ir::MmaIOp product(mma);
  return product.signedness_lhs() != ir::Signedness::kSigned || product.signedness_rhs() != ir::Signedness::kSigned;
}

// Null: none takes these types.
const Instruction* FindInstruction(const ir::Op& mma) {
  if (IsUnsigned(mma)) return nullptr;
  const ir::Elem element = mma.operand(0)->type().elem();
  const auto* found = std::find_if(std::begin(kInstructions), std::end(kInstructions), [&](const Instruction& i) {
    return i.element == element && mma.operand(1)->type().elem() == element &&
           mma.result(0)->type().elem() == i.accumulator;
  });
  return found == std::end(kInstructions) ? nullptr : found;
}

int64_t RowsOfInstruction(const MmaShape& s) { return std::min(s.m, kTensorLanes); }

StagedMmaPlan PlanWith(const StagedMmaKind& kind, const Instruction& in, const ir::Op& mma, int64_t groups_m,
                       int64_t groups_n) {
  const MmaShape s = ShapeOfMma(mma);
  StagedMmaPlan p;
  p.kind = &kind;
  p.m = s.m, p.n = s.n, p.k = s.k;
  p.instruction_m = static_cast<int>(RowsOfInstruction(s));
  p.instruction_n = static_cast<int>(std::min(kMostN, s.n));
  p.instruction_k = in.k;
  p.element_bits = ir::MemoryBits(in.element);
  p.groups_m = static_cast<int>(groups_m), p.groups_n = static_cast<int>(groups_n);
  return p;
}

// "" if there are instructions for it, whatever the warps.
std::string ShapeFault(const Instruction& in, const MmaShape& s) {
  if (s.batch != 0 || s.m < kFewRows || s.n < kLeastN || s.k < in.k)
    return absl::StrCat("tcgen05 multiplies at least ", kFewRows, " x ", kLeastN, " x ", in.k);
  const int64_t columns = std::max<int64_t>(1, s.m / kTensorLanes) * s.n;
  return columns <= Target::kColumns ? "" : "its sums have more columns than tensor memory";
}

// Where the sums are does not change how they are multiplied, and how warps share them once they are in registers.
class ByTcgen05 : public StagedMmaKind {
 public:
  using StagedMmaKind::StagedMmaKind;

  uint32_t features() const override { return kTcgen05; }
  int64_t SumsApart(int, const ir::Op&) const override { return 0; }
  int PreferredWarps(const ir::Op& mma) const override;
  StagedMmaPlan PlanOf(const ir::Op& mma) const override;
  void Decide(ir::Module* module, ir::Op* mma, const StagedMmaPlan& plan) const override;
  Layout ResultLayoutOf(const StagedMmaPlan& plan) const override { return ColumnSumsLayout(plan); }
  Layout FirstLayoutOf(const StagedMmaPlan&) const override { return NotInRegisters(); }
  Layout LhsLayout(ir::Type, int, int) const override { return NotInRegisters(); }
  std::string Fault(const ir::Op& mma, int num_warps) const override;

 protected:
  // The target multiplies such types and shapes.
  static bool HasInstruction(const Target& target, const ir::Op& mma);
  // Operands `a` and `b` lie as these say; nullopt: no tcgen05.mma reads them so.
  std::optional<StagedMmaPlan> PlanFor(int num_warps, const ir::Op& mma, const StagedTile& a,
                                       const StagedTile& b) const;
  // What is wrong with where its operands and sums are; "" if nothing is.
  virtual std::string PlaceFault(const ir::Op& mma) const = 0;
  static std::string OrderFault(const ir::Op& mma, int operand);

 private:
  static Layout NotInRegisters() {
    TILE_CHECK(false, "tcgen05 takes no operand from registers");
    return {};
  }
};

// Sums stay in columns while their loop runs.
class Tcgen05 : public ByTcgen05 {
 public:
  Tcgen05()
      : ByTcgen05({"tcgen05", OperandsBy::kStages, /*asynchronous=*/true, kGroupWarps, /*sums_in_columns=*/true}) {}

  bool Takes(const Target& target, const ir::Op& mma) const override {
    return HasInstruction(target, mma) && WhyNotInColumns(mma).empty();
  }
  std::optional<StagedMmaPlan> Plan(const Target& target, int num_warps, const ir::Op& mma, const StagedTile* a,
                                    const StagedTile& b, bool by_tma) const override {
    return by_tma && a != nullptr && Takes(target, mma) ? PlanFor(num_warps, mma, *a, b) : std::nullopt;
  }

 protected:
  std::string PlaceFault(const ir::Op& mma) const override;
};

// Each product leaves what it multiplies in columns.
class Tcgen05Once : public ByTcgen05 {
 public:
  Tcgen05Once()
      : ByTcgen05({"tcgen05_once", OperandsBy::kStages, /*asynchronous=*/false, kGroupWarps, /*sums_in_columns=*/false,
                   /*through_columns=*/true}) {}

  bool Takes(const Target& target, const ir::Op& mma) const override { return HasInstruction(target, mma); }
  std::optional<StagedMmaPlan> Plan(const Target& target, int num_warps, const ir::Op& mma, const StagedTile* a,
                                    const StagedTile& b, bool by_tma) const override {
    if (by_tma || !Takes(target, mma)) return std::nullopt;
    return PlanFor(num_warps, mma, a != nullptr ? *a : StagedLhs(mma), b);
  }

 protected:
  std::string PlaceFault(const ir::Op& mma) const override;
};

bool ByTcgen05::HasInstruction(const Target& target, const ir::Op& mma) {
  if (!target.has(kTcgen05) || !IsProduct(mma)) return false;
  const Instruction* in = FindInstruction(mma);
  return in != nullptr && target.has(in->feature) && ShapeFault(*in, ShapeOfMma(mma)).empty();
}

std::optional<StagedMmaPlan> ByTcgen05::PlanFor(int num_warps, const ir::Op& mma, const StagedTile& a,
                                                const StagedTile& b) const {
  if (num_warps % kGroupWarps != 0 || !a.fits_tma() || !b.fits_tma() || a.turned != 0 || b.turned != 0)
    return std::nullopt;
  const Instruction& in = *FindInstruction(mma);
  if (!in.transposes && !(a.k_major && b.k_major)) return std::nullopt;
  const MmaShape s = ShapeOfMma(mma);
  const ColumnGroups groups = GroupsOf(s, num_warps);
  if (!SharingFault(s, groups).empty()) return std::nullopt;
  return PlanWith(*this, in, mma, groups.m, groups.n);
}

int ByTcgen05::PreferredWarps(const ir::Op& mma) const { return WarpsForSums(ShapeOfMma(mma)); }

void ByTcgen05::Decide(ir::Module* module, ir::Op* mma, const StagedMmaPlan& plan) const {
  codegen::Decide<Decision::kInstruction>(module, mma, name());
  codegen::Decide<Decision::kShape>(module, mma, {plan.instruction_m, plan.instruction_n, plan.instruction_k});
  codegen::Decide<Decision::kWarpgroups>(module, mma, {plan.groups_m, plan.groups_n});
}

StagedMmaPlan ByTcgen05::PlanOf(const ir::Op& mma) const {
  const auto groups = DecisionOf<Decision::kWarpgroups>(mma).value();
  return PlanWith(*this, *FindInstruction(mma), mma, groups[0], groups[1]);
}

// Bits of the element's number from one on, up to another.
Masks Bits(int64_t from, int64_t to) {
  Masks all;
  for (int64_t mask = from; mask < to; mask *= 2) all.push_back(static_cast<Mask>(mask));
  return all;
}

// One group of bits after the other, from the lowest.
Masks Join(std::initializer_list<Masks> parts) {
  Masks all;
  for (const Masks& part : parts) all.insert(all.end(), part.begin(), part.end());
  return all;
}

std::string ByTcgen05::Fault(const ir::Op& mma, int num_warps) const {
  const Instruction* in = FindInstruction(mma);
  if (in == nullptr) return "tcgen05 does not multiply these types";
  const auto shape = DecisionOf<Decision::kShape>(mma), groups = DecisionOf<Decision::kWarpgroups>(mma);
  if (!shape || shape->size() != 3 || !groups || groups->size() != 2) return "tcgen05 has a shape and warpgroups";
  const MmaShape s = ShapeOfMma(mma);
  if (std::string fault = ShapeFault(*in, s); !fault.empty()) return fault;
  if ((*shape)[0] != RowsOfInstruction(s) || (*shape)[1] != std::min(kMostN, s.n) || (*shape)[2] != in->k)
    return "there is no tcgen05.mma of this shape";
  if (kGroupWarps * (*groups)[0] * (*groups)[1] != num_warps)
    return absl::StrCat("its warpgroups are not ", num_warps, " warps");
  if (std::string fault = SharingFault(s, {(*groups)[0], (*groups)[1]}); !fault.empty()) return fault;
  return PlaceFault(mma);
}

std::string ByTcgen05::OrderFault(const ir::Op& mma, int operand) {
  if (operand == 1 && StoresRhs(mma)) return "";  // of 16 bits, which may lie in any order
  const std::optional<StagedTile> tile = StagedOperandOf(mma, operand);
  if (!tile) return "tcgen05 reads operands in shared memory";
  return FindInstruction(mma)->transposes || tile->k_major ? "" : "an operand does not lie along K";
}

std::string Tcgen05::PlaceFault(const ir::Op& mma) const {
  for (int i = 0; i < 2; ++i) {
    if (FetchOf(mma) == nullptr && StageTileOf(mma.operand(i)) == nullptr)
      return "tcgen05 reads operands that a producer has fetched";
    if (std::string fault = OrderFault(mma, i); !fault.empty()) return fault;
  }
  return gpu::ColumnSumsOp::Is(ir::ProductOp(mma).acc()->def()) ? "" : WhyNotInColumns(mma);
}

std::string Tcgen05Once::PlaceFault(const ir::Op& mma) const {
  for (int i = DecisionOf<Decision::kStagesLhs>(mma) ? 1 : 0; i < 2; ++i) {
    if (std::string fault = OrderFault(mma, i); !fault.empty()) return fault;
  }
  return "";
}

}  // namespace

// With 128 rows, lanes and two bits of the warp's number are rows, and registers are columns. Of 64 rows each warp has 16: two neighbours of a row and those
// eight rows below are registers, four lanes have eight columns, and eight lanes rows.
Layout ColumnSumsLayout(const StagedMmaPlan& p) {
  const int64_t n = p.n, columns = p.group_columns();
  if (p.m < kTensorLanes) {
    constexpr int64_t kNeighbours = 2, kColumns = 8, kRows = 8, kWarpRows = 16;
    return Layout::FromBases({p.m, n},
                             Join({Bits(1, kNeighbours), Bits(kRows * n, kWarpRows * n), Bits(kColumns, columns)}),
                             Join({Bits(kNeighbours, kColumns), Bits(n, kRows * n)}),
                             Join({Bits(kWarpRows * n, p.m * n), Bits(columns, n)}));
  }
  constexpr int64_t kWarpRows = 32;
  return Layout::FromBases(
      {p.m, n}, Join({Bits(1, columns), Bits(kTensorLanes * n, p.group_rows() * n)}), Bits(n, kWarpRows * n),
      Join({Bits(kWarpRows * n, kTensorLanes * n), Bits(p.group_rows() * n, p.m * n), Bits(columns, n)}));
}

ColumnGroups GroupsOf(const MmaShape& s, int num_warps) {
  const int64_t groups = num_warps / kGroupWarps, m = std::min(groups, std::max<int64_t>(1, s.m / kTensorLanes));
  return {m, groups / m};
}

std::string SharingFault(const MmaShape& s, const ColumnGroups& by) {
  if (by.m > std::max<int64_t>(1, s.m / kTensorLanes) || s.n / by.n < kLeastColumns)
    return "its warpgroups have more rows or columns than the product";
  const int64_t groups = by.m * by.n;
  const int64_t most = groups < kManyGroups ? kMostSums : kMostOfManyThreads;
  return s.m * s.n <= most * kGroupThreads * groups ? "" : "its sums take too many registers";
}

// 64 sums in a thread, or 128 where that takes too many warps.
int WarpsForSums(const MmaShape& s) { return s.m * s.n > kGroupThreads * 64 ? 2 * kGroupWarps : kGroupWarps; }

const StagedMmaKind& Tcgen05Kind() {
  static const Tcgen05 kind;
  return kind;
}

const StagedMmaKind& Tcgen05OnceKind() {
  static const Tcgen05Once kind;
  return kind;
}

std::string WhyNotInColumns(const ir::Op& mma) {
  const ir::Op* loop = mma.parent();
  if (!ir::ForOp::Is(loop) || mma.block() != loop->region(0)) return "it stands in no loop that counts";
  if (!AllIterationsEnd(*loop)) return "an iteration may end before its product";
  if (!GoesAround(mma)) return "its sums do not only go around their loop";
  const ir::CarryingLoop carrying(*loop);
  return IsZero(carrying.init(carrying.carried_by(ir::ProductOp(mma).acc()))) ? "" : "its sums do not begin with zero";
}

Tcgen05Form Tcgen05FormOf(const StagedMmaPlan& plan, const ir::Op& mma, bool lhs_along_k, bool rhs_along_k) {
  const Instruction& in = *FindInstruction(mma);
  const uint32_t n = static_cast<uint32_t>(plan.instruction_n) >> 3, m = static_cast<uint32_t>(plan.instruction_m) >> 4;
  const uint32_t descriptor = in.sum << 4 | in.operand << 7 | in.operand << 10 | (lhs_along_k ? 0u : 1u) << 15 |
                              (rhs_along_k ? 0u : 1u) << 16 | n << 17 | m << 24;
  return {absl::StrCat("tcgen05.mma.cta_group::1.kind::", in.kind), descriptor};
}

// Eight rows follow each other at `stride` bytes; of operands along M or N the next chunk comes `leading` bytes behind. All in units of 16 bytes.
uint64_t Tcgen05OperandBits(const StagedTile& tile) {
  constexpr uint64_t kVersion = 1;
  const uint64_t swizzle = tile.swizzle == 128 ? 2 : tile.swizzle == 64 ? 4 : 6;
  const uint64_t stride = static_cast<uint64_t>(8 * tile.swizzle) >> 4;
  const uint64_t leading = tile.k_major ? 1 : static_cast<uint64_t>(tile.chunk_bytes()) >> 4;
  return leading << 16 | stride << 32 | kVersion << 46 | swizzle << 61;
}

}  // namespace tile::codegen

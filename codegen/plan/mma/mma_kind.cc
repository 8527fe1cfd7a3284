#include "codegen/plan/mma/mma_kind.h"

#include <algorithm>

#include "codegen/plan/mma/mma_layout.h"
#include "codegen/plan/mma/staged_mma.h"
#include "codegen/target/decisions.h"
#include "ir/check.h"
#include "ir/op_views.h"

namespace tile::codegen {

#define TILE_MMA_KIND(Name) const MmaKind& Name##Kind();
#define TILE_FRAGMENT_MMA_KIND(Name) const FragmentKind& Name##Kind();
#define TILE_STAGED_MMA_KIND(Name) const StagedMmaKind& Name##Kind();
#define TILE_COLUMN_MMA_KIND TILE_STAGED_MMA_KIND
#include "codegen/plan/mma/mma_kinds.def"

absl::Span<const MmaKind* const> MmaKinds() {
  static const MmaKind* const kinds[] = {
#define TILE_MMA_KIND(Name) &Name##Kind(),
#define TILE_FRAGMENT_MMA_KIND TILE_MMA_KIND
#define TILE_STAGED_MMA_KIND(Name) &Name##Kind(),
#define TILE_COLUMN_MMA_KIND TILE_STAGED_MMA_KIND
#include "codegen/plan/mma/mma_kinds.def"
  };
  return kinds;
}

MmaShape ShapeOfMma(const ir::Op& op) {
  const auto a = ir::MmaOp(op).lhs()->type().shape(), b = ir::MmaOp(op).rhs()->type().shape();
  const size_t first = a.size() - 2;
  return {first == 1 ? a[0] : 0, a[first], b[first + 1], a[first + 1]};
}

const MmaKind* FindKindOf(const ir::Op& op) {
  const std::optional<absl::string_view> name = DecisionOf<Decision::kInstruction>(op);
  if (!name) return nullptr;
  for (const MmaKind* kind : MmaKinds()) {
    if (kind->name() == *name) return kind;
  }
  return nullptr;
}

const MmaKind& KindOf(const ir::Op& mma) {
  const MmaKind* kind = FindKindOf(mma);
  TILE_CHECK(kind != nullptr, "nobody decided how the product is done");
  return *kind;
}

const MmaKind* AsyncKindOn(const Target& target) {
  for (const MmaKind* kind : MmaKinds()) {
    if (kind->asynchronous() && kind->IsOn(target)) return kind;
  }
  return nullptr;
}

bool HasMatrixInstruction(const Target& target, const ir::Op& mma) {
  const auto kinds = MmaKinds();
  return std::any_of(kinds.begin(), kinds.end(), [&](const MmaKind* kind) {
    return kind->operands() != OperandsBy::kElements && kind->Takes(target, mma);
  });
}

std::string MmaFault(const ir::Op& mma, int num_warps) {
  if (!DecisionOf<Decision::kInstruction>(mma)) return "has no instruction";
  const MmaKind* kind = FindKindOf(mma);
  if (kind == nullptr) return "has an instruction that does not exist";
  const bool staged =
      DecisionOf<Decision::kSwapped>(mma) || DecisionOf<Decision::kHeld>(mma) || DecisionOf<Decision::kPromotes>(mma);
  if (staged && !kind->reads_stages()) return "only an instruction that reads stages is swapped, held or promotes";
  return kind->Fault(mma, num_warps);
}

}  // namespace tile::codegen

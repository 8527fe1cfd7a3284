#include "codegen/passes/canonical/promote_f8_operands.h"

#include <optional>
#include <vector>

#include "absl/strings/str_cat.h"
#include "codegen/analysis/product_chain.h"
#include "codegen/passes/split_view.h"
#include "codegen/plan/mma/staged_mma.h"
#include "codegen/plan/staging/loaded_operand.h"
#include "ir/op_views.h"

namespace tile::codegen {
namespace {

using ir::Op;

constexpr int64_t kLeastRows = 64, kLeastDepth = 16;  // of an instruction that reads f16 from stages

bool IsF8(const ir::Value* v) { return ir::IsFloat(v->type().elem()) && ir::MemoryBits(v->type().elem()) == 8; }

// The left operand is computed in the iteration, and the right one is not contiguous along K. (Of two loaded ones an instruction that reads stages takes the right one
// first, from registers: StagedMmaPlan::held.)
bool LiesAcross(const Op& mma) {
  if (mma.opcode() != ir::Opcode::kMmaF || mma.operand(0)->type().rank() != 2) return false;
  if (!IsF8(mma.operand(0)) || !IsF8(mma.operand(1)) || mma.result(0)->type().elem() != ir::Elem::kF32) return false;
  const MmaShape s = ShapeOfMma(mma);
  if (s.m < kLeastRows || s.k < kLeastDepth) return false;
  if (mma.parent() == nullptr || IsInvariant(mma, 0) || LoadedOperandOf(mma, 0)) return false;
  const std::optional<LoadedOperand> right = LoadedOperandOf(mma, 1);
  return right && !right->k_major && right->rounded == nullptr;
}

void Widen(ir::Module* module, Op* mma, int operand) {
  ir::Value* from = mma->operand(operand);
  const ir::Type type = module->types().Tile(ir::Element::Number(ir::Elem::kF16), from->type().shape());
  mma->set_operand(operand, OpWriter(module, mma).Make(ir::Opcode::kFToF, {from}, type));
}

}  // namespace

absl::Status PromoteF8Operands(Program& p) {
  const StagedMmaKind* kind = CopiedKindOn(p.target);
  if (kind == nullptr) return absl::OkStatus();
  std::vector<Op*> products;
  ir::Walk(p.function->body(), [&](Op* op) {
    if (IsProduct(*op) && LiesAcross(*op)) products.push_back(op);
  });
  for (Op* mma : products) {
    const std::string where = p.module->Where(mma->loc, mma->pos);
    if (!p.trace().TakesStep("promote-f8-operands", absl::StrCat("mmaf at ", where))) continue;
    if (p.trace().on_remark) {
      p.trace().on_remark(absl::StrCat(where, ": remark[promote-f8-operands]: mmaf: as a product of f16, because ",
                                       kind->name(), " reads 8-bit floats along K only"));
    }
    for (int i = 0; i < 2; ++i) Widen(p.module.get(), mma, i);
  }
  return absl::OkStatus();
}

}  // namespace tile::codegen

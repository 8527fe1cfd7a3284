#include "codegen/passes/canonical/fold_accumulators.h"

#include <optional>
#include <vector>

#include "absl/strings/str_cat.h"
#include "codegen/analysis/origin.h"
#include "codegen/analysis/product_chain.h"
#include "ir/create_like.h"
#include "ir/loops.h"
#include "ir/ops.h"
#include "ir/passes/rewrite.h"

namespace tile::codegen {
namespace {

using ir::Op;
using ir::Value;

// Of either sign: what is added to it stays as it is.
bool AddsNothing(const Value* v) { return IsZero(v) || ir::FloatSplatOf(v) == 0.0; }

// Its sums may begin with anything: they are exact, or kept in f32 whatever they begin with.
bool MayBeginWithSums(const Op& mma) {
  if (!mma.result(0)->type().is_tile() || !IsProduct(mma)) return false;
  if (mma.opcode() == ir::Opcode::kMmaI) return true;
  return mma.result(0)->type().elem() == ir::Elem::kF32 && ir::MemoryBits(mma.operand(0)->type().elem()) >= 16;
}

// The product that is added as operand i, if nobody else wants its result.
Op* ProductAddedBy(const Op& sum, int i) {
  const Value* v = sum.operand(i);
  Op* mma = v->def();
  if (mma == nullptr || mma->block() != sum.block() || !MayBeginWithSums(*mma)) return nullptr;
  const bool once = v->uses() != nullptr && v->uses()->next == nullptr;
  return once && AddsNothing(ir::ProductOp(mma).acc()) ? mma : nullptr;
}

bool RoundsPlainly(const Op& op) {
  if (ir::AddiOp::Is(&op)) return true;
  const ir::OpView<ir::AnyOf<ir::Opcode::kAddf, ir::Opcode::kFma>> view(&op);
  return view.rounding() == ir::Rounding::kNearestEven && !view.flush_to_zero();
}

// The next iteration gets it and nobody else.
bool GoesAround(const Op& sum) {
  const ir::Use* use = sum.result(0)->uses();
  return use != nullptr && use->next == nullptr && ir::ContinueOp::Is(use->owner) && use->owner->block() == sum.block();
}

bool IsProductResult(const Value* v) { return v->def() != nullptr && IsProduct(*v->def()); }

struct Sum {
  Op* op;
  Op* product;
  int at;  // the operand that it is
};

std::optional<Sum> SumOf(Op* op) {
  const bool fused = ir::FmaOp::Is(op);
  if ((!fused && !ir::AddfOp::Is(op) && !ir::AddiOp::Is(op)) || !RoundsPlainly(*op)) return std::nullopt;
  for (int i = fused ? 2 : 1; i >= (fused ? 2 : 0); --i) {
    Op* product = ProductAddedBy(*op, i);
    if (product == nullptr) continue;
    if (GoesAround(*op) || (!fused && IsProductResult(op->operand(1 - i)))) return Sum{op, product, i};
  }
  return std::nullopt;
}

// The product stands where the sum did, with what was added.
void Join(ir::Module* module, const Sum& sum) {
  Value* first = nullptr;
  if (ir::FmaOp::Is(sum.op)) {
    ir::WriteBefore(module, sum.op,
                    [&](ir::Builder& b) { first = ir::ops::Mulf(b, sum.op->operand(0), sum.op->operand(1)); });
  } else {
    first = sum.op->operand(1 - sum.at);
  }
  std::vector<Value*> operands;
  for (int i = 0; i < sum.product->num_operands(); ++i) operands.push_back(sum.product->operand(i));
  operands[static_cast<size_t>(ir::ProductOp(sum.product).acc_at())] = first;
  Op* mma = ir::CreateLike(module, *sum.product, operands, {sum.product->result(0)->type()});
  module->InsertBefore(sum.op->block(), sum.op, mma);
  ir::ReplaceOp(sum.op, mma->result(0));
  sum.product->Erase();
}

}  // namespace

absl::Status FoldAccumulators(Program& p) {
  std::vector<Op*> ops;  // a product stands in front of the sum with which it goes
  ir::Walk(p.function->body(), [&](Op* op) { ops.push_back(op); });
  for (Op* op : ops) {
    const std::optional<Sum> sum = SumOf(op);
    if (!sum) continue;
    const std::string where = p.module->Where(op->loc, op->pos);
    if (!p.trace().TakesStep("fold-accumulators", absl::StrCat(op->info()->mnemonic, " at ", where))) continue;
    if (p.trace().on_remark) {
      p.trace().on_remark(
          absl::StrCat(where, ": remark[fold-accumulators]: ", op->info()->mnemonic, ": the product begins with it"));
    }
    Join(p.module.get(), *sum);
  }
  return absl::OkStatus();
}

}  // namespace tile::codegen

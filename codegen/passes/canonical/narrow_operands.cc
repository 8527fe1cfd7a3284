#include "codegen/passes/canonical/narrow_operands.h"

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "codegen/analysis/product_chain.h"
#include "codegen/plan/mma/mma_kind.h"
#include "ir/create_like.h"
#include "ir/op_views.h"
#include "ir/ops.h"
#include "ir/passes/rewrite.h"

namespace tile::codegen {
namespace {

using ir::Op;
using ir::Value;

constexpr int64_t kLeastDepth = 16;  // along K, of an instruction on 16 bits

bool Moves(const Op& op) { return ir::PermuteOp::Is(&op) || ir::ReshapeOp::Is(&op) || ir::BroadcastOp::Is(&op); }

// What was widened to this value, before it was moved; null: it is not exact in 16 bits, as far as is seen.
const Value* NarrowOf(const Value* v) {
  while (v->def() != nullptr && (Moves(*v->def()) || ir::FToFOp::Is(v->def()))) {
    const ir::Elem before = v->type().elem();
    v = v->def()->operand(0);
    const ir::Elem elem = v->type().elem();
    if (elem == ir::Elem::kF16 || elem == ir::Elem::kBF16) return v;
    if (elem != ir::Elem::kF32 && elem != before) return nullptr;
  }
  return nullptr;
}

bool IsExactInNarrow(const Op& mma) {
  if (!ir::MmaFOp::Is(&mma) || mma.operand(0)->type().elem() != ir::Elem::kTF32 || ShapeOfMma(mma).k < kLeastDepth)
    return false;
  const Value *x = NarrowOf(mma.operand(0)), *y = NarrowOf(mma.operand(1));
  return x != nullptr && y != nullptr && x->type().elem() == y->type().elem();
}

// The same moves of what was not widened.
Value* Narrowed(ir::Builder& b, Value* v) {
  const ir::Elem elem = v->type().elem();
  if (elem == ir::Elem::kF16 || elem == ir::Elem::kBF16) return v;
  Value* from = Narrowed(b, v->def()->operand(0));
  if (!Moves(*v->def())) return from;
  Op* moved =
      ir::CreateLike(b.module(), *v->def(), {&from, 1}, {b.types().Tile(from->type().element(), v->type().shape())});
  b.module()->Append(b.block(), moved);
  return moved->result(0);
}

}  // namespace

absl::Status NarrowOperands(Program& p) {
  if (!p.target.has(kCpAsync)) return absl::OkStatus();  // chips before it have no instructions for both types
  std::vector<Op*> products;
  ir::Walk(p.function->body(), [&](Op* op) {
    if (IsProduct(*op) && IsExactInNarrow(*op)) products.push_back(op);
  });
  for (Op* mma : products) {
    const std::string where = p.module->Where(mma->loc, mma->pos);
    if (!p.trace().TakesStep("narrow-operands", absl::StrCat("mmaf at ", where))) continue;
    if (p.trace().on_remark) {
      p.trace().on_remark(absl::StrCat(where, ": remark[narrow-operands]: mmaf: as a product of ",
                                       ir::ElemInfoOf(NarrowOf(mma->operand(0))->type().elem()).spelling,
                                       ", from which both operands were widened"));
    }
    for (int i = 0; i < 2; ++i) {
      Value* narrow = nullptr;
      ir::WriteBefore(p.module.get(), mma, [&](ir::Builder& b) { narrow = Narrowed(b, mma->operand(i)); });
      mma->set_operand(i, narrow);
    }
  }
  return absl::OkStatus();
}

}  // namespace tile::codegen

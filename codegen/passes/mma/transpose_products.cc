#include "codegen/passes/mma/transpose_products.h"

#include <array>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "codegen/analysis/product_chain.h"
#include "codegen/plan/mma/staged_mma.h"
#include "ir/create_like.h"
#include "ir/op_views.h"
#include "ir/ops.h"
#include "ir/passes/common.h"
#include "ir/passes/rewrite.h"

namespace tile::codegen {
namespace {

using ir::Op;
using ir::Value;

constexpr std::array<int64_t, 2> kTransposed = {1, 0};
constexpr int64_t kLeastRows = 64, kLeastColumns = 8, kLeastBytesOfRow = 32;  // of an instruction that reads stages

// A load of the loop brings it; at most its elements are moved or rounded on the way.
bool ComesByLoad(const Value* v, const ir::Block* body) {
  const Op* op = v->def();
  while (op != nullptr && op->block() == body && (ir::PermuteOp::Is(op) || ir::ReshapeOp::Is(op) || ir::FToFOp::Is(op)))
    op = op->operand(0)->def();
  return op != nullptr && op->block() == body && op->info()->is_load();
}

// It comes from before the loop; at most it is permuted there.
bool Stays(const Value* v, const Op& loop) {
  if (ir::IsInside(v, &loop) && ir::PermuteOp::Is(v->def())) v = v->def()->operand(0);
  return !ir::IsInside(v, &loop);
}

// What elements of the result get to in its loop.
struct Uses {
  bool folds = false, as_it_is = false, transposed = false;  // the last two: left operands
};
Uses UsesOf(const Op& mma) {
  Uses found;
  absl::flat_hash_set<std::pair<const Value*, bool>> seen;
  std::vector<std::pair<const Value*, bool>> open = {{mma.result(0), false}};
  while (!open.empty()) {
    const auto [v, turned] = open.back();
    open.pop_back();
    if (!seen.insert({v, turned}).second) continue;
    for (const ir::Use* use = v->uses(); use != nullptr; use = use->next) {
      const Op& user = *use->owner;
      if (user.block() != mma.block()) continue;
      found.folds = found.folds || ir::FoldOp::Is(&user);
      if (IsProduct(user)) {
        const bool is_left = ir::ProductOp(user).lhs() == v;
        found.as_it_is = found.as_it_is || (is_left && !turned);
        found.transposed = found.transposed || (is_left && turned);
      } else if (user.info()->has(ir::kElementwise) || ir::PermuteOp::Is(&user)) {
        open.emplace_back(user.result(0), turned != ir::PermuteOp::Is(&user));
      }
    }
  }
  return found;
}

bool Pays(const Op& mma) {
  if (!ir::MmaFOp::Is(&mma) || mma.operand(0)->type().rank() != 2 || !ir::ForOp::Is(mma.parent())) return false;
  if (!Stays(mma.operand(1), *mma.parent()) || Stays(mma.operand(0), *mma.parent()) ||
      !ComesByLoad(mma.operand(0), mma.block()))
    return false;
  const MmaShape s = ShapeOfMma(mma);
  const int64_t row = s.k * ir::MemoryBits(mma.operand(0)->type().elem()) / 8;
  if (s.n < kLeastRows || s.m < kLeastColumns || row < kLeastBytesOfRow) return false;
  const Uses uses = UsesOf(mma);
  return !uses.folds && (uses.transposed || !uses.as_it_is);
}

Value* Transposed(ir::Builder& b, Value* v) {
  if (const auto permuted = ir::DefAs<ir::PermuteOp>(v)) return permuted->source();
  const auto constant = ir::DefAs<ir::ConstantOp>(v);
  if (!constant || !constant->value().splat) return ir::ops::Permute(b, v, kTransposed);
  const absl::Span<const int64_t> shape = v->type().shape();
  return ir::ops::Constant(b, b.types().Tile(v->type().element(), {shape[1], shape[0]}), &constant->value());
}

void Rewrite(ir::Module* module, Op* mma) {
  std::vector<Value*> operands;
  // What stays is permuted in front of the loop.
  Op* where = ir::PermuteOp::Is(mma->operand(1)->def()) ? mma : mma->parent();
  ir::WriteBefore(module, where, [&](ir::Builder& b) { operands.push_back(Transposed(b, mma->operand(1))); });
  ir::WriteBefore(module, mma, [&](ir::Builder& b) {
    operands.push_back(Transposed(b, mma->operand(0)));
    operands.push_back(Transposed(b, mma->operand(2)));
    Op* turned = ir::CreateLike(module, *mma, operands, {{operands[2]->type()}});
    module->Append(b.block(), turned);
    mma->result(0)->ReplaceAllUsesWith(ir::ops::Permute(b, turned->result(0), kTransposed));
  });
  mma->Erase();
}

}  // namespace

absl::Status TransposeProducts(Program& p) {
  const StagedMmaKind* kind = CopiedKindOn(p.target);
  if (kind == nullptr) return absl::OkStatus();
  std::vector<Op*> products;
  ir::Walk(p.function->body(), [&](Op* op) {
    if (IsProduct(*op) && kind->Takes(p.target, *op) && Pays(*op)) products.push_back(op);
  });
  for (Op* mma : products) {
    const std::string where = p.module->Where(mma->loc, mma->pos);
    if (!p.trace().TakesStep("transpose-products", absl::StrCat(mma->info()->mnemonic, " at ", where))) continue;
    if (p.trace().on_remark) {
      p.trace().on_remark(absl::StrCat(where, ": remark[transpose-products]: ", mma->info()->mnemonic,
                                       ": as the transposed product, whose left operand stays"));
    }
    Rewrite(p.module.get(), mma);
  }
  return absl::OkStatus();
}

}  // namespace tile::codegen

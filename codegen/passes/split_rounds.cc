#include "codegen/passes/split_rounds.h"

#include <cstring>
#include <utility>
#include <vector>

#include "codegen/passes/split_view.h"
#include "ir/loops.h"

namespace tile::codegen {
namespace {

using ir::Op;
using ir::Opcode;
using ir::Type;
using ir::Value;

constexpr int64_t kLeastBytes = 32;  // along K: what the largest instructions take

bool OnlyUse(const Value* v) { return v->uses() != nullptr && v->uses()->next == nullptr; }

// Dimension of the load's tile along K.
int DimOfK(const LoadedOperand& t) { return t.k_major ? t.contiguous : t.other; }

bool IsOne(const Value* v) {
  const auto constant = ir::DefAs<ir::ConstantOp>(v);
  if (!constant) return false;
  const ir::Dense& d = constant->value();
  uint64_t bits = 0;
  std::memcpy(&bits, d.bytes.data(), static_cast<size_t>(ir::StorageBytes(d.elem)));
  return bits == 1;
}

// The type with sizes as those of the tile that it is made from: sizes of 1 come and go, the others keep their order.
Type Reshaped(ir::TypeContext& types, Type old, absl::Span<const int64_t> from) {
  std::vector<int64_t> real, shape;
  for (int64_t n : from) {
    if (n != 1) real.push_back(n);
  }
  size_t at = 0;
  for (int64_t n : old.shape()) shape.push_back(n == 1 ? 1 : real[at++]);
  return types.Tile(old.element(), shape);
}

void SplitOperand(ir::Module* module, Op* mma, int i, const LoadedOperand& tile, int parts, Value* part) {
  Op* load = const_cast<Op*>(tile.load);
  std::vector<Op*> chain;  // from the load to the product
  for (Value* v = mma->operand(i); v->def() != load; v = v->def()->operand(0)) chain.push_back(v->def());
  SplitAccess(module, load, DimOfK(tile), parts, part);
  ir::TypeContext& types = module->types();
  for (auto it = chain.rbegin(); it != chain.rend(); ++it) {
    const auto from = (*it)->operand(0)->type().shape();
    Value* result = (*it)->result(0);
    if (const auto permute = ir::As<ir::PermuteOp>(*it)) {
      std::vector<int64_t> to;
      for (int64_t d : permute->permutation()) to.push_back(from[static_cast<size_t>(d)]);
      result->set_type(types.Tile(result->type().element(), to));
    } else {
      result->set_type(Reshaped(types, result->type(), from));
    }
  }
}

}  // namespace

std::optional<LoadedProduct> LoadedProductOf(const Op& mma) {
  LoadedProduct product;
  for (int i = 0; i < 2; ++i) {
    const std::optional<LoadedOperand> operand = LoadedOperandOf(mma, i);
    if (!operand) return std::nullopt;
    product.operands[i] = *operand;
  }
  return product;
}

namespace {

// That of a product in a for that does nothing else.
std::optional<LoadedProduct> FindProductLoop(const Op& mma) {
  if (!ir::ForOp::Is(mma.parent())) return std::nullopt;
  const ir::CarryingLoop loop(*mma.parent());
  const ir::Block* body = loop.body();
  const Value *acc = ir::MmaOp(mma).acc(), *result = mma.result(0);
  if (loop.num_carried() != 1 || acc != loop.arg(0) || !OnlyUse(acc) || !OnlyUse(result) || loop.latch() == nullptr ||
      loop.next(0) != result) {
    return std::nullopt;
  }
  std::optional<LoadedProduct> product = LoadedProductOf(mma);
  if (!product) return std::nullopt;
  for (const Op* op : *body) {
    if (op == &mma || op == product->operands[0].load || op == product->operands[1].load || op == body->back())
      continue;
    if (!op->info()->has(ir::kPure) || op->num_regions() > 0) return std::nullopt;
  }
  return product;
}

}  // namespace

bool IsProductLoop(const Op& mma) { return FindProductLoop(mma).has_value(); }

bool CanSplitRounds(const Op& mma, int parts) {
  const std::optional<LoadedProduct> product = FindProductLoop(mma);
  if (!product || !IsOne(ir::ForOp(mma.parent()).step())) return false;
  for (const LoadedOperand& t : product->operands) {
    if (t.k / parts * t.element_bits < kLeastBytes * 8 || !CanSplitAccess(*t.load, DimOfK(t), parts)) return false;
  }
  return true;
}

void SplitRounds(ir::Module* module, Op* mma, int parts) {
  const LoadedProduct product = *LoadedProductOf(*mma);
  Op* loop = mma->parent();
  ir::Block* body = loop->region(0);
  const ir::Signedness sign = ir::ForOp(loop).unsigned_cmp() ? ir::Signedness::kUnsigned : ir::Signedness::kSigned;
  Value* iv = body->arg(0);
  const Type old = iv->type();
  // 64 bits, in which the product with a small number does not overflow unless the loop would never end.
  OpWriter before(module, loop);
  const Type wide = before.Scalar(ir::Elem::kI64);
  const ir::ForOp counted(loop);
  for (int i : {counted.lower_bound_at(), counted.upper_bound_at()}) {
    Value* bound = before.Resized(loop->operand(i), ir::Elem::kI64, sign);
    loop->set_operand(i, before.Make(Opcode::kMuli, {bound, before.Number(parts, wide)}, wide));
  }
  loop->set_operand(counted.step_at(), before.Number(1, wide));
  OpWriter w(module, body->front());
  iv->set_type(wide);
  Value* shift = w.Number(__builtin_ctz(static_cast<unsigned>(parts)), wide);
  Value* round = w.Make(Opcode::kShri, {iv, shift}, wide, {{"signedness", ir::Attr::Enum(sign)}});
  Value* part = w.Make(Opcode::kAndi, {iv, w.Number(parts - 1, wide)}, wide);
  Value* step = w.Resized(round, old.elem(), sign);
  std::vector<std::pair<Op*, int>> uses;
  ir::Walk(body, [&](Op* op) {
    if (op == round->def() || op == part->def()) return;
    for (int i = 0; i < op->num_operands(); ++i) {
      if (op->operand(i) == iv && op != step->def()) uses.emplace_back(op, i);
    }
  });
  for (const auto& [op, i] : uses) op->set_operand(i, step);
  for (int i = 0; i < 2; ++i) SplitOperand(module, mma, i, product.operands[i], parts, part);
}

}  // namespace tile::codegen

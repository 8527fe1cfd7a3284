#include "codegen/passes/pipeline/resize_k.h"

#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

#include "codegen/analysis/origin.h"
#include "codegen/analysis/view_dim.h"
#include "codegen/gpu/ops.h"
#include "codegen/passes/split_view.h"
#include "codegen/passes/unused.h"
#include "codegen/target/decisions.h"
#include "ir/create_like.h"
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

bool IsConstant(const Value* v, uint64_t n) {
  const auto constant = ir::DefAs<ir::ConstantOp>(v);
  if (!constant) return false;
  const ir::Dense& d = constant->value();
  uint64_t bits = 0;
  std::memcpy(&bits, d.bytes.data(), static_cast<size_t>(ir::StorageBytes(d.elem)));
  return bits == n;
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

// Behind a load whose tile has another size now.
void ResizeOperand(ir::Module* module, Op* mma, int i, const Op* load) {
  std::vector<Op*> chain;  // from the load to the product
  for (Value* v = mma->operand(i); v->def() != load; v = v->def()->operand(0)) chain.push_back(v->def());
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
  // A tile that is multiplied by itself is not cut for one operand without the other.
  if (!product || product->operands[0].load == product->operands[1].load) return std::nullopt;
  // A tile of before the loop is the same in all parts of an iteration.
  for (const LoadedOperand& t : product->operands) {
    if (t.load->block() != body) return std::nullopt;
  }
  for (const Op* op : *body) {
    if (op == &mma || op == product->operands[0].load || op == product->operands[1].load || op == body->back())
      continue;
    if (!op->info()->has(ir::kPure) || op->num_regions() > 0) return std::nullopt;
  }
  return product;
}

}  // namespace

bool IsProductLoop(const Op& mma) { return FindProductLoop(mma).has_value(); }

bool CanNarrowK(const Op& mma, int parts) {
  const std::optional<LoadedProduct> product = FindProductLoop(mma);
  if (!product || !IsConstant(ir::ForOp(mma.parent()).step(), 1)) return false;
  for (const LoadedOperand& t : product->operands) {
    if (t.k / parts * t.element_bits < kLeastBytes * 8 || !CanSplitAccess(*t.load, DimOfK(t), parts)) return false;
  }
  return true;
}

void NarrowK(ir::Module* module, Op* mma, int parts) {
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
  Value* iteration = w.Make(Opcode::kShri, {iv, shift}, wide, {{"signedness", ir::Attr::Enum(sign)}});
  Value* part = w.Make(Opcode::kAndi, {iv, w.Number(parts - 1, wide)}, wide);
  Value* step = w.Resized(iteration, old.elem(), sign);
  std::vector<std::pair<Op*, int>> uses;
  ir::Walk(body, [&](Op* op) {
    if (op == iteration->def() || op == part->def()) return;
    for (int i = 0; i < op->num_operands(); ++i) {
      if (op->operand(i) == iv && op != step->def()) uses.emplace_back(op, i);
    }
  });
  for (const auto& [op, i] : uses) op->set_operand(i, step);
  for (int i = 0; i < 2; ++i) {
    const LoadedOperand& operand = product.operands[i];
    SplitAccess(module, const_cast<Op*>(operand.load), DimOfK(operand), parts, part);
    ResizeOperand(module, mma, i, operand.load);
  }
}

namespace {

// Along a dimension of a tensor that a view cuts into tiles.
struct Extent {
  int64_t fixed = ir::kDynamic;
  const Value* given = nullptr;  // where it is not fixed; null: not known
};

Extent ExtentOf(const Value* view, int dim) {
  const size_t d = TensorDim(view->type(), dim);
  const std::vector<int64_t>& shape = view->type().tensor()->shape;
  if (shape[d] != ir::kDynamic) return {shape[d], nullptr};
  const auto of = ir::DefAs<ir::MakePartitionViewOp>(view);
  const auto maker = of ? ir::DefAs<ir::MakeTensorViewOp>(of->source()) : std::nullopt;
  if (!maker) return {};
  const auto open =
      static_cast<size_t>(std::count(shape.begin(), shape.begin() + static_cast<int64_t>(d), ir::kDynamic));
  return {ir::kDynamic, Assumed(maker->dynamic_shape()[open])};
}

// Whether the operand's part along K is the one that the loop counts.
bool IsCounted(const LoadedOperand& t, const Value* iv) {
  if (!ir::LoadViewOp::Is(t.load)) return false;
  const ir::ViewAccessOp load(*t.load);
  return load.view()->type().kind() == ir::TypeKind::kPartitionView &&
         ir::DefAs<ir::MakePartitionViewOp>(load.view()) && load.index()[static_cast<size_t>(DimOfK(t))] == iv;
}

const Value* TensorOf(const Value* view) {
  const auto of = ir::DefAs<ir::MakePartitionViewOp>(view);
  return of ? of->source() : nullptr;
}
const Value* TensorOf(const LoadedOperand& t) { return TensorOf(ir::ViewAccessOp(*t.load).view()); }

// The host knows where the operand's tensor lies: an image that asks something of it has another one beside it.
bool LiesAtParameter(const LoadedOperand& t) {
  const auto maker = ir::DefAs<ir::MakeTensorViewOp>(TensorOf(t));
  return maker && IsParameter(Assumed(maker->base()));
}

// The operand's tensor is that of the view, or could end earlier along K.
bool CanEnd(const LoadedOperand& t, const Value* view) {
  return TensorOf(t) == TensorOf(view) || ExtentOf(ir::ViewAccessOp(*t.load).view(), DimOfK(t)).given != nullptr;
}

// The operand's tensor, of which along K nothing is there behind so many tiles of `k`, as many as this view has: in front of the loop.
Value* EndTensor(ir::Module* module, Op* loop, const LoadedOperand& t, const Value* view, Value* tiles, int64_t k) {
  auto* tensor = const_cast<Value*>(TensorOf(t));
  if (tensor == TensorOf(view)) return tensor;
  OpWriter w(module, loop);
  const ir::MakeTensorViewOp maker(tensor->def());
  const Type wide = w.Scalar(ir::Elem::kI64);
  const std::vector<int64_t>& shape = tensor->type()->shape;
  const size_t d = TensorDim(ir::ViewAccessOp(*t.load).view()->type(), DimOfK(t));
  const ir::OperandRange sizes = maker.dynamic_shape();
  const int at = sizes.first() +
                 static_cast<int>(std::count(shape.begin(), shape.begin() + static_cast<int64_t>(d), ir::kDynamic));
  const Type type = tensor->def()->operand(at)->type();
  const auto widened = [&](Value* v) { return w.Resized(v, ir::Elem::kI64, ir::Signedness::kSigned); };
  Value* end = w.Make(Opcode::kMuli, {widened(tiles), w.Number(k, wide)}, wide);
  Value* least = w.Make(Opcode::kMini, {widened(tensor->def()->operand(at)), end}, wide,
                        {{"signedness", ir::Attr::Enum(ir::Signedness::kSigned)}});
  std::vector<Value*> operands;
  std::vector<uint32_t> ends;
  for (int i = 0; i < tensor->def()->num_operands(); ++i) operands.push_back(tensor->def()->operand(i));
  for (size_t f = 0; f < tensor->def()->info()->format->operands.size(); ++f)
    ends.push_back(static_cast<uint32_t>(tensor->def()->group_end(static_cast<int>(f))));
  operands[static_cast<size_t>(at)] = w.Resized(least, type.elem(), ir::Signedness::kSigned);
  Op* ended = ir::CreateLike(module, *tensor->def(), operands, ir::ResultTypesOf(*tensor->def()), ends);
  module->InsertBefore(loop->block(), loop, ended);
  return ended->result(0);
}

// The tile of the load becomes so many that lie next to each other along K, of this tensor (null: that of its view).
void GrowOperand(ir::Module* module, Op* mma, int i, const LoadedOperand& t, Value* tensor, int factor) {
  ir::TypeContext& types = module->types();
  Op* load = const_cast<Op*>(t.load);
  const ir::ViewAccessOp fields(*load);
  Op* narrow = fields.view()->def();
  const Type old = fields.view()->type();
  std::vector<int64_t> shape(old.shape().begin(), old.shape().end());
  shape[static_cast<size_t>(DimOfK(t))] *= factor;
  OpWriter w(module, load);
  load->set_operand(fields.view_at(),
                    w.Make(Opcode::kMakePartitionView, {tensor != nullptr ? tensor : narrow->operand(0)},
                           types.PartitionView(shape, old.tensor(), old->dim_map, old->padding)));
  load->result(0)->set_type(types.Tile(old.element(), shape));
  ResizeOperand(module, mma, i, load);
  if (IsUnused(*narrow)) narrow->Erase();
}

}  // namespace

bool WidenK(ir::Module* module, ir::Function* function, Op* mma, int factor) {
  const std::optional<LoadedProduct> product = FindProductLoop(*mma);
  if (!product) return false;
  Op* loop = mma->parent();
  const ir::ForOp counted(loop);
  const auto tiles = ir::DefAs<ir::GetIndexSpaceShapeOp>(counted.upper_bound());
  if (!tiles || !IsConstant(counted.step(), 1) || !IsConstant(counted.lower_bound(), 0)) return false;
  // As many iterations as there are tiles along K, and nothing but the loads asks for their number.
  const Value *view = tiles->source(), *iv = loop->region(0)->arg(0);
  const int dim = counted.upper_bound()->index();
  const int64_t k = product->operands[0].k;
  if (view->type().kind() != ir::TypeKind::kPartitionView || view->type().shape()[static_cast<size_t>(dim)] != k)
    return false;
  int uses = 0;
  for (const ir::Use* use = iv->uses(); use != nullptr; use = use->next) ++uses;
  if (uses != 2 || !IsCounted(product->operands[0], iv) || !IsCounted(product->operands[1], iv)) return false;
  const Extent extent = ExtentOf(view, dim);
  const bool fixed = extent.fixed != ir::kDynamic;
  const bool by_host = !fixed && extent.given != nullptr && IsParameter(extent.given) &&
                       std::all_of(std::begin(product->operands), std::end(product->operands), LiesAtParameter);
  // A multiple of what becomes one, as far as that can be known before a launch.
  if (fixed && extent.fixed % (k * factor) != 0) return false;
  if (by_host) Decide<Decision::kWidenedK>(module, KernelOp(module, function), {extent.given->index(), k * factor});

  OpWriter before(module, loop);
  Value* bound = loop->operand(counted.upper_bound_at());
  const Type type = bound->type();
  Value* tensors[2] = {nullptr, nullptr};
  if (!fixed && !by_host) {
    // What the last iteration has more along K lies outside of the tensors.
    for (const LoadedOperand& operand : product->operands) {
      if (!CanEnd(operand, view)) return false;
    }
    for (int i = 0; i < 2; ++i) tensors[i] = EndTensor(module, loop, product->operands[i], view, bound, k);
    bound = before.Make(Opcode::kAddi, {bound, before.Number(factor - 1, type)}, type);
  }
  Value* shift = before.Number(__builtin_ctz(static_cast<unsigned>(factor)), type);
  loop->set_operand(counted.upper_bound_at(), before.Make(Opcode::kShri, {bound, shift}, type,
                                                          {{"signedness", ir::Attr::Enum(ir::Signedness::kUnsigned)}}));
  for (int i = 0; i < 2; ++i) GrowOperand(module, mma, i, product->operands[i], tensors[i], factor);
  return true;
}

}  // namespace tile::codegen

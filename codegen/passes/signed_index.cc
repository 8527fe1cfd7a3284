#include "codegen/passes/signed_index.h"

#include <cmath>
#include <vector>

#include "codegen/analysis/view_dim.h"
#include "ir/check.h"
#include "ir/float.h"
#include "ir/op_views.h"
#include "ir/ops.h"

namespace tile::codegen {
namespace {

using ir::Op;
using ir::Opcode;
using ir::Type;
using ir::Value;
namespace op = ir::ops;

class Pointers {
 public:
  Pointers(ir::Module* module, ir::Block* block, const Op& access)
      : b_(module, block), access_(access), maker_(MakerOf(access_.view())), view_(access_.view()->type()) {
    b_.set_loc(access.loc);
  }

  void Compute() {
    const std::vector<int64_t> shape(view_.shape().begin(), view_.shape().end());
    const Type i64 = b_.types().Tile(ir::Element::Number(ir::Elem::kI64), shape);
    Value* at = nullptr;
    for (int k = 0; k < view_.rank(); ++k) {
      Value* place = Place(k, i64);
      const int d = static_cast<int>(TensorDim(view_, k));
      Value* above = op::CmpI(b_, ir::ComparisonPredicate::kGreaterThanOrEqual, place, op::Integer(b_, i64, 0),
                              ir::Signedness::kSigned);
      Value* below = op::CmpI(b_, ir::ComparisonPredicate::kLessThan, place, Spread(Extent(d, false), i64),
                              ir::Signedness::kSigned);
      Value* inside = op::Andi(b_, above, below);
      mask_ = mask_ == nullptr ? inside : op::Andi(b_, mask_, inside);
      Value* moved = op::Muli(b_, place, Spread(Extent(d, true), i64));
      at = at == nullptr ? moved : op::Addi(b_, at, moved);
    }
    const Type pointers = b_.types().Tile(maker_.base()->type().element(), shape);
    pointers_ = op::Offset(b_, Spread(maker_.base(), pointers), at);
  }

  Op* Load() {
    op::Access how = How();
    const Type tile = b_.types().TileOf(view_);
    if (view_->padding && *view_->padding == ir::Padding::kZero) {
      how.padding = ir::IsFloat(tile.elem()) ? op::Splat(b_, tile, 0) : op::Integer(b_, tile, 0);
    } else if (view_->padding) {
      how.padding = op::Splat(b_, tile, std::nan(""));
    }
    return op::LoadPtr(b_, pointers_, how).value->def();
  }
  Op* Store(Value* tile) { return op::StorePtr(b_, pointers_, tile, How())->def(); }

 private:
  op::Access How() const {
    op::Access how;
    how.mask = mask_;
    how.token = ir::AccessOp(access_.op()).token();
    how.ordering = ir::MemoryOrdering::kWeak;
    return how;
  }
  Value* Create(Opcode code, Value* v, Type result) { return b_.Create(code, {{v}}, {result})->result(0); }
  Value* Spread(Value* scalar, Type tile) {
    const std::vector<int64_t> ones(tile.shape().size(), 1);
    return Create(Opcode::kBroadcast, Create(Opcode::kReshape, scalar, b_.types().Tile(tile.element(), ones)), tile);
  }
  Value* Wide(Value* v) {
    const Type i64 = b_.types().Tile(ir::Element::Number(ir::Elem::kI64), v->type().shape());
    return v->type() == i64 ? v : op::Exti(b_, i64, v, ir::Signedness::kSigned);
  }
  // The size or stride of the tensor's dimension d.
  Value* Extent(int d, bool stride) {
    const Type tensor = view_.tensor();
    const std::vector<int64_t>& fixed = stride ? tensor->strides : tensor->shape;
    size_t open = 0;
    for (int i = 0; i < d; ++i) open += fixed[static_cast<size_t>(i)] == ir::kDynamic;
    const int64_t n = fixed[static_cast<size_t>(d)];
    if (n != ir::kDynamic) return op::Integer(b_, b_.types().Scalar(ir::Elem::kI64), n);
    return Wide(stride ? maker_.dynamic_strides()[open] : maker_.dynamic_shape()[open]);
  }
  // Where each element lies along dimension k of the tile.
  Value* Place(int k, Type i64) {
    const int64_t size = view_.shape()[static_cast<size_t>(k)];
    Value* numbers = op::Iota(b_, b_.types().Tile(ir::Element::Number(ir::Elem::kI32), {size}));
    std::vector<int64_t> line(static_cast<size_t>(view_.rank()), 1);
    line[static_cast<size_t>(k)] = size;
    numbers = Wide(Create(Opcode::kReshape, numbers, b_.types().Tile(ir::Element::Number(ir::Elem::kI32), line)));
    Value* first = Wide(access_.index()[static_cast<size_t>(k)]);
    first = op::Muli(b_, first, op::Integer(b_, first->type(), GridStep(view_, k)));
    return op::Addi(b_, Spread(first, i64), Create(Opcode::kBroadcast, numbers, i64));
  }

  ir::Builder b_;
  const ir::ViewAccessOp access_;
  const ir::MakeTensorViewOp maker_;
  const Type view_;
  Value *pointers_ = nullptr, *mask_ = nullptr;
};

}  // namespace

void MoveBefore(ir::Module* module, ir::Block* apart, Op* where) {
  while (!apart->empty()) {
    Op* op = apart->front();
    op->Unlink();
    op->pos = where->pos;
    module->InsertBefore(where->block(), where, op);
  }
}

void AccessByPointers(ir::Module* module, Op* access) {
  ir::Block* apart = module->CreateBlock({});
  Pointers pointers(module, apart, *access);
  pointers.Compute();
  Op* made = nullptr;
  if (const auto store = ir::As<ir::StoreViewOp>(access)) {
    made = pointers.Store(store->tile());
  } else {
    TILE_CHECK(ir::LoadViewOp::Is(access), "only loads and stores have an index with a sign");
    made = pointers.Load();
  }
  for (int i = 0; i < made->num_results(); ++i) access->result(i)->ReplaceAllUsesWith(made->result(i));
  MoveBefore(module, apart, access);
  access->Erase();
}

}  // namespace tile::codegen

#include "vm/prepare/reliance.h"

#include <map>
#include <vector>

#include "ir/loops.h"

namespace tile::vm {
namespace {

using ir::Op;
using ir::Opcode;
using ir::Type;
using ir::Use;
using ir::Value;
using Dims = uint32_t;  // a bit per dimension of the value's tile

// Dimensions of the reshaped tile that run over elements of the given ones. Both shapes are cut where their products
// agree.
Dims Reshaped(Type from, Type to, Dims dims) {
  Dims result = 0;
  int i = 0, j = 0;
  while (i < from.rank() || j < to.rank()) {
    int64_t a = 1, b = 1;
    Dims left = 0, right = 0;
    do {
      if (j >= to.rank() || (i < from.rank() && a <= b)) {
        a *= from.shape()[static_cast<size_t>(i)];
        left |= Dims{1} << i++;
      } else {
        b *= to.shape()[static_cast<size_t>(j)];
        right |= Dims{1} << j++;
      }
    } while (a != b && (i < from.rank() || j < to.rank()));
    if ((left & dims) != 0) result |= right;
  }
  return result;
}

class Search {
 public:
  // Whether elements outside along these dimensions take part in anything.
  bool Finds(const Value* tile, Dims dims) {
    Reach(tile, dims);
    while (!work_.empty() && !relied_) {
      const Value* value = work_.back();
      work_.pop_back();
      const Dims known = reached_[value];
      for (const Use* use = value->uses(); use != nullptr && !relied_; use = use->next) {
        for (int i = 0; i < use->owner->num_operands(); ++i) {
          if (use->owner->operand(i) == value) Follow(*use->owner, i, known);
        }
      }
    }
    return relied_;
  }

 private:
  void Reach(const Value* value, Dims dims) {
    Dims& known = reached_[value];
    if ((known | dims) == known) return;
    known |= dims;
    work_.push_back(value);
  }

  void Follow(const Op& op, int position, Dims dims) {
    const ir::OpInfo& info = *op.info();
    if (op.opcode() == Opcode::kSelect && position > 0) return;
    if (info.has(ir::kElementwise)) return Reach(op.result(0), dims);
    switch (info.family) {
      case ir::Family::kShape: return Shape(op, position, dims);
      case ir::Family::kReduce: return Fold(op, dims);
      case ir::Family::kMma: return Product(op, position, dims);
      case ir::Family::kControl: return Control(op, position, dims);
      default: break;
    }
    if (op.opcode() == Opcode::kAssume) return Reach(op.result(0), dims);
    // What is stored or added goes where the operation says, which leaves such elements out, too. What it says must
    // have a value, unless a mask goes with it.
    using ir::Field;
    const auto is = [&](Field name) {
      const int field = info.format->place(name).operand;
      return field >= 0 && position >= op.group_begin(field) && position < op.group_end(field);
    };
    const auto is_any = [&](std::initializer_list<Field> names) { return std::any_of(names.begin(), names.end(), is); };
    if (is_any({Field::kPointers, Field::kSource, Field::kDestination})) {
      relied_ = relied_ || ir::FindOperand(op, Field::kMask) == nullptr;
    } else if (is_any({Field::kMask, Field::kIndex, Field::kIndices, Field::kBase, Field::kDynamicShape,
                       Field::kDynamicStrides, Field::kArgs})) {
      relied_ = true;
    } else if (is(Field::kPaddingValue)) {
      Reach(op.result(0), dims);
    }
  }

  void Shape(const Op& op, int position, Dims dims) {
    const Type from = op.operand(position)->type(), to = op.result(0)->type();
    if (const auto permute = ir::As<ir::PermuteOp>(&op)) {
      const auto permutation = permute->permutation();
      Dims result = 0;
      for (size_t k = 0; k < permutation.size(); ++k) {
        if ((dims >> permutation[k] & 1) != 0) result |= Dims{1} << k;
      }
      return Reach(op.result(0), result);
    }
    Reach(op.result(0), op.opcode() == Opcode::kReshape ? Reshaped(from, to, dims) : dims);
  }

  void Fold(const Op& op, Dims dims) {
    const int64_t dim = ir::FoldOp(op).dim();
    const bool along = (dims >> dim & 1) != 0;
    const auto scan = ir::As<ir::ScanOp>(&op);
    // Elements outside are after the others: a scan that goes upward reaches them last.
    if (along && (!scan || scan->reverse())) {
      relied_ = true;
      return;
    }
    const Dims below = dims & ((Dims{1} << dim) - 1), above = dims >> (dim + 1) << dim;
    for (int i = 0; i < op.num_results(); ++i) Reach(op.result(i), scan ? dims : below | above);
  }

  // [batch] m k, [batch] k n, [batch] m n, then scales as their operands.
  void Product(const Op& op, int position, Dims dims) {
    const int r = op.result(0)->type().rank();
    const Dims row = Dims{1} << (r - 2), column = Dims{1} << (r - 1);
    const ir::MmaOp product(op);
    if (position != product.acc_at()) {
      const auto scales = ir::As<ir::MmaScaledOp>(&op);
      const bool left = position == product.lhs_at() || (scales && position == scales->lhs_scale_at());
      if ((dims & (left ? column : row)) != 0) relied_ = true;
    }
    Reach(op.result(0), dims);
  }

  void Control(const Op& op, int position, Dims dims) {
    if (ir::IsLoop(&op)) {
      const ir::CarryingLoop loop(op);
      const int carried = loop.carried_by_operand(position);
      if (carried < 0) {
        relied_ = true;  // a bound or the step
        return;
      }
      Reach(loop.arg(carried), dims);
      if (loop.counts()) Reach(loop.result(carried), dims);
      return;
    }
    if (!op.info()->has(ir::kTerminator)) {
      relied_ = true;  // a condition
      return;
    }
    // A terminator hands its operands to what is around it.
    const Op* around = ir::TargetOf(op);
    if (around == nullptr || around->info()->has(ir::kElementBody)) return;
    Reach(ir::ReceiverOf(op, position), dims);
    // What goes around a `for` comes out of it in the end.
    if (ir::ForOp::Is(around)) Reach(around->result(position), dims);
  }

  std::map<const Value*, Dims> reached_;
  std::vector<const Value*> work_;
  bool relied_ = false;
};

}  // namespace

uint32_t DimensionsReliedOn(const Value* tile) {
  uint32_t relied = 0;
  for (int k = 0; k < tile->type().rank(); ++k) {
    if (Search().Finds(tile, Dims{1} << k)) relied |= uint32_t{1} << k;
  }
  return relied;
}

}  // namespace tile::vm

#include "vm/prepare/reliance.h"

#include <map>
#include <vector>

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
      case ir::Family::kShape:
        return Shape(op, position, dims);
      case ir::Family::kReduce:
        return Fold(op, dims);
      case ir::Family::kMma:
        return Product(op, position, dims);
      case ir::Family::kControl:
        return Control(op, position, dims);
      default:
        break;
    }
    if (op.opcode() == Opcode::kAssume) return Reach(op.result(0), dims);
    // What is stored or added goes where the operation says, which leaves such elements out, too. What it says must
    // have a value, unless a mask goes with it.
    const int pointers = info.format->operand_index("pointers"), mask = info.format->operand_index("mask");
    const bool is_masked = mask >= 0 && op.group_end(mask) > op.group_begin(mask);
    const auto is = [&](int field) {
      return field >= 0 && position >= op.group_begin(field) && position < op.group_end(field);
    };
    const int source = info.format->operand_index("source"), destination = info.format->operand_index("destination");
    if (is(pointers) || is(source) || is(destination)) {
      relied_ = relied_ || !is_masked;
    } else if (is(mask) || is(info.format->operand_index("index")) || is(info.format->operand_index("indices")) ||
               is(info.format->operand_index("base")) || is(info.format->operand_index("dynamic_shape")) ||
               is(info.format->operand_index("dynamic_strides")) || is(info.format->operand_index("args"))) {
      relied_ = true;
    } else if (is(info.format->operand_index("padding_value"))) {
      Reach(op.result(0), dims);
    }
  }

  void Shape(const Op& op, int position, Dims dims) {
    const Type from = op.operand(position)->type(), to = op.result(0)->type();
    if (op.opcode() == Opcode::kPermute) {
      const auto permutation = op.attr("permutation").ints();
      Dims result = 0;
      for (size_t k = 0; k < permutation.size(); ++k) {
        if ((dims >> permutation[k] & 1) != 0) result |= Dims{1} << k;
      }
      return Reach(op.result(0), result);
    }
    Reach(op.result(0), op.opcode() == Opcode::kReshape ? Reshaped(from, to, dims) : dims);
  }

  void Fold(const Op& op, Dims dims) {
    const auto dim = op.attr("dim").as_int();
    const bool along = (dims >> dim & 1) != 0;
    const bool scan = op.opcode() == Opcode::kScan;
    // Elements outside stand behind the others: a scan that goes upward reaches them last.
    if (along && (!scan || op.attr("reverse").as_bool())) {
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
    if (position != 2) {
      const bool left = position == 0 || position == 3;
      if ((dims & (left ? column : row)) != 0) relied_ = true;
    }
    Reach(op.result(0), dims);
  }

  void Control(const Op& op, int position, Dims dims) {
    switch (op.opcode()) {
      case Opcode::kIf:
      case Opcode::kAssert:
        relied_ = true;
        return;
      case Opcode::kFor:
        if (position < 3) {
          relied_ = true;
          return;
        }
        Reach(op.region(0)->arg(position - 2), dims);
        return Reach(op.result(position - 3), dims);
      case Opcode::kLoop:
        return Reach(op.region(0)->arg(position), dims);
      default:
        break;
    }
    // A terminator hands its operands to what is around it.
    const Op* around = op.parent();
    if (op.opcode() == Opcode::kBreak || op.opcode() == Opcode::kContinue) {
      while (around != nullptr && around->opcode() == Opcode::kIf) around = around->parent();
    }
    if (around == nullptr || around->info()->family == ir::Family::kReduce) return;
    const bool loop = around->opcode() == Opcode::kLoop, counted = around->opcode() == Opcode::kFor;
    if ((loop && op.opcode() != Opcode::kBreak) || counted)
      Reach(around->region(0)->arg(position + (counted ? 1 : 0)), dims);
    if (!loop || op.opcode() == Opcode::kBreak) Reach(around->result(position), dims);
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

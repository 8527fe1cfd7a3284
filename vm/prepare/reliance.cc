#include "vm/prepare/reliance.h"

#include <algorithm>
#include <vector>

#include "ir/loops.h"

namespace tile::vm {
namespace {

using ir::Op;
using ir::Opcode;
using ir::Type;
using ir::Use;
using ir::Value;
using Dims = uint32_t;

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

}  // namespace

uint32_t Reliance::Of(const Value* tile) {
  const int rank = tile->type().rank();
  for (int k = 0; k < rank; ++k) NumberOf(tile, k);
  Explore();
  uint32_t result = 0;
  for (int k = 0; k < rank; ++k) {
    if (places_[static_cast<size_t>(NumberOf(tile, k))].relied_on) result |= uint32_t{1} << k;
  }
  return result;
}

int Reliance::NumberOf(const Value* value, int dim) {
  const auto [at, is_new] = numbers_.try_emplace({value, dim}, static_cast<int>(places_.size()));
  if (is_new) {
    places_.push_back({value, dim, false, {}});
    work_.push_back(at->second);
  }
  return at->second;
}

// Follows what was never followed to its end, then goes back from what is relied on. So each place is looked at twice
// in all.
void Reliance::Explore() {
  while (!work_.empty()) {
    current_ = work_.back();
    work_.pop_back();
    const Place place = {
        places_[static_cast<size_t>(current_)].value, places_[static_cast<size_t>(current_)].dim, false, {}};
    for (const Use* use = place.value->uses(); use != nullptr; use = use->next) {
      Follow(*use->owner, use->owner->position(*use), Dims{1} << place.dim);
    }
  }
  while (!relied_on_.empty()) {
    Place& place = places_[static_cast<size_t>(relied_on_.back())];
    relied_on_.pop_back();
    if (place.relied_on) continue;
    place.relied_on = true;
    relied_on_.insert(relied_on_.end(), place.before.begin(), place.before.end());
  }
}

void Reliance::Rely() { relied_on_.push_back(current_); }

void Reliance::Reach(const Value* value, Dims dims) {
  for (int k = 0; dims >> k != 0; ++k) {
    if ((dims >> k & 1) == 0) continue;
    Place& to = places_[static_cast<size_t>(NumberOf(value, k))];
    if (to.relied_on) Rely();
    to.before.push_back(current_);
  }
}

void Reliance::Follow(const Op& op, int position, Dims dims) {
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
    if (ir::FindOperand(op, Field::kMask) == nullptr) Rely();
  } else if (is_any({Field::kMask, Field::kIndex, Field::kIndices, Field::kBase, Field::kDynamicShape,
                     Field::kDynamicStrides, Field::kArgs})) {
    Rely();
  } else if (is(Field::kPaddingValue)) {
    Reach(op.result(0), dims);
  }
}

void Reliance::Shape(const Op& op, int position, Dims dims) {
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

void Reliance::Fold(const Op& op, Dims dims) {
  const int64_t dim = ir::FoldOp(op).dim();
  const bool along = (dims >> dim & 1) != 0;
  const auto scan = ir::As<ir::ScanOp>(&op);
  // Elements outside are after the others: a scan that goes upward reaches them last.
  if (along && (!scan || scan->reverse())) {
    Rely();
    return;
  }
  const Dims below = dims & ((Dims{1} << dim) - 1), above = dims >> (dim + 1) << dim;
  for (int i = 0; i < op.num_results(); ++i) Reach(op.result(i), scan ? dims : below | above);
}

// [batch] m k, [batch] k n, [batch] m n, then scales as their operands.
void Reliance::Product(const Op& op, int position, Dims dims) {
  const int r = op.result(0)->type().rank();
  const Dims row = Dims{1} << (r - 2), column = Dims{1} << (r - 1);
  const ir::MmaOp product(op);
  if (position != product.acc_at()) {
    const auto scales = ir::As<ir::MmaScaledOp>(&op);
    const bool left = position == product.lhs_at() || (scales && position == scales->lhs_scale_at());
    if ((dims & (left ? column : row)) != 0) Rely();
  }
  Reach(op.result(0), dims);
}

void Reliance::Control(const Op& op, int position, Dims dims) {
  if (ir::IsLoop(&op)) {
    const ir::CarryingLoop loop(op);
    const int carried = loop.carried_by_operand(position);
    if (carried < 0) {
      Rely();  // a bound or the step
      return;
    }
    Reach(loop.arg(carried), dims);
    if (loop.counts()) Reach(loop.result(carried), dims);
    return;
  }
  if (!op.info()->has(ir::kTerminator)) {
    Rely();  // a condition
    return;
  }
  // A terminator hands its operands to what is around it.
  const Op* around = ir::TargetOf(op);
  if (around == nullptr || around->info()->has(ir::kElementBody)) return;
  Reach(ir::ReceiverOf(op, position), dims);
  // The last value that a `for` carries is its result.
  if (ir::ForOp::Is(around)) Reach(around->result(position), dims);
}

}  // namespace tile::vm

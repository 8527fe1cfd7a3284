// Identities of operations that move elements.
#include <vector>

#include "ir/op_views.h"
#include "ir/ops.h"
#include "ir/passes/rewrite.h"
#include "ir/passes/simplify_rules.h"

namespace tile::ir {
namespace {

namespace op = ops;

// All of its elements are alike and stay what they are.
Value* MovedConstant(Module* module, Op* move) {
  const auto constant = DefAs<ConstantOp>(move->operand(0));
  if (!constant || (!constant->value().splat && move->operand(0)->type().num_elements() != 1)) return nullptr;
  Dense one = constant->value();
  one.splat = true;
  Value* result = nullptr;
  WriteBefore(module, move,
              [&](Builder& b) { result = op::Constant(b, move->result(0)->type(), module->arena().New<Dense>(one)); });
  return result;
}

Value* SimplerPermute(Module* module, Op* permute) {
  const absl::Span<const int64_t> outer = PermuteOp(permute).permutation();
  const auto inner = DefAs<PermuteOp>(permute->operand(0));
  Value* source = inner ? inner->source() : permute->operand(0);
  std::vector<int64_t> both(outer.begin(), outer.end());
  if (inner) {
    for (int64_t& dim : both) dim = inner->permutation()[static_cast<size_t>(dim)];
  }
  bool same = true;
  for (size_t i = 0; i < both.size(); ++i) same = same && both[i] == static_cast<int64_t>(i);
  if (same) return source;
  Value* result = nullptr;
  if (inner) WriteBefore(module, permute, [&](Builder& b) { result = op::Permute(b, source, both); });
  return result;
}

}  // namespace

Value* SimplerShape(Module* module, Op* move) {
  const bool reshapes = ReshapeOp::Is(move), broadcasts = BroadcastOp::Is(move);
  if (!reshapes && !broadcasts && !PermuteOp::Is(move)) return nullptr;
  Value* source = move->operand(0);
  const Type type = move->result(0)->type();
  if ((reshapes || broadcasts) && source->type() == type) return source;
  Op* inner = source->def();
  if (inner == nullptr) return nullptr;
  if (ConstantOp::Is(inner)) return MovedConstant(module, move);
  if (PermuteOp::Is(move)) return SimplerPermute(module, move);
  if (inner->opcode() != move->opcode()) return nullptr;
  // Twice the same kind of move is once the whole of it.
  source = inner->operand(0);
  if (source->type() == type) return source;
  Value* result = nullptr;
  WriteBefore(module, move,
              [&](Builder& b) { result = reshapes ? op::Reshape(b, type, source) : op::Broadcast(b, type, source); });
  return result;
}

}  // namespace tile::ir

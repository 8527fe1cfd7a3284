#include "ir/passes/rewrite.h"

#include <cstring>

#include "ir/float.h"
#include "ir/op_views.h"

namespace tile::ir {
namespace {

// The bits of the element that a constant repeats.
std::optional<uint64_t> RepeatedBits(const Value* v) {
  const auto constant = DefAs<ConstantOp>(v);
  if (!constant || (!constant->value().splat && v->type().num_elements() != 1)) return std::nullopt;
  uint64_t bits = 0;
  std::memcpy(&bits, constant->value().bytes.data(), static_cast<size_t>(StorageBytes(v->type().elem())));
  return bits;
}

}  // namespace

int WidthOf(const Value* v) { return v->type().elem() == Elem::kI1 ? 1 : 8 * StorageBytes(v->type().elem()); }

std::optional<uint64_t> SplatOf(const Value* v) {
  if (!v->type().is_tile() || v->type().element().is_pointer() || !IsInt(v->type().elem())) return std::nullopt;
  const std::optional<uint64_t> bits = RepeatedBits(v);
  return bits ? std::optional<uint64_t>(LowBits(*bits, WidthOf(v))) : std::nullopt;
}

std::optional<double> FloatSplatOf(const Value* v) {
  if (!v->type().is_tile() || v->type().element().is_pointer() || !IsFloat(v->type().elem())) return std::nullopt;
  const std::optional<uint64_t> bits = RepeatedBits(v);
  return bits ? std::optional<double>(ToDouble(v->type().elem(), *bits)) : std::nullopt;
}

bool IsSplat(const Value* v, int64_t n) {
  const std::optional<uint64_t> bits = SplatOf(v);
  return bits && *bits == LowBits(static_cast<uint64_t>(n), WidthOf(v));
}

bool IsInside(const Value* v, const Op* op) {
  const Op* at = v->def() != nullptr ? v->def() : v->block()->parent();
  while (at != nullptr && at != op) at = at->parent();
  return at == op;
}

void MoveBefore(Module* module, Op* op, Op* where) {
  op->Unlink();
  module->InsertBefore(where->block(), where, op);
}

void MoveBodyBefore(Module* module, Block* from, Op* where) {
  while (from->front() != from->terminator()) MoveBefore(module, from->front(), where);
}

void Replace(Value* from, Value* to) {
  if (to->name.empty() && to->def() != nullptr) to->name = from->name;
  from->ReplaceAllUsesWith(to);
}

void ReplaceOp(Op* op, Value* with) {
  Replace(op->result(0), with);
  op->Erase();
}

Op* CopyBefore(Module* module, const Op& from, Op* where, ValueMap* values) {
  Op* op = CopyOp(module, from, values);
  module->InsertBefore(where->block(), where, op);
  return op;
}

}  // namespace tile::ir

#include "ir/passes/rewrite.h"

#include <cstring>

#include "absl/container/inlined_vector.h"
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
  const FormatInfo& format = *from.info()->format;
  absl::InlinedVector<Value*, 8> operands;
  absl::InlinedVector<uint32_t, 8> ends;
  absl::InlinedVector<Type, 4> results;
  absl::InlinedVector<Attr, 8> attrs;
  for (int i = 0; i < from.num_operands(); ++i) {
    const auto it = values->find(from.operand(i));
    operands.push_back(it == values->end() ? from.operand(i) : it->second);
  }
  for (size_t f = 0; f < format.operands.size(); ++f) {
    ends.push_back(static_cast<uint32_t>(from.group_end(static_cast<int>(f))));
  }
  for (int i = 0; i < from.num_results(); ++i) results.push_back(from.result(i)->type());
  for (size_t i = 0; i < format.attrs.size(); ++i) attrs.push_back(from.attr(static_cast<int>(i)));
  Op* op = module->CreateOp({.info = from.info(),
                             .operands = operands,
                             .operand_ends = ends,
                             .results = results,
                             .attrs = attrs,
                             .loc = from.loc,
                             .pos = from.pos});
  module->InsertBefore(where->block(), where, op);
  for (int r = 0; r < from.num_regions(); ++r) {
    const Block* region = from.region(r);
    if (region == nullptr) continue;
    absl::InlinedVector<Type, 8> types;
    for (const Value* arg : region->args()) types.push_back(arg->type());
    Block* block = module->CreateBlock(types);
    op->set_region(r, block);
    for (int i = 0; i < region->num_args(); ++i) {
      block->arg(i)->name = region->arg(i)->name;
      (*values)[region->arg(i)] = block->arg(i);
    }
    // Something to copy in front of, while the block is empty.
    const uint32_t none = 0;
    Op* end = module->CreateOp({.info = GetOp(Opcode::kReturn),
                                .operands = {},
                                .operand_ends = {&none, 1},
                                .results = {},
                                .attrs = {},
                                .loc = from.loc,
                                .pos = from.pos});
    module->Append(block, end);
    for (const Op* inner : *region) CopyBefore(module, *inner, end, values);
    end->Unlink();
  }
  for (int i = 0; i < from.num_results(); ++i) {
    op->result(i)->name = from.result(i)->name;
    (*values)[from.result(i)] = op->result(i);
  }
  return op;
}

}  // namespace tile::ir

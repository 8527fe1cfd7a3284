// What the body of a reduce says about the order of its elements, and where a fold of them may begin.
#ifndef TILE_CODEGEN_ANALYSIS_REDUCE_BODY_H_
#define TILE_CODEGEN_ANALYSIS_REDUCE_BODY_H_

#include <optional>

#include "ir/module.h"
#include "ir/neutral.h"
#include "ir/op_views.h"

namespace tile::codegen {

// The body is one commutative operation on its two arguments.
inline bool IsCommutative(const ir::Block& body) {
  const ir::Op* op = body.front();
  return body.num_args() == 2 && op->info()->has(ir::kCommutative) && op->next() == body.back() &&
         body.back()->operand(0) == op->result(0) && op->operand(0) != op->operand(1) &&
         op->operand(0)->block() == &body && op->operand(1)->block() == &body;
}

// Bits that change nothing when the body combines them with an element; a fold without them begins with an element.
inline std::optional<uint64_t> NeutralOf(const ir::Block& body) {
  if (!IsCommutative(body)) return std::nullopt;
  const ir::Op& op = *body.front();
  // Combining an element with anything flushes it.
  if (const ir::Attr* flush = ir::FindAttr(op, ir::Field::kFlushToZero); flush != nullptr && flush->as_bool())
    return std::nullopt;
  return ir::NeutralBits(ir::FoldKindOf(op));
}

inline bool IsNarrowFloat(ir::Type t) { return t.elem() == ir::Elem::kF16 || t.elem() == ir::Elem::kBF16; }

// A sum or product of f16 or bf16. A running one stops growing soon (bf16: 256 + 1 is 256), so it takes balanced trees.
inline bool IsNarrowSum(const ir::Block& body) {
  if (!IsCommutative(body)) return false;
  const ir::Op& op = *body.front();
  return (op.opcode() == ir::Opcode::kAddf || op.opcode() == ir::Opcode::kMulf) &&
         IsNarrowFloat(op.result(0)->type()) && ir::RoundingOp(op).rounding() == ir::Rounding::kNearestEven;
}

}  // namespace tile::codegen

#endif  // TILE_CODEGEN_ANALYSIS_REDUCE_BODY_H_

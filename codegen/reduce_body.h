// What the body of a reduce says about the order of its elements.
#ifndef TILE_CODEGEN_REDUCE_BODY_H_
#define TILE_CODEGEN_REDUCE_BODY_H_

#include "ir/module.h"

namespace tile::codegen {

// The body is one commutative operation on its two arguments.
inline bool IsCommutative(const ir::Block& body) {
  const ir::Op* op = body.front();
  return body.num_args() == 2 && op->info()->has(ir::kCommutative) && op->next() == body.back() &&
         body.back()->operand(0) == op->result(0) && op->operand(0) != op->operand(1) &&
         op->operand(0)->block() == &body && op->operand(1)->block() == &body;
}

}  // namespace tile::codegen

#endif  // TILE_CODEGEN_REDUCE_BODY_H_

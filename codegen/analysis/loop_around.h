// The loop that may run an operation again.
//
//   if (LoopAround(op) != nullptr) …
#ifndef TILE_CODEGEN_ANALYSIS_LOOP_AROUND_H_
#define TILE_CODEGEN_ANALYSIS_LOOP_AROUND_H_

#include "ir/module.h"

namespace tile::codegen {

// The innermost loop around the operation; null: there is none. Pure.
inline const ir::Op* LoopAround(const ir::Op& op) {
  const ir::Op* around = op.parent();
  while (around != nullptr && !around->info()->has(ir::kLoop)) around = around->parent();
  return around;
}

}  // namespace tile::codegen

#endif  // TILE_CODEGEN_ANALYSIS_LOOP_AROUND_H_

// Finds the function that prepares an operation: eval_<family>.cc.
#ifndef TILE_VM_EVAL_PREPARE_OP_H_
#define TILE_VM_EVAL_PREPARE_OP_H_

#include "vm/prepare/prepare.h"

namespace tile::vm {

void PrepareOp(Preparer& p, const ir::Op& op);

}  // namespace tile::vm

#endif  // TILE_VM_EVAL_PREPARE_OP_H_

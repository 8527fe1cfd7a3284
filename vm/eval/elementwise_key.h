// Which kernel of vm/kernels/elementwise.h an operation needs, if all of its operands are full.
#ifndef TILE_VM_EVAL_ELEMENTWISE_KEY_H_
#define TILE_VM_EVAL_ELEMENTWISE_KEY_H_

#include "ir/module.h"
#include "vm/kernels/elementwise.h"

namespace tile::vm {

ElementwiseKey ElementwiseKeyOf(const ir::Op& op);

}  // namespace tile::vm

#endif  // TILE_VM_EVAL_ELEMENTWISE_KEY_H_

// The second half of raise_loops.h: a loop that advances at its head, but for the first iteration, becomes one that advances at its
// end. Internal to ir/passes.
#ifndef TILE_IR_PASSES_ROTATE_LOOP_H_
#define TILE_IR_PASSES_ROTATE_LOOP_H_

#include "ir/module.h"

namespace tile::ir {

// Computes its results, without effect on anything else.
bool IsPure(const Op& op);
// The first operation of a block that is not.
Op* FirstImpure(const Block* block);

// Whether it was such a loop; then another `loop` took its place.
bool RotateLoop(Module* module, Op* loop);

}  // namespace tile::ir

#endif  // TILE_IR_PASSES_ROTATE_LOOP_H_

// Whether the body of a reduce or scan is associative, tried on the values that come, for --check=full.
//
// Engines group elements as they like, so that (a . b) . c must be a . (b . c). Both are computed for a few neighbours a, b, c
// of every line, and for three parts of a line. Results must be equal, but for rounding: floats may differ by a few times
// as much as they do when a, b and c change in their last digits.
#ifndef TILE_VM_EVAL_GROUPING_H_
#define TILE_VM_EVAL_GROUPING_H_

#include "vm/eval/fold.h"

namespace tile::vm {

// Tries lanes [first, first + batch), before they are folded. False after a trap.
bool CheckGrouping(BlockState& b, const Instr* in, const BodyData& d, int64_t first);

}  // namespace tile::vm

#endif  // TILE_VM_EVAL_GROUPING_H_

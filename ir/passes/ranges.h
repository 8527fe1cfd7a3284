// Between which numbers an integer lies, read as signed: what constants, promises, numbers of blocks and exact arithmetic say.
//
//   RangeOf(step).lower > 0
//
// Looks a bounded number of operations back. A pure function of the program.
#ifndef TILE_IR_PASSES_RANGES_H_
#define TILE_IR_PASSES_RANGES_H_

#include <cstdint>

#include "ir/module.h"

namespace tile::ir {

struct Range {
  int64_t lower, upper;  // both ends included
};

// Of an integer tile: all of its elements. The range of its type, if nothing is known.
Range RangeOf(const Value* v);
Range RangeOfWidth(int width);

}  // namespace tile::ir

#endif  // TILE_IR_PASSES_RANGES_H_

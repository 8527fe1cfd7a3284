// What tiles of integers look like along a dimension, as far as the operations that compute them show it.
//
//   %o = addi (broadcast %start), (iota 64)     neighbours rise by one
//   StartOfRising(%o, 0)                        16, where %start is divisible by 16
//
// Triton's compiler finds the same (AxisInfo), and more; here it is what promises are made of. Thread-safe.
#ifndef TILE_IR_TTIR_LINES_H_
#define TILE_IR_TTIR_LINES_H_

#include <cstdint>
#include <optional>

#include "ir/module.h"

namespace tile::ir::ttir {

// Promised groups of neighbours are often longer than holds at the end of a dimension, as in
// `max_contiguous((n0 + arange(0, B)) % N, B)`. A vector, which is what the promise is for, has at most so many elements.
inline constexpr int64_t kGroup = 16;

// The largest power of two, at most 65,536, that is seen to divide every element. 1: nothing is seen.
int64_t SeenDivisor(const Value* v);

// All elements along the dimension are equal.
bool SeenEqual(const Value* v, int dim);

// Neighbours along the dimension rise by one: the result divides the first element. Nothing: they are not seen to rise.
std::optional<int64_t> StartOfRising(const Value* v, int dim);

}  // namespace tile::ir::ttir

#endif  // TILE_IR_TTIR_LINES_H_

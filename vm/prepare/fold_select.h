// Bodies of reduce and scan that keep one of two: arg-max and its like.
//
// Such a body only compares the element with the accumulator and yields all of one side, as in
//     %above = cmpf greater_than ordered %e, %acc
//     %equal = cmpf equal ordered %e, %acc
//     %earlier = cmpi less_than %i, %acc_i, signed
//     %tie = andi %equal, %earlier
//     %take = ori %above, %tie
//     … select %take, %e, %acc … select %take, %i, %acc_i
// with or without a rule for ties. If the sides are compared by a total order of pairs (first operand, then perhaps another), the
// result is one of the greatest: the leftmost, or the rightmost if the body takes an element that equals the accumulator. It is the
// same, bit for bit, when parts of the line are folded by themselves and neighbours are then combined in order. A NaN is never
// taken, but stands where it is the first; so
// * of the leftmost, each part begins with the line's first element;
// * of the rightmost, each part begins with its own first element, which must not be a NaN.
// Which bodies are so is found by running them over every outcome of the comparisons.
#ifndef TILE_VM_PREPARE_FOLD_SELECT_H_
#define TILE_VM_PREPARE_FOLD_SELECT_H_

#include "ir/module.h"

namespace tile::vm {

enum class Kept { kNeither, kLeftmost, kRightmost };

// Which of the greatest elements of a line this reduce or scan keeps; kNeither: its body is another one.
Kept SideKept(const ir::Op& fold);

}  // namespace tile::vm

#endif  // TILE_VM_PREPARE_FOLD_SELECT_H_

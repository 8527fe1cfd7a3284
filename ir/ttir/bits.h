// Functions of the bits of integers that are several operations here: libdevice has them, and PTX as instructions.
//
//   Value* ones = PopCount(b, x);       // of i32 or i64, in x's type
//
// Halves of words are exchanged, or added up, in five or six steps; LLVM knows the patterns and takes the GPU's instruction for them.
#ifndef TILE_IR_TTIR_BITS_H_
#define TILE_IR_TTIR_BITS_H_

#include "ir/ops.h"

namespace tile::ir::ttir {

// Each takes i32 or i64 and gives the same type.
Value* PopCount(Builder& b, Value* x);
Value* LeadingZeros(Builder& b, Value* x);  // of 0: the width
Value* ReverseBits(Builder& b, Value* x);
Value* FindFirstSet(Builder& b, Value* x);            // from 1 on; of 0: 0
Value* HighestBit(Builder& b, Value* x);              // its position; of 0: -1
Value* MultiplyHigh(Builder& b, Value* x, Value* y);  // of signed integers
// Absolute difference, as an unsigned number.
Value* Distance(Builder& b, Value* x, Value* y, Signedness s);
// (x + y) / 2 without overflow, rounded down or up.
Value* Average(Builder& b, Value* x, Value* y, Signedness s, bool up);
// The position of set bit n, counted from 0 and from the lowest one; -1: there are not so many. Of i32.
Value* NthSetBit(Builder& b, Value* x, Value* n);
// The low 24 bits of each, as signed or unsigned numbers.
Value* Low24(Builder& b, Value* x, Signedness s);

// Four bytes out of the eight of x and y (i32): which, say the digits of the selector; 8 and above: its sign, if `with_sign`.
Value* PermuteBytes(Builder& b, Value* x, Value* y, Value* selector, bool with_sign);

}  // namespace tile::ir::ttir

#endif  // TILE_IR_TTIR_BITS_H_

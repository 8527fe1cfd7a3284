// Bits of integers: signs, and powers of two that divide them. Pure functions.
//
//   SignExtend(0xFF, 8) == -1
//   LowestBit(12) == 4
#ifndef TILE_IR_BITS_H_
#define TILE_IR_BITS_H_

#include <cstdint>

namespace tile::ir {

// The low `width` bits of a word, 1 to 64, as a signed integer.
constexpr int64_t SignExtend(uint64_t bits, int width) {
  const int unused = 64 - width;
  return static_cast<int64_t>(bits << unused) >> unused;
}

// The largest power of two that divides n; 0 of 0, which all divide.
constexpr uint64_t LowestBit(uint64_t n) { return n & (~n + 1); }

}  // namespace tile::ir

#endif  // TILE_IR_BITS_H_

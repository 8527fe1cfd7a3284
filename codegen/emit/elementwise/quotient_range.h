// Between which numbers quotients are right without a test of their own (codegen/emit/elementwise/quotients.h): numerators of a magnitude between 2^-kNumerator and
// 2^kNumerator, or zero, and divisors between 2^-kDivisor and 2^kDivisor. The quotient is then between 2^-124 and 2^124, and the rest, a multiple
// of 2^-47 times the numerator, is exact.
#ifndef TILE_CODEGEN_EMIT_ELEMENTWISE_QUOTIENT_RANGE_H_
#define TILE_CODEGEN_EMIT_ELEMENTWISE_QUOTIENT_RANGE_H_

namespace tile::codegen {

struct QuotientRange {
  static constexpr int kNumerator = 86, kDivisor = 38;
};

}  // namespace tile::codegen

#endif  // TILE_CODEGEN_EMIT_ELEMENTWISE_QUOTIENT_RANGE_H_

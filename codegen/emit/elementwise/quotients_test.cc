// The arithmetic of codegen/emit/elementwise/quotients.h where it is hardest: a / b next to the middle of two floats, at the ends of the range.
#include <cmath>
#include <cstdint>
#include <initializer_list>

#include "codegen/emit/elementwise/quotient_range.h"
#include "gtest/gtest.h"

namespace tile::codegen {
namespace {

// From an estimate of 1 / b, as codegen/emit/elementwise/quotients.cc has it.
float Quotient(float a, float b, float estimate) {
  const float r = std::fma(estimate, std::fma(-b, estimate, 1.0f), estimate);
  const float q = a * r;
  return std::fma(-r, std::fma(b, q, -a), q);
}

struct Counts {
  int64_t cases = 0, wrong = 0;
};

// a is a power of two times A, and b one times B, both of 24 bits: A m - B x = s for a middle x and the power of two m that fits.
void Count(uint64_t divisor, int64_t s, uint64_t m, Counts* counts) {
  uint64_t inverse = divisor;
  for (int i = 0; i < 5; ++i) inverse *= 2 - divisor * inverse;
  const uint64_t middle = ((static_cast<uint64_t>(-s) * inverse) & ((uint64_t{1} << 24) - 1)) + (uint64_t{1} << 24);
  const int64_t product = static_cast<int64_t>(divisor * middle) + s;
  if (product % static_cast<int64_t>(m) != 0) return;
  const int64_t numerator = product / static_cast<int64_t>(m);
  if (numerator < 1 << 23 || numerator >= 1 << 24) return;
  const int ends[][2] = {{0, 0},
                         {-QuotientRange::kNumerator - 23, QuotientRange::kDivisor - 24},
                         {QuotientRange::kNumerator - 24, -QuotientRange::kDivisor - 23}};
  for (const auto& [of_a, of_b] : ends) {
    const float a = std::ldexp(static_cast<float>(numerator), of_a), b = std::ldexp(static_cast<float>(divisor), of_b);
    const auto rounded = static_cast<float>(1.0 / static_cast<double>(b));
    for (const float estimate : {rounded, std::nextafter(rounded, 0.0f), std::nextafter(rounded, INFINITY)}) {
      ++counts->cases;
      if (Quotient(a, b, estimate) != a / b) ++counts->wrong;
    }
  }
}

TEST(Quotients, AreRightNextToTheMiddle) {
  Counts counts;
  for (uint64_t divisor = (uint64_t{1} << 23) + 1; divisor < uint64_t{1} << 24; divisor += 2 * 64) {
    for (int64_t s = -7; s <= 7; s += 2) {
      for (const int bits : {24, 25}) Count(divisor, s, uint64_t{1} << bits, &counts);
    }
  }
  EXPECT_GT(counts.cases, 1000000);
  EXPECT_EQ(counts.wrong, 0);
}

}  // namespace
}  // namespace tile::codegen

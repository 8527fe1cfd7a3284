#include "ir/float.h"

#include <bit>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "gtest/gtest.h"

namespace tile::ir {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr Rounding kModes[] = {Rounding::kNearestEven, Rounding::kZero, Rounding::kNegativeInf, Rounding::kPositiveInf,
                               Rounding::kNearestAway};
constexpr Elem kSmall[] = {Elem::kF16,       Elem::kBF16,      Elem::kF8E4M3FN, Elem::kF8E5M2,
                           Elem::kF8E8M0FNU, Elem::kF8E5M3FNU, Elem::kF4E2M1FN, Elem::kTF32};

// Every code of a type of at most 16 bits, and every 19-bit code of tf32.
std::vector<uint64_t> AllCodes(Elem e) {
  const int width = ElemInfoOf(e).bits;
  std::vector<uint64_t> codes;
  for (uint64_t c = 0; c < uint64_t{1} << width; ++c) codes.push_back(e == Elem::kTF32 ? c << 13 : c);
  return codes;
}

// Finite values by code, ascending, each non-negative.
std::vector<double> Magnitudes(Elem e) {
  std::vector<double> values;
  for (uint64_t c : AllCodes(e)) {
    const double v = ToDouble(e, c);
    if (std::isfinite(v) && !std::signbit(v)) values.push_back(v);
  }
  return values;
}

TEST(ToDouble, KnownValues) {
  EXPECT_EQ(ToDouble(Elem::kF16, 0x3C00), 1.0);
  EXPECT_EQ(ToDouble(Elem::kF16, 0x7BFF), 65504.0);
  EXPECT_EQ(ToDouble(Elem::kF16, 0x8001), -std::ldexp(1.0, -24));
  EXPECT_EQ(ToDouble(Elem::kF16, 0xFC00), -kInf);
  EXPECT_EQ(ToDouble(Elem::kBF16, 0x4049), 3.140625);
  EXPECT_EQ(ToDouble(Elem::kTF32, 0x3F802000), 1.0 + std::ldexp(1.0, -10));
  EXPECT_EQ(ToDouble(Elem::kF8E4M3FN, 0x7E), 448.0);
  EXPECT_EQ(ToDouble(Elem::kF8E4M3FN, 0x01), std::ldexp(1.0, -9));
  EXPECT_TRUE(std::isnan(ToDouble(Elem::kF8E4M3FN, 0xFF)));
  EXPECT_EQ(ToDouble(Elem::kF8E5M2, 0x7B), 57344.0);
  EXPECT_EQ(ToDouble(Elem::kF8E5M2, 0x7C), kInf);
  EXPECT_TRUE(std::isnan(ToDouble(Elem::kF8E5M2, 0x7D)));
  EXPECT_EQ(ToDouble(Elem::kF8E8M0FNU, 0x00), std::ldexp(1.0, -127));
  EXPECT_EQ(ToDouble(Elem::kF8E8M0FNU, 0xFE), std::ldexp(1.0, 127));
  EXPECT_TRUE(std::isnan(ToDouble(Elem::kF8E8M0FNU, 0xFF)));
  EXPECT_EQ(ToDouble(Elem::kF8E5M3FNU, 0x01), std::ldexp(1.0, -17));
  EXPECT_EQ(ToDouble(Elem::kF8E5M3FNU, 0xFE), 114688.0);
  EXPECT_TRUE(std::isnan(ToDouble(Elem::kF8E5M3FNU, 0xFF)));
  const double f4[] = {0, 0.5, 1, 1.5, 2, 3, 4, 6};
  for (int c = 0; c < 8; ++c) {
    EXPECT_EQ(ToDouble(Elem::kF4E2M1FN, c), f4[c]);
    EXPECT_EQ(ToDouble(Elem::kF4E2M1FN, c | 8), -f4[c]);
  }
}

TEST(FromDouble, EveryCodeComesBackInEveryMode) {
  for (Elem e : kSmall) {
    for (uint64_t c : AllCodes(e)) {
      const double v = ToDouble(e, c);
      EXPECT_EQ(std::isnan(v), IsNanBits(e, c));
      for (Rounding r : kModes) {
        const uint64_t back = FromDouble(e, v, r);
        ASSERT_EQ(back, std::isnan(v) ? CanonicalNan(e) : c) << ElemInfoOf(e).spelling << " " << c;
      }
    }
  }
}

// Independent of the code under test but for ToDouble, which the test above and KnownValues pin down: picks among the
// two neighbours in the sorted list of values.
uint64_t Expected(Elem e, const std::vector<double>& values, size_t below, double v, bool negative, Rounding r) {
  const double lo = values[below], hi = values[below + 1];
  bool up;
  switch (r) {
    case Rounding::kZero: up = false; break;
    case Rounding::kNegativeInf: up = negative && v != lo; break;
    case Rounding::kPositiveInf: up = !negative && v != lo; break;
    case Rounding::kNearestAway: up = v - lo >= hi - v; break;
    default: up = v - lo > hi - v || (v - lo == hi - v && below % 2 == 1); break;
  }
  if (v == hi) up = true;
  const uint64_t sign = negative ? uint64_t{1} << (e == Elem::kTF32 ? 31 : ElemInfoOf(e).bits - 1) : 0;
  return sign | (static_cast<uint64_t>(below + (up ? 1 : 0)) << (e == Elem::kTF32 ? 13 : 0));
}

TEST(FromDouble, BetweenNeighbours) {
  for (Elem e : kSmall) {
    const bool is_signed = e != Elem::kF8E8M0FNU && e != Elem::kF8E5M3FNU;
    const std::vector<double> values = Magnitudes(e);
    for (size_t i = 0; i + 1 < values.size(); ++i) {
      const double lo = values[i], hi = values[i + 1], middle = lo + (hi - lo) / 2;
      for (double v : {std::nextafter(lo, kInf), std::nextafter(middle, 0), middle, std::nextafter(middle, kInf),
                       std::nextafter(hi, 0)}) {
        for (Rounding r : kModes) {
          ASSERT_EQ(FromDouble(e, v, r), Expected(e, values, i, v, false, r)) << ElemInfoOf(e).spelling << " " << v;
          if (is_signed) {
            ASSERT_EQ(FromDouble(e, -v, r), Expected(e, values, i, v, true, r)) << ElemInfoOf(e).spelling << " " << -v;
          } else {
            ASSERT_EQ(FromDouble(e, -v, r), CanonicalNan(e));
          }
        }
      }
    }
  }
}

TEST(FromDouble, F32IsTheHardwareConversion) {
  std::mt19937_64 random(1);
  for (int i = 0; i < 200000; ++i) {
    uint64_t bits = random();
    // Half of them with exponents around those of f32, subnormals and overflow included.
    if (i % 2 == 0) bits = (bits & ~(uint64_t{0x7FF} << 52)) | ((1023 - 155 + random() % 290) << 52);
    const double v = std::bit_cast<double>(bits);
    const float f = static_cast<float>(v);
    const uint64_t got = FromDouble(Elem::kF32, v);
    if (std::isnan(v)) {
      EXPECT_EQ(got, CanonicalNan(Elem::kF32));
    } else {
      ASSERT_EQ(got, std::bit_cast<uint32_t>(f)) << v;
      if (std::isfinite(f)) {
        ASSERT_EQ(ToDouble(Elem::kF32, got), f);
      }
      ASSERT_EQ(FromDouble(Elem::kF64, v), bits);
    }
  }
}

TEST(FromDouble, OutOfRange) {
  using enum Rounding;
  struct Case {
    Elem e;
    double value;
    Rounding rounding;
    uint64_t bits;
  };
  const Case cases[] = {
      {Elem::kF16, 65519.999, kNearestEven, 0x7BFF},
      {Elem::kF16, 65520, kNearestEven, 0x7C00},
      {Elem::kF16, 65520, kNearestAway, 0x7C00},
      {Elem::kF16, 1e300, kZero, 0x7BFF},
      {Elem::kF16, 1e300, kNegativeInf, 0x7BFF},
      {Elem::kF16, 65505, kPositiveInf, 0x7C00},
      {Elem::kF16, -1e300, kPositiveInf, 0xFBFF},
      {Elem::kF16, -65505, kNegativeInf, 0xFC00},
      {Elem::kF16, -kInf, kZero, 0xFC00},
      {Elem::kF16, 1e-300, kPositiveInf, 0x0001},
      {Elem::kF16, 1e-300, kNearestEven, 0x0000},
      {Elem::kF16, -1e-300, kNearestEven, 0x8000},
      {Elem::kF16, 5e-324, kPositiveInf, 0x0001},
      {Elem::kF32, 1e300, kNearestEven, 0x7F800000},
      {Elem::kTF32, 1e300, kZero, 0x7F7FE000},
      {Elem::kF8E4M3FN, 464, kNearestEven, 0x7E},
      {Elem::kF8E4M3FN, -1e9, kNearestEven, 0xFE},
      {Elem::kF8E4M3FN, kInf, kNearestEven, 0x7F},
      {Elem::kF8E5M2, 1e9, kNearestEven, 0x7B},
      {Elem::kF8E5M2, -61440, kNearestEven, 0xFB},
      {Elem::kF8E5M2, -kInf, kNearestEven, 0xFC},
      {Elem::kF8E8M0FNU, 1e300, kPositiveInf, 0xFE},
      {Elem::kF8E8M0FNU, kInf, kZero, 0xFF},
      {Elem::kF8E8M0FNU, 0.0, kZero, 0x00},
      {Elem::kF8E8M0FNU, -0.0, kPositiveInf, 0x00},
      {Elem::kF8E8M0FNU, 1e-300, kPositiveInf, 0x00},
      {Elem::kF8E8M0FNU, -1, kZero, 0xFF},
      {Elem::kF8E5M3FNU, 1e9, kNearestEven, 0xFE},
      {Elem::kF8E5M3FNU, kInf, kNearestEven, 0xFF},
      {Elem::kF8E5M3FNU, -0.0, kNearestEven, 0x00},
      {Elem::kF8E5M3FNU, -1, kNearestEven, 0xFF},
      {Elem::kF4E2M1FN, 100, kNearestEven, 0x7},
      {Elem::kF4E2M1FN, -kInf, kNearestEven, 0xF},
      {Elem::kF4E2M1FN, -0.2, kNearestEven, 0x8},
  };
  for (const Case& c : cases) {
    EXPECT_EQ(FromDouble(c.e, c.value, c.rounding), c.bits)
        << ElemInfoOf(c.e).spelling << " " << c.value << " " << Keyword(c.rounding);
  }
}

TEST(CanonicalNan, Codes) {
  EXPECT_EQ(CanonicalNan(Elem::kF16), 0x7E00u);
  EXPECT_EQ(CanonicalNan(Elem::kBF16), 0x7FC0u);
  EXPECT_EQ(CanonicalNan(Elem::kF32), 0x7FC00000u);
  EXPECT_EQ(CanonicalNan(Elem::kTF32), 0x7FC00000u);
  EXPECT_EQ(CanonicalNan(Elem::kF64), 0x7FF8000000000000u);
  EXPECT_EQ(CanonicalNan(Elem::kF8E4M3FN), 0x7Fu);
  EXPECT_EQ(CanonicalNan(Elem::kF8E5M2), 0x7Eu);
  EXPECT_EQ(CanonicalNan(Elem::kF8E8M0FNU), 0xFFu);
  EXPECT_EQ(CanonicalNan(Elem::kF8E5M3FNU), 0xFFu);
  EXPECT_EQ(CanonicalNan(Elem::kF4E2M1FN), 0x7u);
  EXPECT_TRUE(IsNanBits(Elem::kF64, 0xFFF0000000000001));
  EXPECT_FALSE(IsNanBits(Elem::kF64, 0xFFF0000000000000));
}

TEST(PaddingBits, Values) {
  EXPECT_EQ(PaddingBits(Elem::kI32, Padding::kZero), 0u);
  EXPECT_EQ(PaddingBits(Elem::kF32, Padding::kZero), 0u);
  EXPECT_EQ(PaddingBits(Elem::kF32, Padding::kNegZero), 0x80000000u);
  EXPECT_EQ(PaddingBits(Elem::kF16, Padding::kNan), 0x7E00u);
  EXPECT_EQ(PaddingBits(Elem::kF64, Padding::kPosInf), 0x7FF0000000000000u);
  EXPECT_EQ(PaddingBits(Elem::kBF16, Padding::kNegInf), 0xFF80u);
  EXPECT_EQ(PaddingBits(Elem::kF8E4M3FN, Padding::kPosInf), 0x7Fu);
  EXPECT_EQ(PaddingBits(Elem::kF4E2M1FN, Padding::kNegInf), 0xFu);
}

}  // namespace
}  // namespace tile::ir

// Cast, Compare and Summary.

#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "ir/float.h"
#include "tools/data/cast.h"
#include "tools/data/compare_arrays.h"
#include "tools/data/data_test_util.h"
#include "tools/data/summary.h"

namespace tile::tools {
namespace {

using ir::Elem;
using ir::Element;

constexpr float kNan = std::numeric_limits<float>::quiet_NaN(), kInf = std::numeric_limits<float>::infinity();

std::vector<double> CastTo(const Array& a, Elem to) {
  const absl::StatusOr<Array> b = Cast(a, Element::Number(to));
  EXPECT_OK(b.status());
  return Numbers(*b);
}

Array Unsigned(Array a) {
  a.is_unsigned = true;
  return a;
}

TEST(CastTest, Floats) {
  EXPECT_EQ(CastTo(Floats({3}, {1.5, -2, 0.1f}), Elem::kF64), std::vector<double>({1.5, -2, 0.1f}));
  EXPECT_EQ(CastTo(Floats({2}, {1e6, 1.0009765f}), Elem::kF16), std::vector<double>({INFINITY, 1.0009765625}));
  EXPECT_EQ(CastTo(Floats({2}, {1e6, -1e6}), Elem::kF8E4M3FN), std::vector<double>({448, -448}));
  EXPECT_EQ(CastTo(Floats({3}, {0.5, 1.5, 6}), Elem::kF4E2M1FN), std::vector<double>({0.5, 1.5, 6}));
  EXPECT_TRUE(std::isnan(CastTo(Floats({1}, {kNan}), Elem::kBF16)[0]));
}

TEST(CastTest, IntegersToFloats) {
  EXPECT_EQ(CastTo(Bits(Elem::kI8, {1}, {255}), Elem::kF32), std::vector<double>({-1}));
  EXPECT_EQ(CastTo(Unsigned(Bits(Elem::kI8, {1}, {255})), Elem::kF32), std::vector<double>({255}));
  EXPECT_EQ(CastTo(Unsigned(Bits(Elem::kI64, {1}, {UINT64_MAX})), Elem::kF32),
            std::vector<double>({18446744073709551616.0}));
  EXPECT_EQ(CastTo(Bits(Elem::kI64, {1}, {uint64_t{1} << 63}), Elem::kF32),
            std::vector<double>({-9223372036854775808.0}));
  // 2^62 + 2^38 + 1 lies above the middle of two f32 values; rounded to f64 first it would be the middle, and go down.
  EXPECT_EQ(CastTo(Bits(Elem::kI64, {1}, {(uint64_t{1} << 62) + (uint64_t{1} << 38) + 1}), Elem::kF32),
            std::vector<double>({std::ldexp(1, 62) + std::ldexp(1, 39)}));
  EXPECT_EQ(CastTo(Bits(Elem::kI1, {2}, {1, 0}), Elem::kF16), std::vector<double>({1, 0}));
}

TEST(CastTest, FloatsToIntegers) {
  EXPECT_EQ(CastTo(Floats({3}, {3.7f, -3.7f, 100}), Elem::kI8), std::vector<double>({3, -3, 100}));
  EXPECT_FAILS(Cast(Floats({2}, {1, 256}), Element::Number(Elem::kI8)).status(), "element 1: 256 does not fit i8");
  EXPECT_FAILS(Cast(Floats({1}, {-129}), Element::Number(Elem::kI8)).status(), "element 0: -129 does not fit i8");
  EXPECT_FAILS(Cast(Floats({1}, {kNan}), Element::Number(Elem::kI32)).status(), "nan does not fit i32");
  EXPECT_FAILS(Cast(Floats({1}, {1.8446744e19f}), Element::Number(Elem::kI64)).status(), "does not fit i64");
  EXPECT_EQ(
      LoadBits(Elem::kI64, Cast(Floats({1}, {-9223372036854775808.0f}), Element::Number(Elem::kI64))->bytes.data(), 0),
      uint64_t{1} << 63);
  EXPECT_EQ(CastTo(Floats({4}, {0, 0.25, -1, kNan}), Elem::kI1), std::vector<double>({0, 1, 1, 0}));
}

TEST(CastTest, IntegersToIntegers) {
  EXPECT_EQ(CastTo(Bits(Elem::kI8, {2}, {255, 127}), Elem::kI32), std::vector<double>({-1, 127}));
  EXPECT_EQ(CastTo(Unsigned(Bits(Elem::kI8, {1}, {255})), Elem::kI32), std::vector<double>({255}));
  EXPECT_EQ(CastTo(Bits(Elem::kI32, {2}, {7, 0xFFFFFFF8}), Elem::kI4), std::vector<double>({7, -8}));
  EXPECT_EQ(CastTo(Bits(Elem::kI32, {2}, {0, 256}), Elem::kI1), std::vector<double>({0, 1}));
  EXPECT_FAILS(Cast(Bits(Elem::kI32, {1}, {300}), Element::Number(Elem::kI8)).status(),
               "element 0: 300 does not fit i8");
  EXPECT_FAILS(Cast(Bits(Elem::kI32, {1}, {0xFFFFFF00}), Element::Number(Elem::kI8)).status(), "-256 does not fit i8");
  EXPECT_FAILS(Cast(Floats({1}, {0}), Element::Pointer(Elem::kF32)).status(), "pointers are not elements");
}

Comparison Differences(const Array& a, const Array& e, const Tolerance& t = {}) {
  const absl::StatusOr<Comparison> c = Compare(a, e, t);
  EXPECT_OK(c.status());
  return *c;
}

TEST(CompareTest, ExactByDefault) {
  const Array a = Floats({2, 2}, {1, kNan, -0.0f, 4}), e = Floats({2, 2}, {1, kNan, 0, 4});
  EXPECT_TRUE(Differences(a, e).ok());
  EXPECT_EQ(Describe(Differences(a, e), a, e), "all 4 elements agree");
  EXPECT_EQ(Differences(a, e, {.nan_equal = false}).nan_differing, 1);
  const Array f = Floats({2, 2}, {1, 2, 0, 4.5});
  const Comparison c = Differences(a, f);
  EXPECT_EQ(c.differing, 2);
  EXPECT_EQ(c.first, 1);
  EXPECT_EQ(c.nan_differing, 1);
  EXPECT_EQ(c.max_abs, 0.5);
  EXPECT_EQ(Describe(c, a, f),
            "2 of 4 elements differ, first at [0,1]: nan, expected 2; 1 because of NaN\n"
            "largest difference 0.5 absolute, 0.111111 relative, 1048576 ULP");
}

TEST(CompareTest, Tolerances) {
  const Array a = Floats({2}, {100.5, 1e-9f}), e = Floats({2}, {100, 0});
  EXPECT_EQ(Differences(a, e).differing, 2);
  EXPECT_EQ(Differences(a, e, {.rtol = 0.01}).differing, 1);
  EXPECT_EQ(Differences(a, e, {.rtol = 0.01, .atol = 1e-8}).differing, 0);
  EXPECT_EQ(Differences(a, e, {.atol = 0.4}).differing, 1);
  // Infinity is no number that a relative tolerance could stretch.
  EXPECT_EQ(Differences(Floats({1}, {1}), Floats({1}, {kInf}), {.rtol = 0.5}).differing, 1);
  EXPECT_EQ(Differences(Floats({1}, {kInf}), Floats({1}, {kInf})).differing, 0);
  EXPECT_EQ(Differences(Floats({1}, {kInf}), Floats({1}, {-kInf}), {.rtol = 9, .atol = 1e30}).differing, 1);
  EXPECT_EQ(Differences(Floats({1}, {kNan}), Floats({1}, {1}), {.rtol = 9, .atol = 9, .ulp = UINT64_MAX}).differing, 1);
}

TEST(CompareTest, Ulp) {
  EXPECT_EQ(UlpDistance(Elem::kF32, 0x3F800000, 0x3F800001), 1u);
  EXPECT_EQ(UlpDistance(Elem::kF32, 0x80000000, 0), 0u);
  EXPECT_EQ(UlpDistance(Elem::kF32, 0x80000001, 0x00000002), 3u);
  EXPECT_EQ(UlpDistance(Elem::kF32, 0x7F7FFFFF, 0x7F800000), 1u);
  EXPECT_EQ(UlpDistance(Elem::kTF32, 0x3F802000, 0x3F800000), 1u);
  EXPECT_EQ(UlpDistance(Elem::kTF32, 0x3F801FFF, 0x3F800000), 0u);
  EXPECT_EQ(UlpDistance(Elem::kF64, 0x7FF0000000000000, 0xFFF0000000000000), 0xFFE0000000000000u);
  EXPECT_EQ(UlpDistance(Elem::kF8E8M0FNU, 0x80, 0x7F), 1u);
  EXPECT_EQ(UlpDistance(Elem::kF4E2M1FN, 0x7, 0xF), 14u);
  const Array a = Bits(Elem::kBF16, {3}, {0x3F80, 0x3F82, 0x7F80}),
              e = Bits(Elem::kBF16, {3}, {0x3F80, 0x3F80, 0x7F7F});
  EXPECT_EQ(Differences(a, e).max_ulp, 2u);
  EXPECT_EQ(Differences(a, e, {.ulp = 1}).differing, 1);
  EXPECT_EQ(Differences(a, e, {.ulp = 2}).differing, 0);
}

TEST(CompareTest, Integers) {
  const Array a = Bits(Elem::kI8, {3}, {5, 0xFF, 9}), e = Bits(Elem::kI8, {3}, {5, 1, 8});
  const Comparison c = Differences(a, e, {.rtol = 9, .ulp = 9});
  EXPECT_EQ(c.differing, 2);
  EXPECT_EQ(c.max_abs, 2);
  EXPECT_EQ(c.max_rel, 2);
  EXPECT_EQ(Differences(a, e, {.atol = 1}).differing, 1);
  EXPECT_EQ(Differences(a, e, {.atol = 2}).differing, 0);
  EXPECT_EQ(Differences(Unsigned(Bits(Elem::kI8, {1}, {255})), Bits(Elem::kI8, {1}, {255})).differing, 0);
  EXPECT_EQ(Differences(Unsigned(Bits(Elem::kI8, {1}, {255})), Bits(Elem::kI8, {1}, {1})).max_abs, 254);
  EXPECT_EQ(Differences(Bits(Elem::kI64, {1}, {uint64_t{1} << 63}), Bits(Elem::kI64, {1}, {INT64_MAX})).max_ulp,
            UINT64_MAX);
  Array t = Bits(Elem::kI1, {1}, {1});
  t.bytes.data()[0] = 4;
  EXPECT_EQ(Differences(t, Bits(Elem::kI1, {1}, {1})).differing, 0);
  EXPECT_EQ(Differences(Bits(Elem::kI4, {3}, {1, 2, 15}), Bits(Elem::kI4, {3}, {1, 2, 1})).first, 2);
}

// A reference of a wider type is no worse for it.
TEST(CompareTest, OtherFloatTypes) {
  const Array a = Bits(Elem::kBF16, {1}, {0x3DCD}), e = Floats({1}, {0.1f});
  EXPECT_EQ(Differences(a, e).differing, 1);
  EXPECT_EQ(Differences(a, e).max_ulp, 0u);
  EXPECT_EQ(Differences(a, e, {.ulp = 1}).differing, 0);
  EXPECT_EQ(Differences(a, e, {.rtol = 0.004}).differing, 0);
  EXPECT_FAILS(Compare(a, Bits(Elem::kI16, {1}, {0})).status(), "is bf16[1], expected i16[1]");
  EXPECT_FAILS(Compare(a, Floats({1, 1}, {0})).status(), "is bf16[1], expected f32[1,1]");
}

// Differences far from the start, in arrays of several pieces; also in the half byte at the end.
TEST(CompareTest, LongArrays) {
  for (Elem elem : {Elem::kI1, Elem::kI4, Elem::kF4E2M1FN, Elem::kF16, Elem::kF32, Elem::kI64}) {
    Array a = *Array::Make(Element::Number(elem), {3, 4097}), e = *Array::Make(Element::Number(elem), {3, 4097});
    for (int64_t i = 0; i < a.count(); ++i) {
      StoreBits(elem, a.bytes.data(), i, 0);
      StoreBits(elem, e.bytes.data(), i, 0);
    }
    EXPECT_TRUE(Differences(a, e).ok());
    for (int64_t i : {a.count() - 1, int64_t{8191}, int64_t{4096}}) {
      StoreBits(elem, a.bytes.data(), i, 1);
      EXPECT_EQ(Differences(a, e).first, i);
    }
    EXPECT_EQ(Differences(a, e).differing, 3);
    EXPECT_NE(Describe(Differences(a, e), a, e).find("first at [0,4096]"), std::string::npos);
  }
}

TEST(SummaryTest, TwoLines) {
  EXPECT_EQ(Summary(Floats({5}, {1, -2.5, kNan, kInf, 4})),
            "f32[5]  1 -2.5 nan inf 4\nmin -2.5, max 4, mean 0.833333, 1 nan, 1 inf");
  EXPECT_EQ(Summary(Bits(Elem::kI8, {2, 2}, {255, 1, 2, 128}), 2), "i8[2,2]  -1 1 ...\nmin -128, max 2, mean -31.5");
  EXPECT_EQ(Summary(Unsigned(Bits(Elem::kI8, {2, 2}, {255, 1, 2, 128}))),
            "u8[2,2]  255 1 2 128\nmin 1, max 255, mean 96.5");
  EXPECT_EQ(Summary(Bits(Elem::kI1, {2}, {1, 0})), "i1[2]  true false\nmin false, max true, mean 0.5");
  EXPECT_EQ(Summary(Floats({2}, {kNan, kNan})), "f32[2]  nan nan\n2 nan");
  EXPECT_EQ(Summary(Floats({}, {7})), "f32[]  7");
  EXPECT_EQ(Summary(Floats({0, 3}, {})), "f32[0,3]  no elements");
  EXPECT_EQ(Summary(Unsigned(Bits(Elem::kI64, {2}, {UINT64_MAX, 1}))),
            "u64[2]  18446744073709551615 1\nmin 1, max 18446744073709551615, mean 9.22337e+18");
}

}  // namespace
}  // namespace tile::tools

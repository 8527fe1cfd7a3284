#include "ir/text/number.h"

#include <cmath>

#include "gtest/gtest.h"
#include "ir/float.h"

namespace tile::ir::text {
namespace {

uint64_t Read(Elem e, absl::string_view text) {
  uint64_t bits = 0;
  const bool negative = !text.empty() && text[0] == '-';
  const auto wrong = ParseNumber(e, negative, negative ? text.substr(1) : text, &bits);
  EXPECT_FALSE(wrong.has_value()) << *wrong;
  return bits;
}

std::string Wrong(Elem e, absl::string_view text) {
  uint64_t bits = 0;
  const bool negative = !text.empty() && text[0] == '-';
  return ParseNumber(e, negative, negative ? text.substr(1) : text, &bits).value_or("");
}

TEST(Number, EveryNarrowValueComesBack) {
  for (int k = 0; k < kNumElems; ++k) {
    const Elem e = static_cast<Elem>(k);
    const int width = e == Elem::kTF32 ? 19 : ElemInfoOf(e).bits;
    if (width > 19) continue;
    for (uint64_t i = 0; i < uint64_t{1} << width; ++i) {
      const uint64_t bits = e == Elem::kTF32 ? i << 13 : i;
      ASSERT_EQ(Read(e, FormatNumber(e, bits)), bits) << ElemInfoOf(e).spelling << " " << FormatNumber(e, bits);
    }
  }
}

TEST(Number, WideValuesComeBack) {
  uint64_t state = 1;
  for (int i = 0; i < 20000; ++i) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    const uint64_t bits = state ^ (state >> 29);
    for (Elem e : {Elem::kF32, Elem::kF64, Elem::kI32, Elem::kI64, Elem::kPtr}) {
      const uint64_t b = bits & ElementMask(e);
      ASSERT_EQ(Read(e, FormatNumber(e, b)), b) << ElemInfoOf(e).spelling << " " << FormatNumber(e, b);
    }
  }
}

TEST(Number, Spelling) {
  EXPECT_EQ(FormatNumber(Elem::kF32, 0), "0.000000e+00");
  EXPECT_EQ(FormatNumber(Elem::kF32, 0x80000000), "-0.000000e+00");
  EXPECT_EQ(FormatNumber(Elem::kF32, 0x3FB8AA3B), "1.442695e+00");
  EXPECT_EQ(FormatNumber(Elem::kF32, 0x3F9E0652), "1.2345679");
  EXPECT_EQ(FormatNumber(Elem::kF32, 0x4B800001), "16777218.0");
  EXPECT_EQ(FormatNumber(Elem::kF32, 0x7F800000), "0x7F800000");
  EXPECT_EQ(FormatNumber(Elem::kF16, 0xFC00), "0xFC00");
  EXPECT_EQ(FormatNumber(Elem::kF64, 0x3FB999999999999A), "1.000000e-01");
  EXPECT_EQ(FormatNumber(Elem::kTF32, 0x3FC00000), "1.500000e+00");
  EXPECT_EQ(FormatNumber(Elem::kF8E8M0FNU, 0xFF), "0xFF");
  EXPECT_EQ(FormatNumber(Elem::kI1, 1), "true");
  EXPECT_EQ(FormatNumber(Elem::kI4, 0xF), "-1");
  EXPECT_EQ(FormatNumber(Elem::kI64, uint64_t{1} << 63), "-9223372036854775808");
}

TEST(Number, Reading) {
  EXPECT_EQ(Read(Elem::kI8, "255"), 0xFFu);
  EXPECT_EQ(Read(Elem::kI8, "-128"), 0x80u);
  EXPECT_EQ(Read(Elem::kI8, "0x80"), 0x80u);
  EXPECT_EQ(Read(Elem::kI1, "-1"), 1u);
  EXPECT_EQ(Read(Elem::kF32, "1"), 0x3F800000u);
  EXPECT_EQ(Read(Elem::kF32, "inf"), 0x7F800000u);
  EXPECT_EQ(Read(Elem::kF32, "-inf"), 0xFF800000u);
  EXPECT_EQ(Read(Elem::kF16, "nan"), CanonicalNan(Elem::kF16));
  EXPECT_EQ(Read(Elem::kF16, "65519"), 0x7BFFu);
  EXPECT_EQ(Read(Elem::kF8E4M3FN, "448"), 0x7Eu);
}

TEST(Number, Rejected) {
  EXPECT_EQ(Wrong(Elem::kI8, "256"), "256 does not fit i8");
  EXPECT_EQ(Wrong(Elem::kI8, "-129"), "-129 does not fit i8");
  EXPECT_EQ(Wrong(Elem::kI32, "1.5"), "1.5 is not a number of type i32");
  EXPECT_EQ(Wrong(Elem::kI32, "true"), "true is not a number of type i32");
  EXPECT_EQ(Wrong(Elem::kF32, "1e39"), "1e39 is not a value of f32");
  EXPECT_EQ(Wrong(Elem::kF64, "1e999"), "1e999 is beyond f64");
  EXPECT_EQ(Wrong(Elem::kF16, "65520"), "65520 is not a value of f16");
  EXPECT_EQ(Wrong(Elem::kF8E4M3FN, "449"), "449 is not a value of f8E4M3FN");
  EXPECT_EQ(Wrong(Elem::kF8E4M3FN, "inf"), "inf is not a value of f8E4M3FN");
  EXPECT_EQ(Wrong(Elem::kF4E2M1FN, "nan"), "nan is not a value of f4E2M1FN");
  EXPECT_EQ(Wrong(Elem::kF8E8M0FNU, "3"), "3 is not a value of f8E8M0FNU");
  EXPECT_EQ(Wrong(Elem::kF8E8M0FNU, "0"), "0 is not a value of f8E8M0FNU");
  EXPECT_EQ(Wrong(Elem::kF8E5M3FNU, "-1"), "-1 is not a value of f8E5M3FNU");
  EXPECT_EQ(Wrong(Elem::kF16, "0x10000"), "0x10000 has bits that f16 lacks");
  EXPECT_EQ(Wrong(Elem::kTF32, "0x3F800001"), "0x3F800001 has bits that tf32 lacks");
  EXPECT_EQ(Wrong(Elem::kF32, "-0x0"), "-0x0: hexadecimal digits are the bits of the element and take no sign");
  EXPECT_EQ(Wrong(Elem::kF32, "abc"), "abc is not a number of type f32");
}

}  // namespace
}  // namespace tile::ir::text

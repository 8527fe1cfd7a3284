#include "tools/data/element_text.h"

#include <cmath>
#include <cstdint>
#include <string>

#include "gtest/gtest.h"
#include "ir/float.h"
#include "tools/data/data_test_util.h"

namespace tile::tools {
namespace {

using ir::Elem;

TEST(ScalarTest, Integers) {
  EXPECT_EQ(*ParseElement(Elem::kI8, "255"), 255u);
  EXPECT_EQ(*ParseElement(Elem::kI8, "-128"), 128u);
  EXPECT_EQ(*ParseElement(Elem::kI32, "0xffffffff"), 0xFFFFFFFFu);
  EXPECT_EQ(*ParseElement(Elem::kI32, "-0x10"), 0xFFFFFFF0u);
  EXPECT_EQ(*ParseElement(Elem::kI16, "0b101"), 5u);
  EXPECT_EQ(*ParseElement(Elem::kI64, "18446744073709551615"), UINT64_MAX);
  EXPECT_EQ(*ParseElement(Elem::kI64, "-9223372036854775808"), uint64_t{1} << 63);
  EXPECT_EQ(*ParseElement(Elem::kI4, "-8"), 8u);
  EXPECT_EQ(*ParseElement(Elem::kI1, "true"), 1u);
  EXPECT_EQ(*ParseElement(Elem::kI1, "0"), 0u);
  EXPECT_FAILS(ParseElement(Elem::kI8, "300").status(), "300 does not fit i8 (-128 to 255)");
  EXPECT_FAILS(ParseElement(Elem::kI8, "-129").status(), "-129 does not fit i8");
  EXPECT_FAILS(ParseElement(Elem::kI64, "18446744073709551616").status(), "does not fit i64");
  EXPECT_FAILS(ParseElement(Elem::kI1, "2").status(), "2 does not fit i1 (0 to 1)");
  for (const char* text : {"", "-", "0x", "3.5", "1e3", "true", "12a", " 1", "0x1g", "0b2"}) {
    EXPECT_FAILS(ParseElement(Elem::kI32, text).status(), "is not an integer, as i32 needs");
  }
  EXPECT_FAILS(ParseElement(Elem::kI1, "maybe").status(), "is not true or false");
}

TEST(ScalarTest, Floats) {
  EXPECT_EQ(*ParseElement(Elem::kF16, "1.5"), 0x3E00u);
  EXPECT_EQ(*ParseElement(Elem::kF32, "0x10"), 0x41800000u);
  EXPECT_EQ(*ParseElement(Elem::kF32, "0x1.8p3"), 0x41400000u);
  EXPECT_EQ(*ParseElement(Elem::kF32, "-0"), 0x80000000u);
  EXPECT_EQ(*ParseElement(Elem::kF32, "-inf"), 0xFF800000u);
  EXPECT_EQ(*ParseElement(Elem::kF32, "nan"), 0x7FC00000u);
  EXPECT_EQ(*ParseElement(Elem::kF32, "3.4028235e38"), 0x7F7FFFFFu);
  EXPECT_EQ(*ParseElement(Elem::kF16, "65519"), 0x7BFFu);
  EXPECT_EQ(*ParseElement(Elem::kF64, "1e-400"), 0u);
  EXPECT_EQ(*ParseElement(Elem::kF32, "16777217"), 0x4B800000u);  // ties to even
  // Rounded to f64 first this would be a tie: 1 + 2^-24 + 2^-60.
  EXPECT_EQ(*ParseElement(Elem::kF32, "1.00000005960464477626"), 0x3F800001u);
  EXPECT_FAILS(ParseElement(Elem::kF16, "65520").status(), "65520 does not fit f16 (-65504 to 65504)");
  EXPECT_FAILS(ParseElement(Elem::kF32, "1e39").status(), "does not fit f32");
  EXPECT_FAILS(ParseElement(Elem::kF64, "1e400").status(), "does not fit f64");
  EXPECT_FAILS(ParseElement(Elem::kF8E4M3FN, "465").status(), "465 does not fit f8E4M3FN (-448 to 448)");
  EXPECT_EQ(*ParseElement(Elem::kF8E4M3FN, "463"), 0x7Eu);
  EXPECT_FAILS(ParseElement(Elem::kF8E4M3FN, "inf").status(), "inf does not fit f8E4M3FN");
  EXPECT_FAILS(ParseElement(Elem::kF4E2M1FN, "nan").status(), "nan does not fit f4E2M1FN (-6 to 6)");
  EXPECT_FAILS(ParseElement(Elem::kF8E8M0FNU, "0").status(), "0 does not fit f8E8M0FNU");
  EXPECT_FAILS(ParseElement(Elem::kF8E5M3FNU, "-1").status(), "-1 does not fit f8E5M3FNU (0 to 114688)");
  for (const char* text : {"", "-", "+-1", "true", "1.5x", "0x1.8p", "nan(7)", "infinit", "1e", "--1"}) {
    EXPECT_FAILS(ParseElement(Elem::kF32, text).status(), "is not a number, as f32 needs");
  }
}

TEST(ScalarTest, IsScalarText) {
  for (const char* text :
       {"1", "-1", "+1", "0x10", "0b1", "1.5", ".5", "5.", "1e3", "inf", "-inf", "nan", "True", "infinity"}) {
    EXPECT_TRUE(IsScalarText(text)) << text;
  }
  for (const char* text : {"", "x", "3d.npy", "1.2.3", "-", "0x", "README", "info"})
    EXPECT_FALSE(IsScalarText(text)) << text;
}

TEST(ScalarTest, Format) {
  EXPECT_EQ(FormatElement(Elem::kI8, 255), "-1");
  EXPECT_EQ(FormatElement(Elem::kI8, 255, true), "255");
  EXPECT_EQ(FormatElement(Elem::kI4, 15), "-1");
  EXPECT_EQ(FormatElement(Elem::kI64, UINT64_MAX), "-1");
  EXPECT_EQ(FormatElement(Elem::kI1, 1), "true");
  EXPECT_EQ(FormatElement(Elem::kF32, 0x3DCCCCCD), "0.1");
  EXPECT_EQ(FormatElement(Elem::kBF16, 0x3DCD), "0.1");
  EXPECT_EQ(FormatElement(Elem::kF8E4M3FN, 0x7E), "448");
  EXPECT_EQ(FormatElement(Elem::kF32, 0x49742400), "1000000");
  EXPECT_EQ(FormatElement(Elem::kF32, 0x80000000), "-0");
  EXPECT_EQ(FormatElement(Elem::kF32, 0xFF800000), "-inf");
  EXPECT_EQ(FormatElement(Elem::kF16, 0xFFFF), "nan");
  EXPECT_EQ(FormatElement(Elem::kF4E2M1FN, 1), "0.5");
}

// Every code of the narrow types survives text; of the wide ones a spread of them.
TEST(ScalarTest, TextRoundTrip) {
  for (int e = 0; e < ir::kNumElems; ++e) {
    const Elem elem = static_cast<Elem>(e);
    if (elem == Elem::kPtr) continue;
    const int bits = ir::ElemInfoOf(elem).bits;
    const int unused = elem == Elem::kTF32 ? 13 : 0;
    const uint64_t codes = bits <= 16 ? uint64_t{1} << bits : 65536;
    for (uint64_t i = 0; i < codes; ++i) {
      const uint64_t code = (bits <= 16 ? i : i * 0x9E3779B97F4A7C15 >> (64 - bits)) << unused;
      if (ir::IsFloat(elem) && ir::IsNanBits(elem, code)) continue;
      const std::string text = FormatElement(elem, code, i % 2 == 1);
      const absl::StatusOr<uint64_t> read = ParseElement(elem, text);
      ASSERT_TRUE(read.ok()) << text << " " << read.status().message();
      ASSERT_EQ(*read, code) << text << " of type " << ir::ElemInfoOf(elem).spelling;
    }
  }
}

}  // namespace
}  // namespace tile::tools

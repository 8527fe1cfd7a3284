#include "tools/data/generate.h"

#include <cmath>
#include <cstdint>
#include <set>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "ir/float.h"
#include "tools/data/data_test_util.h"
#include "tools/data/value.h"

namespace tile::tools {
namespace {

using ir::Elem;

Array Make(absl::string_view text, uint64_t seed = 0, uint64_t stream = 0) {
  absl::StatusOr<Value> v = ParseValue(text, {.seed = seed, .stream = stream});
  EXPECT_OK(v.status());
  return *std::move(*v).TakeArray();
}

// These values are a promise: a seed means the same array on every machine and in every version.
TEST(GenerateTest, Golden) {
  const auto bits = [](absl::string_view text) {
    const Array a = Make(text, 1);
    std::vector<uint64_t> out;
    for (int64_t i = 0; i < a.count(); ++i) out.push_back(LoadBits(a.element.kind, a.bytes.data(), i));
    return out;
  };
  EXPECT_EQ(bits("rand:i64[3]"), (std::vector<uint64_t>{0x225D75A96EB22172, 0x939944BC808BB3DA, 0xD5AD890C6914BC36}));
  EXPECT_EQ(bits("rand:f32[3]"), (std::vector<uint64_t>{0x3E0975D4, 0x3F139944, 0x3F55AD89}));
  EXPECT_EQ(bits("rand:i32[6]=-2..4"),
            (std::vector<uint64_t>{0xFFFFFFFE, 0x00000001, 0x00000003, 0xFFFFFFFE, 0xFFFFFFFF, 0x00000002}));
  EXPECT_EQ(bits("normal:f64[4]"),
            (std::vector<uint64_t>{0x3FBAAFF75DA09754, 0xBFE5C360D5676BE6, 0x3FF65484A5A4B82F, 0x3FC594CDEBE91BDB}));
}

TEST(GenerateTest, SeedsAndStreamsDiffer) {
  const auto text = [](uint64_t seed, uint64_t stream) { return BytesText(Make("rand:f32[64]", seed, stream).bytes); };
  EXPECT_EQ(text(1, 2), text(1, 2));
  std::set<std::string> all;
  for (uint64_t seed = 0; seed < 8; ++seed) {
    for (uint64_t stream = 0; stream < 8; ++stream) all.insert(text(seed, stream));
  }
  EXPECT_EQ(all.size(), 64u);
  // Element i does not depend on the shape.
  EXPECT_EQ(BytesText(Make("rand:f32[8,16]", 3).bytes).substr(0, 256), BytesText(Make("rand:f32[64]", 3).bytes));
}

TEST(GenerateTest, UniformFloats) {
  for (const char* type : {"f16", "bf16", "f32", "tf32", "f64", "f8E4M3FN", "f8E5M2", "f4E2M1FN", "f8E5M3FNU"}) {
    const std::vector<double> v = Numbers(Make(absl::StrCat("rand:", type, "[100000]"), 7));
    double sum = 0, top = 0;
    for (double x : v) {
      ASSERT_GE(x, 0);
      ASSERT_LT(x, 1);
      sum += x;
      top = std::max(top, x);
    }
    // Narrow types have few values below 1; their grid's mean is below a half.
    ir::Element element;
    bool is_unsigned;
    ASSERT_TRUE(ParseElementName(type, &element, &is_unsigned));
    const double grid =
        element.kind == Elem::kF4E2M1FN ? 0.5 : std::ldexp(1, -1 - ir::FloatFormatOf(element.kind).mantissa_bits);
    EXPECT_NEAR(sum / v.size(), (1 - grid) / 2, 0.005) << type;
    EXPECT_NEAR(top, 1 - grid, 0.001) << type;
  }
  for (double x : Numbers(Make("rand:f8E4M3FN[10000]=-1..1"))) ASSERT_TRUE(x >= -1 && x < 1);
  for (double x : Numbers(Make("rand:f32[10000]=5..5.5"))) ASSERT_TRUE(x >= 5 && x < 5.5);
}

TEST(GenerateTest, UniformIntegers) {
  std::vector<int> seen(256);
  for (double x : Numbers(Make("rand:u8[65536]"))) ++seen[static_cast<int>(x)];
  double chi = 0;
  for (int n : seen) chi += (n - 256.0) * (n - 256.0) / 256;
  EXPECT_GT(chi, 180);  // 255 degrees of freedom: mean 255, deviation 22.6
  EXPECT_LT(chi, 335);
  std::set<double> values;
  for (double x : Numbers(Make("rand:i32[1000]=-3..4"))) values.insert(x);
  EXPECT_EQ(values, (std::set<double>{-3, -2, -1, 0, 1, 2, 3}));
  values.clear();
  for (double x : Numbers(Make("rand:i1[1000]"))) values.insert(x);
  EXPECT_EQ(values, (std::set<double>{0, 1}));
  for (double x : Numbers(Make("rand:u8[1000]=200..256"))) ASSERT_TRUE(x >= 200 && x < 256);
}

// Moments and tails of a million normal values.
TEST(GenerateTest, Normal) {
  const std::vector<double> v = Numbers(Make("normal:f64[1000000]", 11));
  double m1 = 0, m2 = 0, m3 = 0, m4 = 0;
  int above1 = 0, above2 = 0, above3 = 0, tail = 0;
  for (double x : v) {
    m1 += x;
    m2 += x * x;
    m3 += x * x * x;
    m4 += x * x * x * x;
    above1 += x > 1;
    above2 += std::fabs(x) > 2;
    above3 += std::fabs(x) > 3;
    tail += std::fabs(x) > 3.442619855899;  // the part that layer 0 makes
  }
  const double n = v.size();
  EXPECT_NEAR(m1 / n, 0, 0.004);
  EXPECT_NEAR(m2 / n, 1, 0.006);
  EXPECT_NEAR(m3 / n, 0, 0.016);
  EXPECT_NEAR(m4 / n, 3, 0.04);
  EXPECT_NEAR(above1 / n, 0.158655, 0.0015);
  EXPECT_NEAR(above2 / n, 0.045500, 0.0009);
  EXPECT_NEAR(above3 / n, 0.002700, 0.0002);
  EXPECT_NEAR(tail / n, 0.000576, 0.0001);
}

TEST(GenerateTest, Arange) {
  EXPECT_EQ(Numbers(Make("arange:f16[5]")), std::vector<double>({0, 1, 2, 3, 4}));
  EXPECT_EQ(Numbers(Make("arange:u8[256]")).back(), 255);
  EXPECT_EQ(Numbers(Make("arange:f4[3]")), std::vector<double>({0, 1, 2}));
}

}  // namespace
}  // namespace tile::tools

#include "tests/gpu_sim/tensor/formats.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

#include "gtest/gtest.h"

namespace tile::gpu_sim {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity(), kNan = std::numeric_limits<double>::quiet_NaN();
constexpr Format kSmall[] = {Format::kF16, Format::kBF16, Format::kE4M3, Format::kE5M2, Format::kE2M1};
constexpr Rounding kAll[] = {Rounding::kNearestEven, Rounding::kZero, Rounding::kDown, Rounding::kUp,
                             Rounding::kNearestAway};

uint32_t Bits(float v) {
  uint32_t bits;
  std::memcpy(&bits, &v, sizeof bits);
  return bits;
}
float FromBits(uint32_t bits) {
  float v;
  std::memcpy(&v, &bits, sizeof v);
  return v;
}

TEST(Formats, KnownCodes) {
  const struct {
    Format format;
    uint64_t code;
    double value;
  } kCases[] = {
      {Format::kF16, 0x3C00, 1},      {Format::kF16, 0x7BFF, 65504},     {Format::kF16, 0x0001, 0x1p-24},
      {Format::kF16, 0xFC00, -kInf},  {Format::kBF16, 0x4049, 3.140625}, {Format::kBF16, 0x0001, 0x1p-133},
      {Format::kE4M3, 0x7E, 448},     {Format::kE4M3, 0x01, 0x1p-9},     {Format::kE4M3, 0xB8, -1},
      {Format::kE5M2, 0x7B, 57344},   {Format::kE5M2, 0x01, 0x1p-16},    {Format::kE5M2, 0x7C, kInf},
      {Format::kE2M1, 0x7, 6},        {Format::kE2M1, 0x1, 0.5},         {Format::kE2M1, 0xA, -1},
      {Format::kTF32, 0x3F801FFF, 1}, {Format::kF32, 0x1, 0x1p-149},     {Format::kF64, 0x3FF8000000000000, 1.5},
  };
  for (const auto& c : kCases) {
    EXPECT_EQ(Decode(c.format, c.code), c.value) << static_cast<int>(c.format) << " " << c.code;
  }
  EXPECT_TRUE(std::isnan(Decode(Format::kE4M3, 0x7F)));
  EXPECT_TRUE(std::isnan(Decode(Format::kE4M3, 0xFF)));
  EXPECT_TRUE(std::isnan(Decode(Format::kE5M2, 0x7D)));
  EXPECT_TRUE(std::isnan(Decode(Format::kF16, 0xFE00)));
}

TEST(Formats, DecodedCodesEncodeToThemselves) {
  for (Format f : kSmall) {
    for (uint64_t code = 0; code >> InfoOf(f).bits == 0; ++code) {
      const double v = Decode(f, code);
      if (std::isnan(v)) continue;
      EXPECT_EQ(DecodeTable(f)[code], v);
      for (Rounding r : kAll) EXPECT_EQ(Encode(f, v, r), code);
    }
  }
}

// All finite values of a format in order, and where a value lies between them.
class Neighbours {
 public:
  explicit Neighbours(Format f) {
    for (uint64_t code = 0; code >> InfoOf(f).bits == 0; ++code) {
      if (const double v = Decode(f, code); std::isfinite(v)) values_.push_back(v);
    }
    std::sort(values_.begin(), values_.end());
    values_.erase(std::unique(values_.begin(), values_.end()), values_.end());
  }
  double largest() const { return values_.back(); }
  // Of those not beyond the largest.
  double Rounded(double v, Rounding r) const {
    const auto above = std::lower_bound(values_.begin(), values_.end(), v);
    if (*above == v) return v;
    const double up = *above, down = *(above - 1);
    switch (r) {
      case Rounding::kDown: return down;
      case Rounding::kUp: return up;
      case Rounding::kZero: return v > 0 ? down : up;
      default: break;
    }
    if (v - down != up - v) return v - down < up - v ? down : up;
    if (r == Rounding::kNearestAway) return v > 0 ? up : down;
    // The even one is where steps of two arrive, from the other end of the numbers with this step.
    const double step = up - down;
    return std::fmod(down / step, 2) == 0 ? down : up;
  }

 private:
  std::vector<double> values_;
};

TEST(Formats, RoundsToNeighbours) {
  std::mt19937_64 random(1);
  for (Format f : kSmall) {
    const Neighbours all(f);
    for (int i = 0; i < 20000; ++i) {
      // Exponents from far below the smallest to the largest; often in the middle between two.
      const double scale = std::ldexp(1.0, static_cast<int>(random() % 48) - 30);
      double v = scale * (static_cast<double>(random() % 4096) - 2048) / 512;
      if (std::fabs(v) > all.largest()) continue;
      for (Rounding r : kAll) {
        EXPECT_EQ(Decode(f, Encode(f, v, r)), all.Rounded(v, r))
            << static_cast<int>(f) << " " << v << " " << static_cast<int>(r);
      }
    }
  }
}

TEST(Formats, BeyondTheLargest) {
  const auto rn = Rounding::kNearestEven;
  EXPECT_EQ(Encode(Format::kF16, 65519, rn), 0x7BFF);
  EXPECT_EQ(Encode(Format::kF16, 65520, rn), 0x7C00);
  EXPECT_EQ(Encode(Format::kF16, 1e30, Rounding::kZero), 0x7BFF);
  EXPECT_EQ(Encode(Format::kF16, 1e30, Rounding::kDown), 0x7BFF);
  EXPECT_EQ(Encode(Format::kF16, -1e30, Rounding::kDown), 0xFC00);
  EXPECT_EQ(Encode(Format::kF16, -1e30, Rounding::kUp), 0xFBFF);
  EXPECT_EQ(Encode(Format::kF16, 1e30, Rounding::kUp), 0x7C00);
  EXPECT_EQ(Encode(Format::kF16, -kInf, Rounding::kZero), 0xFC00);
  EXPECT_EQ(Encode(Format::kE4M3, kInf, rn, Overflow::kSatfinite), 0x7E);
  EXPECT_EQ(Encode(Format::kE4M3, -464, rn, Overflow::kSatfinite), 0xFE);
  EXPECT_EQ(Encode(Format::kE4M3, kNan, rn, Overflow::kSatfinite), 0x7F);
  EXPECT_EQ(Encode(Format::kE4M3, 1e9, rn), 0x7F);
  EXPECT_EQ(Encode(Format::kE5M2, -kInf, rn, Overflow::kSatfinite), 0xFB);
  EXPECT_EQ(Encode(Format::kE2M1, 100, rn, Overflow::kSatfinite), 0x7);
  EXPECT_EQ(Encode(Format::kE2M1, kNan, rn, Overflow::kSatfinite), 0x7);
  EXPECT_EQ(Encode(Format::kF32, kNan, rn), 0x7FFFFFFF);
  EXPECT_EQ(Encode(Format::kF32, 1e300, rn), 0x7F800000);
  EXPECT_EQ(Encode(Format::kF32, 1e-300, Rounding::kUp), 1);
  EXPECT_EQ(Encode(Format::kF32, -1e-300, rn), 0x80000000);
}

TEST(Formats, FloatAsTheMachineRounds) {
  std::mt19937_64 random(2);
  for (int i = 0; i < 100000; ++i) {
    const double v = std::ldexp(static_cast<double>(random() >> 11), static_cast<int>(random() % 300) - 210);
    const auto f = static_cast<float>(v);
    EXPECT_EQ(Encode(Format::kF32, v, Rounding::kNearestEven), Bits(f));
    EXPECT_EQ(Decode(Format::kF32, Bits(f)), f);
    const float down = f <= v ? f : std::nextafterf(f, 0);
    EXPECT_EQ(Encode(Format::kF32, v, Rounding::kZero), Bits(down));
    EXPECT_EQ(Encode(Format::kF32, -v, Rounding::kUp), Bits(-down));
  }
}

// 13 bits fewer: a carry in the bits of the float.
TEST(Formats, Tf32) {
  std::mt19937 random(3);
  for (int i = 0; i < 100000; ++i) {
    const auto bits = static_cast<uint32_t>(random());
    const float f = FromBits(bits);
    if (std::isnan(f) || (bits & 0x7FFFFFFF) >= 0x7F7FE000) continue;
    EXPECT_EQ(Encode(Format::kTF32, f, Rounding::kZero), bits & ~0x1FFFu);
    EXPECT_EQ(Encode(Format::kTF32, f, Rounding::kNearestAway), (bits + 0x1000) & ~0x1FFFu);
    EXPECT_EQ(Encode(Format::kTF32, f, Rounding::kNearestEven), (bits + 0xFFF + (bits >> 13 & 1)) & ~0x1FFFu);
  }
}

TEST(Formats, Scaled) {
  EXPECT_EQ(EncodeScaled(Format::kF32, false, ~uint64_t{0}, 0, Rounding::kNearestEven), Bits(0x1p64f));
  EXPECT_EQ(EncodeScaled(Format::kF32, false, ~uint64_t{0}, 0, Rounding::kZero), Bits(0x1.fffffep63f));
  EXPECT_EQ(EncodeScaled(Format::kF64, true, (uint64_t{1} << 53) + 1, 0, Rounding::kUp),
            Encode(Format::kF64, -0x1p53, Rounding::kZero));
  EXPECT_EQ(EncodeScaled(Format::kF16, true, 0, 0, Rounding::kZero), 0x8000);
}

TEST(Formats, Integral) {
  std::mt19937 random(4);
  for (int i = 0; i < 10000; ++i) {
    const double v = (static_cast<double>(random() % 4001) - 2000) / 8;
    EXPECT_EQ(RoundToIntegral(v, Rounding::kNearestEven), std::nearbyint(v));
    EXPECT_EQ(RoundToIntegral(v, Rounding::kZero), std::trunc(v));
    EXPECT_EQ(RoundToIntegral(v, Rounding::kDown), std::floor(v));
    EXPECT_EQ(RoundToIntegral(v, Rounding::kUp), std::ceil(v));
    EXPECT_EQ(RoundToIntegral(v, Rounding::kNearestAway), std::round(v));
  }
  EXPECT_TRUE(std::signbit(RoundToIntegral(-0.25, Rounding::kNearestEven)));
  EXPECT_EQ(RoundToIntegral(-kInf, Rounding::kDown), -kInf);
}

// Types of 6 bits, which have neither infinities nor NaN, and scales.
TEST(Formats, SixBitsAndScales) {
  EXPECT_EQ(Decode(Format::kE2M3, 0x1F), 7.5);
  EXPECT_EQ(Decode(Format::kE2M3, 0x21), -0.125);
  EXPECT_EQ(Decode(Format::kE3M2, 0x1F), 28);
  EXPECT_EQ(Decode(Format::kE3M2, 0x01), 0.0625);
  EXPECT_EQ(DecodeUE8M0(127), 1);
  EXPECT_EQ(DecodeUE8M0(0), 0x1p-127);
  EXPECT_TRUE(std::isnan(DecodeUE8M0(255)));
}

}  // namespace
}  // namespace tile::gpu_sim

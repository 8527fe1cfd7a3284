#include "tests/gpu_sim/tensor/convert.h"

#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_split.h"
#include "gtest/gtest.h"

namespace tile::gpu_sim {
namespace {

uint64_t Cvt(absl::string_view opcode, uint64_t a, uint64_t b = 0) {
  const std::vector<absl::string_view> parts = absl::StrSplit(opcode, '.');
  const absl::StatusOr<CvtKind> kind = ParseCvt(parts);
  EXPECT_TRUE(kind.ok()) << kind.status();
  return kind.ok() ? RunCvt(*kind, a, b) : 0;
}

uint64_t F(float v) {
  uint32_t bits;
  std::memcpy(&bits, &v, sizeof bits);
  return bits;
}
uint64_t D(double v) {
  uint64_t bits;
  std::memcpy(&bits, &v, sizeof bits);
  return bits;
}
uint64_t I(int64_t v) { return static_cast<uint64_t>(v); }

constexpr float kInf = std::numeric_limits<float>::infinity(), kNan = std::numeric_limits<float>::quiet_NaN();

TEST(Convert, Integers) {
  EXPECT_EQ(Cvt("cvt.s32.s8", 0x12F0), I(-16));
  EXPECT_EQ(Cvt("cvt.u32.u8", 0x12F0), 0xF0u);
  EXPECT_EQ(Cvt("cvt.u64.s32", 0x80000000), 0xFFFFFFFF80000000);
  EXPECT_EQ(Cvt("cvt.s64.u32", 0x80000000), 0x80000000u);
  EXPECT_EQ(Cvt("cvt.u16.u32", 0x12345678), 0x5678u);
  EXPECT_EQ(Cvt("cvt.s16.s64", 0x18000), I(-32768));
  EXPECT_EQ(Cvt("cvt.sat.s8.s32", I(-1000)), I(-128));
  EXPECT_EQ(Cvt("cvt.sat.u8.s32", I(-1000)), 0u);
  EXPECT_EQ(Cvt("cvt.sat.u8.s32", 1000), 255u);
  EXPECT_EQ(Cvt("cvt.sat.s64.u64", ~uint64_t{0}), I(std::numeric_limits<int64_t>::max()));
}

TEST(Convert, IntegersToFloatsAsTheMachineDoes) {
  std::mt19937_64 random(1);
  for (int i = 0; i < 10000; ++i) {
    const uint64_t v = random() >> random() % 64;
    EXPECT_EQ(Cvt("cvt.rn.f32.u64", v), F(static_cast<float>(v)));
    EXPECT_EQ(Cvt("cvt.rn.f32.s64", v), F(static_cast<float>(static_cast<int64_t>(v))));
    EXPECT_EQ(Cvt("cvt.rn.f64.u64", v), D(static_cast<double>(v)));
    EXPECT_EQ(Cvt("cvt.rn.f32.s32", v), F(static_cast<float>(static_cast<int32_t>(v))));
  }
  EXPECT_EQ(Cvt("cvt.rz.f32.u64", ~uint64_t{0}), F(0x1.fffffep63f));
  EXPECT_EQ(Cvt("cvt.rn.f16.s32", 100000), 0x7C00u);
  EXPECT_EQ(Cvt("cvt.rn.f16.u16", 2049), 0x6800u);
  EXPECT_EQ(Cvt("cvt.rn.bf16.s8", 0x80), 0xC300u);
}

TEST(Convert, FloatsToIntegersSaturate) {
  EXPECT_EQ(Cvt("cvt.rzi.s32.f32", F(-2.75f)), I(-2));
  EXPECT_EQ(Cvt("cvt.rni.s32.f32", F(2.5f)), 2u);
  EXPECT_EQ(Cvt("cvt.rmi.s32.f32", F(-2.25f)), I(-3));
  EXPECT_EQ(Cvt("cvt.rpi.u32.f32", F(2.25f)), 3u);
  EXPECT_EQ(Cvt("cvt.rzi.s32.f32", F(3e9f)), 0x7FFFFFFFu);
  EXPECT_EQ(Cvt("cvt.rzi.u32.f32", F(-1)), 0u);
  EXPECT_EQ(Cvt("cvt.rzi.u32.f32", F(5e9f)), 0xFFFFFFFFu);
  EXPECT_EQ(Cvt("cvt.rzi.s64.f64", D(-1e30)), I(std::numeric_limits<int64_t>::min()));
  EXPECT_EQ(Cvt("cvt.rzi.u64.f64", D(0x1p64)), ~uint64_t{0});
  EXPECT_EQ(Cvt("cvt.rzi.s64.f32", F(-0x1p62f)), I(-(int64_t{1} << 62)));
  EXPECT_EQ(Cvt("cvt.rzi.s8.f32", F(-300)), I(-128));
  EXPECT_EQ(Cvt("cvt.rzi.u16.f16", 0x7C00), 0xFFFFu);
  EXPECT_EQ(Cvt("cvt.rzi.s32.f32", F(kNan)), 0u);
  EXPECT_EQ(Cvt("cvt.rzi.s64.f32", F(kNan)), uint64_t{1} << 63);
  EXPECT_EQ(Cvt("cvt.rzi.u32.f64", D(kNan)), uint64_t{1} << 31);
  EXPECT_EQ(Cvt("cvt.rpi.ftz.s32.f32", 1), 0u);
  EXPECT_EQ(Cvt("cvt.rpi.s32.f32", 1), 1u);
}

TEST(Convert, Floats) {
  EXPECT_EQ(Cvt("cvt.f32.f16", 0xC500), F(-5));
  EXPECT_EQ(Cvt("cvt.f32.bf16", 0x3FC0), F(1.5f));
  EXPECT_EQ(Cvt("cvt.f64.f32", F(-kInf)), D(-kInf));
  EXPECT_EQ(Cvt("cvt.rn.f16.f32", F(kNan)), 0x7FFFu);
  EXPECT_EQ(Cvt("cvt.rn.f32.f64", D(1 + 0x1p-24)), F(1));
  EXPECT_EQ(Cvt("cvt.rp.f32.f64", D(1 + 0x1p-24)), F(1 + 0x1p-23f));
  EXPECT_EQ(Cvt("cvt.rn.ftz.f32.f64", D(-0x1p-140)), F(-0.0f));
  EXPECT_EQ(Cvt("cvt.ftz.f64.f32", 1), 0u);
  EXPECT_EQ(Cvt("cvt.rmi.f32.f32", F(-1.5f)), F(-2));
  EXPECT_EQ(Cvt("cvt.rzi.f64.f64", D(-0.5)), D(-0.0));
  EXPECT_EQ(Cvt("cvt.rpi.f16.f16", 0x3C01), 0x4000u);
  EXPECT_EQ(Cvt("cvt.sat.f32.f32", F(-3)), F(0));
  EXPECT_EQ(Cvt("cvt.sat.f32.f32", F(kNan)), F(0));
  EXPECT_EQ(Cvt("cvt.rn.sat.f16.f32", F(7)), 0x3C00u);
  EXPECT_EQ(Cvt("cvt.rn.relu.bf16.f32", F(-7)), 0u);
  EXPECT_EQ(Cvt("cvt.rn.relu.f16.f32", F(kNan)), 0x7FFFu);
  EXPECT_EQ(Cvt("cvt.rna.tf32.f32", 0x3F801000), 0x3F802000u);
  EXPECT_EQ(Cvt("cvt.rn.tf32.f32", 0x3F801000), 0x3F800000u);
  EXPECT_EQ(Cvt("cvt.rz.bf16.f32", 0x3F80FFFF), 0x3F80u);
}

TEST(Convert, PairsHaveTheFirstOperandAbove) {
  EXPECT_EQ(Cvt("cvt.rn.f16x2.f32", F(1), F(2)), 0x3C004000u);
  EXPECT_EQ(Cvt("cvt.rn.bf16x2.f32", F(1), F(-2)), 0x3F80C000u);
  EXPECT_EQ(Cvt("cvt.rn.satfinite.e4m3x2.f32", F(1000), F(-1)), 0x7EB8u);
  EXPECT_EQ(Cvt("cvt.rn.satfinite.relu.e4m3x2.f32", F(kNan), F(-1)), 0x7F00u);
  EXPECT_EQ(Cvt("cvt.rn.satfinite.e5m2x2.f32", F(-kInf), F(1)), 0xFB3Cu);
  EXPECT_EQ(Cvt("cvt.rn.f16x2.e4m3x2", 0x7EB8), 0x5F00BC00u);
  EXPECT_EQ(Cvt("cvt.rn.f16x2.e5m2x2", 0xFC3C), 0xFC003C00u);
  EXPECT_EQ(Cvt("cvt.rn.satfinite.e4m3x2.f16x2", 0x5F00BC00), 0x7EB8u);
  EXPECT_EQ(Cvt("cvt.rn.satfinite.e2m1x2.f32", F(-100), F(1.5f)), 0xF3u);
  EXPECT_EQ(Cvt("cvt.rn.f16x2.e2m1x2", 0xF3), 0xC6003E00u);
}

TEST(Convert, UnknownForms) {
  for (absl::string_view opcode :
       {"cvt.f16.f32", "cvt.rn.s32.f32", "cvt.rni.s32.s16", "cvt.rn.e4m3x2.f32", "cvt.rn.f32.f16x2", "cvt.s32.b16",
        "cvt.rn.rz.f16.f32", "cvt.rn.f16x2.f16", "cvt.pack.sat.u8.s32.b32", "cvt.u32", "cvt.u32.u8.u8",
        "cvt.rn.tf32.s32", "mov.b32", "cvt.rni.f16.f32", "cvt.relu.u32.u8"}) {
    const std::vector<absl::string_view> parts = absl::StrSplit(opcode, '.');
    const absl::StatusOr<CvtKind> kind = ParseCvt(parts);
    EXPECT_FALSE(kind.ok()) << opcode;
    EXPECT_TRUE(absl::StrContains(kind.status().message(), opcode)) << kind.status();
  }
}

}  // namespace
}  // namespace tile::gpu_sim

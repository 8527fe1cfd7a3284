#include "tests/gpu_sim/tensor/mma.h"

#include <cstring>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "gtest/gtest.h"

namespace tile::gpu_sim {
namespace {

// What the PTX ISA says of each instruction, element by element: row and column of element i of A, of B and of C in the lane with
// groupID g and threadID_in_group t.
using Place = std::pair<int, int>;
struct Isa {
  const char* opcode;
  int k, a_elements, b_elements, element_bits;
  Place (*a)(int i, int g, int t);
  Place (*b)(int i, int g, int t);
};

const Isa kIsa[] = {
    {"mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32", 8, 4, 2, 16,
     [](int i, int g, int t) { return Place(i < 2 ? g : g + 8, t * 2 + (i & 1)); },
     [](int i, int g, int t) { return Place(t * 2 + i, g); }},
    {"mma.sync.aligned.m16n8k8.row.col.f32.bf16.bf16.f32", 8, 4, 2, 16,
     [](int i, int g, int t) { return Place(i < 2 ? g : g + 8, t * 2 + (i & 1)); },
     [](int i, int g, int t) { return Place(t * 2 + i, g); }},
    {"mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32", 16, 8, 4, 16,
     [](int i, int g, int t) {
       return Place(i < 2 || (i >= 4 && i < 6) ? g : g + 8, i < 4 ? t * 2 + (i & 1) : t * 2 + (i & 1) + 8);
     },
     [](int i, int g, int t) { return Place(i < 2 ? t * 2 + (i & 1) : t * 2 + (i & 1) + 8, g); }},
    {"mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32", 16, 8, 4, 16,
     [](int i, int g, int t) {
       return Place(i < 2 || (i >= 4 && i < 6) ? g : g + 8, i < 4 ? t * 2 + (i & 1) : t * 2 + (i & 1) + 8);
     },
     [](int i, int g, int t) { return Place(i < 2 ? t * 2 + (i & 1) : t * 2 + (i & 1) + 8, g); }},
    {"mma.sync.aligned.m16n8k4.row.col.f32.tf32.tf32.f32", 4, 2, 1, 32,
     [](int i, int g, int t) { return Place(i == 0 ? g : g + 8, t); }, [](int, int g, int t) { return Place(t, g); }},
    {"mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32", 8, 4, 2, 32,
     [](int i, int g, int t) { return Place(i == 0 || i == 2 ? g : g + 8, i < 2 ? t : t + 4); },
     [](int i, int g, int t) { return Place(i == 0 ? t : t + 4, g); }},
    {"mma.sync.aligned.m16n8k16.row.col.s32.s8.u8.s32", 16, 8, 4, 8,
     [](int i, int g, int t) { return Place(i < 4 ? g : g + 8, t * 4 + (i & 3)); },
     [](int i, int g, int t) { return Place(t * 4 + i, g); }},
    {"mma.sync.aligned.m16n8k32.row.col.s32.u8.s8.s32", 32, 16, 8, 8,
     [](int i, int g, int t) {
       return Place(i < 4 || (i >= 8 && i < 12) ? g : g + 8, i < 8 ? t * 4 + (i & 3) : t * 4 + (i & 3) + 16);
     },
     [](int i, int g, int t) { return Place(i < 4 ? t * 4 + (i & 3) : t * 4 + (i & 3) + 16, g); }},
    {"mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e5m2.f32", 32, 16, 8, 8,
     [](int i, int g, int t) {
       return Place(i < 4 || (i >= 8 && i < 12) ? g : g + 8, i < 8 ? t * 4 + (i & 3) : t * 4 + (i & 3) + 16);
     },
     [](int i, int g, int t) { return Place(i < 4 ? t * 4 + (i & 3) : t * 4 + (i & 3) + 16, g); }},
};
Place PlaceOfC(int i, int g, int t) { return {i < 2 ? g : g + 8, t * 2 + (i & 1)}; }

// Codes of small integers in a type, so that every sum is exact.
uint32_t CodeOf(const OperandType& type, int v) {
  if (!type.is_float) return static_cast<uint32_t>(v) & 0xFF;
  return static_cast<uint32_t>(Encode(type.format, v, Rounding::kNearestEven));
}
uint32_t SumBits(const OperandType& type, int v) {
  const auto f = static_cast<float>(v);
  uint32_t bits;
  std::memcpy(&bits, &f, sizeof bits);
  return type.is_float ? bits : static_cast<uint32_t>(v);
}

std::vector<absl::string_view> Split(absl::string_view opcode) { return absl::StrSplit(opcode, '.'); }

TEST(Mma, MultipliesWhatLiesAsTheIsaSays) {
  std::mt19937 random(1);
  for (const Isa& isa : kIsa) {
    const auto parts = Split(isa.opcode);
    const absl::StatusOr<MmaKind> kind = ParseMma(parts);
    ASSERT_TRUE(kind.ok()) << kind.status();
    const int per_word = 32 / isa.element_bits;
    ASSERT_EQ(kind->words_a, isa.a_elements / per_word);
    ASSERT_EQ(kind->words_b, isa.b_elements / per_word);
    int a[16][32], b[32][8], c[16][8];
    const auto draw = [&](const OperandType& type) {
      return static_cast<int>(random() % 9) - (type.is_float || type.is_signed ? 4 : 0);
    };
    for (auto& row : a)
      for (int& v : row) v = draw(kind->a);
    for (auto& row : b)
      for (int& v : row) v = draw(kind->b);
    for (auto& row : c)
      for (int& v : row) v = static_cast<int>(random() % 2001) - 1000;
    WarpWords wa, wb, wc, wd;
    for (int lane = 0; lane < 32; ++lane) {
      const int g = lane >> 2, t = lane % 4;
      const auto l = static_cast<size_t>(lane);
      wa[l].assign(static_cast<size_t>(kind->words_a), 0);
      wb[l].assign(static_cast<size_t>(kind->words_b), 0);
      for (int i = 0; i < isa.a_elements; ++i) {
        const auto [row, column] = isa.a(i, g, t);
        wa[l][static_cast<size_t>(i / per_word)] |= CodeOf(kind->a, a[row][column]) << i % per_word * isa.element_bits;
      }
      for (int i = 0; i < isa.b_elements; ++i) {
        const auto [row, column] = isa.b(i, g, t);
        wb[l][static_cast<size_t>(i / per_word)] |= CodeOf(kind->b, b[row][column]) << i % per_word * isa.element_bits;
      }
      for (int i = 0; i < 4; ++i) {
        const auto [row, column] = PlaceOfC(i, g, t);
        wc[l].push_back(SumBits(kind->a, c[row][column]));
      }
    }
    RunMma(*kind, wa, wb, wc, &wd);
    for (int lane = 0; lane < 32; ++lane) {
      for (int i = 0; i < 4; ++i) {
        const auto [row, column] = PlaceOfC(i, lane >> 2, lane % 4);
        int sum = c[row][column];
        for (int k = 0; k < isa.k; ++k) sum += a[row][k] * b[k][column];
        EXPECT_EQ(wd[static_cast<size_t>(lane)][static_cast<size_t>(i)], SumBits(kind->a, sum))
            << isa.opcode << " lane " << lane << " element " << i;
      }
    }
  }
}

// Codes of 1 and of 2 in their places: of 4 bits above two bits that nobody reads.
TEST(Mma, TypesOfLessThan8Bits) {
  const struct {
    const char *a, *b;
    uint32_t one_a, two_b;
  } kTypes[] = {
      {"e2m1", "e4m3", 0x2 << 2 | 3, 0x40}, {"e3m2", "e2m3", 0x0C | 0xC0, 0x10}, {"e5m2", "e2m1", 0x3C, 0x4 << 2}};
  for (const auto& type : kTypes) {
    const std::string opcode =
        absl::StrCat("mma.sync.aligned.m16n8k32.row.col.kind::f8f6f4.f32.", type.a, ".", type.b, ".f32");
    const auto parts = Split(opcode);
    const absl::StatusOr<MmaKind> kind = ParseMma(parts);
    ASSERT_TRUE(kind.ok()) << kind.status();
    WarpWords a, b, c, d;
    for (size_t l = 0; l < 32; ++l) {
      a[l].assign(4, type.one_a * 0x01010101u), b[l].assign(2, type.two_b * 0x01010101u), c[l].assign(4, 0);
    }
    RunMma(*kind, a, b, c, &d);
    EXPECT_EQ(d[5][1], SumBits(kind->a, 64)) << opcode;
  }
}

// A of ones and B of ones: each sum is the sum over K of the products of the scales.
TEST(Mma, BlockScales) {
  const struct {
    const char *kind, *types, *scale;
    uint32_t ones, one;  // a word of ones, a scale of 1 (the next code is 2, or 1.125)
    int k, scales;
    double step;
  } kKinds[] = {
      {"m16n8k32.row.col.kind::mxf8f6f4.block_scale.scale_vec::1X", "e4m3.e4m3", "ue8m0", 0x38383838, 127, 32, 1, 2},
      {"m16n8k64.row.col.kind::mxf4.block_scale.scale_vec::2X", "e2m1.e2m1", "ue8m0", 0x22222222, 127, 64, 2, 2},
      {"m16n8k64.row.col.kind::mxf4nvf4.block_scale.scale_vec::4X", "e2m1.e2m1", "ue4m3", 0x22222222, 0x38, 64, 4,
       1.125}};
  for (const auto& kind_row : kKinds) {
    const std::string opcode =
        absl::StrCat("mma.sync.aligned.", kind_row.kind, ".f32.", kind_row.types, ".f32.", kind_row.scale);
    const auto parts = Split(opcode);
    const absl::StatusOr<MmaKind> kind = ParseMma(parts);
    ASSERT_TRUE(kind.ok()) << kind.status();
    ASSERT_EQ(kind->scales, kind_row.scales);
    WarpWords a, b, c, d, scale_a, scale_b;
    for (size_t l = 0; l < 32; ++l) {
      a[l].assign(4, kind_row.ones), b[l].assign(2, kind_row.ones), c[l].assign(4, 0);
      scale_a[l] = scale_b[l] = {0xFFFFFFFF};  // NaN in every type
    }
    // Rows 8 and on have a larger scale for the last part of K; columns have 1. They are in the threads 2, 3 and 1 of each four.
    const auto scales = static_cast<uint32_t>(kind_row.scales);
    const uint32_t first = scales == 4 ? 0 : scales == 2 ? 2 : 3;
    uint32_t ones = 0;
    for (uint32_t s = 0; s < scales; ++s) ones |= kind_row.one << (8 * (first + s));
    for (size_t g = 0; g < 8; ++g) {
      scale_a[4 * g + 2] = {ones};
      scale_a[4 * g + 3] = {ones + (1u << (8 * (first + scales - 1)))};
      scale_b[4 * g + 1] = {ones};
    }
    RunMma(*kind, a, b, c, &d, {&scale_a, &scale_b, first, 1, first, 1});
    const double part = static_cast<double>(kind_row.k) / kind_row.scales;
    float sums[2];
    std::memcpy(sums, &d[9][1], sizeof sums);
    EXPECT_EQ(sums[0], kind_row.k) << opcode;
    EXPECT_EQ(sums[1], kind_row.k + part * (kind_row.step - 1)) << opcode;
  }
}

TEST(Mma, IntegersWrapAndFloatsRoundOnce) {
  const std::vector<double> a = {127, 1}, b = {1, 0};
  EXPECT_EQ(AddProducts(*OperandTypeOf("s8"), 0x7FFFFFFF, a, b), 0x8000007Eu);
  const std::vector<double> x = {1, 0x1p-30}, y = {0x1p24, 0x1p30};
  EXPECT_EQ(AddProducts(*OperandTypeOf("f16"), SumBits({}, -16777216), x, y), SumBits({}, 1));
}

TEST(Mma, UnknownForms) {
  for (absl::string_view opcode :
       {"mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16", "mma.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32",
        "mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64", "mma.sync.aligned.m16n8k16.row.col.f32.f16.bf16.f32",
        "mma.sync.aligned.m16n8k16.col.row.f32.f16.f16.f32",
        "mma.sync.aligned.m16n8k32.row.col.satfinite.s32.s8.s8.s32",
        "mma.sync.aligned.m16n8k32.row.col.f32.e2m1.e2m1.f32",
        "mma.sync.aligned.m16n8k64.row.col.kind::f8f6f4.f32.e2m1.e2m1.f32",
        "mma.sync.aligned.m16n8k64.row.col.kind::mxf4.block_scale.scale_vec::2X.f32.e2m1.e2m1.f32.ue4m3",
        "mma.sync.aligned.m16n8k32.row.col.kind::mxf8f6f4.f32.e4m3.e4m3.f32.ue8m0",
        "mma.sync.aligned.m16n8k16.row.col.f32.e4m3.e4m3.f32", "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16"}) {
    const auto parts = Split(opcode);
    const absl::StatusOr<MmaKind> kind = ParseMma(parts);
    EXPECT_FALSE(kind.ok()) << opcode;
    EXPECT_TRUE(absl::StrContains(kind.status().message(), opcode)) << kind.status();
  }
}

}  // namespace
}  // namespace tile::gpu_sim

#include "tests/gpu_sim/tensor/tcgen05_mma.h"

#include <cmath>
#include <cstring>
#include <memory>
#include <random>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "gtest/gtest.h"
#include "tests/gpu_sim/tensor/formats.h"

namespace tile::gpu_sim {
namespace {

absl::StatusOr<Tcgen05Kind> Parse(absl::string_view opcode) {
  const std::vector<absl::string_view> parts = absl::StrSplit(opcode, '.');
  return ParseTcgen05Mma(parts);
}

uint32_t Descriptor(int m, int n, uint32_t a, uint32_t b, uint32_t sum) {
  return sum << 4 | a << 7 | b << 10 | static_cast<uint32_t>(n / 8) << 17 | static_cast<uint32_t>(m / 16) << 24;
}
constexpr uint32_t kTransposeA = 1 << 15, kTransposeB = 1 << 16, kNegateA = 1 << 13, kNegateB = 1 << 14;

uint32_t FloatBits(double v) {
  const auto f = static_cast<float>(v);
  uint32_t bits;
  std::memcpy(&bits, &f, sizeof bits);
  return bits;
}

// A product of small numbers by one instruction: operands staged by hand, D compared with sums of integers.
struct Problem {
  const char* kind;     // of cta_group::1 or ::2
  uint32_t descriptor;  // of the instruction
  Format a, b;          // kF64: integers of 8 bits
  const char* d;        // layout of D: "D", "F", "A", "B", "E", "G"
  bool a_in_tensor_memory = false;
};

class Multiplication {
 public:
  explicit Multiplication(const Problem& p)
      : p_(p), kind_(*Parse(absl::StrCat("tcgen05.mma", p.kind))), product_(*DecodeProduct(kind_, p.descriptor)) {
    for (int block = 0; block < kind_.group; ++block) {
      blocks_.push_back(std::make_unique<OneBlock>());
      OneBlock& b = *blocks_.back();
      b.shared.assign(128 << 10, 0);
      b.memory.Take(0, {512, kind_.group, 1}, 0xFF);
    }
    a_ = Fill(product_.m, p.a, product_.a_mn_major, kStartA, p.a_in_tensor_memory);
    b_ = Fill(product_.n, p.b, product_.b_mn_major, kStartB, false);
  }

  Tcgen05Input Input() {
    Tcgen05Input in;
    for (const auto& b : blocks_) {
      in.blocks.push_back(
          {[&b](uint32_t at, uint32_t) -> absl::StatusOr<const uint8_t*> { return &b->shared[at]; }, &b->memory});
    }
    in.d = kColumnD;
    in.a_in_tensor_memory = p_.a_in_tensor_memory;
    in.a = p_.a_in_tensor_memory ? kColumnA : Operand(kStartA, product_.a_mn_major);
    in.b = Operand(kStartB, product_.b_mn_major);
    return in;
  }

  // Twice: the first product does not read D.
  void Check() {
    Tcgen05Input in = Input();
    in.accumulate = false;
    ASSERT_TRUE(RunTcgen05Mma(kind_, product_, in).ok());
    CheckSums(1);
    in.accumulate = true;
    ASSERT_TRUE(RunTcgen05Mma(kind_, product_, in).ok());
    CheckSums(2);
  }

  void CheckSums(int times) {
    const int sign = product_.negate_a != product_.negate_b ? -1 : 1;
    for (int m = 0; m < product_.m; ++m) {
      for (int n = 0; n < product_.n; ++n) {
        int sum = 0;
        for (int k = 0; k < product_.k; ++k) sum += a_[m][k] * b_[n][k];
        ASSERT_EQ(Sum(m, n), sign * times * sum) << p_.kind << " " << p_.d << " row " << m << " column " << n;
      }
    }
  }

  // By the figures of the PTX ISA.
  double Sum(int m, int n) {
    const std::string d = p_.d;
    int block = 0, lane = m, column = n;
    const int half = product_.n / 2;
    if (d == "F") lane = m / 16 * 32 + m % 16;
    if (d == "A") block = m / 128, lane = m % 128;
    if (d == "B") block = m / 64, lane = m % 64 + n / half * 64, column = n % half;
    if (d == "E") lane = m + n / half * 64, column = n % half;
    if (d == "G") lane = m + n / (half / 2) * 32, column = n % (half / 2);
    const uint32_t cell = **blocks_[static_cast<size_t>(block)]->memory.Row(
        static_cast<uint32_t>(lane), kColumnD + static_cast<uint32_t>(column), 1);
    if (product_.sum == SumType::kS32) return static_cast<int32_t>(cell);
    return Decode(product_.sum == SumType::kF16 ? Format::kF16 : Format::kF32, cell);
  }

  const Tcgen05Kind& kind() const { return kind_; }
  const Tcgen05Product& product() const { return product_; }
  std::vector<std::vector<int>>& a() { return a_; }
  TensorMemory& memory(size_t block) { return blocks_[block]->memory; }

 private:
  static constexpr uint32_t kStartA = 0, kStartB = 64 << 10, kColumnD = 256, kColumnA = 32;
  static constexpr uint32_t kGroup = 1024,
                            kPieces = 8192;  // bytes from group to group of rows, from piece to piece of M or N

  static uint64_t Operand(uint32_t start, bool mn_major) {
    return start >> 4 | uint64_t{mn_major ? kPieces >> 4 : 0} << 16 | uint64_t{kGroup >> 4} << 32 | uint64_t{1} << 46 |
           uint64_t{2} << 61;
  }

  // Of row `across`, byte `along`, swizzled by 128 bytes.
  static uint32_t Address(uint32_t start, uint32_t across, uint32_t along) {
    return start + along / 128 * kPieces + across / 8 * kGroup + across % 8 * 128 +
           ((along % 128 / 16) ^ (across % 8)) * 16 + along % 16;
  }

  uint32_t Code(Format f, int v) {
    return f == Format::kF64 ? static_cast<uint8_t>(v) : static_cast<uint32_t>(Encode(f, v, Rounding::kNearestEven));
  }

  std::vector<std::vector<int>> Fill(int rows, Format f, bool mn_major, uint32_t start, bool in_tensor_memory) {
    const uint32_t bits = f == Format::kF64 ? 8 : static_cast<uint32_t>(InfoOf(f).bits), bytes = bits / 8;
    std::vector<std::vector<int>> values(static_cast<size_t>(rows));
    const int of_block = rows / kind_.group;
    for (int row = 0; row < rows; ++row) {
      OneBlock& block = *blocks_[static_cast<size_t>(row / of_block)];
      const auto mn = static_cast<uint32_t>(row % of_block);
      for (int k = 0; k < product_.k; ++k) {
        const int v = static_cast<int>(random_() % 5) - 2;
        values[static_cast<size_t>(row)].push_back(v);
        const uint32_t code = Code(f, v), depth = static_cast<uint32_t>(k);
        if (in_tensor_memory) {
          // Packed, in the lanes of D: of 64 rows sixteen in a quarter.
          const uint32_t lane = of_block == 64 ? mn / 16 * 32 + mn % 16 : mn, bit = depth * bits;
          uint32_t& cell = **block.memory.Row(lane, kColumnA + bit / 32, 1);
          cell = (cell & ~(static_cast<uint32_t>((uint64_t{1} << bits) - 1) << bit % 32)) | code << bit % 32;
        } else {
          const uint32_t at = mn_major ? Address(start, depth, mn * bytes) : Address(start, mn, depth * bytes);
          std::memcpy(&block.shared[at], &code, bytes);
        }
      }
    }
    return values;
  }

  struct OneBlock {
    std::vector<uint8_t> shared;
    TensorMemory memory;
  };
  const Problem p_;
  std::mt19937 random_{1};
  Tcgen05Kind kind_;
  Tcgen05Product product_;
  std::vector<std::unique_ptr<OneBlock>> blocks_;
  std::vector<std::vector<int>> a_, b_;
};

TEST(Tcgen05Mma, MultipliesWhatLiesAsTheIsaSays) {
  constexpr Format kI8 = Format::kF64;
  const Problem kProblems[] = {
      {".cta_group::1.kind::f16", Descriptor(128, 64, 0, 0, 1), Format::kF16, Format::kF16, "D"},
      {".cta_group::1.kind::f16", Descriptor(128, 256, 1, 1, 1), Format::kBF16, Format::kBF16, "D"},
      {".cta_group::1.kind::f16", Descriptor(64, 24, 0, 0, 0), Format::kF16, Format::kF16, "F"},
      {".cta_group::1.kind::f16", Descriptor(128, 64, 0, 0, 1) | kTransposeA | kTransposeB, Format::kF16, Format::kF16,
       "D"},
      {".cta_group::1.kind::f16", Descriptor(128, 128, 0, 0, 1) | kNegateA, Format::kF16, Format::kF16, "D"},
      {".cta_group::1.kind::f16", Descriptor(128, 128, 0, 0, 1) | kNegateA | kNegateB, Format::kF16, Format::kF16, "D"},
      {".cta_group::1.kind::f16", Descriptor(128, 32, 0, 0, 1), Format::kF16, Format::kF16, "D", true},
      {".cta_group::1.kind::f16", Descriptor(64, 32, 1, 1, 1), Format::kBF16, Format::kBF16, "F", true},
      {".cta_group::1.kind::tf32", Descriptor(128, 48, 2, 2, 1), Format::kTF32, Format::kTF32, "D"},
      {".cta_group::1.kind::tf32", Descriptor(128, 48, 2, 2, 1), Format::kTF32, Format::kTF32, "D", true},
      {".cta_group::1.kind::f8f6f4", Descriptor(128, 96, 0, 1, 1), Format::kE4M3, Format::kE5M2, "D"},
      {".cta_group::1.kind::f8f6f4.collector::a::discard", Descriptor(128, 16, 0, 0, 0) | kTransposeB, Format::kE4M3,
       Format::kE4M3, "D"},
      {".cta_group::1.kind::i8", Descriptor(128, 32, 1, 1, 2), kI8, kI8, "D"},
      {".cta_group::1.kind::i8", Descriptor(64, 24, 1, 1, 2) | kTransposeA, kI8, kI8, "F"},
      {".cta_group::2.kind::f16", Descriptor(256, 64, 0, 0, 1), Format::kF16, Format::kF16, "A"},
      {".cta_group::2.kind::f16", Descriptor(128, 128, 1, 1, 1) | kTransposeB, Format::kBF16, Format::kBF16, "B"},
      {".cta_group::2.kind::i8", Descriptor(256, 32, 1, 1, 2), kI8, kI8, "A"},
      {".ws.cta_group::1.kind::f16", Descriptor(64, 128, 0, 0, 1), Format::kF16, Format::kF16, "E"},
      {".ws.cta_group::1.kind::f16", Descriptor(32, 64, 0, 0, 1), Format::kF16, Format::kF16, "G"},
      {".ws.cta_group::1.kind::tf32", Descriptor(128, 64, 2, 2, 1), Format::kTF32, Format::kTF32, "D"},
  };
  for (const Problem& p : kProblems) Multiplication(p).Check();
}

const Problem kPlain = {".cta_group::1.kind::f16", Descriptor(128, 32, 0, 0, 1), Format::kF16, Format::kF16, "D"};

TEST(Tcgen05Mma, LanesThatAreLeft) {
  Multiplication m(kPlain);
  Tcgen05Input in = m.Input();
  in.accumulate = false;
  in.disabled[1] = 1u << 3;
  ASSERT_TRUE(RunTcgen05Mma(m.kind(), m.product(), in).ok());
  EXPECT_TRUE(std::isnan(m.Sum(35, 0)));
  EXPECT_FALSE(std::isnan(m.Sum(34, 0)));
}

TEST(Tcgen05Mma, SumsAreShifted) {
  Multiplication m(kPlain);
  Tcgen05Input in = m.Input();
  for (uint32_t lane = 0; lane < 128; ++lane) {
    for (uint32_t n = 0; n < 32; ++n) **m.memory(0).Row(lane, 256 + n, 1) = FloatBits(0);
  }
  ASSERT_TRUE(RunTcgen05Mma(m.kind(), m.product(), in).ok());
  const double once = m.Sum(7, 9);
  in.shift_d = 2;
  ASSERT_TRUE(RunTcgen05Mma(m.kind(), m.product(), in).ok());
  EXPECT_EQ(m.Sum(7, 9), once + once / 4);
}

TEST(Tcgen05Mma, WhereOperandsMayNotLie) {
  Multiplication m(kPlain);
  const auto error = [&](auto change) {
    Tcgen05Input in = m.Input();
    change(in);
    return std::string(RunTcgen05Mma(m.kind(), m.product(), in).message());
  };
  EXPECT_TRUE(absl::StrContains(error([](Tcgen05Input& in) { in.d |= 16 << 16; }), "D begins in lane 16"));
  EXPECT_TRUE(absl::StrContains(error([](Tcgen05Input& in) { in.d = 496; }), "D: columns 496 to 527"));
  EXPECT_TRUE(absl::StrContains(error([](Tcgen05Input& in) { in.a &= ~(uint64_t{1} << 46); }),
                                "A: the shared memory descriptor"));
  EXPECT_TRUE(
      absl::StrContains(error([](Tcgen05Input& in) { in.b |= uint64_t{1} << 61; }), "B: the shared memory descriptor"));
}

// Two blocks of K, e4m3 times 2^(SFA + SFB - 254).
TEST(Tcgen05Mma, BlockScales) {
  const uint32_t scaled =
      1u << 23 | static_cast<uint32_t>(32 / 8) << 17 | 8u << 24 | 1u << 4 | 2u << 29;  // ids: B 1, A 2
  Multiplication m({".cta_group::1.kind::mxf8f6f4.block_scale.block32", scaled, Format::kE4M3, Format::kE4M3, "D"});
  for (uint32_t lane = 0; lane < 128; ++lane) {
    for (uint32_t c = 0; c < 4; ++c) **m.memory(0).Row(lane, 0 + c, 1) = (127 + (lane % 32 + c) % 3) << 16;
    **m.memory(0).Row(lane, 8, 1) = (126 + lane % 2) << 8;
  }
  Tcgen05Input in = m.Input();
  in.accumulate = false;
  in.scale_a = 0, in.scale_b = 8;
  Multiplication plain({".cta_group::1.kind::f8f6f4", Descriptor(128, 32, 0, 0, 1), Format::kE4M3, Format::kE4M3, "D"});
  Tcgen05Input unscaled = plain.Input();
  unscaled.accumulate = false;
  ASSERT_TRUE(RunTcgen05Mma(m.kind(), m.product(), in).ok());
  ASSERT_TRUE(RunTcgen05Mma(plain.kind(), plain.product(), unscaled).ok());
  for (int row = 0; row < 128; ++row) {
    for (int n = 0; n < 32; ++n) {
      const int power = (row % 32 + row / 32) % 3 + n % 2 - 1;
      ASSERT_EQ(m.Sum(row, n), std::ldexp(plain.Sum(row, n), power)) << row << " " << n;
    }
  }
  **m.memory(0).Row(40, 0, 1) = 0;
  EXPECT_TRUE(absl::StrContains(RunTcgen05Mma(m.kind(), m.product(), in).message(), "the scale of row 8"));
}

TEST(Tcgen05Mma, DescriptorsThatNoInstructionTakes) {
  const auto error = [](absl::string_view kind, uint32_t bits) {
    return std::string(
        DecodeProduct(*Parse(absl::StrCat("tcgen05.mma.cta_group::1.kind::", kind)), bits).status().message());
  };
  const uint32_t good = Descriptor(128, 64, 0, 0, 1);
  EXPECT_EQ(error("f16", good), "");
  EXPECT_TRUE(absl::StrContains(error("f16", Descriptor(192, 64, 0, 0, 1)), "M = 192"));
  EXPECT_TRUE(absl::StrContains(error("f16", Descriptor(256, 64, 0, 0, 1)), "M = 256"));
  EXPECT_TRUE(absl::StrContains(error("f16", Descriptor(128, 40, 0, 0, 1)), "N = 40"));
  EXPECT_TRUE(absl::StrContains(error("f16", Descriptor(128, 0, 0, 0, 1)), "N = 0"));
  EXPECT_TRUE(absl::StrContains(error("f16", Descriptor(128, 64, 0, 1, 1)), "f16 by bf16"));
  EXPECT_TRUE(absl::StrContains(error("f16", Descriptor(128, 64, 2, 2, 1)), "types 2 and 2"));
  EXPECT_TRUE(absl::StrContains(error("f16", Descriptor(128, 64, 0, 0, 2)), "sums of type 2"));
  EXPECT_TRUE(absl::StrContains(error("tf32", Descriptor(128, 64, 2, 2, 0)), "sums of type 0"));
  EXPECT_TRUE(absl::StrContains(error("f16", good | 1 << 6), "bits"));
  EXPECT_TRUE(absl::StrContains(error("f16", good | 1 << 2), "sparse"));
  EXPECT_TRUE(absl::StrContains(error("f8f6f4", Descriptor(128, 64, 5, 0, 1) | kTransposeA), "less than 8 bits"));
  EXPECT_TRUE(absl::StrContains(error("i8", Descriptor(128, 64, 0, 1, 2) | kNegateA), "negates integers"));
  const uint32_t scaled = 1u << 7 | 1u << 10 | 8u << 17 | 8u << 24;
  EXPECT_EQ(error("mxf4nvf4.block_scale.block16", scaled), "");
  EXPECT_TRUE(absl::StrContains(error("mxf4nvf4.block_scale.block32", scaled), "ue4m3"));
  EXPECT_TRUE(absl::StrContains(error("mxf4.block_scale", scaled), "ue4m3"));
  EXPECT_TRUE(absl::StrContains(error("mxf4.block_scale", scaled | 1u << 23 | 1u << 29), "scale ids 1 and 0"));
  EXPECT_TRUE(absl::StrContains(error("mxf4.block_scale", scaled | 1u << 23 | 1u << 31), "K = 96"));
}

TEST(Tcgen05Mma, FormsThatDoNotExist) {
  for (const char* form :
       {"cta_group::1.kind::f64", "cta_group::3.kind::f16", "kind::f16", "ws.cta_group::2.kind::f16",
        "sp.cta_group::1.kind::f16", "cta_group::1.kind::mxf4nvf4.block_scale", "cta_group::1.kind::mxf8f6f4",
        "cta_group::1.kind::mxf4.block_scale.block16", "cta_group::1.kind::f16.ashift"}) {
    EXPECT_FALSE(Parse(absl::StrCat("tcgen05.mma.", form)).ok()) << form;
  }
}

}  // namespace
}  // namespace tile::gpu_sim

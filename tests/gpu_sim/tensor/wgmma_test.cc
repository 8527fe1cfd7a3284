#include "tests/gpu_sim/tensor/wgmma.h"

#include <cstring>
#include <random>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "gtest/gtest.h"

namespace tile::gpu_sim {
namespace {

absl::StatusOr<WgmmaKind> Parse(absl::string_view opcode) {
  const std::vector<absl::string_view> parts = absl::StrSplit(opcode, '.');
  return ParseWgmma(parts);
}

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

// An operand in shared memory, swizzled by its row, whose start is aligned. `rows` of the dimension that is not contiguous, of
// `pieces` times `span` bytes of the one that is.
struct Staged {
  uint32_t start, span, rows, pieces;
  uint32_t group_bytes;  // of eight rows, or more

  uint32_t PieceBytes() const { return rows / 8 * group_bytes; }
  // Of byte `along` in this row. In a row, chunks of 16 bytes are permuted: by the row's number at 128 bytes; there are two rows of
  // 64 bytes in a line of 128, and four of 32, which have the same permutation.
  uint32_t Address(uint32_t row, uint32_t along) const {
    const uint32_t lines = 128 / span, turn = row / lines % (span / 16);
    const uint32_t chunk = along % span / 16 ^ turn;
    return start + along / span * PieceBytes() + row / 8 * group_bytes + row % 8 * span + chunk * 16 + along % 16;
  }
  // Of the operand that begins there.
  uint64_t Descriptor(uint32_t row, uint32_t along) const {
    const uint32_t at = start + along / span * PieceBytes() + row / 8 * group_bytes + along % span;
    const uint64_t mode = span == 128 ? 1 : span == 64 ? 2 : 3;
    return at >> 4 | uint64_t{PieceBytes()} >> 4 << 16 | uint64_t{group_bytes} >> 4 << 32 | mode << 62;
  }
};

struct Problem {
  const char* types;
  int n, k;
  uint32_t span_a, span_b;
  bool mn_major_a, mn_major_b;
};

class Multiplication {
 public:
  explicit Multiplication(const Problem& p) : p_(p), random_(1), shared_(200 << 10) {
    const absl::StatusOr<WgmmaKind> kind =
        Parse(absl::StrCat("wgmma.mma_async.sync.aligned.m64n", p.n, "k", p.k, ".", p.types));
    EXPECT_TRUE(kind.ok()) << kind.status();
    kind_ = *kind;
    for (uint8_t& byte : shared_) byte = static_cast<uint8_t>(random_());
    a_ = Fill(kind_.a, p.mn_major_a, 64, p.span_a, 1024, &staged_a_);
    b_ = Fill(kind_.b, p.mn_major_b, p.n, p.span_b, 100 << 10, &staged_b_);
    for (auto& row : d_) {
      for (int i = 0; i < p.n; ++i) row.push_back(static_cast<int>(random_() % 201) - 100);
    }
  }

  void Run(int step, bool scale_d, bool a_in_registers) {
    const auto u = [](int v) { return static_cast<uint32_t>(v); };
    const uint32_t bytes = u(kind_.a.bits / 8), first = u(step * p_.k);
    WgmmaInput in;
    in.shared = shared_;
    in.scale_d = scale_d;
    in.scale_b = kind_.a.is_float ? -1 : 1;
    in.trans_a = p_.mn_major_a;
    in.trans_b = p_.mn_major_b;
    in.a_descriptor = p_.mn_major_a ? staged_a_.Descriptor(first, 0) : staged_a_.Descriptor(0, first * bytes);
    in.b_descriptor = p_.mn_major_b ? staged_b_.Descriptor(first, 0) : staged_b_.Descriptor(0, first * bytes);
    GroupWords words_a, words_d;
    for (int thread = 0; thread < 128; ++thread) {
      const auto t = static_cast<size_t>(thread);
      // The ISA's figure of A's registers, in words: rows g, g + 8, g, g + 8, of which the last two have the upper half of K.
      words_a[t].assign(4, 0);
      const int per_word = kind_.a.per_word();
      for (int i = 0; i < 4 * per_word; ++i) {
        const int row = RowOf(thread, (i / per_word) & 1);
        const int k = (thread % 4) * per_word + i % per_word + (i / per_word >= 2 ? p_.k / 2 : 0);
        words_a[t][static_cast<size_t>(i / per_word)] |= CodeOf(kind_.a, a_[u(row)][u(step * p_.k + k)])
                                                         << i % per_word * kind_.a.bits;
      }
      for (int i = 0; i < p_.n / 2; ++i)
        words_d[t].push_back(SumBits(kind_.a, d_[u(RowOf(thread, i / 2 & 1))][u(ColumnOf(thread, i))]));
    }
    if (a_in_registers) in.a = &words_a;
    const absl::Status s = RunWgmma(kind_, in, &words_d);
    ASSERT_TRUE(s.ok()) << s;
    for (int thread = 0; thread < 128; ++thread) {
      for (int i = 0; i < p_.n / 2; ++i) {
        const auto row = u(RowOf(thread, i / 2 & 1)), column = u(ColumnOf(thread, i));
        int sum = 0;
        for (uint32_t k = first; k < first + u(p_.k); ++k) sum += a_[row][k] * b_[column][k];
        sum = in.scale_b * sum + (scale_d ? d_[row][column] : 0);
        ASSERT_EQ(words_d[static_cast<size_t>(thread)][static_cast<size_t>(i)], SumBits(kind_.a, sum))
            << p_.types << " n " << p_.n << " thread " << thread << " register " << i;
      }
    }
  }

  static constexpr int kSteps = 2;  // instructions along K

 private:
  static int RowOf(int thread, int upper) { return thread / 32 * 16 + thread % 32 / 4 + 8 * upper; }
  static int ColumnOf(int thread, int i) { return i / 4 * 8 + thread % 4 * 2 + i % 2; }

  // Small numbers, by [mn][k], in shared memory, too.
  std::vector<std::vector<int>> Fill(const OperandType& type, bool mn_major, int mn, uint32_t span, uint32_t start,
                                     Staged* staged) {
    const auto bytes = static_cast<uint32_t>(type.bits / 8), depth = static_cast<uint32_t>(kSteps * p_.k);
    const uint32_t rows = mn_major ? depth : static_cast<uint32_t>(mn);
    const uint32_t along = (mn_major ? static_cast<uint32_t>(mn) : depth) * bytes;
    // Groups of eight rows need not follow each other.
    *staged = {start, span, rows, (along + span - 1) / span, mn_major ? 8 * span : 2 * 8 * span};
    std::vector<std::vector<int>> values(static_cast<size_t>(mn));
    for (uint32_t i = 0; i < values.size(); ++i) {
      for (uint32_t k = 0; k < depth; ++k) {
        const int v = static_cast<int>(random_() % 9) - (type.is_float || type.is_signed ? 4 : 0);
        values[i].push_back(v);
        const uint32_t code = CodeOf(type, v);
        const uint32_t at = mn_major ? staged->Address(k, i * bytes) : staged->Address(i, k * bytes);
        std::memcpy(shared_.data() + at, &code, bytes);
      }
    }
    return values;
  }

  const Problem p_;
  std::mt19937 random_;
  std::vector<uint8_t> shared_;
  WgmmaKind kind_;
  Staged staged_a_, staged_b_;
  std::vector<std::vector<int>> a_, b_;
  std::array<std::vector<int>, 64> d_;
};

TEST(Wgmma, MultipliesWhatLiesAsTheIsaSays) {
  const Problem kProblems[] = {
      {"f32.f16.f16", 8, 16, 128, 128, false, false},   {"f32.f16.f16", 128, 16, 64, 128, false, true},
      {"f32.bf16.bf16", 256, 16, 128, 64, true, false}, {"f32.bf16.bf16", 64, 16, 64, 64, true, true},
      {"f32.f16.f16", 16, 16, 128, 32, true, true},     {"f32.f16.f16", 48, 16, 32, 32, true, true},
      {"f32.tf32.tf32", 32, 8, 128, 64, false, false},  {"f32.e4m3.e5m2", 96, 32, 64, 128, false, false},
      {"s32.s8.u8", 32, 32, 128, 64, false, false},     {"s32.u8.s8", 24, 32, 64, 64, false, false},
  };
  for (const Problem& p : kProblems) {
    Multiplication m(p);
    for (int step = 0; step < Multiplication::kSteps; ++step) {
      m.Run(step, true, false);
      m.Run(step, false, false);
      m.Run(step, true, true);
    }
  }
}

// D = 0 * B + D, where D needs more bits than are kept.
TEST(Wgmma, SumsOf8BitFloatsAreShort) {
  for (const bool is_short : {false, true}) {
    const WgmmaKind kind =
        *Parse(absl::StrCat("wgmma.mma_async.sync.aligned.m64n8", is_short ? "k32.f32.e4m3.e4m3" : "k16.f32.f16.f16"));
    const std::vector<uint8_t> shared(16 << 10);
    WgmmaInput in;
    in.shared = shared;
    in.a_descriptor = in.b_descriptor = uint64_t{1024 >> 4} << 32 | uint64_t{1} << 62;
    GroupWords d;
    for (auto& words : d) words.assign(4, SumBits(kind.a, -0x8001));
    ASSERT_TRUE(RunWgmma(kind, in, &d).ok());
    EXPECT_EQ(d[77][3], SumBits(kind.a, is_short ? -0x8000 : -0x8001));
  }
}

TEST(Wgmma, RefusesDescriptors) {
  const WgmmaKind kind = *Parse("wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16");
  const std::vector<uint8_t> shared(16 << 10);
  const auto run = [&](uint64_t a, uint64_t b) {
    WgmmaInput in;
    in.shared = shared;
    in.a_descriptor = a;
    in.b_descriptor = b;
    GroupWords d;
    return RunWgmma(kind, in, &d);
  };
  constexpr uint64_t kGood = uint64_t{1024 >> 4} << 32 | uint64_t{1} << 62;
  EXPECT_TRUE(run(kGood, kGood).ok());
  EXPECT_TRUE(absl::StrContains(run(kGood, kGood | uint64_t{1} << 49).message(), "base offset"));
  EXPECT_TRUE(absl::StrContains(run(kGood, kGood | 128 >> 4).message(), "begins at 128"));
  EXPECT_TRUE(absl::StrContains(run(kGood & ~(uint64_t{3} << 62), kGood).message(), "A is not swizzled"));
  EXPECT_TRUE(absl::StrContains(run(kGood | (15 << 10) >> 4, kGood).message(), "outside of shared memory"));
}

TEST(Wgmma, UnknownForms) {
  for (absl::string_view form :
       {"m64n8k16.f16.f16.f16", "m64n12k16.f32.f16.f16", "m64n264k16.f32.f16.f16", "m64n8k8.f32.f16.f16",
        "m64n40k32.s32.s8.s8", "m64n8k16.f32.f16.bf16", "m64n8k32.s32.s8.s8.satfinite", "m128n8k16.f32.f16.f16"}) {
    const std::string opcode = absl::StrCat("wgmma.mma_async.sync.aligned.", form);
    const absl::StatusOr<WgmmaKind> kind = Parse(opcode);
    EXPECT_FALSE(kind.ok()) << opcode;
    EXPECT_TRUE(absl::StrContains(kind.status().message(), opcode)) << kind.status();
  }
}

}  // namespace
}  // namespace tile::gpu_sim

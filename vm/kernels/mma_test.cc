#include "vm/kernels/mma.h"

#include <cmath>
#include <cstring>
#include <string>
#include <tuple>
#include <vector>

#include "gtest/gtest.h"
#include "vm/kernels/mma_testing.h"

namespace tile::vm {
namespace {
using ir::Elem;
using ir::Signedness;

// Value of an operand's code.
double Value(Elem e, uint64_t bits) {
  switch (e) {
    case Elem::kF16: return Decode(kF16Format, bits);
    case Elem::kBF16: return Decode(kBF16Format, bits);
    case Elem::kF32: return Decode(kF32Format, bits);
    case Elem::kTF32: return Decode(kF32Format, bits & ~uint64_t{0x1fff});
    case Elem::kF64: return Decode(kF64Format, bits);
    case Elem::kF8E5M2: return Decode({5, 2}, bits);
    case Elem::kF4E2M1FN: {
      const double magnitudes[] = {0, 0.5, 1, 1.5, 2, 3, 4, 6};
      return bits & 8 ? -magnitudes[bits & 7] : magnitudes[bits & 7];
    }
    case Elem::kF8E8M0FNU: return bits == 0xff ? NAN : std::ldexp(1.0, static_cast<int>(bits) - 127);
    case Elem::kF8E4M3FN:
    case Elem::kF8E5M3FNU: {  // No infinity: the highest exponent is one as others.
      const bool is_signed = e == Elem::kF8E4M3FN;
      const int bias = is_signed ? 7 : 15;
      const uint64_t magnitude = is_signed ? bits & 0x7f : bits;
      if (magnitude == (is_signed ? 0x7f : 0xff)) return NAN;
      const int exponent = static_cast<int>(magnitude >> 3), mantissa = static_cast<int>(magnitude & 7);
      const double x = std::ldexp(exponent ? 8 + mantissa : mantissa, (exponent ? exponent : 1) - bias - 3);
      return is_signed && (bits & 0x80) ? -x : x;
    }
    default: ADD_FAILURE(); return 0;
  }
}

uint64_t Get(const std::vector<uint8_t>& v, Elem e, int64_t i) {
  uint64_t bits = 0;
  std::memcpy(&bits, &v[i * ir::StorageBytes(e)], ir::StorageBytes(e));
  return bits;
}
void Put(std::vector<uint8_t>& v, Elem e, int64_t i, uint64_t bits) {
  std::memcpy(&v[i * ir::StorageBytes(e)], &bits, ir::StorageBytes(e));
}

// Random codes. `wild` ones are any bits (infinities, NaN, subnormals); others have values of moderate size, so that
// sums cancel and round.
std::vector<uint8_t> Codes(Elem e, int64_t count, bool wild, Random& random) {
  std::vector<uint8_t> v(count * ir::StorageBytes(e));
  for (int64_t i = 0; i < count; ++i) {
    uint64_t bits = random.Bits();
    if (!wild) {
      const double x = static_cast<double>(static_cast<int64_t>(random.Bits() << 8) >> 8) * 0x1p-54;
      switch (e) {
        case Elem::kF16: bits = Encode(kF16Format, x); break;
        case Elem::kBF16: bits = Encode(kBF16Format, x); break;
        case Elem::kF32:
        case Elem::kTF32: bits = Encode(kF32Format, x); break;
        case Elem::kF64: bits = Encode(kF64Format, x); break;
        case Elem::kF8E4M3FN:
        case Elem::kF8E5M2: bits &= 0xbf; break;
        case Elem::kF8E8M0FNU: bits = 120 + bits % 16; break;
        case Elem::kF8E5M3FNU: bits = 0x50 + bits % 0x40; break;
        default: break;
      }
    } else if (e == Elem::kF32 && i % 4 == 0) {
      bits &= 0x87ffffff;  // Small ones: products in and below the range of subnormals.
    }
    Put(v, e, i, bits);
  }
  return v;
}

struct Case {
  MmaKey key;
  int64_t m, n, k;
  int64_t gap = 0;  // elements between rows
  int64_t scale_block = 0;
  bool wild = false;
};

// Runs the kernel and the definition on the same random operands.
void Check(const Case& c, Isa isa) {
  const MmaFn mma = FindMma(c.key, isa);
  ASSERT_NE(mma, nullptr);
  Random random(c.m * 1000003 + c.n * 1009 + c.k + c.wild);
  const Elem ab = c.key.ab, ce = c.key.c;
  MmaParams p = MmaParams::Dense(c.m, c.n, c.k);
  p.lda += c.gap, p.ldb += c.gap, p.ldc += c.gap, p.ldout += 2 * c.gap;
  const std::vector<uint8_t> a = Codes(ab, c.m * p.lda, c.wild, random), b = Codes(ab, c.k * p.ldb, c.wild, random);
  const std::vector<uint8_t> acc = Codes(ce, c.m * p.ldc, c.wild, random);
  std::vector<uint8_t> out(c.m * p.ldout * ir::StorageBytes(ce), 0xa5), untouched = out;
  std::vector<uint8_t> sa, sb;
  if (c.scale_block) {
    p.scale_block = c.scale_block;
    p.ld_scale_a = c.k / c.scale_block + c.gap, p.ld_scale_b = p.ldb;
    sa = Codes(*c.key.scale, c.m * p.ld_scale_a, c.wild, random);
    sb = Codes(*c.key.scale, c.k / c.scale_block * p.ld_scale_b, c.wild, random);
  }
  // Exactly as many bytes as promised, so that a sanitizer sees one more.
  std::vector<uint8_t> scratch(MmaScratchBytes(c.key, c.m, c.n, c.k));
  p.a = a.data(), p.b = b.data(), p.c = acc.data(), p.out = out.data(), p.scratch = scratch.data();
  p.scale_a = sa.data(), p.scale_b = sb.data();
  mma(p);

  const auto scaled = [&](double x, const std::vector<uint8_t>& scales, int64_t i) {
    return c.scale_block ? static_cast<float>(x) * static_cast<float>(Value(*c.key.scale, scales[i])) : x;
  };
  for (int64_t i = 0; i < c.m; ++i) {
    for (int64_t j = 0; j < c.n; ++j) {
      const uint64_t start = Get(acc, ce, i * p.ldc + j);
      uint64_t want;
      if (ab == Elem::kI8) {
        uint32_t sum = static_cast<uint32_t>(start);
        for (int64_t k = 0; k < c.k; ++k) {
          const uint8_t x = a[i * p.lda + k], y = b[k * p.ldb + j];
          sum += static_cast<uint32_t>((c.key.signedness_a == Signedness::kSigned ? static_cast<int8_t>(x) : int{x}) *
                                       (c.key.signedness_b == Signedness::kSigned ? static_cast<int8_t>(y) : int{y}));
        }
        want = sum;
      } else if (ab == Elem::kF64) {
        double sum = Value(ce, start);
        for (int64_t k = 0; k < c.k; ++k) {
          sum = std::fma(Value(ab, Get(a, ab, i * p.lda + k)), Value(ab, Get(b, ab, k * p.ldb + j)), sum);
        }
        std::memcpy(&want, &sum, 8);
        if (std::isnan(sum)) want = uint64_t{0x7ff8} << 48;
      } else {
        float sum = static_cast<float>(Value(ce, start));
        for (int64_t k = 0; k < c.k; ++k) {
          const int64_t block = c.scale_block ? k / c.scale_block : 0;
          const double x = scaled(Value(ab, Get(a, ab, i * p.lda + k)), sa, i * p.ld_scale_a + block);
          const double y = scaled(Value(ab, Get(b, ab, k * p.ldb + j)), sb, block * p.ld_scale_b + j);
          sum = std::fmaf(static_cast<float>(x), static_cast<float>(y), sum);
        }
        want = Encode(ce == Elem::kF16 ? kF16Format : kF32Format, sum);
      }
      ASSERT_EQ(Get(out, ce, i * p.ldout + j), want)
          << IsaName(isa) << " [" << i << ", " << j << "] of " << c.m << "x" << c.n << "x" << c.k;
      Put(out, ce, i * p.ldout + j, Get(untouched, ce, 0));
    }
  }
  EXPECT_EQ(out, untouched) << "wrote between the rows";
}

const std::vector<MmaKey>& Keys() {
  static const std::vector<MmaKey> keys = [] {
    std::vector<MmaKey> k;
    for (const auto& [ab, c] : {std::pair{Elem::kF32, Elem::kF32},
                                {Elem::kF64, Elem::kF64},
                                {Elem::kTF32, Elem::kF32},
                                {Elem::kF16, Elem::kF32},
                                {Elem::kF16, Elem::kF16},
                                {Elem::kBF16, Elem::kF32},
                                {Elem::kF8E4M3FN, Elem::kF32},
                                {Elem::kF8E4M3FN, Elem::kF16},
                                {Elem::kF8E5M2, Elem::kF32},
                                {Elem::kF8E5M2, Elem::kF16}}) {
      k.push_back({.ab = ab, .c = c});
    }
    for (const Signedness a : {Signedness::kSigned, Signedness::kUnsigned}) {
      for (const Signedness b : {Signedness::kSigned, Signedness::kUnsigned}) {
        k.push_back({.ab = Elem::kI8, .c = Elem::kI32, .signedness_a = a, .signedness_b = b});
      }
    }
    return k;
  }();
  return keys;
}

class MmaTest : public testing::TestWithParam<std::tuple<int, Isa>> {
 protected:
  MmaKey key() const { return Keys()[std::get<0>(GetParam())]; }
  Isa isa() const { return std::get<1>(GetParam()); }
};

TEST_P(MmaTest, EveryShape) {
  for (const int64_t m : {1, 2, 4, 8, 16, 32, 64}) {
    for (const int64_t n : {1, 2, 4, 8, 16, 32, 64}) {
      for (const int64_t k : {1, 2, 4, 16, 32}) Check({.key = key(), .m = m, .n = n, .k = k}, isa());
    }
  }
}
TEST_P(MmaTest, SizesThatAreNoPowersOfTwo) {
  for (const int64_t m : {3, 13, 22}) Check({.key = key(), .m = m, .n = 37, .k = 5}, isa());
}
TEST_P(MmaTest, SeveralBlocksOfRows) { Check({.key = key(), .m = 64, .n = 4, .k = 2048}, isa()); }
TEST_P(MmaTest, RowsApart) {
  Check({.key = key(), .m = 16, .n = 32, .k = 8, .gap = 5}, isa());
  Check({.key = key(), .m = 2, .n = 64, .k = 8, .gap = 5}, isa());
  Check({.key = key(), .m = 16, .n = 64, .k = 8, .gap = 4096}, isa());
}
TEST_P(MmaTest, AnyBits) {
  Check({.key = key(), .m = 64, .n = 64, .k = 1, .wild = true}, isa());
  Check({.key = key(), .m = 64, .n = 64, .k = 4, .wild = true}, isa());
}
TEST_P(MmaTest, InPlace) {
  // out == c.
  const int64_t m = 16, n = 48, k = 16;
  Random random(7);
  const std::vector<uint8_t> a = Codes(key().ab, m * k, false, random), b = Codes(key().ab, k * n, false, random);
  const std::vector<uint8_t> c = Codes(key().c, m * n, false, random);
  std::vector<uint8_t> apart(c.size()), in_place = c, scratch(MmaScratchBytes(key(), m, n, k));
  MmaParams p = MmaParams::Dense(m, n, k);
  p.a = a.data(), p.b = b.data(), p.c = c.data(), p.out = apart.data(), p.scratch = scratch.data();
  FindMma(key(), isa())(p);
  p.c = p.out = in_place.data();
  FindMma(key(), isa())(p);
  EXPECT_EQ(apart, in_place);
}

INSTANTIATE_TEST_SUITE_P(All, MmaTest,
                         testing::Combine(testing::Range(0, static_cast<int>(Keys().size())),
                                          testing::ValuesIn(SupportedIsas())),
                         [](const auto& info) {
                           const MmaKey key = Keys()[std::get<0>(info.param)];
                           return std::string(ir::ElemInfoOf(key.ab).spelling) + "_" + ir::ElemInfoOf(key.c).spelling +
                                  (key.ab == Elem::kI8 ? ir::Keyword(key.signedness_a)[0] == 's' ? "_s" : "_u" : "") +
                                  (key.ab == Elem::kI8 ? ir::Keyword(key.signedness_b)[0] == 's' ? "s" : "u" : "") +
                                  "_" + IsaName(std::get<1>(info.param));
                         });

// Sums a hair's breadth beside the middle of two floats: rounding them to double first would put them on the middle.
TEST(MmaFloat, RoundsOnce) {
  const int64_t m = 64, n = 64;
  const MmaKey key{.ab = Elem::kF32, .c = Elem::kF32};
  std::vector<uint8_t> scratch(MmaScratchBytes(key, m, n, 1));
  for (const Isa isa : SupportedIsas()) {
    // Around 1, and where the results are subnormal.
    for (const float scale : {1.0f, 0x1p-130f}) {
      std::vector<float> a(m), b(n), c(m * n), out(m * n);
      for (int i = 0; i < 64; ++i) {
        a[i] = (i % 2 ? -1.0f : 1.0f) * (1 + static_cast<float>(i / 2 - 16) * 0x1p-23f);
        b[i] = 0x1p-24f * (1 + static_cast<float>(i - 32) * 0x1p-23f);
        if (scale < 1) a[i] *= 0x1p-63f, b[i] *= 0x1p-63f;  // half of the smallest subnormal
      }
      for (int i = 0; i < m * n; ++i) c[i] = scale * (1 + static_cast<float>(i / 3 % 8) * 0x1p-23f);
      MmaParams p = MmaParams::Dense(m, n, 1);
      p.a = a.data(), p.b = b.data(), p.c = c.data(), p.out = out.data(), p.scratch = scratch.data();
      FindMma(key, isa)(p);
      for (int i = 0; i < m * n; ++i) {
        ASSERT_EQ(out[i], std::fmaf(a[i / n], b[i % n], c[i]))
            << IsaName(isa) << std::hexfloat << " " << a[i / n] << " * " << b[i % n] << " + " << c[i];
      }
    }
  }
}

TEST(MmaScaled, AllPairs) {
  struct Row {
    Elem ab, scale;
    int64_t block;
  };
  for (const Row r : {Row{Elem::kF8E4M3FN, Elem::kF8E8M0FNU, 32}, Row{Elem::kF8E5M2, Elem::kF8E8M0FNU, 32},
                      Row{Elem::kF4E2M1FN, Elem::kF8E8M0FNU, 16}, Row{Elem::kF4E2M1FN, Elem::kF8E8M0FNU, 32},
                      Row{Elem::kF4E2M1FN, Elem::kF8E4M3FN, 16}, Row{Elem::kF4E2M1FN, Elem::kF8E5M3FNU, 16}}) {
    for (const Isa isa : SupportedIsas()) {
      for (const bool wild : {false, true}) {
        const MmaKey key{.ab = r.ab, .c = Elem::kF32, .scale = r.scale};
        Check({.key = key, .m = 16, .n = 64, .k = 64, .scale_block = r.block, .wild = wild}, isa);
        Check({.key = key, .m = 4, .n = 2, .k = 32, .gap = 3, .scale_block = r.block, .wild = wild}, isa);
      }
    }
  }
}

TEST(MmaScaled, ExampleOfTheReference) {
  // 2x64 ones with scales 2: 64 * (1 * 2) * (1 * 2) = 256.
  const MmaKey key{.ab = Elem::kF8E4M3FN, .c = Elem::kF32, .scale = Elem::kF8E8M0FNU};
  const std::vector<uint8_t> ones(128, 0x38), twos(4, 128);
  float out[4] = {};
  std::vector<uint8_t> scratch(MmaScratchBytes(key, 2, 2, 64));
  MmaParams p = MmaParams::Dense(2, 2, 64);
  p.a = p.b = ones.data(), p.scale_a = p.scale_b = twos.data();
  p.ld_scale_a = p.ld_scale_b = 2, p.scale_block = 32;
  p.c = p.out = out, p.scratch = scratch.data();
  FindMma(key)(p);
  for (const float x : out) EXPECT_EQ(x, 256);
}

TEST(FindMma, RefusesOtherPairs) {
  EXPECT_EQ(FindMma({.ab = Elem::kBF16, .c = Elem::kF16}), nullptr);
  EXPECT_EQ(FindMma({.ab = Elem::kI8, .c = Elem::kF32}), nullptr);
  EXPECT_EQ(FindMma({.ab = Elem::kF4E2M1FN, .c = Elem::kF32}), nullptr);
  EXPECT_EQ(FindMma({.ab = Elem::kF32, .c = Elem::kF32, .scale = Elem::kF8E8M0FNU}), nullptr);
}

}  // namespace
}  // namespace tile::vm

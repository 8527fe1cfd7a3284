#include "vm/kernels/reduce.h"

#include <cmath>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "vm/kernels/mma_testing.h"

namespace tile::vm {
namespace {
using ir::Elem;
using ir::Opcode;
using ir::Signedness;

// Bits of (element, accumulator) to bits.
using Step = std::function<uint64_t(uint64_t, uint64_t)>;

FloatFormat FormatOf(Elem e) {
  return e == Elem::kF16 ? kF16Format : e == Elem::kBF16 ? kBF16Format : e == Elem::kF32 ? kF32Format : kF64Format;
}

// One operation on bits, as docs/operations.md tells it.
Step StepOf(const ReduceKey& key) {
  const int bits = ir::ElemInfoOf(key.elem).bits;
  if (ir::IsInt(key.elem)) {
    const uint64_t mask = bits == 64 ? ~uint64_t{0} : (uint64_t{1} << bits) - 1;
    return [key, bits, mask](uint64_t a, uint64_t b) -> uint64_t {
      const auto value = [&](uint64_t x) { return static_cast<int64_t>(x << (64 - bits)) >> (64 - bits); };
      const bool less = key.signedness == Signedness::kSigned ? value(a) < value(b) : a < b;
      if (key.op == Opcode::kAddi) return (a + b) & mask;
      if (key.op == Opcode::kMuli) return (a * b) & mask;
      if (key.op == Opcode::kAndi) return a & b;
      if (key.op == Opcode::kOri) return a | b;
      if (key.op == Opcode::kXori) return a ^ b;
      if (key.op == Opcode::kMaxi) return less ? b : a;
      return less ? a : b;
    };
  }
  const FloatFormat f = FormatOf(key.elem);
  return [key, f](uint64_t x, uint64_t y) -> uint64_t {
    const auto flushed = [&](double v) {
      return key.flush_to_zero && std::fabs(v) < 0x1p-126 ? std::copysign(0.0, v) : v;
    };
    const double a = flushed(Decode(f, x)), b = flushed(Decode(f, y));
    double r;
    if (key.op == Opcode::kAddf || key.op == Opcode::kMulf) {
      const bool add = key.op == Opcode::kAddf;
      if (key.elem == Elem::kF64) {
        r = add ? a + b : a * b;
      } else {
        // Computed as f32, then rounded to the element.
        const float fa = static_cast<float>(a), fb = static_cast<float>(b);
        r = add ? fa + fb : fa * fb;
      }
    } else if (std::isnan(a) || std::isnan(b)) {
      r = key.propagate_nan || (std::isnan(a) && std::isnan(b)) ? NAN : std::isnan(a) ? b : a;
    } else if (a == b) {
      const bool negative =
          key.op == Opcode::kMaxf ? std::signbit(a) && std::signbit(b) : std::signbit(a) || std::signbit(b);
      r = std::copysign(a, negative ? -1.0 : 1.0);
    } else {
      r = (key.op == Opcode::kMaxf) == (a > b) ? a : b;
    }
    return Encode(f, flushed(Decode(f, Encode(f, r))));
  };
}

bool IsNarrow(Elem e) { return e == Elem::kF16 || e == Elem::kBF16; }

// Neighbours, then pairs of them, and so on; what has no partner stays for the end.
uint64_t Tree(const Step& step, const std::vector<uint64_t>& row) {
  std::vector<std::pair<size_t, uint64_t>> sums;  // how many elements, their sum; as a binary counter
  for (const uint64_t x : row) {
    sums.push_back({1, x});
    while (sums.size() > 1 && sums[sums.size() - 2].first == sums.back().first) {
      const auto upper = sums.back();
      sums.pop_back();
      sums.back() = {2 * upper.first, step(upper.second, sums.back().second)};
    }
  }
  uint64_t all = sums.back().second;
  for (size_t i = sums.size() - 1; i-- > 0;) all = step(all, sums[i].second);
  return all;
}

// Each element of the upper half of a block takes the total of the lower half.
void ScanTree(const Step& step, std::vector<uint64_t>& row) {
  for (size_t half = 1; half < row.size(); half *= 2) {
    for (size_t i = 0; i < row.size(); ++i) {
      if ((i & half) != 0) row[i] = step(row[i], row[i / (2 * half) * (2 * half) + half - 1]);
    }
  }
}

// The order of reduce.h.
uint64_t ReduceRow(const ReduceKey& key, const Step& step, const std::vector<uint64_t>& row, uint64_t identity,
                   bool partials) {
  uint64_t p[16];
  uint64_t nothing = 0;
  if (key.op == Opcode::kAddf) nothing = Encode(FormatOf(key.elem), -0.0);
  if (key.op == Opcode::kMulf) nothing = Encode(FormatOf(key.elem), 1.0);
  for (uint64_t& x : p) x = nothing;
  if (IsNarrow(key.elem) && (key.op == Opcode::kAddf || key.op == Opcode::kMulf)) {
    if (!partials) return Tree(step, row);
    for (size_t k = 0; k < 16; ++k) {
      std::vector<uint64_t> part;
      for (size_t i = k; i < (row.size() + 15) / 16 * 16; i += 16) part.push_back(i < row.size() ? row[i] : nothing);
      p[k] = Tree(step, part);
    }
    for (size_t half = 8; half >= 1; half /= 2) {
      for (size_t i = 0; i < half; ++i) p[i] = step(p[i + half], p[i]);
    }
    return p[0];
  }
  p[0] = identity;
  for (size_t i = 0; i < row.size(); ++i) {
    uint64_t& to = p[partials ? i % 16 : 0];
    to = step(row[i], to);
  }
  if (partials) {
    for (int half = 8; half >= 1; half /= 2) {
      for (int i = 0; i < half; ++i) p[i] = step(p[i + half], p[i]);
    }
  }
  return p[0];
}

struct Shape {
  int64_t outer, n, inner;
};
const Shape kShapes[] = {{1, 1, 1},   {3, 2, 1},   {2, 4, 1},   {5, 16, 1}, {1, 64, 1}, {2, 37, 1},
                         {1, 128, 1}, {9, 256, 1}, {1, 700, 1}, {2, 1, 2},  {3, 8, 4},  {2, 5, 8},
                         {1, 16, 16}, {2, 3, 64},  {1, 4, 300}, {3, 2, 513}};

class Data {
 public:
  Data(Elem e, int64_t count) : bytes_(ir::StorageBytes(e)), v(count * bytes_ + 1, 0xa5) {}
  uint64_t Get(int64_t i) const {
    uint64_t x = 0;
    std::memcpy(&x, &v[i * bytes_], bytes_);
    return x;
  }
  void Put(int64_t i, uint64_t x) { std::memcpy(&v[i * bytes_], &x, bytes_); }

 private:
  size_t bytes_;

 public:
  std::vector<uint8_t> v;
};

// wild: any bits; else floats near one, so that sums and products round.
Data Input(const ReduceKey& key, int64_t count, bool wild, Random& random) {
  Data d(key.elem, count);
  for (int64_t i = 0; i < count; ++i) {
    uint64_t x = random.Bits();
    if (key.elem == Elem::kI1) x &= 1;
    if (!wild && !ir::IsInt(key.elem)) {
      const double u = static_cast<double>(x >> 11) * 0x1p-53;
      x = Encode(FormatOf(key.elem), key.op == Opcode::kMulf ? 0.8 + 0.4 * u : 2 * u - 0.9);
    } else if (wild && key.elem == Elem::kF32 && i % 3 == 0) {
      x &= 0x80ffffff;  // subnormals and their neighbours
    }
    if (wild && i % 7 == 0 && !ir::IsInt(key.elem)) x = Encode(FormatOf(key.elem), i % 2 ? 0.0 : -0.0);
    if (wild && key.propagate_nan && i % 50 != 0 && !ir::IsInt(key.elem) && std::isnan(Decode(FormatOf(key.elem), x)))
      x = 0;
    d.Put(i, x);
  }
  return d;
}

std::string Name(const ReduceKey& key, Isa isa) {
  return std::to_string(static_cast<int>(key.op)) + " " + ir::ElemInfoOf(key.elem).spelling +
         (key.propagate_nan ? " nan" : "") + (key.flush_to_zero ? " ftz" : "") + " " + ir::Keyword(key.signedness) +
         " " + IsaName(isa);
}

void Check(const ReduceKey& key, uint64_t identity, const Shape& s, bool wild, Isa isa) {
  SCOPED_TRACE(Name(key, isa) + (wild ? " wild" : "") + " " + std::to_string(s.outer) + "x" + std::to_string(s.n) +
               "x" + std::to_string(s.inner));
  const ReduceFn reduce = FindReduce(key, isa);
  const ScanFn scan = FindScan(key, isa);
  ASSERT_NE(reduce, nullptr);
  ASSERT_NE(scan, nullptr);
  Random random(s.outer * 7919 + s.n * 31 + s.inner);
  const int64_t count = s.outer * s.n * s.inner;
  const Data in = Input(key, count, wild, random);
  const Step step = StepOf(key);
  const bool sum = key.op == Opcode::kAddf || key.op == Opcode::kMulf;

  Data got(key.elem, s.outer * s.inner), want = got;
  Data forward(key.elem, count), backward = forward, want_forward = forward, want_backward = forward;
  reduce(got.v.data(), in.v.data(), s.outer, s.n, s.inner, identity);
  scan(forward.v.data(), in.v.data(), s.outer, s.n, s.inner, false, identity);
  scan(backward.v.data(), in.v.data(), s.outer, s.n, s.inner, true, identity);
  for (int64_t o = 0; o < s.outer; ++o) {
    for (int64_t j = 0; j < s.inner; ++j) {
      const auto at = [&](int64_t i) { return (o * s.n + i) * s.inner + j; };
      std::vector<uint64_t> row(s.n);
      for (int64_t i = 0; i < s.n; ++i) row[i] = in.Get(at(i));
      if (sum && IsNarrow(key.elem)) {
        for (uint64_t& x : row) x = Encode(FormatOf(key.elem), Decode(FormatOf(key.elem), x));  // NaN is canonical
      }
      want.Put(o * s.inner + j, ReduceRow(key, step, row, identity, sum && s.inner == 1));
      if (sum && IsNarrow(key.elem)) {
        std::vector<uint64_t> upward = row, downward(row.rbegin(), row.rend());
        ScanTree(step, upward);
        ScanTree(step, downward);
        for (int64_t i = 0; i < s.n; ++i) {
          want_forward.Put(at(i), upward[i]);
          want_backward.Put(at(s.n - 1 - i), downward[i]);
        }
        continue;
      }
      uint64_t acc = identity;
      for (int64_t i = 0; i < s.n; ++i) want_forward.Put(at(i), acc = step(row[i], acc));
      acc = identity;
      for (int64_t i = s.n - 1; i >= 0; --i) want_backward.Put(at(i), acc = step(row[i], acc));
    }
  }
  // The last byte is no element: nothing is written behind the end.
  ASSERT_EQ(got.v, want.v);
  ASSERT_EQ(forward.v, want_forward.v);
  ASSERT_EQ(backward.v, want_backward.v);
  Data in_place = in;
  scan(in_place.v.data(), in_place.v.data(), s.outer, s.n, s.inner, true, identity);
  ASSERT_EQ(in_place.v, want_backward.v);
}

class ReduceTest : public testing::TestWithParam<Isa> {};

TEST_P(ReduceTest, Integers) {
  for (const Elem e : {Elem::kI1, Elem::kI8, Elem::kI16, Elem::kI32, Elem::kI64}) {
    const int bits = ir::ElemInfoOf(e).bits;
    const uint64_t ones = ~uint64_t{0} >> (64 - bits), top = uint64_t{1} << (bits - 1);
    for (const Signedness s : {Signedness::kSigned, Signedness::kUnsigned}) {
      const bool is_signed = s == Signedness::kSigned;
      for (const auto& [op, identity] : {std::pair<Opcode, uint64_t>{Opcode::kAddi, 0},
                                         {Opcode::kMuli, 1},
                                         {Opcode::kAndi, ones},
                                         {Opcode::kOri, 0},
                                         {Opcode::kXori, 0},
                                         {Opcode::kMaxi, is_signed ? top : 0},
                                         {Opcode::kMini, is_signed ? ones ^ top : ones}}) {
        const ReduceKey key{.op = op, .elem = e, .signedness = s};
        for (const Shape& shape : kShapes) {
          Check(key, identity, shape, true, GetParam());
          if (HasFatalFailure()) return;
        }
        // A start that is no identity counts once.
        Check(key, 5 & ones, {3, 300, 1}, true, GetParam());
        Check(key, 5 & ones, {3, 30, 7}, true, GetParam());
      }
    }
  }
}

TEST_P(ReduceTest, Floats) {
  for (const Elem e : {Elem::kF16, Elem::kBF16, Elem::kF32, Elem::kF64}) {
    const auto bits = [&](double x) { return Encode(FormatOf(e), x); };
    for (const auto& [op, identity] : {std::pair{Opcode::kAddf, 0.0},
                                       {Opcode::kAddf, -0.0},
                                       {Opcode::kMulf, 1.0},
                                       {Opcode::kAddf, 3.0},
                                       {Opcode::kMaxf, -HUGE_VAL},
                                       {Opcode::kMaxf, double{NAN}},
                                       {Opcode::kMinf, HUGE_VAL},
                                       {Opcode::kMaxf, 0.5},
                                       {Opcode::kMinf, -0.0}}) {
      for (const bool nan : {false, true}) {
        for (const bool flush : {false, true}) {
          if (flush && e != Elem::kF32) continue;
          if (nan && (op == Opcode::kAddf || op == Opcode::kMulf)) continue;
          const ReduceKey key{.op = op, .elem = e, .propagate_nan = nan, .flush_to_zero = flush};
          for (const Shape& shape : kShapes) {
            for (const bool wild : {false, true}) {
              Check(key, bits(identity), shape, wild, GetParam());
              if (HasFatalFailure()) return;
            }
          }
        }
      }
    }
  }
}

// What a running sum cannot do: 256 + 1 is 256 in bf16.
TEST_P(ReduceTest, NarrowSumsDoNotStop) {
  const ReduceKey key{.op = Opcode::kAddf, .elem = Elem::kBF16};
  const uint64_t one = Encode(FormatOf(key.elem), 1);
  for (const int64_t inner : {1, 4}) {
    Data in(key.elem, 65536 * inner), sum(key.elem, inner), prefix(key.elem, 65536 * inner);
    for (int64_t i = 0; i < 65536 * inner; ++i) in.Put(i, one);
    FindReduce(key, GetParam())(sum.v.data(), in.v.data(), 1, 65536, inner, NeutralBits(key));
    FindScan(key, GetParam())(prefix.v.data(), in.v.data(), 1, 65536, inner, false, NeutralBits(key));
    for (int64_t j = 0; j < inner; ++j) {
      EXPECT_EQ(Decode(FormatOf(key.elem), sum.Get(j)), 65536);
      for (int64_t i = 1; i <= 65536; i *= 2) EXPECT_EQ(Decode(FormatOf(key.elem), prefix.Get((i - 1) * inner + j)), i);
    }
  }
}

TEST(NeutralBits, ChangesNothing) {
  const auto bits = [](Elem e, double x) { return Encode(FormatOf(e), x); };
  EXPECT_EQ(NeutralBits({.op = Opcode::kAddf, .elem = Elem::kF32}), bits(Elem::kF32, -0.0));
  EXPECT_EQ(NeutralBits({.op = Opcode::kMulf, .elem = Elem::kBF16}), bits(Elem::kBF16, 1));
  EXPECT_TRUE(std::isnan(Decode(FormatOf(Elem::kF16), NeutralBits({.op = Opcode::kMaxf, .elem = Elem::kF16}))));
  EXPECT_EQ(NeutralBits({.op = Opcode::kMinf, .elem = Elem::kF64, .propagate_nan = true}), bits(Elem::kF64, HUGE_VAL));
  EXPECT_EQ(NeutralBits({.op = Opcode::kMaxi, .elem = Elem::kI8}), 0x80u);
  EXPECT_EQ(NeutralBits({.op = Opcode::kMini, .elem = Elem::kI64}), ~uint64_t{0} >> 1);
  EXPECT_EQ(NeutralBits({.op = Opcode::kMini, .elem = Elem::kI16, .signedness = Signedness::kUnsigned}), 0xffffu);
}

INSTANTIATE_TEST_SUITE_P(All, ReduceTest, testing::ValuesIn(SupportedIsas()),
                         [](const auto& info) { return IsaName(info.param); });

TEST(FindReduce, KnowsWhatItDoesNotHave) {
  EXPECT_EQ(FindReduce({.op = Opcode::kSubi, .elem = Elem::kI32}), nullptr);
  EXPECT_EQ(FindReduce({.op = Opcode::kAddf, .elem = Elem::kI32}), nullptr);
  EXPECT_EQ(FindReduce({.op = Opcode::kAddi, .elem = Elem::kF32}), nullptr);
  EXPECT_EQ(FindReduce({.op = Opcode::kAddf, .elem = Elem::kF8E5M2}), nullptr);
  EXPECT_EQ(FindScan({.op = Opcode::kAddf, .elem = Elem::kF64, .flush_to_zero = true}), nullptr);
}

}  // namespace
}  // namespace tile::vm

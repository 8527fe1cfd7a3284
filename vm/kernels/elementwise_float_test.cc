// Float arithmetic and comparisons against exact arithmetic in MPFR, rounded once.
#include <cmath>
#include <random>

#include "gtest/gtest.h"
#include "vm/kernels/elementwise_testing.h"

namespace tile::vm {
namespace {

using ir::Elem;
using ir::Opcode;
using ir::Rounding;

constexpr Elem kFloats[] = {Elem::kF16, Elem::kBF16, Elem::kF32, Elem::kF64};
constexpr Rounding kModes[] = {Rounding::kNearestEven, Rounding::kZero, Rounding::kNegativeInf, Rounding::kPositiveInf};
constexpr mpfr_rnd_t kMpfrModes[] = {MPFR_RNDN, MPFR_RNDZ, MPFR_RNDD, MPFR_RNDU};

// r = f(a, b, c); gives whether r was truncated. `zero` is the rounding that decides the sign of a zero sum.
using Exact = bool (*)(mpfr_ptr r, mpfr_srcptr a, mpfr_srcptr b, mpfr_srcptr c, mpfr_rnd_t zero);

ElementwiseKey Key(Opcode op, Elem e) {
  ElementwiseKey key;
  key.op = op;
  key.in = key.out = e;
  return key;
}

uint64_t Flushed(uint64_t f32) { return (f32 & 0x7F800000) == 0 ? f32 & 0x80000000 : f32; }

void CheckExact(Opcode op, Elem e, const std::vector<Bits>& operands, Exact exact) {
  for (int mode = 0; mode < 4; ++mode) {
    for (bool ftz : {false, true}) {
      if (ftz && e != Elem::kF32) continue;
      ElementwiseKey key = Key(op, e);
      key.rounding = kModes[mode];
      key.flush_to_zero = ftz;
      Real r;
      Real x[3];
      Check(key, operands, [&](const uint64_t* bits) {
        for (size_t i = 0; i < operands.size(); ++i) {
          mpfr_set_d(x[i].get(), ir::ToDouble(e, ftz ? Flushed(bits[i]) : bits[i]), MPFR_RNDN);
        }
        const bool inexact = exact(r.get(), x[0].get(), x[1].get(), x[2].get(), kMpfrModes[mode]);
        const uint64_t rounded = RoundTo(e, r.get(), kModes[mode], inexact);
        return ftz ? Flushed(rounded) : rounded;
      });
    }
  }
}

// All pairs of edge values, and many random ones whose exponents are near.
std::vector<Bits> BinaryOperands(Elem e) {
  std::vector<Bits> operands = Pairs(EdgeValues(e, 8), EdgeValues(e, 8));
  const ir::FloatFormat& f = ir::FloatFormatOf(e);
  std::mt19937_64 random(3);
  for (int i = 0; i < 3000; ++i) {
    const uint64_t a = random() & MaskOf(e);
    const uint64_t exponent = (a >> f.mantissa_bits) + random() % 5 - 2;
    operands[0].push_back(a);
    const uint64_t mantissa = random() & ((uint64_t{1} << f.mantissa_bits) - 1);
    operands[1].push_back((exponent << f.mantissa_bits | mantissa) & MaskOf(e));
  }
  return operands;
}

void CheckBinary(Opcode op, Exact exact) {
  for (Elem e : kFloats) CheckExact(op, e, BinaryOperands(e), exact);
}

TEST(Float, Addf) {
  CheckBinary(Opcode::kAddf, [](mpfr_ptr r, mpfr_srcptr a, mpfr_srcptr b, mpfr_srcptr, mpfr_rnd_t zero) {
    return mpfr_add(r, a, b, zero) != 0;
  });
}
TEST(Float, Subf) {
  CheckBinary(Opcode::kSubf, [](mpfr_ptr r, mpfr_srcptr a, mpfr_srcptr b, mpfr_srcptr, mpfr_rnd_t zero) {
    return mpfr_sub(r, a, b, zero) != 0;
  });
}
TEST(Float, Mulf) {
  CheckBinary(Opcode::kMulf, [](mpfr_ptr r, mpfr_srcptr a, mpfr_srcptr b, mpfr_srcptr, mpfr_rnd_t zero) {
    return mpfr_mul(r, a, b, zero) != 0;
  });
}
// Inexact in any precision: truncated.
TEST(Float, Divf) {
  CheckBinary(Opcode::kDivf, [](mpfr_ptr r, mpfr_srcptr a, mpfr_srcptr b, mpfr_srcptr, mpfr_rnd_t) {
    mpfr_set_prec(r, 200);
    return mpfr_div(r, a, b, MPFR_RNDZ) != 0;
  });
}
TEST(Float, Sqrt) {
  for (Elem e : kFloats) {
    CheckExact(Opcode::kSqrt, e, {EdgeValues(e, 1000)},
               [](mpfr_ptr r, mpfr_srcptr a, mpfr_srcptr, mpfr_srcptr, mpfr_rnd_t) {
                 mpfr_set_prec(r, 200);
                 return mpfr_sqrt(r, a, MPFR_RNDZ) != 0;
               });
  }
}

bool FmaExact(mpfr_ptr r, mpfr_srcptr a, mpfr_srcptr b, mpfr_srcptr c, mpfr_rnd_t zero) {
  return mpfr_fma(r, a, b, c, zero) != 0;
}
TEST(Float, Fma) {
  for (Elem e : kFloats) {
    Bits some = EdgeValues(e, 0);
    const Bits picked = {some[0],  some[1],  some[2],  some[8],  some[10], some[14], some[16], some[18],
                         some[24], some[26], some[28], some[31], some[33], some[38], some[40], some.back()};
    CheckExact(Opcode::kFma, e, Triples(picked, picked, picked), FmaExact);
    // Sums that nearly cancel, products that nearly are the middle of two numbers.
    const ir::FloatFormat& f = ir::FloatFormatOf(e);
    std::mt19937_64 random(5);
    std::vector<Bits> operands(3);
    for (int i = 0; i < 20000; ++i) {
      const uint64_t a = random() & MaskOf(e), b = random() & MaskOf(e);
      const double product = ir::ToDouble(e, a) * ir::ToDouble(e, b);
      const int shift = i % 4 == 0 ? 0 : static_cast<int>(random() % (4 * f.mantissa_bits)) - f.mantissa_bits;
      operands[0].push_back(a);
      operands[1].push_back(b);
      operands[2].push_back(ir::FromDouble(e, std::ldexp(i % 2 ? product : -product, -shift)));
    }
    CheckExact(Opcode::kFma, e, operands, FmaExact);
  }
}
// A product in the middle of two numbers, of which a far smaller term decides: what rounds the sum on the way to the
// result's type loses it. And a product that overflows unless the term is added first.
TEST(Float, FmaRoundsOnce) {
  for (Elem e : kFloats) {
    const double ulp = std::ldexp(1, -ir::FloatFormatOf(e).mantissa_bits);
    Bits a, c;
    for (double v : {1.5, -1.5}) a.push_back(ir::FromDouble(e, v));
    const Bits b = {ir::FromDouble(e, 1 + ulp), ir::FromDouble(e, 1 + 3 * ulp)};
    for (int exponent : {-10, -13, -24, -30, -60, -100, -130, -1000}) {
      for (double sign : {1.0, -1.0}) c.push_back(ir::FromDouble(e, std::ldexp(sign, exponent)));
    }
    CheckExact(Opcode::kFma, e, Triples(a, b, c), FmaExact);
  }
  const auto bf16 = [](double v) { return ir::FromDouble(Elem::kBF16, v); };
  CheckExact(Opcode::kFma, Elem::kBF16, {{bf16(0x1p64)}, {bf16(0x1p64)}, {bf16(-0x1.fep127)}}, FmaExact);
}

TEST(Float, DivfApproxAndFull) {
  ElementwiseKey key = Key(Opcode::kDivf, Elem::kF32);
  key.rounding = Rounding::kFull;
  ElementwiseKey exact = Key(Opcode::kDivf, Elem::kF32);
  EXPECT_EQ(FindElementwise(key), FindElementwise(exact));
  key.rounding = Rounding::kApprox;
  Check(key, BinaryOperands(Elem::kF32), [](const uint64_t* x) {
    const double a = ir::ToDouble(Elem::kF32, x[0]), b = ir::ToDouble(Elem::kF32, x[1]);
    if (std::fabs(b) <= 0x1p126 || std::isnan(b)) return ir::FromDouble(Elem::kF32, a / b);  // innocuous in double
    return ir::FromDouble(Elem::kF32, a * std::copysign(0.0, b));
  });
}

TEST(Float, Remf) {
  for (Elem e : kFloats) {
    Real r, x, y;
    Check(Key(Opcode::kRemf, e), BinaryOperands(e), [&](const uint64_t* bits) {
      mpfr_set_d(x.get(), ir::ToDouble(e, bits[0]), MPFR_RNDN);
      mpfr_set_d(y.get(), ir::ToDouble(e, bits[1]), MPFR_RNDN);
      mpfr_fmod(r.get(), x.get(), y.get(), MPFR_RNDN);
      return RoundTo(e, r.get(), Rounding::kNearestEven);
    });
  }
}

TEST(Float, CeilFloor) {
  for (Elem e : kFloats) {
    const auto check = [e](Opcode op, int (*f)(mpfr_ptr, mpfr_srcptr)) {
      Real r, x;
      Check(Key(op, e), {EdgeValues(e, 1000)}, [&](const uint64_t* bits) {
        mpfr_set_d(x.get(), ir::ToDouble(e, bits[0]), MPFR_RNDN);
        f(r.get(), x.get());
        return RoundTo(e, r.get(), Rounding::kNearestEven);
      });
    };
    check(Opcode::kCeil, [](mpfr_ptr r, mpfr_srcptr x) { return mpfr_ceil(r, x); });
    check(Opcode::kFloor, [](mpfr_ptr r, mpfr_srcptr x) { return mpfr_floor(r, x); });
  }
}

TEST(Float, SignBit) {
  for (Elem e : kFloats) {
    const uint64_t sign = MaskOf(e) ^ MaskOf(e) >> 1;
    Check(Key(Opcode::kAbsf, e), {EdgeValues(e)}, [&](const uint64_t* x) { return x[0] & ~sign; });
    Check(Key(Opcode::kNegf, e), {EdgeValues(e)}, [&](const uint64_t* x) { return x[0] ^ sign; });
  }
}

// The order of the numbers, -0 below +0: of sign and magnitude, as a signed integer.
int64_t Order(Elem e, uint64_t bits) {
  const uint64_t sign = MaskOf(e) ^ MaskOf(e) >> 1;
  return bits & sign ? -1 - static_cast<int64_t>(bits & ~sign) : static_cast<int64_t>(bits);
}

TEST(Float, MaxfMinf) {
  for (Elem e : kFloats) {
    for (Opcode op : {Opcode::kMaxf, Opcode::kMinf}) {
      for (bool propagate : {false, true}) {
        for (bool ftz : {false, true}) {
          if (ftz && e != Elem::kF32) continue;
          ElementwiseKey key = Key(op, e);
          key.propagate_nan = propagate;
          key.flush_to_zero = ftz;
          Check(key, BinaryOperands(e), [&](const uint64_t* x) {
            const uint64_t a = ftz ? Flushed(x[0]) : x[0], b = ftz ? Flushed(x[1]) : x[1];
            const bool a_nan = ir::IsNanBits(e, a), b_nan = ir::IsNanBits(e, b);
            if ((a_nan && b_nan) || (propagate && (a_nan || b_nan))) return ir::CanonicalNan(e);
            if (a_nan) return b;
            if (b_nan) return a;
            return (Order(e, a) > Order(e, b)) == (op == Opcode::kMaxf) ? a : b;
          });
        }
      }
    }
  }
}

TEST(Float, Cmpf) {
  for (Elem e : kFloats) {
    for (int p = 0; p < 6; ++p) {
      for (auto ordering : {ir::ComparisonOrdering::kUnordered, ir::ComparisonOrdering::kOrdered}) {
        ElementwiseKey key = Key(Opcode::kCmpF, e);
        key.out = Elem::kI1;
        key.predicate = static_cast<ir::ComparisonPredicate>(p);
        key.ordering = ordering;
        Check(key, BinaryOperands(e), [&](const uint64_t* x) -> uint64_t {
          if (ir::IsNanBits(e, x[0]) || ir::IsNanBits(e, x[1])) return ordering == ir::ComparisonOrdering::kUnordered;
          const int64_t zero = Order(e, 0);
          int64_t a = Order(e, x[0]), b = Order(e, x[1]);
          a = a == -1 ? zero : a;  // -0
          b = b == -1 ? zero : b;
          const bool results[] = {a == b, a != b, (a < b), a <= b, (a > b), a >= b};
          return results[p];
        });
      }
    }
  }
}

}  // namespace
}  // namespace tile::vm

// Errors of the mathematical functions against MPFR, in units in the last place; MATH.md states the bounds.
#include <cmath>
#include <cstdlib>
#include <random>

#include "gtest/gtest.h"
#include "vm/kernels/elementwise_testing.h"

namespace tile::vm {
namespace {

using ir::Elem;
using ir::Opcode;

using Function = int (*)(mpfr_ptr r, mpfr_srcptr a, mpfr_srcptr b);

struct Row {
  const char* name;
  Opcode op;
  int operands;
  double f32_bound, f64_bound;
  double range;  // most random arguments are below
  Function exact;
};

constexpr mpfr_rnd_t kNear = MPFR_RNDN;
constexpr mpfr_prec_t kExtra = 400;  // bits for what is made of several functions

// --- functions that MPFR does not have, or under another name ---------------------------------------------------------

int mpfr_lgamma(mpfr_ptr r, mpfr_srcptr a, mpfr_rnd_t rounding) {
  int sign;
  return mpfr_lgamma(r, &sign, a, rounding);
}
int mpfr_tgamma(mpfr_ptr r, mpfr_srcptr a, mpfr_rnd_t rounding) { return mpfr_gamma(r, a, rounding); }

// A number of kExtra bits.
struct Wide : Real {
  explicit Wide(double v = 0) {
    mpfr_set_prec(get(), kExtra);
    mpfr_set_d(get(), v, kNear);
  }
};

int mpfr_erfcx(mpfr_ptr r, mpfr_srcptr a, mpfr_rnd_t rounding) {
  Wide x, square;
  mpfr_sqr(square.get(), a, kNear);
  if (mpfr_cmp_d(a, 1e4) > 0) {  // e^(x^2) may be no number: (1 - 1 / (2 x^2) + 3 / (4 x^4)) / (x sqrt(pi)) is as good
    Wide series(1);
    for (int k = 2; k > 0; --k) {  // 1 - (2k - 1) / (2 x^2) times the rest
      mpfr_mul_d(series.get(), series.get(), (2 * k - 1) / 2.0, kNear);
      mpfr_div(series.get(), series.get(), square.get(), kNear);
      mpfr_ui_sub(series.get(), 1, series.get(), kNear);
    }
    mpfr_const_pi(x.get(), kNear);
    mpfr_sqrt(x.get(), x.get(), kNear);
    mpfr_mul(x.get(), x.get(), a, kNear);
    return mpfr_div(r, series.get(), x.get(), rounding);
  }
  mpfr_exp(square.get(), square.get(), kNear);
  mpfr_erfc(x.get(), a, kNear);
  return mpfr_mul(r, x.get(), square.get(), rounding);
}

// x of which erfc is y: bisection in double, then Newton's method.
int mpfr_erfcinv(mpfr_ptr r, mpfr_srcptr y, mpfr_rnd_t rounding) {
  if (!mpfr_number_p(y) || mpfr_sgn(y) < 0 || mpfr_cmp_ui(y, 2) > 0) return mpfr_set_nan(r), 0;
  if (mpfr_zero_p(y) || mpfr_cmp_ui(y, 2) == 0) return mpfr_set_inf(r, mpfr_zero_p(y) ? 1 : -1), 0;
  if (mpfr_cmp_ui(y, 1) == 0) return mpfr_set_zero(r, 1), 0;
  double low = -6, high = 28;
  for (int i = 0; i < 60; ++i) {
    const double middle = (low + high) / 2;
    (std::erfc(middle) > mpfr_get_d(y, kNear) ? low : high) = middle;
  }
  Wide x(high), step, slope, root;
  mpfr_const_pi(root.get(), kNear);
  mpfr_sqrt(root.get(), root.get(), kNear);
  for (int i = 0; i < 20; ++i) {
    mpfr_erfc(step.get(), x.get(), kNear);
    mpfr_sub(step.get(), step.get(), y, kNear);
    mpfr_mul(step.get(), step.get(), root.get(), kNear);
    mpfr_div_2ui(step.get(), step.get(), 1, kNear);
    mpfr_sqr(slope.get(), x.get(), kNear);
    mpfr_exp(slope.get(), slope.get(), kNear);
    mpfr_mul(step.get(), step.get(), slope.get(), kNear);
    mpfr_add(x.get(), x.get(), step.get(), kNear);
    if (mpfr_zero_p(step.get()) || mpfr_get_exp(step.get()) < mpfr_get_exp(x.get()) - 180) break;
  }
  return mpfr_set(r, x.get(), rounding);
}
int mpfr_erfinv(mpfr_ptr r, mpfr_srcptr p, mpfr_rnd_t rounding) {
  if (mpfr_zero_p(p)) return mpfr_set(r, p, rounding);
  if (!mpfr_number_p(p)) return mpfr_set_nan(r), 0;
  Wide y;
  mpfr_set_prec(y.get(), 2000);  // 1 - p is exact
  mpfr_ui_sub(y.get(), 1, p, kNear);
  if (mpfr_get_exp(p) < -300) {  // x sqrt(pi) / 2 is as good
    mpfr_const_pi(y.get(), kNear);
    mpfr_sqrt(y.get(), y.get(), kNear);
    mpfr_div_2ui(y.get(), y.get(), 1, kNear);
    return mpfr_mul(r, y.get(), p, rounding);
  }
  return mpfr_erfcinv(r, y.get(), rounding);
}
int mpfr_normcdf(mpfr_ptr r, mpfr_srcptr a, mpfr_rnd_t rounding) {
  Wide x(0.5);
  mpfr_sqrt(x.get(), x.get(), kNear);
  mpfr_mul(x.get(), x.get(), a, kNear);
  mpfr_neg(x.get(), x.get(), kNear);
  mpfr_erfc(x.get(), x.get(), kNear);
  return mpfr_div_2ui(r, x.get(), 1, rounding);
}
int mpfr_normcdfinv(mpfr_ptr r, mpfr_srcptr p, mpfr_rnd_t rounding) {
  Wide y, root(2);
  mpfr_mul_2ui(y.get(), p, 1, kNear);
  mpfr_erfcinv(y.get(), y.get(), kNear);
  mpfr_sqrt(root.get(), root.get(), kNear);
  mpfr_mul(y.get(), y.get(), root.get(), kNear);
  if (mpfr_zero_p(y.get())) return mpfr_set_zero(r, 1), 0;
  return mpfr_neg(r, y.get(), rounding);
}

// The sum of (x/2)^(2k + order) / (k! (k + order)!), order 0 or 1.
int BesselI(mpfr_ptr r, mpfr_srcptr a, unsigned order, mpfr_rnd_t rounding) {
  if (mpfr_nan_p(a)) return mpfr_set_nan(r), 0;
  if (mpfr_cmpabs_ui(a, 2000) > 0) return mpfr_set_inf(r, order == 1 && mpfr_signbit(a) ? -1 : 1), 0;
  Wide square, term(1), sum(1);
  mpfr_sqr(square.get(), a, kNear);
  mpfr_div_2ui(square.get(), square.get(), 2, kNear);
  for (unsigned long k = 1; k < 10000 && !mpfr_zero_p(term.get()); ++k) {
    mpfr_mul(term.get(), term.get(), square.get(), kNear);
    mpfr_div_ui(term.get(), term.get(), k * (k + order), kNear);
    if (!mpfr_zero_p(term.get()) && mpfr_get_exp(term.get()) < mpfr_get_exp(sum.get()) - 300) break;
    mpfr_add(sum.get(), sum.get(), term.get(), kNear);
  }
  if (order == 0) return mpfr_set(r, sum.get(), rounding);
  mpfr_mul(sum.get(), sum.get(), a, kNear);
  return mpfr_div_2ui(r, sum.get(), 1, rounding);
}
int mpfr_cyl_bessel_i0(mpfr_ptr r, mpfr_srcptr a, mpfr_rnd_t rounding) { return BesselI(r, a, 0, rounding); }
int mpfr_cyl_bessel_i1(mpfr_ptr r, mpfr_srcptr a, mpfr_rnd_t rounding) { return BesselI(r, a, 1, rounding); }

// Between their zeros these are as good as their size there, which is that of their waves: the error counts in its last place.
// 0: everywhere as good as the value.
double SizeOf(Opcode op, double x) {
  switch (op) {
    case Opcode::kJ0:
    case Opcode::kJ1:
    case Opcode::kJn:
    case Opcode::kY0:
    case Opcode::kY1:
    case Opcode::kYn: return std::fabs(x) > 8 ? std::sqrt(2 / (3.14159 * std::fabs(x))) : 0;
    case Opcode::kLgamma: return x < 0 ? 1 : 0;
    default: return 0;
  }
}
bool IsSlow(Opcode op) {
  return op == Opcode::kErfinv || op == Opcode::kErfcinv || op == Opcode::kNormcdfinv || op == Opcode::kLgamma ||
         op == Opcode::kTgamma || op == Opcode::kCylBesselI0 || op == Opcode::kCylBesselI1 || SizeOf(op, 9) != 0;
}

const Row kRows[] = {
#define TILE_MATH1(Name, mpfr, f32, f64, f32_bound, f64_bound, range)                                   \
  {#Name, Opcode::k##Name, 1, f32_bound, f64_bound, range, [](mpfr_ptr r, mpfr_srcptr a, mpfr_srcptr) { \
     return mpfr_##mpfr(r, a, kNear);                                                                   \
   }},
#define TILE_MATH1_FTZ TILE_MATH1
#define TILE_MATH2(Name, mpfr, f32, f64, f32_bound, f64_bound, range)                                     \
  {#Name, Opcode::k##Name, 2, f32_bound, f64_bound, range, [](mpfr_ptr r, mpfr_srcptr a, mpfr_srcptr b) { \
     return mpfr_##mpfr(r, a, b, kNear);                                                                  \
   }},
#include "vm/kernels/elementwise.def"
};

Bits Arguments(Elem e, double range, int count) {
  if (ir::ElemInfoOf(e).bits == 16) {  // a part of all, others each time would not be repeatable
    Bits values = EdgeValues(e, 0);
    for (uint64_t v = 0; v < 65536; v += count < 20000 ? 131 : 13) values.push_back(v);
    return values;
  }
  Bits values = EdgeValues(e, count < 20000 ? 60 : 300);
  std::mt19937_64 random(17);
  std::uniform_real_distribution<double> uniform(-1, 1);
  for (int i = 0; i < count; ++i) {
    // Over the range, near zero, near one, of any exponent.
    const double u = uniform(random);
    const double v = i % 4 == 0   ? u * range
                     : i % 4 == 1 ? u * std::ldexp(1.0, static_cast<int>(random() % 20) - 10)
                     : i % 4 == 2 ? 1 + u * std::ldexp(1.0, -static_cast<int>(random() % 20))
                                  : std::ldexp(u, static_cast<int>(random() % 300) - 150);
    values.push_back(ir::FromDouble(e, v));
  }
  return values;
}

// |got - exact| in units of the last place of e at the exact value, or at `size` if that is more. Huge where the class or the sign
// is wrong.
double Error(Elem e, uint64_t got, mpfr_srcptr exact, double size = 0) {
  constexpr double kWrong = 1e30;
  const uint64_t nearest = RoundTo(e, exact, ir::Rounding::kNearestEven);
  if (got == nearest && (mpfr_nan_p(exact) || mpfr_inf_p(exact) || mpfr_zero_p(exact))) return 0;
  if (mpfr_nan_p(exact) || mpfr_inf_p(exact) || mpfr_zero_p(exact) || ir::IsNanBits(e, got)) return kWrong;
  const ir::FloatFormat& f = ir::FloatFormatOf(e);
  const double value = ir::ToDouble(e, got);
  if (size == 0 && std::signbit(value) != static_cast<bool>(mpfr_signbit(exact))) return kWrong;
  if (std::isinf(value)) return got == nearest ? 0 : kWrong;
  if (std::isinf(ir::ToDouble(e, nearest))) return kWrong;
  const int exponent = std::max(static_cast<int>(mpfr_get_exp(exact)) - 1, size == 0 ? 1 - f.bias : std::ilogb(size));
  const int last = std::max(exponent, 1 - f.bias) - f.mantissa_bits;
  Real error(value);
  mpfr_sub(error.get(), error.get(), exact, kNear);
  mpfr_mul_2si(error.get(), error.get(), -last, kNear);
  return std::fabs(mpfr_get_d(error.get(), kNear));
}

void CheckErrors(const ElementwiseKey& key, const std::vector<Bits>& operands, const Row& row, double bound) {
  const Elem e = key.out;
  const Bits results = RunEverywhere(key, operands);
  ASSERT_EQ(results.size(), operands[0].size());
  Real r, a, b;
  for (Real* x : {&r, &a, &b}) mpfr_set_prec(x->get(), 160);
  double worst = 0;
  int failures = 0;
  for (size_t i = 0; i < results.size() && failures < 5; ++i) {
    mpfr_set_d(a.get(), ir::ToDouble(e, operands[0][i]), kNear);
    if (operands.size() > 1) {
      if (ir::IsInt(key.in)) {
        mpfr_set_si(b.get(), Signed(key.in, operands[1][i]), kNear);
      } else {
        mpfr_set_d(b.get(), ir::ToDouble(e, operands[1][i]), kNear);
      }
    }
    row.exact(r.get(), a.get(), b.get());
    if (row.op == Opcode::kRsqrt && mpfr_zero_p(a.get())) mpfr_setsign(r.get(), r.get(), mpfr_signbit(a.get()), kNear);
    const double error = Error(e, results[i], r.get(), SizeOf(row.op, mpfr_get_d(a.get(), kNear)));
    worst = std::max(worst, error);
    if (error <= bound) continue;
    ++failures;
    ADD_FAILURE() << Describe(key, BestIsa()) << " of " << mpfr_get_d(a.get(), kNear) << ", "
                  << mpfr_get_d(b.get(), kNear) << ": " << ir::ToDouble(e, results[i]) << " instead of "
                  << mpfr_get_d(r.get(), kNear) << ", " << error << " ulp";
  }
  testing::Test::RecordProperty(std::string(row.name) + "_" + ir::ElemInfoOf(e).spelling, std::to_string(worst));
  if (std::getenv("TILEVM_PRINT_ERRORS")) std::printf("%-6s %-5s %.4f\n", row.name, ir::ElemInfoOf(e).spelling, worst);
}

class Math : public testing::TestWithParam<Row> {};

TEST_P(Math, WithinItsBound) {
  const Row& row = GetParam();
  for (Elem e : {Elem::kF16, Elem::kBF16, Elem::kF32, Elem::kF64}) {
    ElementwiseKey key;
    key.op = row.op;
    key.in = key.out = e;
    // An f32 error is 2^-13 of an f16 ulp, but may decide which side of a middle the result falls on.
    const double bound = e == Elem::kF64 ? row.f64_bound : e == Elem::kF32 ? row.f32_bound : 0.501;
    std::vector<Bits> operands;
    if (row.operands == 1) {
      operands = {Arguments(e, row.range, IsSlow(row.op) ? 500 : 20000)};
    } else {
      operands = Pairs(EdgeValues(e, 0), EdgeValues(e, 0));
      Bits a = Arguments(e, row.range, 20000), b = a;
      std::shuffle(b.begin(), b.end(), std::mt19937(5));
      operands[0].insert(operands[0].end(), a.begin(), a.end());
      operands[1].insert(operands[1].end(), b.begin(), b.end());
    }
    CheckErrors(key, operands, row, e == Elem::kBF16 ? 0.505 : bound);
  }
}

INSTANTIATE_TEST_SUITE_P(All, Math, testing::ValuesIn(kRows),
                         [](const auto& info) { return std::string(info.param.name); });

TEST(MathTest, Fpowi) {
  const Row row = {"Fpowi", Opcode::kFpowi, 2, 0.51, 3.0, 0, [](mpfr_ptr r, mpfr_srcptr a, mpfr_srcptr b) {
                     return mpfr_pow(r, a, b, kNear);
                   }};
  for (Elem e : {Elem::kF16, Elem::kBF16, Elem::kF32, Elem::kF64}) {
    for (Elem n : {Elem::kI1, Elem::kI8, Elem::kI16, Elem::kI32}) {
      ElementwiseKey key;
      key.op = Opcode::kFpowi;
      key.in = n;
      key.out = e;
      Bits exponents = EdgeValues(n, 10);
      if (exponents.size() > 60) exponents.resize(60);
      CheckErrors(key, Pairs(EdgeValues(e, 20), exponents), row,
                  e == Elem::kF64   ? row.f64_bound
                  : e == Elem::kF32 ? row.f32_bound
                                    : 0.505);
    }
  }
  // To the power 0 everything is 1, NaN too.
  ElementwiseKey key;
  key.op = Opcode::kFpowi;
  key.in = Elem::kI32;
  key.out = Elem::kF32;
  EXPECT_EQ(RunEverywhere(key, {{0x7FC00000, 0x7F800000, 0}, {0, 0, 0}}), Bits(3, 0x3F800000));
  // i1 true is -1.
  key.in = Elem::kI1;
  EXPECT_EQ(RunEverywhere(key, {{0x40000000, 0x40000000}, {0, 1}}), (Bits{0x3F800000, 0x3F000000}));
}

// Of any order; above 8 the error counts in the last place of the waves' size.
TEST(MathTest, BesselOfAnyOrder) {
  const Row rows[] = {{"Jn", Opcode::kJn, 2, 0.51, 64, 0,
                       [](mpfr_ptr r, mpfr_srcptr a, mpfr_srcptr n) {
                         if (mpfr_sgn(n) < 0) return mpfr_set_nan(r), 0;
                         return mpfr_jn(r, mpfr_get_si(n, kNear), a, kNear);
                       }},
                      {"Yn", Opcode::kYn, 2, 0.51, 64, 0, [](mpfr_ptr r, mpfr_srcptr a, mpfr_srcptr n) {
                         if (mpfr_sgn(n) < 0) return mpfr_set_nan(r), 0;
                         return mpfr_yn(r, mpfr_get_si(n, kNear), a, kNear);
                       }}};
  for (const Row& row : rows) {
    for (Elem e : {Elem::kF16, Elem::kBF16, Elem::kF32, Elem::kF64}) {
      ElementwiseKey key;
      key.op = row.op;
      key.in = Elem::kI32;
      key.out = e;
      Bits arguments;
      for (double v : {0.0, 0.25, 1.0, 1.5, 3.0, 7.75, 10.0, 24.0, 30.5, 100.0, 250.0, 1e-3, -2.0, -31.0})
        arguments.push_back(ir::FromDouble(e, v));
      for (double v : {HUGE_VAL, -HUGE_VAL, std::nan("")}) arguments.push_back(ir::FromDouble(e, v));
      Bits orders;
      for (int n : {0, 1, 2, 3, 5, 10, 29, 60, 200, 1000, -1, -2147483647}) orders.push_back(static_cast<uint32_t>(n));
      CheckErrors(key, Pairs(arguments, orders), row, e == Elem::kF64 ? row.f64_bound : e == Elem::kF32 ? 0.51 : 0.505);
    }
  }
}

uint64_t Flushed(uint64_t f32) { return (f32 & 0x7F800000) == 0 ? f32 & 0x80000000 : f32; }

TEST(MathTest, FlushToZero) {
  for (Opcode op : {Opcode::kExp2, Opcode::kRsqrt}) {
    ElementwiseKey key;
    key.op = op;
    key.in = key.out = Elem::kF32;
    Bits arguments = Arguments(Elem::kF32, 160, 2000);
    for (double v = -127; v < -125; v += 0.01) arguments.push_back(ir::FromDouble(Elem::kF32, v));
    Bits flushed;
    for (uint64_t a : arguments) flushed.push_back(Flushed(a));
    Bits plain = RunEverywhere(key, {flushed});
    for (uint64_t& r : plain) r = Flushed(r);
    key.flush_to_zero = true;
    EXPECT_EQ(RunEverywhere(key, {arguments}), plain);
  }
}

TEST(MathTest, ApproximateIsAsGoodAsFull) {
  for (Opcode op : {Opcode::kExp, Opcode::kTanh, Opcode::kSqrt}) {
    ElementwiseKey key;
    key.op = op;
    key.in = key.out = Elem::kF32;
    const ElementwiseFn plain = FindElementwise(key);
    ASSERT_NE(plain, nullptr);
    for (ir::Rounding r : {ir::Rounding::kFull, ir::Rounding::kApprox}) {
      key.rounding = r;
      EXPECT_EQ(FindElementwise(key), plain);
    }
  }
}

}  // namespace
}  // namespace tile::vm

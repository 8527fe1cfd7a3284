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
    for (uint64_t v = 0; v < 65536; v += 13) values.push_back(v);
    return values;
  }
  Bits values = EdgeValues(e, 300);
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

// |got - exact| in units of the last place of e at the exact value. Huge where the class or the sign is wrong.
double Error(Elem e, uint64_t got, mpfr_srcptr exact) {
  constexpr double kWrong = 1e30;
  const uint64_t nearest = RoundTo(e, exact, ir::Rounding::kNearestEven);
  if (got == nearest && (mpfr_nan_p(exact) || mpfr_inf_p(exact) || mpfr_zero_p(exact))) return 0;
  if (mpfr_nan_p(exact) || mpfr_inf_p(exact) || mpfr_zero_p(exact) || ir::IsNanBits(e, got)) return kWrong;
  const ir::FloatFormat& f = ir::FloatFormatOf(e);
  const double value = ir::ToDouble(e, got);
  if (std::signbit(value) != static_cast<bool>(mpfr_signbit(exact))) return kWrong;
  if (std::isinf(value)) return got == nearest ? 0 : kWrong;
  if (std::isinf(ir::ToDouble(e, nearest))) return kWrong;
  const int last = std::max(static_cast<int>(mpfr_get_exp(exact)) - 1, 1 - f.bias) - f.mantissa_bits;
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
    const double error = Error(e, results[i], r.get());
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
      operands = {Arguments(e, row.range, 20000)};
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

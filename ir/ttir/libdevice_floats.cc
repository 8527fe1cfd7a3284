#include "ir/ttir/libdevice_floats.h"

#include <cmath>

namespace tile::ir::ttir {
namespace {

constexpr auto kU = Signedness::kUnsigned;
constexpr auto kS = Signedness::kSigned;

}  // namespace

// --- whole numbers ----------------------------------------------------------------------------------------------------

// What is added pushes the fraction out.
Value* Floats::Rint(Value* x) const {
  const double c = f32 ? 8388608.0 : 4503599627370496.0;
  Value* a = Abs(x);
  return CopySign(Pick(Less(a, c), Sub(Add(a, c), c), a), x);
}

Value* Floats::Round(Value* x) const {
  Value *a = Abs(x), *whole = ops::Floor(b, a);
  Value* up = Is(ComparisonPredicate::kGreaterThanOrEqual, Sub(a, whole), Number(0.5));
  return CopySign(Pick(up, Add(whole, 1), whole), x);
}

// Of |x| modulo 2 |y|, from which |y| is taken as long as more than half of it is there. All steps are exact.
Value* Floats::Remainder(Value* x, Value* y) const {
  Value *p = Abs(y), *r = ops::Remf(b, Abs(x), Add(p, p));
  const auto take = [&](ComparisonPredicate more, Value* v) { return Pick(Is(more, Add(v, v), p), Sub(v, p), v); };
  Value* above = Is(ComparisonPredicate::kGreaterThan, Add(r, r), p);
  Value* near = Pick(above, take(ComparisonPredicate::kGreaterThanOrEqual, Sub(r, p)), r);
  Value* negative = ops::CmpI(b, ComparisonPredicate::kLessThan, Bits(x), Int(0), kS);
  return Pick(negative, Neg(near), near);
}

// Magnitudes are in the order of their bits.
Value* Floats::NextAfter(Value* x, Value* y) const {
  Value* word = Bits(x);
  Value* negative = ops::CmpI(b, ComparisonPredicate::kLessThan, word, Int(0), kS);
  Value* rises = ops::CmpF(b, ComparisonPredicate::kLessThan, x, y);
  Value* away = ops::Xori(b, rises, negative);  // from zero
  Value* step = ops::Select(b, away, Int(1), Int(-1));
  Value* from_zero = FromBits(ops::Ori(b, Sign(y), Int(1)));
  Value* next = Pick(Equal(x, 0), from_zero, FromBits(ops::Addi(b, word, step)));
  Value* same = Is(ComparisonPredicate::kEqual, x, y);
  return Pick(Either(IsNan(x), IsNan(y)), Add(x, y), Pick(same, y, next));
}

Value* Floats::Exponent(Value* x) const {
  const double tiny = f32 ? 0x1p-126 : 0x1p-1022, lift = f32 ? 0x1p32 : 0x1p64;
  Value *a = Abs(x), *small = Less(a, tiny);
  Value* word = Bits(Pick(small, Mul(a, lift), a));
  Value* exponent = ops::Subi(b, ops::Shri(b, word, Int(mantissa()), kU), Int(bias()));
  return ops::Select(b, small, ops::Subi(b, exponent, Int(f32 ? 32 : 64)), exponent);
}

Value* Floats::Logb(Value* x) const {
  Value *a = Abs(x), *exponent = ops::IToF(b, t, Exponent(x), kS);
  Value* is_finite = Less(a, kInf);
  return Pick(is_finite, Pick(Equal(a, 0), Number(-kInf), exponent), a);  // NaN stays
}

// In three factors, of which the last one alone may round: a result below the normal numbers is reached from well above.
Value* Floats::Ldexp(Value* x, Value* exponent) const {
  const int most = bias(), least = -(bias() - 1) + mantissa() + 1;  // 127, -102; 1023, -969
  const Type i32 = exponent->type();
  const auto number = [&](int v) { return ops::Integer(b, i32, v); };
  Value* n = ops::Maxi(b, ops::Mini(b, exponent, number(3 * most), kS), number(-3 * most), kS);
  for (int i = 0; i < 2; ++i) {
    Value* large = ops::CmpI(b, ComparisonPredicate::kGreaterThan, n, number(most), kS);
    Value* small = ops::CmpI(b, ComparisonPredicate::kLessThan, n, number(1 - most), kS);
    x = Mul(x, Pick(large, Number(std::ldexp(1.0, most)), Pick(small, Number(std::ldexp(1.0, least)), Number(1))));
    n = ops::Subi(b, n, ops::Select(b, large, number(most), ops::Select(b, small, number(least), number(0))));
  }
  n = ops::Maxi(b, ops::Mini(b, n, number(most), kS), number(1 - most), kS);
  Value* biased = ops::Addi(b, n, number(most));
  if (!f32) biased = ops::Exti(b, Word(), biased, kS);
  return Mul(x, FromBits(ops::Shli(b, biased, Int(mantissa()))));
}

// --- logarithms and powers --------------------------------------------------------------------------------------------

// log(1 + x) and e^x - 1: what rounding 1 + x, e^x lost is made good by a quotient that has lost the same.
Value* Floats::Log1p(Value* x) const {
  Value *u = Add(x, 1), *d = Sub(u, 1);
  Value* v = Pick(Equal(u, 1), x, Mul(Log(u), Div(x, d)));
  return Pick(Above(x, f32 ? 16777216.0 : 9007199254740992.0), Log(x), v);
}

Value* Floats::Expm1(Value* x) const {
  Value *u = ops::Exp(b, x), *d = Sub(u, 1);
  Value* near = Pick(Equal(u, 1), x, Mul(d, Div(x, Log(u))));
  return Pick(Above(Abs(x), 1), d, near);
}

Value* Floats::Exp10(Value* x) const {
  const double l = f32 ? 3.3219280242919921875 : std::log2(10.0),
               rest = f32 ? 7.0595369550119e-08 : 1.6616175169735920e-16;
  Value* p = Mul(x, l);
  Value* e = Fma(x, Number(rest), Fma(x, Number(l), Neg(p)));
  Value* r = ops::Exp2(b, p);
  Value* better = Fma(Mul(r, std::log(2.0)), e, r);
  return Pick(ops::Andi(b, Less(r, f32 ? 3e38 : 1e308), Above(r, 0)), better, r);
}

Value* Floats::Asinh(Value* x) const {
  Value *a = Abs(x), *s = Mul(a, a);
  Value* near = Log1p(Add(a, Div(s, Add(Sqrt(Add(s, 1)), 1))));
  return CopySign(Pick(Above(a, 1e8), Add(Log(a), std::log(2.0)), near), x);
}

Value* Floats::Acosh(Value* x) const {
  Value* d = Sub(x, 1);
  Value* near = Log1p(Add(d, Sqrt(Add(Mul(d, 2), Mul(d, d)))));
  Value* right = Pick(Above(x, 1e8), Add(Log(x), std::log(2.0)), near);
  return Pick(Less(x, 1), Number(std::numeric_limits<double>::quiet_NaN()), right);
}

// --- roots ------------------------------------------------------------------------------------------------------------

// Newton's step of which the residue 1 - a r^3 is exact to twice the precision.
Value* Floats::CubeRoot(Value* a) const {
  Value* r = ops::Fpowf(b, a, Number(-1.0 / 3));
  const Two square = Product(r, r), scaled = Product(a, r);
  Value* rest = Fma(scaled.low, square.high, Mul(scaled.high, square.low));
  Value* residue = Sub(Fma(Neg(scaled.high), square.high, Number(1)), rest);
  return Fma(Mul(r, 1.0 / 3), residue, r);
}

// Cubes of powers of two bring |x| near 1.
Value* Floats::Rcbrt(Value* x) const {
  Value *a = Abs(x), *small = Less(a, f32 ? 0x1p-60 : 0x1p-500), *large = Above(a, f32 ? 0x1p60 : 0x1p500);
  const int by = f32 ? 30 : 200;
  const auto pick = [&](double s, double l) { return Pick(small, Number(s), Pick(large, Number(l), Number(1))); };
  Value* near = Mul(a, pick(std::ldexp(1.0, 3 * by), std::ldexp(1.0, -3 * by)));
  Value* root = Mul(CubeRoot(near), pick(std::ldexp(1.0, by), std::ldexp(1.0, -by)));
  Value* special = Pick(Equal(a, 0), Number(kInf), Pick(Equal(a, kInf), Number(0), root));
  return CopySign(special, x);
}

// a r^2 with r = a^(-1/3), and a step of its own: c - (c^3 - a) / (3 c^2).
Value* Floats::Cbrt(Value* x) const {
  Value *a = Abs(x), *small = Less(a, f32 ? 0x1p-60 : 0x1p-500), *large = Above(a, f32 ? 0x1p60 : 0x1p500);
  const int by = f32 ? 30 : 200;
  const auto pick = [&](double s, double l) { return Pick(small, Number(s), Pick(large, Number(l), Number(1))); };
  Value* near = Mul(a, pick(std::ldexp(1.0, 3 * by), std::ldexp(1.0, -3 * by)));
  Value* r = ops::Fpowf(b, near, Number(-1.0 / 3));
  Value* c = Mul(Mul(near, r), r);
  const Two square = Product(c, c);
  Value* residue = Fma(square.low, c, Fma(square.high, c, Neg(near)));
  Value* root = Fma(Mul(Mul(r, r), -1.0 / 3), residue, c);
  root = Mul(root, pick(std::ldexp(1.0, -by), std::ldexp(1.0, by)));
  return CopySign(Pick(Either(Equal(a, 0), Equal(a, kInf)), a, root), x);
}

// f64 decides which of two numbers is nearer.
Value* Floats::Rsqrt(Value* x) const {
  Value* wide = Wider(x);
  Value* root = ops::Divf(b, ops::Splat(b, wide->type(), 1), ops::Sqrt(b, wide));
  return ops::FToF(b, t, root);
}

// Scaled by a power of two, so that squares neither overflow nor vanish.
Floats::Squares Floats::SumOfSquares(absl::Span<Value* const> x) const {
  Squares s;
  s.largest = Abs(x[0]);
  s.infinite = Equal(s.largest, kInf);
  for (Value* v : x.subspan(1)) {
    Value* a = Abs(v);
    s.largest = ops::Maxf(b, s.largest, a, /*propagate_nan=*/true);
    s.infinite = Either(s.infinite, Equal(a, kInf));
  }
  const double limit = f32 ? 0x1p40 : 0x1p300, factor = f32 ? 0x1p100 : 0x1p700;
  s.scale =
      Pick(Less(s.largest, 1 / limit), Number(factor), Pick(Above(s.largest, limit), Number(1 / factor), Number(1)));
  s.sum = {};
  for (Value* v : x) {
    Value* scaled = Mul(v, s.scale);
    const Two square = Product(scaled, scaled);
    if (s.sum.high == nullptr) {
      s.sum = square;
      continue;
    }
    // Knuth's sum of two numbers and its error.
    Value *high = Add(s.sum.high, square.high), *part = Sub(high, s.sum.high);
    Value* error = Add(Sub(s.sum.high, Sub(high, part)), Sub(square.high, part));
    s.sum = {high, Add(Add(s.sum.low, square.low), error)};
  }
  return s;
}

Value* Floats::RootOf(const Two& sum) const {
  Value* r = Div(Number(1), Sqrt(sum.high));
  const Two scaled = Product(sum.high, r);
  Value* rest = Fma(sum.low, Mul(r, r), Mul(scaled.low, r));
  Value* residue = Sub(Fma(Neg(scaled.high), r, Number(1)), rest);
  return Fma(Mul(r, 0.5), residue, r);
}

// The sum times 1 / its root, and a step of its own.
Value* Floats::Norm(absl::Span<Value* const> x) const {
  const Squares s = SumOfSquares(x);
  Value* root = Sqrt(s.sum.high);
  Value* residue = Add(Fma(Neg(root), root, s.sum.high), s.sum.low);
  root = Add(root, Div(residue, Mul(root, 2)));
  root = Div(root, s.scale);
  root = Pick(Equal(s.largest, 0), Number(0), root);
  return Pick(s.infinite, Number(kInf), root);
}

Value* Floats::Rnorm(absl::Span<Value* const> x) const {
  const Squares s = SumOfSquares(x);
  Value* root = Mul(RootOf(s.sum), s.scale);
  root = Pick(Equal(s.largest, 0), Number(kInf), root);
  return Pick(s.infinite, Number(0), root);
}

}  // namespace tile::ir::ttir

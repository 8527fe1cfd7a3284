// Arithmetic on values of one float type, f32 or f64, and functions made of it.
//
//   const Floats f(b, x);
//   Value* y = f.Sqrt(f.Add(f.Mul(x, x), 1));
//
// `f.CopySign(x, y)` is |x| with the sign of y, and so on. None of them may be contracted or reordered: errors are counted.
#ifndef TILE_IR_TTIR_LIBDEVICE_FLOATS_H_
#define TILE_IR_TTIR_LIBDEVICE_FLOATS_H_

#include <limits>

#include "absl/types/span.h"
#include "ir/ops.h"

namespace tile::ir::ttir {

class Floats {
 public:
  Floats(Builder& builder, Value* like) : b(builder), t(like->type()), f32(like->type().elem() == Elem::kF32) {}

  static constexpr double kInf = std::numeric_limits<double>::infinity();

  // --- one operation each ---
  Value* Number(double v) const { return ops::Splat(b, t, v); }
  Value* Add(Value* x, Value* y) const { return ops::Addf(b, x, y); }
  Value* Sub(Value* x, Value* y) const { return ops::Subf(b, x, y); }
  Value* Mul(Value* x, Value* y) const { return ops::Mulf(b, x, y); }
  Value* Div(Value* x, Value* y) const { return ops::Divf(b, x, y); }
  Value* Add(Value* x, double y) const { return Add(x, Number(y)); }
  Value* Sub(Value* x, double y) const { return Sub(x, Number(y)); }
  Value* Mul(Value* x, double y) const { return Mul(x, Number(y)); }
  Value* Fma(Value* x, Value* y, Value* z) const { return ops::Fma(b, x, y, z); }
  Value* Neg(Value* x) const { return ops::Negf(b, x); }
  Value* Sqrt(Value* x) const { return ops::Sqrt(b, x); }
  Value* Log(Value* x) const { return ops::Log(b, x); }
  Value* Abs(Value* x) const { return ops::Absf(b, x); }
  Value* Is(ComparisonPredicate p, Value* x, Value* y) const { return ops::CmpF(b, p, x, y); }
  Value* Less(Value* x, double y) const { return Is(ComparisonPredicate::kLessThan, x, Number(y)); }
  Value* Above(Value* x, double y) const { return Is(ComparisonPredicate::kGreaterThan, x, Number(y)); }
  Value* Equal(Value* x, double y) const { return Is(ComparisonPredicate::kEqual, x, Number(y)); }
  Value* IsNan(Value* x) const {
    return ops::CmpF(b, ComparisonPredicate::kNotEqual, x, x, ComparisonOrdering::kUnordered);
  }
  Value* Pick(Value* c, Value* x, Value* y) const { return ops::Select(b, c, x, y); }
  Value* Either(Value* c, Value* d) const { return ops::Ori(b, c, d); }
  // In f64, where that is exact.
  Value* Wider(Value* x) const { return ops::FToF(b, TypeOf(Elem::kF64), x); }

  // --- bits ---
  int bits() const { return f32 ? 32 : 64; }
  int mantissa() const { return f32 ? 23 : 52; }
  int bias() const { return f32 ? 127 : 1023; }
  Type TypeOf(Elem e) const { return b.types().Tile(Element::Number(e), t.shape()); }
  Type Word() const { return TypeOf(f32 ? Elem::kI32 : Elem::kI64); }
  Value* Int(int64_t v) const { return ops::Integer(b, Word(), v); }
  Value* Bits(Value* x) const { return ops::Bitcast(b, Word(), x); }
  Value* FromBits(Value* x) const { return ops::Bitcast(b, t, x); }
  Value* Sign(Value* x) const { return ops::Andi(b, Bits(x), Int(SignBit())); }
  Value* CopySign(Value* x, Value* y) const { return FromBits(ops::Ori(b, Bits(Abs(x)), Sign(y))); }
  int64_t SignBit() const { return f32 ? std::numeric_limits<int32_t>::min() : std::numeric_limits<int64_t>::min(); }

  // --- whole numbers ---
  Value* Rint(Value* x) const;   // the nearest one, the even one of two
  Value* Round(Value* x) const;  // halves go away from zero
  Value* Trunc(Value* x) const { return CopySign(ops::Floor(b, Abs(x)), x); }
  Value* Remainder(Value* x, Value* y) const;
  Value* NextAfter(Value* x, Value* y) const;
  // The exponent of |x| as an integer, below that of normal numbers too; of 0, infinity and NaN none in particular.
  Value* Exponent(Value* x) const;
  Value* Logb(Value* x) const;
  Value* Ldexp(Value* x, Value* exponent) const;  // i32

  // --- functions ---
  Value* Log1p(Value* x) const;
  Value* Expm1(Value* x) const;
  Value* Exp10(Value* x) const;
  // 2 to the power of x * log2_base, with zero for subnormal numbers: one product and one instruction of a GPU.
  Value* FastExp(Value* x, Value* log2_base) const { return ops::Exp2(b, Mul(x, log2_base), /*flush_to_zero=*/f32); }
  Value* FastExp(Value* x, double log2_base) const { return FastExp(x, Number(log2_base)); }
  Value* Cathetus(Value* x) const { return Sqrt(Mul(Sub(Number(1), x), Add(x, 1))); }  // sqrt(1 - x^2)
  Value* Asinh(Value* x) const;
  Value* Acosh(Value* x) const;
  Value* Atanh(Value* x) const { return Mul(Log1p(Div(Mul(x, 2), Sub(Number(1), x))), 0.5); }
  Value* Cbrt(Value* x) const;
  Value* Rcbrt(Value* x) const;
  Value* Rsqrt(Value* x) const;                    // f32, correctly rounded
  Value* Norm(absl::Span<Value* const> x) const;   // the root of the sum of squares
  Value* Rnorm(absl::Span<Value* const> x) const;  // 1 / that

  Builder& b;
  Type t;
  bool f32;

 private:
  // A number in two parts.
  struct Two {
    Value *high, *low;
  };
  Two Product(Value* x, Value* y) const {
    Value* p = Mul(x, y);
    return {p, Fma(x, y, Neg(p))};
  }
  struct Squares {
    Two sum;  // of the squares of the operands times `scale`, a power of two
    Value* scale;
    Value *largest, *infinite;
  };
  Squares SumOfSquares(absl::Span<Value* const> x) const;
  // 1 / sqrt(sum), the error of the first guess made good.
  Value* RootOf(const Two& sum) const;
  Value* CubeRoot(Value* a) const;  // a^(-1/3) of a positive, normal number
};

}  // namespace tile::ir::ttir

#endif  // TILE_IR_TTIR_LIBDEVICE_FLOATS_H_

// Functions of libdevice, which Triton kernels call by name: __nv_tanhf. Many are an operation of ours; others are made of
// several, to within a few units in the last place. Those that have an operation's name become that operation (SameMathOp).
//
// A name is `__nv_`, the function, and `f` for f32; those that ask about a number end in `d` for f64 (__nv_isnand).

#include <cmath>
#include <limits>

#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "ir/ttir/translator.h"

namespace tile::ir::ttir {
namespace {

// Arithmetic on values of one float type.
class Floats {
 public:
  Floats(Builder& builder, Value* like) : b(builder), t(like->type()), f32(like->type().elem() == Elem::kF32) {}

  Value* Number(double v) const { return ops::Splat(b, t, v); }
  Value* Add(Value* x, Value* y) const { return ops::Addf(b, x, y); }
  Value* Sub(Value* x, Value* y) const { return ops::Subf(b, x, y); }
  Value* Mul(Value* x, Value* y) const { return ops::Mulf(b, x, y); }
  Value* Div(Value* x, Value* y) const { return ops::Divf(b, x, y); }
  Value* Add(Value* x, double y) const { return Add(x, Number(y)); }
  Value* Sub(Value* x, double y) const { return Sub(x, Number(y)); }
  Value* Mul(Value* x, double y) const { return Mul(x, Number(y)); }
  Value* Sqrt(Value* x) const { return ops::Sqrt(b, x); }
  Value* Log(Value* x) const { return ops::Log(b, x); }
  Value* Abs(Value* x) const { return ops::Absf(b, x); }
  Value* Is(ComparisonPredicate p, Value* x, double y) const { return ops::CmpF(b, p, x, Number(y)); }
  Value* Less(Value* x, double y) const { return Is(ComparisonPredicate::kLessThan, x, y); }
  Value* Above(Value* x, double y) const { return Is(ComparisonPredicate::kGreaterThan, x, y); }
  Value* Equal(Value* x, double y) const { return Is(ComparisonPredicate::kEqual, x, y); }
  Value* Pick(Value* c, Value* x, Value* y) const { return ops::Select(b, c, x, y); }

  int bits() const { return f32 ? 32 : 64; }
  Type Word() const { return b.types().Tile(Element::Number(f32 ? Elem::kI32 : Elem::kI64), t.shape()); }
  Value* Bits(Value* x) const { return ops::Bitcast(b, Word(), x); }
  Value* Sign(Value* x) const {
    Value* mask = ops::Integer(b, Word(), static_cast<int64_t>(uint64_t{1} << (bits() - 1)));
    return ops::Andi(b, Bits(x), mask);
  }
  // |x| with the sign of y.
  Value* CopySign(Value* x, Value* y) const { return ops::Bitcast(b, t, ops::Ori(b, Bits(Abs(x)), Sign(y))); }
  // To the nearest integer, the even one of two: what is added pushes the fraction out.
  Value* Rint(Value* x) const {
    const double c = f32 ? 8388608.0 : 4503599627370496.0;
    Value* a = Abs(x);
    return CopySign(Pick(Less(a, c), Sub(Add(a, c), c), a), x);
  }
  // Halves go away from zero.
  Value* Round(Value* x) const {
    Value *a = Abs(x), *whole = ops::Floor(b, a);
    Value* up = Is(ComparisonPredicate::kGreaterThanOrEqual, Sub(a, whole), 0.5);
    return CopySign(Pick(up, Add(whole, 1), whole), x);
  }
  Value* Trunc(Value* x) const { return CopySign(ops::Floor(b, Abs(x)), x); }
  // log(1 + x) and e^x - 1: what rounding 1 + x, e^x lost is made good by a quotient that has lost the same.
  Value* Log1p(Value* x) const {
    Value *u = Add(x, 1), *d = Sub(u, 1);
    Value* v = Pick(Equal(u, 1), x, Mul(Log(u), Div(x, d)));
    return Pick(Above(x, f32 ? 16777216.0 : 9007199254740992.0), Log(x), v);
  }
  Value* Expm1(Value* x) const {
    Value *u = ops::Exp(b, x), *d = Sub(u, 1);
    Value* near = Pick(Equal(u, 1), x, Mul(d, Div(x, Log(u))));
    return Pick(Above(Abs(x), 1), d, near);
  }
  Value* Exp10(Value* x) const {
    const double l = f32 ? 3.3219280242919921875 : std::log2(10.0),
                 rest = f32 ? 7.0595369550119e-08 : 1.6616175169735920e-16;
    Value* p = Mul(x, l);
    Value* e = ops::Fma(b, x, Number(rest), ops::Fma(b, x, Number(l), ops::Negf(b, p)));
    Value* r = ops::Exp2(b, p);
    Value* better = ops::Fma(b, Mul(r, std::log(2.0)), e, r);
    return Pick(ops::Andi(b, Less(r, f32 ? 3e38 : 1e308), Above(r, 0)), better, r);
  }
  // (1 - x)(1 + x) is exact near 1.
  Value* Cathetus(Value* x) const { return Sqrt(Mul(Sub(Number(1), x), Add(x, 1))); }
  Value* Asinh(Value* x) const {
    Value *a = Abs(x), *s = Mul(a, a);
    Value* near = Log1p(Add(a, Div(s, Add(Sqrt(Add(s, 1)), 1))));
    return CopySign(Pick(Above(a, 1e8), Add(Log(a), std::log(2.0)), near), x);
  }
  Value* Acosh(Value* x) const {
    Value* d = Sub(x, 1);
    Value* near = Log1p(Add(d, Sqrt(Add(Mul(d, 2), Mul(d, d)))));
    return Pick(Above(x, 1e8), Add(Log(x), std::log(2.0)), near);
  }
  Value* Atanh(Value* x) const { return Mul(Log1p(Div(Mul(x, 2), Sub(Number(1), x))), 0.5); }
  Value* Hypot(Value* x, Value* y) const {
    Value *p = Abs(x), *q = Abs(y);
    Value *most = ops::Maxf(b, p, q, true), *least = ops::Minf(b, p, q, true), *ratio = Div(least, most);
    Value* length = Mul(most, Sqrt(ops::Fma(b, ratio, ratio, Number(1))));
    const double inf = std::numeric_limits<double>::infinity();
    return Pick(ops::Ori(b, Equal(p, inf), Equal(q, inf)), Number(inf), Pick(Equal(most, 0), most, length));
  }
  Value* Cbrt(Value* x) const {
    Value* a = Abs(x);
    Value* r = ops::Fpowf(b, a, Number(1.0 / 3));
    Value* square = Mul(r, r);
    Value* step = Div(ops::Fma(b, square, r, ops::Negf(b, a)), Mul(square, 3));
    const double inf = std::numeric_limits<double>::infinity();
    return CopySign(Pick(ops::Ori(b, Equal(a, 0), Equal(a, inf)), a, Sub(r, step)), x);
  }

  Builder& b;
  Type t;
  bool f32;
};

struct Function {
  absl::string_view name;
  size_t operands;
  Value* (*make)(const Floats& f, absl::Span<Value* const> x);
};
using F = const Floats&;
using X = absl::Span<Value* const>;

#define TTIR_SAME(name, Op)                                        \
  {                                                                \
    name, 1, [](F f, X x) -> Value* { return ops::Op(f.b, x[0]); } \
  }
#define TTIR_SAME2(name, Op)                                             \
  {                                                                      \
    name, 2, [](F f, X x) -> Value* { return ops::Op(f.b, x[0], x[1]); } \
  }
constexpr Function kFunctions[] = {
    TTIR_SAME("ceil", Ceil),
    TTIR_SAME("fabs", Absf),
    TTIR_SAME("fast_cos", Cos),
    TTIR_SAME("fast_exp", Exp),
    TTIR_SAME("fast_log", Log),
    TTIR_SAME("fast_log2", Log2),
    TTIR_SAME("fast_sin", Sin),
    TTIR_SAME("fast_tan", Tan),
    TTIR_SAME("fast_tanh", Tanh),
    TTIR_SAME("floor", Floor),
    TTIR_SAME("sqrt", Sqrt),
    TTIR_SAME2("fast_fdividef", Divf),
    TTIR_SAME2("fast_pow", Fpowf),
    TTIR_SAME2("fmax", Maxf),
    TTIR_SAME2("fmin", Minf),
    TTIR_SAME2("fmod", Remf),
    TTIR_SAME2("pow", Fpowf),
    {"fma", 3, [](F f, X x) -> Value* { return ops::Fma(f.b, x[0], x[1], x[2]); }},
    {"acos", 1, [](F f, X x) -> Value* { return ops::Atan2(f.b, f.Cathetus(x[0]), x[0]); }},
    {"acosh", 1, [](F f, X x) -> Value* { return f.Acosh(x[0]); }},
    {"asin", 1, [](F f, X x) -> Value* { return ops::Atan2(f.b, x[0], f.Cathetus(x[0])); }},
    {"asinh", 1, [](F f, X x) -> Value* { return f.Asinh(x[0]); }},
    {"atan", 1, [](F f, X x) -> Value* { return ops::Atan2(f.b, x[0], f.Number(1)); }},
    {"atanh", 1, [](F f, X x) -> Value* { return f.Atanh(x[0]); }},
    {"cbrt", 1, [](F f, X x) -> Value* { return f.Cbrt(x[0]); }},
    {"copysign", 2, [](F f, X x) -> Value* { return f.CopySign(x[0], x[1]); }},
    {"exp10", 1, [](F f, X x) -> Value* { return f.Exp10(x[0]); }},
    {"expm1", 1, [](F f, X x) -> Value* { return f.Expm1(x[0]); }},
    {"fast_exp10", 1, [](F f, X x) -> Value* { return f.Exp10(x[0]); }},
    {"fast_log10", 1, [](F f, X x) -> Value* { return f.Mul(ops::Log2(f.b, x[0]), std::log10(2.0)); }},
    {"fdim", 2,
     [](F f, X x) -> Value* {
       Value* above = ops::CmpF(f.b, ComparisonPredicate::kLessThanOrEqual, x[0], x[1]);
       return f.Pick(above, f.Number(0), f.Sub(x[0], x[1]));
     }},
    {"hypot", 2, [](F f, X x) -> Value* { return f.Hypot(x[0], x[1]); }},
    {"log10", 1, [](F f, X x) -> Value* { return f.Mul(ops::Log2(f.b, x[0]), std::log10(2.0)); }},
    {"log1p", 1, [](F f, X x) -> Value* { return f.Log1p(x[0]); }},
    {"nearbyint", 1, [](F f, X x) -> Value* { return f.Rint(x[0]); }},
    {"rint", 1, [](F f, X x) -> Value* { return f.Rint(x[0]); }},
    {"round", 1, [](F f, X x) -> Value* { return f.Round(x[0]); }},
    {"saturate", 1, [](F f, X x) -> Value* { return ops::Minf(f.b, ops::Maxf(f.b, x[0], f.Number(0)), f.Number(1)); }},
    {"trunc", 1, [](F f, X x) -> Value* { return f.Trunc(x[0]); }},
    // Questions, whose answer is i1 or an integer, and integers.
    {"finite", 1, [](F f, X x) -> Value* { return f.Less(f.Abs(x[0]), std::numeric_limits<double>::infinity()); }},
    {"isfinite", 1, [](F f, X x) -> Value* { return f.Less(f.Abs(x[0]), std::numeric_limits<double>::infinity()); }},
    {"isinf", 1, [](F f, X x) -> Value* { return f.Equal(f.Abs(x[0]), std::numeric_limits<double>::infinity()); }},
    {"isnan", 1,
     [](F f, X x) -> Value* {
       return ops::CmpF(f.b, ComparisonPredicate::kNotEqual, x[0], x[0], ComparisonOrdering::kUnordered);
     }},
    {"llrint", 1, [](F f, X x) -> Value* { return f.Rint(x[0]); }},
    {"llround", 1, [](F f, X x) -> Value* { return f.Round(x[0]); }},
    {"signbit", 1,
     [](F f, X x) -> Value* {
       return ops::CmpI(f.b, ComparisonPredicate::kLessThan, f.Bits(x[0]), ops::Integer(f.b, f.Word(), 0),
                        Signedness::kSigned);
     }},
};
#undef TTIR_SAME
#undef TTIR_SAME2

// fadd_rd: correctly rounded, in a direction.
struct RoundedFunction {
  absl::string_view name;
  size_t operands;
  Opcode op;
};
constexpr RoundedFunction kRounded[] = {
    {"add", 2, Opcode::kAddf}, {"div", 2, Opcode::kDivf},  {"fma", 3, Opcode::kFma},  {"mul", 2, Opcode::kMulf},
    {"rcp", 1, Opcode::kDivf}, {"sqrt", 1, Opcode::kSqrt}, {"sub", 2, Opcode::kSubf},
};
struct Direction {
  absl::string_view suffix;
  Rounding rounding;
};
constexpr Direction kDirections[] = {{"_rn", Rounding::kNearestEven},
                                     {"_rz", Rounding::kZero},
                                     {"_rd", Rounding::kNegativeInf},
                                     {"_ru", Rounding::kPositiveInf}};

}  // namespace

// x of another type: an answer as a number, a whole number as an integer.
Value* Translator::AsAnswer(Value* x, Type t) {
  if (x->type() == t) return x;
  const Elem from = x->type().elem();
  if (!IsInt(t.elem())) return nullptr;
  if (from == Elem::kI1) return ops::Exti(b_, t, x, Signedness::kUnsigned);
  return IsFp(from) ? ops::FToI(b_, t, x, Signedness::kSigned, /*saturating=*/true) : nullptr;
}

// Null: there is no such function.
Value* Translator::CallLibdevice(absl::string_view name, const std::vector<Value*>& x, Type t) {
  const Elem e = x[0]->type().elem();
  for (const Value* v : x) {
    if (v->type() != x[0]->type()) return nullptr;
  }
  const Floats f(b_, x[0]);
  for (const Function& function : kFunctions) {
    absl::string_view rest = name;
    if (x.size() != function.operands || !absl::ConsumePrefix(&rest, function.name)) continue;
    const bool named = e == Elem::kF32 ? rest == "f" : rest.empty() || rest == "d";
    if (named || (rest.empty() && function.name == "fast_fdividef")) return AsAnswer(function.make(f, x), t);
  }
  absl::string_view base = name;
  if (e == Elem::kF64 || absl::ConsumeSuffix(&base, "f")) {
    const OpInfo* op = SameMathOp(base);
    if (op != nullptr && x.size() == op->format->operands.size())
      return AsAnswer(Create(op->opcode, x, x[0]->type(), {}), t);
  }
  for (const Direction& d : kDirections) {
    absl::string_view base = name;
    if (!absl::ConsumeSuffix(&base, d.suffix) || !(x[0]->type() == t)) continue;
    for (const RoundedFunction& r : kRounded) {
      // fadd, dadd; but fmaf, fma.
      const std::string spelled =
          r.operands == 3 ? (e == Elem::kF32 ? "fmaf" : "fma") : absl::StrCat(e == Elem::kF32 ? "f" : "d", r.name);
      if (base != spelled || x.size() != r.operands) continue;
      std::vector<Value*> operands = x;
      if (r.name == "rcp") operands.insert(operands.begin(), f.Number(1));
      return Create(r.op, operands, t, {{"rounding", Attr::Enum(d.rounding)}});
    }
  }
  return nullptr;
}

// Functions of integers, or of a float and an integer. Null: there is no such function.
Value* Translator::CallIntegerFunction(absl::string_view name, const std::vector<Value*>& x, Type t) {
  const Elem e = x[0]->type().elem();
  const auto same = [&](size_t count, absl::string_view i32, absl::string_view i64) {
    return x.size() == count && x[0]->type() == t && x.back()->type() == t &&
           ((e == Elem::kI32 && name == i32) || (e == Elem::kI64 && name == i64));
  };
  if (same(1, "abs", "llabs")) return ops::Absi(b_, x[0]);
  if (same(2, "umulhi", "umul64hi")) return ops::Mulhii(b_, x[0], x[1]);
  if (same(2, "mulhi", "mul64hi")) return MultiplyHigh(x[0], x[1]);
  const absl::string_view casts[] = {"float_as_int",  "float_as_uint",      "int_as_float",
                                     "uint_as_float", "double_as_longlong", "longlong_as_double"};
  for (absl::string_view cast : casts) {
    const bool bits = x.size() == 1 && t.is_tile() && !t.element().is_pointer() && e != Elem::kPtr &&
                      ElemInfoOf(e).bits == ElemInfoOf(t.elem()).bits && x[0]->type().shape() == t.shape();
    if (name == cast) return !bits ? nullptr : x[0]->type() == t ? x[0] : ops::Bitcast(b_, t, x[0]);
  }
  // x to the n; x times 2 to the n, in two steps of which the first one is exact.
  absl::string_view base = name;
  if (x.size() != 2 || !(x[0]->type() == t) || !IsFp(e) || x[1]->type().elem() != Elem::kI32) return nullptr;
  if (e == Elem::kF32) absl::ConsumeSuffix(&base, "f");
  if (base == "powi") return ops::Fpowi(b_, x[0], x[1]);
  if (base != "ldexp" && base != "scalbn") return nullptr;
  const Type i32 = x[1]->type();
  Value* most = ops::Integer(b_, i32, e == Elem::kF32 ? 250 : 2000);
  Value* exponent = ops::Mini(b_, x[1], most, Signedness::kSigned);
  exponent = ops::Maxi(b_, exponent, ops::Subi(b_, ops::Integer(b_, i32, 0), most), Signedness::kSigned);
  Value* half = ops::Shri(b_, exponent, ops::Integer(b_, i32, 1), Signedness::kSigned);
  const auto power = [&](Value* v) { return ops::Exp2(b_, ops::IToF(b_, t, v, Signedness::kSigned)); };
  return ops::Mulf(b_, ops::Mulf(b_, x[0], power(half)), power(ops::Subi(b_, exponent, half)));
}

bool Translator::Extern(const Node& n, const OpRow&) {
  const absl::string_view symbol = n.word("symbol");
  absl::string_view name = symbol;
  Type t;
  if (!Output(n, &t)) return false;
  std::vector<Value*> operands;
  for (const Val& v : in_) {
    if (v.is_tile()) operands.push_back(v.tile());
  }
  if (absl::ConsumePrefix(&name, "__nv_") && !operands.empty() && operands.size() == in_.size()) {
    const Elem e = operands[0]->type().elem();
    Value* result = e == Elem::kF32 || e == Elem::kF64 ? CallLibdevice(name, operands, t) : nullptr;
    if (result == nullptr) result = CallIntegerFunction(name, operands, t);
    if (result != nullptr) return Define(n, result);
  }
  return Unsupported(n, absl::StrCat("calls ", symbol, ", which has no equal here"),
                     "use a function of tl, or of libdevice: exp, log1p, pow, tanh, rint, isnan, …");
}

}  // namespace tile::ir::ttir

// Functions of floats of one type: a row each. A name ends in `f` for f32, in nothing or, where it asks about a number, in `d` for
// f64: sinf, sin; isnanf, isnand.
#include <cmath>

#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "ir/ttir/libdevice.h"
#include "ir/ttir/libdevice_floats.h"
#include "ir/ttir/translator.h"

namespace tile::ir::ttir {
namespace {

using F = const Floats&;
using X = absl::Span<Value* const>;

struct Function {
  absl::string_view name;
  size_t operands;
  Value* (*make)(F f, X x);
};

#define TTIR_SAME(name, Op)                                        \
  {                                                                \
    name, 1, [](F f, X x) -> Value* { return ops::Op(f.b, x[0]); } \
  }
#define TTIR_SAME2(name, Op)                                             \
  {                                                                      \
    name, 2, [](F f, X x) -> Value* { return ops::Op(f.b, x[0], x[1]); } \
  }
#define TTIR_FLOATS(name, operands, ...)                           \
  {                                                                \
    name, operands, [](F f, X x) -> Value* { return __VA_ARGS__; } \
  }
constexpr Function kFunctions[] = {
    TTIR_SAME("ceil", Ceil),
    TTIR_SAME("fabs", Absf),
    TTIR_SAME("fast_cos", Cos),
    TTIR_SAME("fast_log", Log),
    TTIR_SAME("fast_log2", Log2),
    TTIR_SAME("fast_sin", Sin),
    TTIR_SAME("fast_tan", Tan),
    TTIR_SAME("floor", Floor),
    TTIR_SAME("sqrt", Sqrt),
    TTIR_SAME2("fmax", Maxf),
    TTIR_SAME2("fmin", Minf),
    TTIR_SAME2("fmod", Remf),
    TTIR_SAME2("pow", Fpowf),
    TTIR_FLOATS("fma", 3, f.Fma(x[0], x[1], x[2])),
    TTIR_FLOATS("acos", 1, ops::Atan2(f.b, f.Cathetus(x[0]), x[0])),
    TTIR_FLOATS("acosh", 1, f.Acosh(x[0])),
    TTIR_FLOATS("asin", 1, ops::Atan2(f.b, x[0], f.Cathetus(x[0]))),
    TTIR_FLOATS("asinh", 1, f.Asinh(x[0])),
    TTIR_FLOATS("atan", 1, ops::Atan2(f.b, x[0], f.Number(1))),
    TTIR_FLOATS("atanh", 1, f.Atanh(x[0])),
    TTIR_FLOATS("cbrt", 1, f.Cbrt(x[0])),
    TTIR_FLOATS("copysign", 2, f.CopySign(x[0], x[1])),
    TTIR_FLOATS("exp10", 1, f.Exp10(x[0])),
    TTIR_FLOATS("expm1", 1, f.Expm1(x[0])),
    // Of subnormal numbers as the GPU's instructions: they are zero.
    TTIR_FLOATS("fast_exp", 1, f.FastExp(x[0], std::log2(std::exp(1.0)))),
    TTIR_FLOATS("fast_exp10", 1, f.FastExp(x[0], std::log2(10.0))),
    TTIR_FLOATS("fast_fdividef", 2, ops::Divf(f.b, x[0], x[1], Rounding::kApprox, /*flush_to_zero=*/true)),
    TTIR_FLOATS("fast_tanh", 1, ops::Tanh(f.b, x[0], Rounding::kApprox)),
    TTIR_FLOATS("fast_log10", 1, f.Mul(ops::Log2(f.b, x[0]), std::log10(2.0))),
    // As CUDA defines it: of a negative number NaN, whatever the power.
    TTIR_FLOATS("fast_pow", 2, f.FastExp(ops::Log2(f.b, x[0]), x[1])),
    TTIR_FLOATS("fdim", 2,
                f.Pick(f.Is(ComparisonPredicate::kLessThanOrEqual, x[0], x[1]), f.Number(0), f.Sub(x[0], x[1]))),
    TTIR_FLOATS("hypot", 2, f.Norm(x)),
    TTIR_FLOATS("log10", 1, f.Mul(ops::Log2(f.b, x[0]), std::log10(2.0))),
    TTIR_FLOATS("log1p", 1, f.Log1p(x[0])),
    TTIR_FLOATS("logb", 1, f.Logb(x[0])),
    TTIR_FLOATS("nearbyint", 1, f.Rint(x[0])),
    TTIR_FLOATS("nextafter", 2, f.NextAfter(x[0], x[1])),
    TTIR_FLOATS("norm3d", 3, f.Norm(x)),
    TTIR_FLOATS("norm4d", 4, f.Norm(x)),
    TTIR_FLOATS("rcbrt", 1, f.Rcbrt(x[0])),
    TTIR_FLOATS("remainder", 2, f.Remainder(x[0], x[1])),
    TTIR_FLOATS("rhypot", 2, f.Rnorm(x)),
    TTIR_FLOATS("rint", 1, f.Rint(x[0])),
    TTIR_FLOATS("rnorm3d", 3, f.Rnorm(x)),
    TTIR_FLOATS("rnorm4d", 4, f.Rnorm(x)),
    TTIR_FLOATS("round", 1, f.Round(x[0])),
    TTIR_FLOATS("saturate", 1, ops::Minf(f.b, ops::Maxf(f.b, x[0], f.Number(0)), f.Number(1))),
    TTIR_FLOATS("trunc", 1, f.Trunc(x[0])),
    // Questions, whose answer is i1.
    TTIR_FLOATS("finite", 1, f.Less(f.Abs(x[0]), Floats::kInf)),
    TTIR_FLOATS("isfinite", 1, f.Less(f.Abs(x[0]), Floats::kInf)),
    TTIR_FLOATS("isinf", 1, f.Equal(f.Abs(x[0]), Floats::kInf)),
    TTIR_FLOATS("isnan", 1, f.IsNan(x[0])),
    TTIR_FLOATS("signbit", 1,
                ops::CmpI(f.b, ComparisonPredicate::kLessThan, f.Bits(x[0]), f.Int(0), Signedness::kSigned)),
};
#undef TTIR_SAME
#undef TTIR_SAME2
#undef TTIR_FLOATS

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

Value* MakeRounded(const Floats& f, absl::string_view name, X x) {
  for (const Direction& d : kDirections) {
    absl::string_view base = name;
    if (!absl::ConsumeSuffix(&base, d.suffix)) continue;
    for (const RoundedFunction& r : kRounded) {
      // fadd, dadd; but fmaf, fma.
      const std::string spelled = r.operands == 3 ? (f.f32 ? "fmaf" : "fma") : absl::StrCat(f.f32 ? "f" : "d", r.name);
      if (base != spelled || x.size() != r.operands) continue;
      Builder::Groups operands;
      if (r.name == "rcp") operands.push_back({f.Number(1)});
      for (Value* v : x) operands.push_back({v});
      return f.b.Create(r.op, operands, {f.t}, {{"rounding", Attr::Enum(d.rounding)}})->result(0);
    }
  }
  return nullptr;
}

// The high half of 1 / the high half of x, subnormal numbers as zero: rcp.approx.ftz.f64.
Value* ReciprocalOfHighHalf(const Floats& f, Value* x) {
  const auto high = [&](Value* v) { return f.FromBits(ops::Andi(f.b, f.Bits(v), f.Int(int64_t{-1} << 32))); };
  const auto flush = [&](Value* v) { return f.Pick(f.Less(f.Abs(v), 0x1p-1022), f.CopySign(f.Number(0), v), v); };
  return flush(high(f.Div(f.Number(1), flush(high(x)))));
}

}  // namespace

Value* MakeFloatFunction(Builder& b, absl::string_view name, absl::Span<Value* const> x, Type result) {
  const Floats f(b, x[0]);
  // An answer as a number.
  const auto as_answer = [&](Value* v) -> Value* {
    if (v->type() == result) return v;
    if (v->type().elem() != Elem::kI1 || !IsInt(result.elem()) || result.shape() != v->type().shape()) return nullptr;
    return ops::Exti(b, result, v, Signedness::kUnsigned);
  };
  for (const Function& function : kFunctions) {
    absl::string_view rest = name;
    if (x.size() != function.operands || !absl::ConsumePrefix(&rest, function.name)) continue;
    const bool named = f.f32 ? rest == "f" : rest.empty() || rest == "d";
    if (named || (rest.empty() && function.name == "fast_fdividef")) return as_answer(function.make(f, x));
  }
  absl::string_view base = name;
  if (!f.f32 || absl::ConsumeSuffix(&base, "f")) {
    const OpInfo* op = SameMathOp(base);
    if (op != nullptr && x.size() == op->format->operands.size() && op->opcode != Opcode::kJn &&
        op->opcode != Opcode::kYn) {
      Builder::Groups operands;
      for (Value* v : x) operands.push_back({v});
      return as_answer(b.Create(op->opcode, operands, {x[0]->type()}, {})->result(0));
    }
  }
  if (!(result == f.t)) return nullptr;
  if (name == "frsqrt_rn" && f.f32 && x.size() == 1) return f.Rsqrt(x[0]);
  if (name == "rcp64h" && !f.f32 && x.size() == 1) return ReciprocalOfHighHalf(f, x[0]);
  return MakeRounded(f, name, x);
}

}  // namespace tile::ir::ttir

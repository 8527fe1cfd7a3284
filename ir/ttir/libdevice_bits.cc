// Functions of integers, of floats and integers, and conversions.
#include <optional>

#include "absl/strings/strip.h"
#include "ir/ttir/bits.h"
#include "ir/ttir/libdevice.h"
#include "ir/ttir/libdevice_floats.h"

namespace tile::ir::ttir {
namespace {

constexpr auto kU = Signedness::kUnsigned;
constexpr auto kS = Signedness::kSigned;

using X = absl::Span<Value* const>;

// Of operands of one type, i32 or i64. An i32 result of i64 operands is a number below 65.
struct Function {
  absl::string_view name;
  size_t operands;
  Elem elem;
  Value* (*make)(Builder& b, X x);
};
#define TTIR_BITS(name, operands, elem, ...)                                             \
  {                                                                                      \
    name, operands, Elem::k##elem, [](Builder& b, X x) -> Value* { return __VA_ARGS__; } \
  }
constexpr Function kFunctions[] = {
    TTIR_BITS("abs", 1, I32, ops::Absi(b, x[0])),
    TTIR_BITS("brev", 1, I32, ReverseBits(b, x[0])),
    TTIR_BITS("brevll", 1, I64, ReverseBits(b, x[0])),
    TTIR_BITS("byte_perm", 3, I32, PermuteBytes(b, x[0], x[1], x[2], /*with_sign=*/false)),
    TTIR_BITS("clz", 1, I32, LeadingZeros(b, x[0])),
    TTIR_BITS("clzll", 1, I64, LeadingZeros(b, x[0])),
    TTIR_BITS("ffs", 1, I32, FindFirstSet(b, x[0])),
    TTIR_BITS("ffsll", 1, I64, FindFirstSet(b, x[0])),
    TTIR_BITS("hadd", 2, I32, Average(b, x[0], x[1], kS, /*up=*/false)),
    TTIR_BITS("llabs", 1, I64, ops::Absi(b, x[0])),
    TTIR_BITS("llmax", 2, I64, ops::Maxi(b, x[0], x[1], kS)),
    TTIR_BITS("llmin", 2, I64, ops::Mini(b, x[0], x[1], kS)),
    TTIR_BITS("max", 2, I32, ops::Maxi(b, x[0], x[1], kS)),
    TTIR_BITS("min", 2, I32, ops::Mini(b, x[0], x[1], kS)),
    TTIR_BITS("mul24", 2, I32, ops::Muli(b, Low24(b, x[0], kS), Low24(b, x[1], kS))),
    TTIR_BITS("mul64hi", 2, I64, MultiplyHigh(b, x[0], x[1])),
    TTIR_BITS("mulhi", 2, I32, MultiplyHigh(b, x[0], x[1])),
    TTIR_BITS("popc", 1, I32, PopCount(b, x[0])),
    TTIR_BITS("popcll", 1, I64, PopCount(b, x[0])),
    TTIR_BITS("rhadd", 2, I32, Average(b, x[0], x[1], kS, /*up=*/true)),
    TTIR_BITS("sad", 3, I32, ops::Addi(b, Distance(b, x[0], x[1], kS), x[2])),
    TTIR_BITS("uhadd", 2, I32, Average(b, x[0], x[1], kU, /*up=*/false)),
    TTIR_BITS("ullmax", 2, I64, ops::Maxi(b, x[0], x[1], kU)),
    TTIR_BITS("ullmin", 2, I64, ops::Mini(b, x[0], x[1], kU)),
    TTIR_BITS("umax", 2, I32, ops::Maxi(b, x[0], x[1], kU)),
    TTIR_BITS("umin", 2, I32, ops::Mini(b, x[0], x[1], kU)),
    TTIR_BITS("umul24", 2, I32, ops::Muli(b, Low24(b, x[0], kU), Low24(b, x[1], kU))),
    TTIR_BITS("umul64hi", 2, I64, ops::Mulhii(b, x[0], x[1])),
    TTIR_BITS("umulhi", 2, I32, ops::Mulhii(b, x[0], x[1])),
    TTIR_BITS("urhadd", 2, I32, Average(b, x[0], x[1], kU, /*up=*/true)),
    TTIR_BITS("usad", 3, I32, ops::Addi(b, Distance(b, x[0], x[1], kU), x[2])),
};
#undef TTIR_BITS

// A type in the name of a conversion: `double2int_rd`.
struct Named {
  absl::string_view name;
  Elem elem;
  Signedness sign;
};
constexpr Named kTypes[] = {{"double", Elem::kF64, kS}, {"float", Elem::kF32, kS}, {"half", Elem::kF16, kS},
                            {"int", Elem::kI32, kS},    {"uint", Elem::kI32, kU},  {"ll", Elem::kI64, kS},
                            {"ull", Elem::kI64, kU}};
const Named* FindType(absl::string_view name) {
  for (const Named& n : kTypes) {
    if (n.name == name) return &n;
  }
  return nullptr;
}

std::optional<Rounding> FindRounding(absl::string_view name) {
  if (name == "rn") return Rounding::kNearestEven;
  if (name == "rz") return Rounding::kZero;
  if (name == "rd") return Rounding::kNegativeInf;
  if (name == "ru") return Rounding::kPositiveInf;
  return std::nullopt;
}

Value* WholeOf(const Floats& f, Value* x, Rounding r) {
  switch (r) {
    case Rounding::kZero: return f.Trunc(x);
    case Rounding::kNegativeInf: return ops::Floor(f.b, x);
    case Rounding::kPositiveInf: return ops::Ceil(f.b, x);
    default: return f.Rint(x);
  }
}

// As the GPU's cvt: what is out of range becomes the nearest integer; NaN 0 from f32 to 32 bits, otherwise the highest bit alone.
Value* FloatToInt(Builder& b, Value* x, Type result, Signedness sign, Rounding r) {
  const Floats f(b, x);
  Value* v = ops::FToI(b, result, WholeOf(f, x, r), sign, /*saturating=*/true);
  if (f.f32 && result.elem() == Elem::kI32) return v;
  const int64_t top =
      result.elem() == Elem::kI32 ? std::numeric_limits<int32_t>::min() : std::numeric_limits<int64_t>::min();
  return ops::Select(b, f.IsNan(x), ops::Integer(b, result, top), v);
}

// Where f64 holds the integer, its rounding to f32 is all; of 64 bits both halves are exact, and their sum is rounded.
Value* IntToFloat(Builder& b, Value* x, Type result, Signedness sign, Rounding r) {
  if (r == Rounding::kNearestEven) return ops::IToF(b, result, x, sign);
  const Type f64 = b.types().Tile(Element::Number(Elem::kF64), x->type().shape());
  Value* v;
  if (x->type().elem() == Elem::kI32) {
    v = ops::IToF(b, f64, x, sign);
  } else {
    Value* high = ops::IToF(b, f64, ops::Shri(b, x, ops::Integer(b, x->type(), 32), sign), sign);
    Value* low = ops::IToF(b, f64, ops::Andi(b, x, ops::Integer(b, x->type(), 0xFFFFFFFF)), kU);
    v = ops::Addf(b, ops::Mulf(b, high, ops::Splat(b, f64, 0x1p32)), low, r);
  }
  return result.elem() == Elem::kF64 ? v : ops::FToF(b, result, v, r);
}

// `float2int_rd`, `half2float`.
Value* MakeRoundingConversion(Builder& b, absl::string_view name, Value* x, Type result) {
  const size_t two = name.find('2');
  if (two == absl::string_view::npos) return nullptr;
  absl::string_view target = name.substr(two + 1);
  std::optional<Rounding> r = Rounding::kNearestEven;
  if (const size_t underscore = target.find('_'); underscore != absl::string_view::npos) {
    r = FindRounding(target.substr(underscore + 1));
    target = target.substr(0, underscore);
  }
  const Named *from = FindType(name.substr(0, two)), *to = FindType(target);
  if (from == nullptr || to == nullptr || !r) return nullptr;
  // A half is its bits.
  const auto carrier = [](const Named* n) { return n->elem == Elem::kF16 ? Elem::kI16 : n->elem; };
  if (x->type().elem() != carrier(from) || result.elem() != carrier(to)) return nullptr;
  const auto of = [&](Elem e) { return b.types().Tile(Element::Number(e), result.shape()); };
  if (from->elem == Elem::kF16) return ops::FToF(b, result, ops::Bitcast(b, of(Elem::kF16), x));
  if (to->elem == Elem::kF16) {
    return from->elem != Elem::kF32 ? nullptr : ops::Bitcast(b, result, ops::FToF(b, of(Elem::kF16), x, *r));
  }
  if (IsInt(to->elem)) return IsInt(from->elem) ? nullptr : FloatToInt(b, x, result, to->sign, *r);
  if (IsInt(from->elem)) return IntToFloat(b, x, result, from->sign, *r);
  return ops::FToF(b, result, x, *r);
}

// A float and an integer.
Value* MakeMixedFunction(Builder& b, absl::string_view name, X x, Type result) {
  const auto is = [](const Value* v, Elem e) { return v->type().elem() == e; };
  const auto is_float = [&](const Value* v) { return is(v, Elem::kF32) || is(v, Elem::kF64); };
  if (x.size() != 2 || x[0]->type().shape() != x[1]->type().shape()) return nullptr;
  const bool order_first = is(x[0], Elem::kI32) && is_float(x[1]);
  if (!order_first && !(is_float(x[0]) && is(x[1], Elem::kI32))) return nullptr;
  Value* number = order_first ? x[1] : x[0];
  if (!(number->type() == result)) return nullptr;
  absl::string_view base = name;
  if (is(number, Elem::kF32) && !absl::ConsumeSuffix(&base, "f")) return nullptr;
  if (order_first) {
    return base == "jn" ? ops::Jn(b, number, x[0]) : base == "yn" ? ops::Yn(b, number, x[0]) : nullptr;
  }
  if (base == "powi") return ops::Fpowi(b, x[0], x[1]);
  return base == "ldexp" || base == "scalbn" ? Floats(b, x[0]).Ldexp(x[0], x[1]) : nullptr;
}

// The exponent as an integer; of 0 and NaN the least one, of infinity the largest one.
Value* Ilogb(const Floats& f, Value* x, Type result) {
  Value* exponent = f.Exponent(x);
  if (!f.f32) exponent = ops::Trunci(f.b, result, exponent);
  Value* least = ops::Integer(f.b, result, std::numeric_limits<int32_t>::min());
  Value* most = ops::Integer(f.b, result, std::numeric_limits<int32_t>::max());
  Value* known = ops::Select(f.b, f.Equal(f.Abs(x), Floats::kInf), most, exponent);
  return ops::Select(f.b, f.Either(f.Equal(x, 0), f.IsNan(x)), least, known);
}

}  // namespace

Value* MakeConversion(Builder& b, absl::string_view name, Value* x, Type result) {
  const Elem from = x->type().elem(), to = result.elem();
  const bool is_float = from == Elem::kF32 || from == Elem::kF64;
  // Those that do what their name says to the nearest integer: of i64, but for ilogb.
  absl::string_view base = name;
  if (is_float && (from == Elem::kF64 || absl::ConsumeSuffix(&base, "f"))) {
    const Floats f(b, x);
    if (base == "ilogb" && to == Elem::kI32) return Ilogb(f, x, result);
    if (base == "llrint" && to == Elem::kI64) return FloatToInt(b, x, result, kS, Rounding::kNearestEven);
    if (base == "llround" && to == Elem::kI64) return FloatToInt(b, f.Round(x), result, kS, Rounding::kZero);
  }
  for (absl::string_view cast :
       {"float_as_int", "float_as_uint", "int_as_float", "uint_as_float", "double_as_longlong", "longlong_as_double"}) {
    if (name != cast) continue;
    if (ElemInfoOf(from).bits != ElemInfoOf(to).bits || from == Elem::kPtr || to == Elem::kPtr) return nullptr;
    return x->type() == result ? x : ops::Bitcast(b, result, x);
  }
  if ((name == "double2hiint" || name == "double2loint") && from == Elem::kF64 && to == Elem::kI32) {
    const Floats f(b, x);
    Value* word = f.Bits(x);
    if (name == "double2hiint") word = ops::Shri(b, word, f.Int(32), kU);
    return ops::Trunci(b, result, word);
  }
  return MakeRoundingConversion(b, name, x, result);
}

Value* MakeIntegerFunction(Builder& b, absl::string_view name, absl::Span<Value* const> x, Type result) {
  const Elem e = x[0]->type().elem();
  bool alike = true;
  for (const Value* v : x) alike &= v->type() == x[0]->type();
  for (const Function& function : kFunctions) {
    if (function.name != name) continue;
    const bool narrows = result.elem() == Elem::kI32 && function.operands == 1 && name != "brevll" && name != "llabs";
    if (!alike || x.size() != function.operands || e != function.elem || (result.elem() != e && !narrows))
      return nullptr;
    Value* v = function.make(b, x);
    return v->type() == result ? v : ops::Trunci(b, result, v);
  }
  if (name == "hiloint2double" && x.size() == 2 && alike && e == Elem::kI32 && result.elem() == Elem::kF64) {
    const Type i64 = b.types().Tile(Element::Number(Elem::kI64), result.shape());
    Value* high = ops::Shli(b, ops::Exti(b, i64, x[0], kU), ops::Integer(b, i64, 32));
    return ops::Bitcast(b, result, ops::Ori(b, high, ops::Exti(b, i64, x[1], kU)));
  }
  return MakeMixedFunction(b, name, x, result);
}

}  // namespace tile::ir::ttir

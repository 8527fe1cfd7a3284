// Arithmetic of f32 and f64, with PTX's rounding, flushing and saturation. Compiled with -frounding-math.
#include <limits>
#include <optional>

#include "tests/gpu_sim/machine/float_mode.h"
#include "tests/gpu_sim/machine/ops.h"
#include "tests/gpu_sim/machine/state.h"
#include "tests/gpu_sim/tensor/formats.h"

namespace tile::gpu_sim {
namespace {

template <class T>
struct Add {
  static T Of(T a, T b, T) { return a + b; }
};
template <class T>
struct Sub {
  static T Of(T a, T b, T) { return a - b; }
};
template <class T>
struct Mul {
  static T Of(T a, T b, T) { return a * b; }
};
template <class T>
struct Div {
  static T Of(T a, T b, T) { return a / b; }
};
// div.approx.f32: divisors beyond 2^126 have 0 as their reciprocal.
Step DivideApprox(Thread& t, const Instr& i) {
  const float a = Flush(Get<float>(t, i.a), i.imm), b = Flush(Get<float>(t, i.b), i.imm);
  const bool flushed = std::isfinite(b) && std::abs(b) > 0x1p126f;
  Put<float>(t, i.d, Finish(flushed ? a * std::copysign(0.0f, b) : a / b, i.imm));
  return Step::kNext;
}

template <class T>
struct Fma {
  static T Of(T a, T b, T c) { return std::fma(a, b, c); }
};

// Rounds to nearest, and nothing else.
template <class T, template <class> class Op>
Step Plain(Thread& t, const Instr& i) {
  Put<T>(t, i.d, CanonicalNan(Op<T>::Of(Get<T>(t, i.a), Get<T>(t, i.b), Get<T>(t, i.c))));
  return Step::kNext;
}

template <class T, template <class> class Op>
__attribute__((noinline)) T Rounded(T a, T b, T c, int64_t flags) {
  const RoundingMode mode(flags);
  volatile T x = a;  // keeps the operation inside
  volatile T d = Op<T>::Of(x, b, c);
  return d;
}

template <class T, template <class> class Op>
Step General(Thread& t, const Instr& i) {
  const T a = Flush(Get<T>(t, i.a), i.imm), b = Flush(Get<T>(t, i.b), i.imm), c = Flush(Get<T>(t, i.c), i.imm);
  Put<T>(t, i.d, Finish((i.imm & kRoundMask) == 0 ? Op<T>::Of(a, b, c) : Rounded<T, Op>(a, b, c, i.imm), i.imm));
  return Step::kNext;
}

// add.f32.f16, fma.f32.bf16 and the like of sm_100 and newer: operands of 16 bits, which the last one is not.
struct MixedExtra : Extra {
  Format format;
  bool wide_b;  // of two operands the second is the last
};

template <template <class> class Op>
Step Mixed(Thread& t, const Instr& i) {
  const auto& x = static_cast<const MixedExtra&>(*i.extra);
  const auto widened = [&](uint32_t slot) {
    return static_cast<float>(DecodeTable(x.format)[Get<uint32_t>(t, slot) & 0xFFFF]);
  };
  const float b = x.wide_b ? Flush(Get<float>(t, i.b), i.imm) : widened(i.b);
  const float c = x.wide_b ? 0 : Flush(Get<float>(t, i.c), i.imm);
  Put<float>(t, i.d, Finish(Rounded<float, Op>(widened(i.a), b, c, i.imm), i.imm));
  return Step::kNext;
}

Instr::Run MixedOp(absl::string_view name) {
  return name == "add" ? &Mixed<Add> : name == "sub" ? &Mixed<Sub> : name == "fma" ? &Mixed<Fma> : nullptr;
}

// c: 1 for the minimum
template <class T>
Step Extremum(Thread& t, const Instr& i) {
  const T d = MinMax(Flush(Get<T>(t, i.a), i.imm), Flush(Get<T>(t, i.b), i.imm), i.count != 0, i.imm);
  Put<T>(t, i.d, CanonicalNan(d));
  return Step::kNext;
}
// max.f32 d, a, b, c of sm_100 and newer.
Step ExtremumOfThree(Thread& t, const Instr& i) {
  const auto of = [&](float a, float b) { return MinMax(a, b, i.count != 0, i.imm); };
  const auto operand = [&](uint32_t slot) { return Flush(Get<float>(t, slot), i.imm); };
  Put<float>(t, i.d, CanonicalNan(of(of(operand(i.a), operand(i.b)), operand(i.c))));
  return Step::kNext;
}
template <class T>
Step Neg(Thread& t, const Instr& i) {
  const T a = Flush(Get<T>(t, i.a), i.imm);
  Put<T>(t, i.d, -a);
  return Step::kNext;
}
template <class T>
Step Abs(Thread& t, const Instr& i) {
  Put<T>(t, i.d, std::abs(Flush(Get<T>(t, i.a), i.imm)));
  return Step::kNext;
}

struct FloatOp {
  absl::string_view name;
  int operands;
  Instr::Run plain32, general32, plain64, general64;
};
#define OP(op) &Plain<float, op>, &General<float, op>, &Plain<double, op>, &General<double, op>
#define ONE(f) &f<float>, &f<float>, &f<double>, &f<double>
constexpr FloatOp kOps[] = {
    {"add", 2, OP(Add)},  {"sub", 2, OP(Sub)},  {"mul", 2, OP(Mul)},       {"div", 2, OP(Div)},
    {"fma", 3, OP(Fma)},  {"mad", 3, OP(Fma)},  {"min", 2, ONE(Extremum)}, {"max", 2, ONE(Extremum)},
    {"neg", 1, ONE(Neg)}, {"abs", 1, ONE(Abs)},
};
#undef OP
#undef ONE

}  // namespace

absl::Status DecodeFloat(Form& f, Instr* i, Type type) {
  i->imm = TakeFloatFlags(f);
  const absl::string_view name = f.words()[0];
  const bool approximate = name == "div" && type == Type::kF32 && f.Take("approx");
  if (name == "div" && type == Type::kF32) f.Take("full");  // rounded correctly here
  const auto mixed = f.TakeOf<std::optional<Format>>({{"f16", Format::kF16}, {"bf16", Format::kBF16}}, std::nullopt);
  for (const FloatOp& op : kOps) {
    if (op.name != name) continue;
    i->count = name == "min" ? 1 : 0;
    i->run = type == Type::kF32 ? (i->imm == 0 ? op.plain32 : op.general32) : (i->imm == 0 ? op.plain64 : op.general64);
    if (type == Type::kF64 && (i->imm & ~kRoundMask) != 0) f.Fail("a modifier that f64 does not have");
    if (approximate) i->run = &DivideApprox;
    if (mixed) {
      if (MixedOp(name) == nullptr || type != Type::kF32) return f.Unknown("operands of this type");
      auto* x = f.NewExtra<MixedExtra>(i);
      x->format = *mixed;
      x->wide_b = op.operands == 2;
      i->run = MixedOp(name);
    }
    i->d = f.Destination(0), i->a = f.Source(1);
    i->b = op.operands > 1 ? f.Source(2) : i->a;
    i->c = op.operands > 2 ? f.Source(3) : i->a;
    if ((name == "min" || name == "max") && f.num_operands() == 4) {
      if (type != Type::kF32 || (i->imm & kXorSign) != 0) f.Fail("three operands of this type");
      i->c = f.Source(3);
      i->run = &ExtremumOfThree;
    }
    return f.Finish();
  }
  return f.Unknown("this type");
}

}  // namespace tile::gpu_sim

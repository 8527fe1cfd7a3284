// Functions of one float. The approximations of the hardware are computed in double and rounded once: better than any GPU, so that
// what the tests allow is enough.
#include "tests/gpu_sim/machine/float_mode.h"
#include "tests/gpu_sim/machine/ops.h"
#include "tests/gpu_sim/machine/state.h"
#include "tests/gpu_sim/tensor/formats.h"

namespace tile::gpu_sim {
namespace {

using Function = double (*)(double);

struct MathExtra : Extra {
  Function function;
  Format format = Format::kF32;
  bool pair = false;
};

double Rcp(double x) { return 1 / x; }
double Sqrt(double x) { return std::sqrt(x); }
double Rsqrt(double x) { return 1 / std::sqrt(x); }
double Sin(double x) { return std::sin(x); }
double Cos(double x) { return std::cos(x); }
double Lg2(double x) { return std::log2(x); }
double Ex2(double x) { return std::exp2(x); }
double Tanh(double x) { return std::tanh(x); }

Step Math32(Thread& t, const Instr& i) {
  const Function function = static_cast<const MathExtra&>(*i.extra).function;
  const double a = Flush(Get<float>(t, i.a), i.imm);
  if ((i.imm & kRoundMask) == 0) {
    Put<float>(t, i.d, Finish(static_cast<float>(function(a)), i.imm));
  } else {
    const RoundingMode mode(i.imm);
    const volatile double d = function(a);
    Put<float>(t, i.d, Finish(static_cast<float>(d), i.imm));
  }
  return Step::kNext;
}

Step Math64(Thread& t, const Instr& i) {
  const RoundingMode mode(i.imm);
  const double a = Flush(Get<double>(t, i.a), i.imm);
  Put<double>(t, i.d, Finish(static_cast<const MathExtra&>(*i.extra).function(a), i.imm));
  return Step::kNext;
}

Step MathHalf(Thread& t, const Instr& i) {
  const auto& x = static_cast<const MathExtra&>(*i.extra);
  const auto a = Get<uint32_t>(t, i.a);
  uint32_t d = 0;
  for (int k = 0; k < (x.pair ? 2 : 1); ++k) {
    const double v = x.function(DecodeTable(x.format)[a >> (16 * k) & 0xFFFF]);
    d |= static_cast<uint32_t>(std::isnan(v) ? 0x7FFF : Encode(x.format, v, Rounding::kNearestEven)) << (16 * k);
  }
  Put<uint32_t>(t, i.d, d);
  return Step::kNext;
}

absl::Status DecodeMath(Form& f, Instr* i) {
  constexpr std::pair<absl::string_view, Function> kFunctions[] = {{"rcp", Rcp}, {"sqrt", Sqrt}, {"rsqrt", Rsqrt},
                                                                   {"sin", Sin}, {"cos", Cos},   {"lg2", Lg2},
                                                                   {"ex2", Ex2}, {"tanh", Tanh}};
  auto* x = f.NewExtra<MathExtra>(i);
  for (const auto& [name, function] : kFunctions) {
    if (name == f.words()[0]) x->function = function;
  }
  f.Ignore({"approx"});
  i->imm = TakeFloatFlags(f);
  const Type type = f.TakeType();
  i->run = type == Type::kF32 ? &Math32 : type == Type::kF64 ? &Math64 : &MathHalf;
  x->format = type == Type::kBF16 || type == Type::kBF16x2 ? Format::kBF16 : Format::kF16;
  x->pair = type == Type::kF16x2 || type == Type::kBF16x2;
  if (i->run == &MathHalf && !x->pair && type != Type::kF16 && type != Type::kBF16) f.Fail("this type");
  i->d = f.Destination(0), i->a = f.Source(1);
  return f.Finish();
}

template <class T>
Step Copysign(Thread& t, const Instr& i) {
  Put<T>(t, i.d, std::copysign(Get<T>(t, i.b), Get<T>(t, i.a)));
  return Step::kNext;
}

absl::Status DecodeCopysign(Form& f, Instr* i) {
  const Type type = f.TakeType();
  i->run = type == Type::kF32 ? &Copysign<float> : type == Type::kF64 ? &Copysign<double> : nullptr;
  if (i->run == nullptr) f.Fail("this type");
  i->d = f.Destination(0), i->a = f.Source(1), i->b = f.Source(2);
  return f.Finish();
}

enum Test : int { kFinite, kInfinite, kNumber, kNotANumber, kNormal, kSubnormal };
template <class T>
Step Testp(Thread& t, const Instr& i) {
  const T a = Get<T>(t, i.a);
  bool is = false;
  switch (i.imm) {
    case kFinite: is = std::isfinite(a); break;
    case kInfinite: is = std::isinf(a); break;
    case kNumber: is = !std::isnan(a); break;
    case kNotANumber: is = std::isnan(a); break;
    case kNormal: is = std::isnormal(a); break;
    default: is = std::fpclassify(a) == FP_SUBNORMAL; break;
  }
  t.r[i.d] = is;
  return Step::kNext;
}

absl::Status DecodeTestp(Form& f, Instr* i) {
  i->imm = f.TakeOf<int>({{"finite", kFinite},
                          {"infinite", kInfinite},
                          {"number", kNumber},
                          {"notanumber", kNotANumber},
                          {"normal", kNormal},
                          {"subnormal", kSubnormal}},
                         kFinite);
  i->run = f.TakeType() == Type::kF64 ? &Testp<double> : &Testp<float>;
  i->d = f.Destination(0), i->a = f.Source(1);
  return f.Finish();
}

}  // namespace

absl::Span<const OpRow> MathOps() {
  static constexpr OpRow kRows[] = {
      {"rcp", DecodeMath},          {"sqrt", DecodeMath},   {"rsqrt", DecodeMath}, {"sin", DecodeMath},
      {"cos", DecodeMath},          {"lg2", DecodeMath},    {"ex2", DecodeMath},   {"tanh", DecodeMath},
      {"copysign", DecodeCopysign}, {"testp", DecodeTestp},
  };
  return kRows;
}

}  // namespace tile::gpu_sim

// Arithmetic of f16 and bf16, and of pairs of them: computed in double so that one rounding remains.
#include <array>
#include <limits>

#include "tests/gpu_sim/machine/float_mode.h"
#include "tests/gpu_sim/machine/ops.h"
#include "tests/gpu_sim/machine/state.h"
#include "tests/gpu_sim/tensor/formats.h"

namespace tile::gpu_sim {
namespace {

// a + b, where an inexact sum has an odd last bit: rounding it again to fewer bits is right.
double AddToOdd(double a, double b) {
  const double sum = a + b;
  if (!std::isfinite(sum)) return sum;
  const double bb = sum - a, error = (a - (sum - bb)) + (b - bb);
  const auto bits = std::bit_cast<uint64_t>(sum);
  if (error == 0 || (bits & 1) != 0) return sum;
  // Towards the exact sum: away from zero if the error has the sum's sign.
  return std::bit_cast<double>((error > 0) == (sum > 0) ? bits + 1 : bits - 1);
}

using Op = double (*)(double, double, double, int64_t flags);
double Add(double a, double b, double, int64_t) { return AddToOdd(a, b); }
double Sub(double a, double b, double, int64_t) { return AddToOdd(a, -b); }
double Mul(double a, double b, double, int64_t) { return a * b; }
double Fma(double a, double b, double c, int64_t) { return AddToOdd(a * b, c); }
double Min(double a, double b, double, int64_t flags) { return MinMax(a, b, true, flags); }
double Max(double a, double b, double, int64_t flags) { return MinMax(a, b, false, flags); }

struct HalfExtra : Extra {
  Op op;
  Format format;
  bool pair;
};

double Value(Format format, uint32_t code, int64_t flags) {
  const double v = DecodeTable(format)[code & 0xFFFF];
  const double least = format == Format::kF16 ? 0x1p-14 : 0x1p-126;
  return (flags & kFtz) != 0 && std::abs(v) < least ? std::copysign(0.0, v) : v;
}

uint32_t Compute(const HalfExtra& x, uint32_t a, uint32_t b, uint32_t c, int64_t flags) {
  double d = x.op(Value(x.format, a, flags), Value(x.format, b, flags), Value(x.format, c, flags), flags);
  if ((flags & kSat) != 0) d = d > 0 ? std::min(d, 1.0) : 0.0;
  if ((flags & kRelu) != 0) d = std::isnan(d) ? d : d > 0 ? d : 0.0;
  if (std::isnan(d)) return 0x7FFF;
  const auto code = static_cast<uint32_t>(Encode(x.format, d, Rounding::kNearestEven));
  return (flags & kFtz) != 0 && Value(x.format, code, flags) == 0 ? code & 0x8000 : code;
}

Step Half(Thread& t, const Instr& i) {
  const auto& x = static_cast<const HalfExtra&>(*i.extra);
  const auto a = Get<uint32_t>(t, i.a), b = Get<uint32_t>(t, i.b), c = Get<uint32_t>(t, i.c);
  uint32_t d = Compute(x, a, b, c, i.imm);
  if (x.pair) d |= Compute(x, a >> 16, b >> 16, c >> 16, i.imm) << 16;
  Put<uint32_t>(t, i.d, d);
  return Step::kNext;
}

// The sign only.
Step Sign(Thread& t, const Instr& i) {
  const auto a = Get<uint32_t>(t, i.a), signs = static_cast<uint32_t>(i.imm);
  Put<uint32_t>(t, i.d, i.count != 0 ? a ^ signs : a & ~signs);
  return Step::kNext;
}

}  // namespace

absl::Status DecodeHalf(Form& f, Instr* i, Type type) {
  const bool pair = type == Type::kF16x2 || type == Type::kBF16x2;
  const absl::string_view name = f.words()[0];
  if (name == "neg" || name == "abs") {
    i->run = &Sign;
    i->imm = pair ? 0x80008000 : 0x8000;
    i->count = name == "neg" ? 1 : 0;
    i->d = f.Destination(0), i->a = f.Source(1);
    return f.Finish();
  }
  auto* x = f.NewExtra<HalfExtra>(i);
  x->format = type == Type::kF16 || type == Type::kF16x2 ? Format::kF16 : Format::kBF16;
  x->pair = pair;
  i->run = &Half;
  i->imm = TakeFloatFlags(f);
  if ((i->imm & kRoundMask) != 0) f.Fail("this rounding");
  constexpr std::pair<absl::string_view, Op> kOps[] = {{"add", Add}, {"sub", Sub}, {"mul", Mul},
                                                       {"fma", Fma}, {"min", Min}, {"max", Max}};
  x->op = nullptr;
  for (const auto& [word, op] : kOps) {
    if (word == name) x->op = op;
  }
  if (x->op == nullptr) f.Fail("this type");
  i->d = f.Destination(0), i->a = f.Source(1), i->b = f.Source(2);
  i->c = name == "fma" ? f.Source(3) : i->a;
  return f.Finish();
}

}  // namespace tile::gpu_sim

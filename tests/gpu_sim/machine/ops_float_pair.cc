// f32x2: two f32 in a register of 64 bits (add, sub, mul, fma of sm_100 and newer). Compiled with -frounding-math.
#include "tests/gpu_sim/machine/float_mode.h"
#include "tests/gpu_sim/machine/ops.h"
#include "tests/gpu_sim/machine/state.h"

namespace tile::gpu_sim {
namespace {

using Op = float (*)(float, float, float);

template <Op op>
__attribute__((noinline)) float Rounded(float a, float b, float c, int64_t flags) {
  const RoundingMode mode(flags);
  volatile float x = a;  // keeps the operation inside
  volatile float d = op(x, b, c);
  return d;
}

template <Op op>
Step OfHalves(Thread& t, const Instr& i) {
  uint64_t d = 0;
  for (const int half : {0, 32}) {
    const auto part = [&](uint32_t slot) {
      return Flush(std::bit_cast<float>(static_cast<uint32_t>(t.r[slot] >> half)), i.imm);
    };
    const float a = part(i.a), b = part(i.b), c = part(i.c);
    const float v = Finish((i.imm & kRoundMask) == 0 ? op(a, b, c) : Rounded<op>(a, b, c, i.imm), i.imm);
    d |= uint64_t{std::bit_cast<uint32_t>(v)} << half;
  }
  t.r[i.d] = d;
  return Step::kNext;
}

float Add(float a, float b, float) { return a + b; }
float Sub(float a, float b, float) { return a - b; }
float Mul(float a, float b, float) { return a * b; }
float Fma(float a, float b, float c) { return std::fma(a, b, c); }

struct PairOp {
  absl::string_view name;
  int operands;
  Instr::Run run;
};
constexpr PairOp kOps[] = {
    {"add", 2, &OfHalves<Add>}, {"sub", 2, &OfHalves<Sub>}, {"mul", 2, &OfHalves<Mul>}, {"fma", 3, &OfHalves<Fma>}};

}  // namespace

absl::Status DecodeFloatPair(Form& f, Instr* i) {
  i->imm = TakeFloatFlags(f);
  if ((i->imm & ~(kRoundMask | kFtz)) != 0) f.Fail("a modifier that f32x2 does not have");
  for (const PairOp& op : kOps) {
    if (op.name != f.words()[0]) continue;
    i->run = op.run;
    i->d = f.Destination(0), i->a = f.Source(1), i->b = f.Source(2);
    i->c = op.operands > 2 ? f.Source(3) : i->a;
    return f.Finish();
  }
  return f.Unknown("f32x2");
}

}  // namespace tile::gpu_sim

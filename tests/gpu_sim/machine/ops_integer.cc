// Arithmetic of integers.
#include <algorithm>
#include <type_traits>

#include "tests/gpu_sim/machine/ops.h"
#include "tests/gpu_sim/machine/state.h"

namespace tile::gpu_sim {
namespace {

template <class T>
struct Wide;
template <>
struct Wide<uint16_t> {
  using type = uint32_t;
};
template <>
struct Wide<int16_t> {
  using type = int32_t;
};
template <>
struct Wide<uint32_t> {
  using type = uint64_t;
};
template <>
struct Wide<int32_t> {
  using type = int64_t;
};
template <>
struct Wide<uint64_t> {
  using type = unsigned __int128;
};
template <>
struct Wide<int64_t> {
  using type = __int128;
};

// Wraps, whatever the type.
template <class T>
T Wrap(std::type_identity_t<typename Wide<T>::type> v) {
  return static_cast<T>(v);
}
// Unsigned, so that nothing overflows: the low half is the same.
template <class T>
using Unsigned = typename Wide<std::make_unsigned_t<T>>::type;
template <class T>
T WrapProduct(T a, T b) {
  return static_cast<T>(static_cast<Unsigned<T>>(static_cast<std::make_unsigned_t<T>>(a)) *
                        static_cast<std::make_unsigned_t<T>>(b));
}
template <class T>
T HighProduct(T a, T b) {
  using W = typename Wide<T>::type;
  return static_cast<T>((static_cast<W>(a) * static_cast<W>(b)) >> (8 * sizeof(T)));
}
template <class T>
T Saturate(typename Wide<T>::type v) {
  const typename Wide<T>::type low = std::numeric_limits<T>::min(), high = std::numeric_limits<T>::max();
  return static_cast<T>(v < low ? low : v > high ? high : v);
}

// Operations of two, of one and of three operands.
template <class T>
struct Add {
  static T Of(T a, T b) { return Wrap<T>(static_cast<typename Wide<T>::type>(a) + b); }
};
template <class T>
struct AddSat {
  static T Of(T a, T b) { return Saturate<T>(static_cast<typename Wide<T>::type>(a) + b); }
};
template <class T>
struct Sub {
  static T Of(T a, T b) { return Wrap<T>(static_cast<typename Wide<T>::type>(a) - b); }
};
template <class T>
struct SubSat {
  static T Of(T a, T b) { return Saturate<T>(static_cast<typename Wide<T>::type>(a) - b); }
};
template <class T>
struct MulLow {
  static T Of(T a, T b) { return WrapProduct(a, b); }
};
template <class T>
struct MulHigh {
  static T Of(T a, T b) { return HighProduct(a, b); }
};
// PTX leaves a division by zero open; NVIDIA's code gives all ones.
template <class T>
struct Div {
  static T Of(T a, T b) {
    if (b == 0) return static_cast<T>(-1);
    if (std::is_signed_v<T> && b == static_cast<T>(-1)) return Sub<T>::Of(0, a);
    return static_cast<T>(a / b);
  }
};
template <class T>
struct Rem {
  static T Of(T a, T b) {
    if (b == 0) return a;
    if (std::is_signed_v<T> && b == static_cast<T>(-1)) return 0;
    return static_cast<T>(a % b);
  }
};
template <class T>
struct Min {
  static T Of(T a, T b) { return std::min(a, b); }
};
template <class T>
struct Max {
  static T Of(T a, T b) { return std::max(a, b); }
};
// `.relu`: what is negative becomes zero.
template <class T>
struct MinRelu {
  static T Of(T a, T b) { return std::max(std::min(a, b), T{0}); }
};
template <class T>
struct MaxRelu {
  static T Of(T a, T b) { return std::max(std::max(a, b), T{0}); }
};
template <class T>
struct Neg {
  static T Of(T a) { return Sub<T>::Of(0, a); }
};
template <class T>
struct Abs {
  static T Of(T a) { return a < 0 ? Sub<T>::Of(0, a) : a; }
};
template <class T>
struct MadLow {
  static T Of(T a, T b, T c) { return Add<T>::Of(WrapProduct(a, b), c); }
};
template <class T>
struct MadHigh {
  static T Of(T a, T b, T c) { return Add<T>::Of(HighProduct(a, b), c); }
};
template <class T>
struct Sad {
  static T Of(T a, T b, T c) { return Add<T>::Of(c, a < b ? Sub<T>::Of(b, a) : Sub<T>::Of(a, b)); }
};

template <class T, template <class> class Op>
Step Unary(Thread& t, const Instr& i) {
  Put<T>(t, i.d, Op<T>::Of(Get<T>(t, i.a)));
  return Step::kNext;
}
template <class T, template <class> class Op>
Step Binary(Thread& t, const Instr& i) {
  Put<T>(t, i.d, Op<T>::Of(Get<T>(t, i.a), Get<T>(t, i.b)));
  return Step::kNext;
}
template <class T, template <class> class Op>
Step Ternary(Thread& t, const Instr& i) {
  Put<T>(t, i.d, Op<T>::Of(Get<T>(t, i.a), Get<T>(t, i.b), Get<T>(t, i.c)));
  return Step::kNext;
}
template <class T>
Step MulWide(Thread& t, const Instr& i) {
  using W = typename Wide<T>::type;
  Put<W>(t, i.d, static_cast<W>(Get<T>(t, i.a)) * static_cast<W>(Get<T>(t, i.b)));
  return Step::kNext;
}
template <class T>
Step MadWide(Thread& t, const Instr& i) {
  using W = typename Wide<T>::type;
  Put<W>(t, i.d, Add<W>::Of(static_cast<W>(Get<T>(t, i.a)) * static_cast<W>(Get<T>(t, i.b)), Get<W>(t, i.c)));
  return Step::kNext;
}
// Pairs of 16 bits.
template <class T, template <class> class Op>
Step Pair(Thread& t, const Instr& i) {
  const auto a = Get<uint32_t>(t, i.a), b = Get<uint32_t>(t, i.b);
  const auto low = static_cast<uint16_t>(Op<T>::Of(static_cast<T>(a), static_cast<T>(b)));
  const auto high = static_cast<uint16_t>(Op<T>::Of(static_cast<T>(a >> 16), static_cast<T>(b >> 16)));
  Put<uint32_t>(t, i.d, low | static_cast<uint32_t>(high) << 16);
  return Step::kNext;
}

#define BY_TYPE(shape, op)                          \
  [](Type type) -> Instr::Run {                     \
    switch (type) {                                 \
      case Type::kB16:                              \
      case Type::kU16: return &shape<uint16_t, op>; \
      case Type::kB32:                              \
      case Type::kU32: return &shape<uint32_t, op>; \
      case Type::kB64:                              \
      case Type::kU64: return &shape<uint64_t, op>; \
      case Type::kS16: return &shape<int16_t, op>;  \
      case Type::kS32: return &shape<int32_t, op>;  \
      case Type::kS64: return &shape<int64_t, op>;  \
      default: return nullptr;                      \
    }                                               \
  }
#define WIDE_BY_TYPE(shape)                     \
  [](Type type) -> Instr::Run {                 \
    switch (type) {                             \
      case Type::kU16: return &shape<uint16_t>; \
      case Type::kS16: return &shape<int16_t>;  \
      case Type::kU32: return &shape<uint32_t>; \
      case Type::kS32: return &shape<int32_t>;  \
      default: return nullptr;                  \
    }                                           \
  }

struct IntegerOp {
  absl::string_view name, part;  // "mul", "lo"
  int operands;
  Instr::Run (*of)(Type);
};
const IntegerOp kOps[] = {
    {"add", "sat", 2, BY_TYPE(Binary, AddSat)},   {"add", "", 2, BY_TYPE(Binary, Add)},
    {"sub", "sat", 2, BY_TYPE(Binary, SubSat)},   {"sub", "", 2, BY_TYPE(Binary, Sub)},
    {"mul", "lo", 2, BY_TYPE(Binary, MulLow)},    {"mul", "hi", 2, BY_TYPE(Binary, MulHigh)},
    {"mul", "wide", 2, WIDE_BY_TYPE(MulWide)},    {"mad", "lo", 3, BY_TYPE(Ternary, MadLow)},
    {"mad", "hi", 3, BY_TYPE(Ternary, MadHigh)},  {"mad", "wide", 3, WIDE_BY_TYPE(MadWide)},
    {"div", "", 2, BY_TYPE(Binary, Div)},         {"rem", "", 2, BY_TYPE(Binary, Rem)},
    {"min", "relu", 2, BY_TYPE(Binary, MinRelu)}, {"max", "relu", 2, BY_TYPE(Binary, MaxRelu)},
    {"min", "", 2, BY_TYPE(Binary, Min)},         {"max", "", 2, BY_TYPE(Binary, Max)},
    {"neg", "", 1, BY_TYPE(Unary, Neg)},          {"abs", "", 1, BY_TYPE(Unary, Abs)},
    {"sad", "", 3, BY_TYPE(Ternary, Sad)},
};
#undef BY_TYPE
#undef WIDE_BY_TYPE

// {"add", "u16x2"}: suffixes that are no Type.
struct PairOp {
  absl::string_view name, type;
  Instr::Run run, relu = nullptr;
};
constexpr PairOp kPairOps[] = {
    {"add", "u16x2", &Pair<uint16_t, Add>}, {"add", "s16x2", &Pair<int16_t, Add>},
    {"min", "u16x2", &Pair<uint16_t, Min>}, {"min", "s16x2", &Pair<int16_t, Min>, &Pair<int16_t, MinRelu>},
    {"max", "u16x2", &Pair<uint16_t, Max>}, {"max", "s16x2", &Pair<int16_t, Max>, &Pair<int16_t, MaxRelu>},
};

absl::Status DecodeArithmetic(Form& f, Instr* i) {
  for (const PairOp& op : kPairOps) {
    if (op.name != f.words()[0] || !f.Take(op.type)) continue;
    i->run = op.run;
    if (op.relu != nullptr && f.Take("relu")) i->run = op.relu;
    i->d = f.Destination(0), i->a = f.Source(1), i->b = f.Source(2);
    return f.Finish();
  }
  if (f.Take("f32x2")) return DecodeFloatPair(f, i);
  if (std::find(f.words().begin(), f.words().end(), "cc") != f.words().end()) return DecodeCarry(f, i);
  const Type type = f.TakeType();
  switch (type) {
    case Type::kF32:
    case Type::kF64: return DecodeFloat(f, i, type);
    case Type::kF16:
    case Type::kF16x2:
    case Type::kBF16:
    case Type::kBF16x2: return DecodeHalf(f, i, type);
    default: return DecodeInteger(f, i, type);
  }
}

}  // namespace

absl::Status DecodeInteger(Form& f, Instr* i, Type type) {
  for (const IntegerOp& op : kOps) {
    if (op.name != f.words()[0] || (!op.part.empty() && !f.Take(op.part))) continue;
    i->run = op.of(type);
    if (i->run == nullptr) f.Fail("this type");
    i->d = f.Destination(0), i->a = f.Source(1);
    if (op.operands > 1) i->b = f.Source(2);
    if (op.operands > 2) i->c = f.Source(3);
    return f.Finish();
  }
  return f.Unknown("this type");
}

absl::Span<const OpRow> ArithmeticOps() {
  static constexpr OpRow kRows[] = {
      {"add", DecodeArithmetic}, {"sub", DecodeArithmetic}, {"mul", DecodeArithmetic}, {"mad", DecodeArithmetic},
      {"fma", DecodeArithmetic}, {"div", DecodeArithmetic}, {"rem", DecodeArithmetic}, {"min", DecodeArithmetic},
      {"max", DecodeArithmetic}, {"neg", DecodeArithmetic}, {"abs", DecodeArithmetic}, {"sad", DecodeArithmetic},
      {"addc", DecodeCarry},     {"subc", DecodeCarry},     {"madc", DecodeCarry},
  };
  return kRows;
}

}  // namespace tile::gpu_sim

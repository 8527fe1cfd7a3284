// Operations on bits: of predicates, and of registers of 16, 32 and 64 bits.
#include <algorithm>
#include <bit>

#include "tests/gpu_sim/machine/ops.h"
#include "tests/gpu_sim/machine/state.h"

namespace tile::gpu_sim {
namespace {

// Registers of any width: bits beyond the width are nobody's.
Step And(Thread& t, const Instr& i) { return t.r[i.d] = t.r[i.a] & t.r[i.b], Step::kNext; }
Step Or(Thread& t, const Instr& i) { return t.r[i.d] = t.r[i.a] | t.r[i.b], Step::kNext; }
Step Xor(Thread& t, const Instr& i) { return t.r[i.d] = t.r[i.a] ^ t.r[i.b], Step::kNext; }
Step Not(Thread& t, const Instr& i) { return t.r[i.d] = ~t.r[i.a], Step::kNext; }
template <class T>
Step Cnot(Thread& t, const Instr& i) {
  Put<T>(t, i.d, Get<T>(t, i.a) == 0);
  return Step::kNext;
}

// Shifts by more than the width are by the width.
template <class T>
Step Shl(Thread& t, const Instr& i) {
  const auto n = Get<uint32_t>(t, i.b);
  Put<T>(t, i.d, n >= 8 * sizeof(T) ? T{0} : static_cast<T>(Get<T>(t, i.a) << n));
  return Step::kNext;
}
template <class T>
Step Shr(Thread& t, const Instr& i) {
  const auto n = std::min<uint32_t>(Get<uint32_t>(t, i.b), 8 * sizeof(T));
  const T a = Get<T>(t, i.a);
  if (n < 8 * sizeof(T)) {
    Put<T>(t, i.d, static_cast<T>(a >> n));
  } else {
    Put<T>(t, i.d, std::is_signed_v<T> && a < 0 ? static_cast<T>(-1) : T{0});
  }
  return Step::kNext;
}
// imm: 1 for left, 2 for wrap
Step Shf(Thread& t, const Instr& i) {
  const uint64_t both = Get<uint32_t>(t, i.a) | static_cast<uint64_t>(Get<uint32_t>(t, i.b)) << 32;
  uint32_t n = Get<uint32_t>(t, i.c);
  n = (i.imm & 2) != 0 ? n & 31 : std::min(n, 32u);
  Put<uint32_t>(t, i.d, static_cast<uint32_t>((i.imm & 1) != 0 ? both << n >> 32 : both >> n));
  return Step::kNext;
}
Step Lop3(Thread& t, const Instr& i) {
  const auto a = Get<uint32_t>(t, i.a), b = Get<uint32_t>(t, i.b), c = Get<uint32_t>(t, i.c);
  uint32_t d = 0;
  for (unsigned row = 0; row < 8; ++row) {
    if ((i.imm >> row & 1) == 0) continue;
    d |= ((row & 4) != 0 ? a : ~a) & ((row & 2) != 0 ? b : ~b) & ((row & 1) != 0 ? c : ~c);
  }
  Put<uint32_t>(t, i.d, d);
  return Step::kNext;
}
Step Prmt(Thread& t, const Instr& i) {
  const uint64_t bytes = Get<uint32_t>(t, i.a) | static_cast<uint64_t>(Get<uint32_t>(t, i.b)) << 32;
  const auto select = Get<uint32_t>(t, i.c);
  uint32_t d = 0;
  for (unsigned k = 0; k < 4; ++k) {
    const uint32_t s = select >> (4 * k);
    uint32_t byte = static_cast<uint32_t>(bytes >> (8 * (s & 7))) & 0xFF;
    if ((s & 8) != 0) byte = (byte & 0x80) != 0 ? 0xFF : 0;
    d |= byte << (8 * k);
  }
  Put<uint32_t>(t, i.d, d);
  return Step::kNext;
}
template <class T>
Step Bfe(Thread& t, const Instr& i) {
  constexpr int kBits = 8 * sizeof(T);
  const auto a = Get<std::make_unsigned_t<T>>(t, i.a);
  const int begin = Get<uint8_t>(t, i.b), length = Get<uint8_t>(t, i.c);
  const int last = std::min(begin + length - 1, kBits - 1);
  const bool sign = std::is_signed_v<T> && length > 0 && (a >> last & 1) != 0;
  std::make_unsigned_t<T> d = 0;
  for (int k = 0; k < kBits; ++k) {
    const bool bit = k < length && begin + k < kBits ? (a >> (begin + k) & 1) != 0 : sign;
    d |= static_cast<std::make_unsigned_t<T>>(bit) << k;
  }
  Put<T>(t, i.d, static_cast<T>(d));
  return Step::kNext;
}
template <class T>
Step Bfi(Thread& t, const Instr& i) {
  const T a = Get<T>(t, i.a);
  T d = Get<T>(t, i.b);
  const int begin = Get<uint8_t>(t, i.list[0]), length = Get<uint8_t>(t, i.list[1]);
  for (int k = 0; k < length && begin + k < static_cast<int>(8 * sizeof(T)); ++k) {
    d = (d & ~(T{1} << (begin + k))) | ((a >> k & 1) << (begin + k));
  }
  Put<T>(t, i.d, d);
  return Step::kNext;
}
template <class T>
Step Popc(Thread& t, const Instr& i) {
  return Put<uint32_t>(t, i.d, std::popcount(Get<T>(t, i.a))), Step::kNext;
}
template <class T>
Step Clz(Thread& t, const Instr& i) {
  return Put<uint32_t>(t, i.d, std::countl_zero(Get<T>(t, i.a))), Step::kNext;
}
template <class T>
Step Brev(Thread& t, const Instr& i) {
  T a = Get<T>(t, i.a), d = 0;
  for (size_t k = 0; k < 8 * sizeof(T); ++k, a >>= 1) d = d << 1 | (a & 1);
  Put<T>(t, i.d, d);
  return Step::kNext;
}
// imm: 1 for shiftamt
template <class T>
Step Bfind(Thread& t, const Instr& i) {
  using U = std::make_unsigned_t<T>;
  U a = Get<U>(t, i.a);
  if (std::is_signed_v<T> && static_cast<T>(a) < 0) a = ~a;
  const int zeros = std::countl_zero(a), top = 8 * static_cast<int>(sizeof(T)) - 1;
  Put<uint32_t>(t, i.d, a == 0 ? ~0u : static_cast<uint32_t>(i.imm != 0 ? zeros : top - zeros));
  return Step::kNext;
}

// Sums of products of bytes. imm: 1, 2: the first, second is signed.
Step Dp4a(Thread& t, const Instr& i) {
  const auto a = Get<uint32_t>(t, i.a), b = Get<uint32_t>(t, i.b);
  uint32_t d = Get<uint32_t>(t, i.c);
  for (int k = 0; k < 32; k += 8) {
    const int x = (i.imm & 1) != 0 ? static_cast<int8_t>(a >> k) : static_cast<uint8_t>(a >> k);
    const int y = (i.imm & 2) != 0 ? static_cast<int8_t>(b >> k) : static_cast<uint8_t>(b >> k);
    d += static_cast<uint32_t>(x * y);
  }
  Put<uint32_t>(t, i.d, d);
  return Step::kNext;
}

int WidthOf(Type type) {
  switch (type) {
    case Type::kB16:
    case Type::kU16:
    case Type::kS16: return 16;
    case Type::kB32:
    case Type::kU32:
    case Type::kS32: return 32;
    case Type::kB64:
    case Type::kU64:
    case Type::kS64: return 64;
    case Type::kPred: return 1;
    default: return 0;
  }
}
bool IsSigned(Type type) { return type == Type::kS16 || type == Type::kS32 || type == Type::kS64; }

// By the type: of bits and unsigned integers of 16, 32, 64 bits, then of signed ones.
struct BitOp {
  absl::string_view name;
  int operands;
  Instr::Run run[6];
};
#define UNSIGNED(f) \
  { &f<uint16_t>, &f<uint32_t>, &f<uint64_t>, nullptr, nullptr, nullptr }
#define WORDS(f) \
  { nullptr, &f<uint32_t>, &f<uint64_t>, nullptr, nullptr, nullptr }
#define ALL(f) \
  { &f<uint16_t>, &f<uint32_t>, &f<uint64_t>, &f<int16_t>, &f<int32_t>, &f<int64_t> }
#define SIGNED_WORDS(f) \
  { nullptr, &f<uint32_t>, &f<uint64_t>, nullptr, &f<int32_t>, &f<int64_t> }
constexpr BitOp kOps[] = {
    {"cnot", 1, UNSIGNED(Cnot)},       {"shl", 2, UNSIGNED(Shl)},     {"shr", 2, ALL(Shr)},
    {"popc", 1, WORDS(Popc)},          {"clz", 1, WORDS(Clz)},        {"brev", 1, WORDS(Brev)},
    {"bfind", 1, SIGNED_WORDS(Bfind)}, {"bfe", 3, SIGNED_WORDS(Bfe)},
};
#undef UNSIGNED
#undef WORDS
#undef ALL
#undef SIGNED_WORDS

absl::Status DecodeByWidth(Form& f, Instr* i) {
  if (f.Take("shiftamt")) i->imm = 1;
  const Type type = f.TakeType();
  const int width = WidthOf(type);
  for (const BitOp& op : kOps) {
    if (op.name != f.words()[0]) continue;
    if (width >= 16) i->run = op.run[(width == 16 ? 0 : width == 32 ? 1 : 2) + (IsSigned(type) ? 3 : 0)];
    if (i->run == nullptr) f.Fail("this type");
    i->d = f.Destination(0), i->a = f.Source(1);
    if (op.operands > 1) i->b = f.Source(2);
    if (op.operands > 2) i->c = f.Source(3);
  }
  return f.Finish();
}

absl::Status DecodeLogic(Form& f, Instr* i) {
  const absl::string_view name = f.words()[0];
  if (WidthOf(f.TakeType()) == 0) f.Fail("this type");
  i->run = name == "and" ? &And : name == "or" ? &Or : name == "xor" ? &Xor : &Not;
  i->d = f.Destination(0), i->a = f.Source(1);
  if (name != "not") i->b = f.Source(2);
  return f.Finish();
}

absl::Status DecodeShf(Form& f, Instr* i) {
  i->run = &Shf;
  i->imm = f.TakeOf<int>({{"l", 1}, {"r", 0}}, 0);
  i->imm |= f.TakeOf<int>({{"wrap", 2}, {"clamp", 0}}, 0);
  if (f.TakeType() != Type::kB32) f.Fail("this type");
  i->d = f.Destination(0), i->a = f.Source(1), i->b = f.Source(2), i->c = f.Source(3);
  return f.Finish();
}

absl::Status DecodeLop3(Form& f, Instr* i) {
  i->run = &Lop3;
  if (f.TakeType() != Type::kB32) f.Fail("this type");
  i->d = f.Destination(0), i->a = f.Source(1), i->b = f.Source(2), i->c = f.Source(3);
  i->imm = f.Number(4);
  return f.Finish();
}

absl::Status DecodePrmt(Form& f, Instr* i) {
  i->run = &Prmt;
  if (f.TakeType() != Type::kB32) f.Fail("this type");
  i->d = f.Destination(0), i->a = f.Source(1), i->b = f.Source(2), i->c = f.Source(3);
  return f.Finish();
}

absl::Status DecodeBfi(Form& f, Instr* i) {
  i->run = f.TakeType() == Type::kB64 ? &Bfi<uint64_t> : &Bfi<uint32_t>;
  i->d = f.Destination(0), i->a = f.Source(1), i->b = f.Source(2);
  uint32_t count = 0;
  i->list = f.SourceRange(3, 2, &count);
  return f.Finish();
}

absl::Status DecodeDp4a(Form& f, Instr* i) {
  i->run = &Dp4a;
  i->imm = f.TakeType() == Type::kS32 ? 1 : 0;
  i->imm |= f.TakeType() == Type::kS32 ? 2 : 0;
  i->d = f.Destination(0), i->a = f.Source(1), i->b = f.Source(2), i->c = f.Source(3);
  return f.Finish();
}

}  // namespace

absl::Span<const OpRow> BitOps() {
  static constexpr OpRow kRows[] = {
      {"and", DecodeLogic},    {"or", DecodeLogic},     {"xor", DecodeLogic},   {"not", DecodeLogic},
      {"cnot", DecodeByWidth}, {"shl", DecodeByWidth},  {"shr", DecodeByWidth}, {"popc", DecodeByWidth},
      {"clz", DecodeByWidth},  {"brev", DecodeByWidth}, {"bfe", DecodeByWidth}, {"bfind", DecodeByWidth},
      {"shf", DecodeShf},      {"lop3", DecodeLop3},    {"prmt", DecodePrmt},   {"bfi", DecodeBfi},
      {"dp4a", DecodeDp4a},
  };
  return kRows;
}

}  // namespace tile::gpu_sim

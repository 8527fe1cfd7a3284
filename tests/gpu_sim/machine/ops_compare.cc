// Comparisons and selections.
#include <cmath>

#include "tests/gpu_sim/machine/float_mode.h"
#include "tests/gpu_sim/machine/ops.h"
#include "tests/gpu_sim/machine/state.h"
#include "tests/gpu_sim/tensor/formats.h"

namespace tile::gpu_sim {
namespace {

// What a comparison says of each outcome: bits of less, equal, greater, unordered.
enum Outcome : int { kLess = 1, kEqual = 2, kGreater = 4, kUnordered = 8 };
constexpr std::pair<absl::string_view, int> kComparisons[] = {
    {"eq", kEqual},
    {"ne", kLess | kGreater},
    {"lt", kLess},
    {"le", kLess | kEqual},
    {"gt", kGreater},
    {"ge", kGreater | kEqual},
    {"lo", kLess},
    {"ls", kLess | kEqual},
    {"hi", kGreater},
    {"hs", kGreater | kEqual},
    {"equ", kEqual | kUnordered},
    {"neu", kLess | kGreater | kUnordered},
    {"ltu", kLess | kUnordered},
    {"leu", kLess | kEqual | kUnordered},
    {"gtu", kGreater | kUnordered},
    {"geu", kGreater | kEqual | kUnordered},
    {"num", kLess | kEqual | kGreater},
    {"nan", kUnordered},
};

template <class T>
int OutcomeOf(T a, T b) {
  return a < b ? kLess : a == b ? kEqual : a > b ? kGreater : kUnordered;
}

using Compare = int (*)(const Thread&, uint32_t a, uint32_t b, bool ftz);
template <class T>
int CompareAs(const Thread& t, uint32_t a, uint32_t b, bool ftz) {
  if constexpr (std::is_floating_point_v<T>) {
    if (ftz) return OutcomeOf(Flush(Get<T>(t, a), kFtz), Flush(Get<T>(t, b), kFtz));
  }
  return OutcomeOf(Get<T>(t, a), Get<T>(t, b));
}
template <Format format>
int CompareHalf(const Thread& t, uint32_t a, uint32_t b, bool) {
  const float* values = DecodeTable(format);
  return OutcomeOf(values[Get<uint16_t>(t, a)], values[Get<uint16_t>(t, b)]);
}

enum Combine : int { kAlone, kAnd, kOr, kXor };

// imm: outcomes in bits 0 to 3, bit 4 ftz; list: the second result, the predicate that is combined
struct SetExtra : Extra {
  Compare compare = nullptr;
  Combine combine = kAlone;
  bool negated = false;
  uint64_t yes = 1, no = 0;  // of `set`
};

template <class T>
Step SetpPlain(Thread& t, const Instr& i) {
  t.r[i.d] = (OutcomeOf(Get<T>(t, i.a), Get<T>(t, i.b)) & i.imm) != 0;
  return Step::kNext;
}

bool Combined(const SetExtra& x, bool is, bool with) {
  with ^= x.negated;
  return x.combine == kAlone ? is : x.combine == kAnd ? is && with : x.combine == kOr ? is || with : is != with;
}

Step Setp(Thread& t, const Instr& i) {
  const auto& x = static_cast<const SetExtra&>(*i.extra);
  const bool is = (x.compare(t, i.a, i.b, (i.imm & 16) != 0) & i.imm) != 0;
  const bool with = x.combine != kAlone && Get<bool>(t, i.c);
  t.r[i.d] = Combined(x, is, with) ? x.yes : x.no;
  if (i.count != 0) t.r[i.list[0]] = Combined(x, !is, with);
  return Step::kNext;
}

Compare CompareOf(Type type) {
  switch (type) {
    case Type::kB16:
    case Type::kU16: return &CompareAs<uint16_t>;
    case Type::kB32:
    case Type::kU32: return &CompareAs<uint32_t>;
    case Type::kB64:
    case Type::kU64: return &CompareAs<uint64_t>;
    case Type::kS16: return &CompareAs<int16_t>;
    case Type::kS32: return &CompareAs<int32_t>;
    case Type::kS64: return &CompareAs<int64_t>;
    case Type::kF32: return &CompareAs<float>;
    case Type::kF64: return &CompareAs<double>;
    case Type::kF16: return &CompareHalf<Format::kF16>;
    case Type::kBF16: return &CompareHalf<Format::kBF16>;
    default: return nullptr;
  }
}

Instr::Run PlainOf(Type type) {
  switch (type) {
    case Type::kB16:
    case Type::kU16: return &SetpPlain<uint16_t>;
    case Type::kB32:
    case Type::kU32: return &SetpPlain<uint32_t>;
    case Type::kB64:
    case Type::kU64: return &SetpPlain<uint64_t>;
    case Type::kS32: return &SetpPlain<int32_t>;
    case Type::kS64: return &SetpPlain<int64_t>;
    case Type::kF32: return &SetpPlain<float>;
    default: return &Setp;
  }
}

void TakeComparison(Form& f, Instr* i, SetExtra* x) {
  for (const auto& [word, outcomes] : kComparisons) {
    if (f.Take(word)) i->imm = outcomes;
  }
  if (i->imm == 0) f.Fail("it has no comparison");
  x->combine = f.TakeOf<Combine>({{"and", kAnd}, {"or", kOr}, {"xor", kXor}}, kAlone);
  if (f.Take("ftz")) i->imm |= 16;
}

absl::Status DecodeSetp(Form& f, Instr* i) {
  auto* x = f.NewExtra<SetExtra>(i);
  TakeComparison(f, i, x);
  const Type type = f.TakeType();
  x->compare = CompareOf(type);
  if (x->compare == nullptr) f.Fail("this type");
  if (f.IsPair(0)) {
    // Two results: the list holds the second.
    const auto [first, second] = f.DestinationPair(0);
    i->d = first;
    i->list = f.Slots({second});
    i->count = 1;
  } else {
    i->d = f.Destination(0);
  }
  i->a = f.Source(1), i->b = f.Source(2);
  if (x->combine != kAlone) i->c = f.SourceOrNot(3, &x->negated);
  i->run = x->combine == kAlone && i->count == 0 && (i->imm & 16) == 0 ? PlainOf(type) : &Setp;
  return f.Finish();
}

absl::Status DecodeSet(Form& f, Instr* i) {
  auto* x = f.NewExtra<SetExtra>(i);
  TakeComparison(f, i, x);
  const Type to = f.TakeType();
  x->yes = to == Type::kF32 ? std::bit_cast<uint32_t>(1.0f) : 0xFFFFFFFF;
  if (to != Type::kF32 && to != Type::kU32 && to != Type::kS32) f.Fail("this type");
  x->compare = CompareOf(f.TakeType());
  if (x->compare == nullptr) f.Fail("this type");
  i->run = &Setp;
  i->d = f.Destination(0), i->a = f.Source(1), i->b = f.Source(2);
  if (x->combine != kAlone) i->c = f.SourceOrNot(3, &x->negated);
  return f.Finish();
}

Step Selp(Thread& t, const Instr& i) {
  t.r[i.d] = Get<bool>(t, i.c) ? t.r[i.a] : t.r[i.b];
  return Step::kNext;
}

absl::Status DecodeSelp(Form& f, Instr* i) {
  f.TakeType();
  i->run = &Selp;
  i->d = f.Destination(0), i->a = f.Source(1), i->b = f.Source(2);
  bool negated = false;
  i->c = f.SourceOrNot(3, &negated);
  if (negated) std::swap(i->a, i->b);
  return f.Finish();
}

Step Slct(Thread& t, const Instr& i) {
  const bool first = i.imm != 0 ? Get<float>(t, i.c) >= 0 : Get<int32_t>(t, i.c) >= 0;
  t.r[i.d] = first ? t.r[i.a] : t.r[i.b];
  return Step::kNext;
}

absl::Status DecodeSlct(Form& f, Instr* i) {
  f.TakeType();
  i->imm = f.TakeType() == Type::kF32;
  f.Ignore({"ftz"});  // a subnormal has its zero's sign, and -0 >= 0
  i->run = &Slct;
  i->d = f.Destination(0), i->a = f.Source(1), i->b = f.Source(2), i->c = f.Source(3);
  return f.Finish();
}

}  // namespace

absl::Span<const OpRow> CompareOps() {
  static constexpr OpRow kRows[] = {
      {"setp", DecodeSetp}, {"set", DecodeSet}, {"selp", DecodeSelp}, {"slct", DecodeSlct}};
  return kRows;
}

}  // namespace tile::gpu_sim

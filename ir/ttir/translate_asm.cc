// Inline assembly: PTX that computes each element by itself, instruction by instruction, on tiles of registers.
//
//   tt.elementwise_inline_asm "tanh.approx.f32 $0, $1;" {constraints = "=r,r", packed_element = 1 : i32, pure = true} %x : …
//
// A register is a tile of integers, or of i1 for a predicate; an instruction reads it as its type says. With
// `packed_element` above 1 neighbours share registers: two of 16 bits, four of 8 bits. What kInstructions does not have is refused.

#include <array>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "ir/ttir/lexer.h"
#include "ir/ttir/ptx.h"
#include "ir/ttir/translator.h"

namespace tile::ir::ttir {
namespace {

// The type of an instruction: `f32`, `u16`, `b64`, `pred`, `f16x2`.
struct PtxType {
  char kind = 0;  // f, s, u, b, p; 0: unknown
  int bits = 0;
  Elem elem = Elem::kI32;  // of a float; else the integer of as many bits
  bool pair = false;       // two of them in 32 bits
};

Elem IntOf(int bits) {
  return bits == 1 ? Elem::kI1 : bits == 8 ? Elem::kI8 : bits == 16 ? Elem::kI16 : bits == 32 ? Elem::kI32 : Elem::kI64;
}

PtxType TypeOf(absl::string_view word) {
  PtxType t;
  if (word == "pred") return {'p', 1, Elem::kI1, false};
  t.pair = absl::ConsumeSuffix(&word, "x2");
  if (word == "bf16") return {'f', 16, Elem::kBF16, t.pair};
  const char kind = word.empty() ? '\0' : word[0];
  int bits = 0;
  if (kind == '\0' || !absl::SimpleAtoi(word.substr(1), &bits)) return {};
  if (bits != 8 && bits != 16 && bits != 32 && bits != 64) return {};
  if (kind == 'f' && bits != 8) {
    return {'f', bits, bits == 16 ? Elem::kF16 : bits == 32 ? Elem::kF32 : Elem::kF64, t.pair && bits == 16};
  }
  if ((kind == 's' || kind == 'u' || kind == 'b') && !t.pair) return {kind, bits, IntOf(bits), false};
  return {};
}

// One instruction at work: its words, its type and its operands, read as that type.
struct Line {
  Builder& b;
  const std::vector<std::string>& words;
  PtxType type;
  std::vector<Value*> x;

  bool has(absl::string_view word) const {
    for (size_t i = 1; i < words.size(); ++i) {
      if (words[i] == word) return true;
    }
    return false;
  }
  bool is_float() const { return type.kind == 'f'; }
  bool ftz() const { return has("ftz") && type.elem == Elem::kF32; }
  Signedness sign() const { return type.kind == 's' ? Signedness::kSigned : Signedness::kUnsigned; }
  Rounding rounding() const {
    return has("rz")   ? Rounding::kZero
           : has("rm") ? Rounding::kNegativeInf
           : has("rp") ? Rounding::kPositiveInf
                       : Rounding::kNearestEven;
  }
  Value* Int(int64_t v) const { return ops::Integer(b, x[0]->type(), v); }
  Value* Wide(Value* v) const {
    return ops::Exti(b, b.types().Tile(Element::Number(IntOf(2 * type.bits)), v->type().shape()), v, sign());
  }
};

// Null: not with these words or types.
using Make = Value* (*)(const Line& l);

Value* MakeAdd(const Line& l) {
  return l.is_float() ? ops::Addf(l.b, l.x[0], l.x[1], l.rounding(), l.ftz()) : ops::Addi(l.b, l.x[0], l.x[1]);
}
Value* MakeSub(const Line& l) {
  return l.is_float() ? ops::Subf(l.b, l.x[0], l.x[1], l.rounding(), l.ftz()) : ops::Subi(l.b, l.x[0], l.x[1]);
}
Value* MakeMul(const Line& l) {
  if (l.is_float()) return ops::Mulf(l.b, l.x[0], l.x[1], l.rounding(), l.ftz());
  if (l.has("wide")) return l.type.bits > 32 ? nullptr : ops::Muli(l.b, l.Wide(l.x[0]), l.Wide(l.x[1]));
  if (l.has("lo")) return ops::Muli(l.b, l.x[0], l.x[1]);
  return l.has("hi") && l.type.kind == 'u' ? ops::Mulhii(l.b, l.x[0], l.x[1]) : nullptr;
}
Value* MakeMad(const Line& l) {
  if (l.is_float()) return ops::Fma(l.b, l.x[0], l.x[1], l.x[2], l.rounding(), l.ftz());
  return l.has("lo") ? ops::Addi(l.b, ops::Muli(l.b, l.x[0], l.x[1]), l.x[2]) : nullptr;
}
Value* MakeDiv(const Line& l) {
  if (!l.is_float()) return nullptr;  // by zero it means something else
  const Rounding r = l.has("approx") ? Rounding::kApprox : l.has("full") ? Rounding::kFull : l.rounding();
  return ops::Divf(l.b, l.x[0], l.x[1], r, l.ftz());
}
Value* MakeMax(const Line& l) {
  if (l.has("xorsign") || l.has("abs")) return nullptr;
  return l.is_float() ? ops::Maxf(l.b, l.x[0], l.x[1], l.has("NaN"), l.ftz())
                      : ops::Maxi(l.b, l.x[0], l.x[1], l.sign());
}
Value* MakeMin(const Line& l) {
  if (l.has("xorsign") || l.has("abs")) return nullptr;
  return l.is_float() ? ops::Minf(l.b, l.x[0], l.x[1], l.has("NaN"), l.ftz())
                      : ops::Mini(l.b, l.x[0], l.x[1], l.sign());
}
Value* MakeNeg(const Line& l) { return l.is_float() ? ops::Negf(l.b, l.x[0]) : ops::Subi(l.b, l.Int(0), l.x[0]); }
Value* MakeAbs(const Line& l) { return l.is_float() ? ops::Absf(l.b, l.x[0]) : ops::Absi(l.b, l.x[0]); }
Value* MakeNot(const Line& l) { return ops::Xori(l.b, l.x[0], l.Int(-1)); }
Value* MakeShl(const Line& l) { return ops::Shli(l.b, l.x[0], l.x[1]); }
Value* MakeShr(const Line& l) { return ops::Shri(l.b, l.x[0], l.x[1], l.sign()); }
// The second and the first operand in a row, shifted: 32 bits of them.
Value* MakeShf(const Line& l) {
  if (l.type.bits != 32) return nullptr;
  Value* by =
      l.has("wrap") ? ops::Andi(l.b, l.x[2], l.Int(31)) : ops::Mini(l.b, l.x[2], l.Int(32), Signedness::kUnsigned);
  Value* rest = ops::Subi(l.b, l.Int(32), by);
  if (l.has("l")) return ops::Ori(l.b, ops::Shli(l.b, l.x[1], by), ops::Shri(l.b, l.x[0], rest, Signedness::kUnsigned));
  return ops::Ori(l.b, ops::Shri(l.b, l.x[0], by, Signedness::kUnsigned), ops::Shli(l.b, l.x[1], rest));
}
Value* MakeRcp(const Line& l) {
  const Rounding r = l.has("approx") ? Rounding::kApprox : l.rounding();
  return ops::Divf(l.b, ops::Splat(l.b, l.x[0]->type(), 1), l.x[0], r, l.ftz());
}
Value* MakeSqrt(const Line& l) {
  return ops::Sqrt(l.b, l.x[0], l.has("approx") ? Rounding::kApprox : l.rounding(), l.ftz());
}
// The function of three bits that the last operand tabulates, as sums of products.
Value* MakeLop3(const Line& l, uint64_t table) {
  Value* sum = l.Int(0);
  for (uint64_t row = 0; row < 8; ++row) {
    if ((table >> row & 1) == 0) continue;
    Value* product = nullptr;
    for (uint64_t k = 0; k < 3; ++k) {
      Value* v = (row >> (2 - k) & 1) != 0 ? l.x[k] : ops::Xori(l.b, l.x[k], l.Int(-1));
      product = product == nullptr ? v : ops::Andi(l.b, product, v);
    }
    sum = ops::Ori(l.b, sum, product);
  }
  return sum;
}
// Four bytes out of eight, which the digits of the last operand name; 8 and above: its sign.
Value* MakePrmt(const Line& l, uint64_t digits) {
  Value* sum = nullptr;
  for (int k = 0; k < 4; ++k) {
    const uint64_t digit = digits >> (4 * k) & 15;
    Value* from = l.x[digit % 8 < 4 ? 0 : 1];
    const int64_t low = static_cast<int64_t>(8 * (digit % 4));
    Value* byte;
    if (digit < 8) {
      byte = ops::Andi(l.b, ops::Shri(l.b, from, l.Int(low), Signedness::kUnsigned), l.Int(255));
    } else {
      Value* top = ops::Shli(l.b, from, l.Int(24 - low));
      byte = ops::Andi(l.b, ops::Shri(l.b, top, l.Int(31), Signedness::kSigned), l.Int(255));
    }
    byte = k == 0 ? byte : ops::Shli(l.b, byte, l.Int(8 * k));
    sum = sum == nullptr ? byte : ops::Ori(l.b, sum, byte);
  }
  return sum;
}

struct Instruction {
  absl::string_view name;
  size_t operands;
  absl::string_view kinds;  // of its type
  Make make;
};
constexpr Instruction kInstructions[] = {
    {"abs", 1, "fs", MakeAbs},
    {"add", 2, "fsu", MakeAdd},
    {"and", 2, "bp", [](const Line& l) -> Value* { return ops::Andi(l.b, l.x[0], l.x[1]); }},
    {"cos", 1, "f", [](const Line& l) -> Value* { return ops::Cos(l.b, l.x[0]); }},
    {"div", 2, "f", MakeDiv},
    {"ex2", 1, "f", [](const Line& l) -> Value* { return ops::Exp2(l.b, l.x[0], l.ftz()); }},
    {"fma", 3, "f", MakeMad},
    {"lg2", 1, "f", [](const Line& l) -> Value* { return ops::Log2(l.b, l.x[0]); }},
    {"mad", 3, "fsu", MakeMad},
    {"max", 2, "fsu", MakeMax},
    {"min", 2, "fsu", MakeMin},
    {"mov", 1, "fsubp", [](const Line& l) -> Value* { return l.x[0]; }},
    {"mul", 2, "fsu", MakeMul},
    {"neg", 1, "fs", MakeNeg},
    {"not", 1, "bp", MakeNot},
    {"or", 2, "bp", [](const Line& l) -> Value* { return ops::Ori(l.b, l.x[0], l.x[1]); }},
    {"rcp", 1, "f", MakeRcp},
    {"rsqrt", 1, "f", [](const Line& l) -> Value* { return ops::Rsqrt(l.b, l.x[0], l.ftz()); }},
    {"shf", 3, "b", MakeShf},
    {"shl", 2, "b", MakeShl},
    {"shr", 2, "bsu", MakeShr},
    {"sin", 1, "f", [](const Line& l) -> Value* { return ops::Sin(l.b, l.x[0]); }},
    {"sqrt", 1, "f", MakeSqrt},
    {"sub", 2, "fsu", MakeSub},
    {"tanh", 1, "f", [](const Line& l) -> Value* { return ops::Tanh(l.b, l.x[0], Rounding::kApprox); }},
    {"xor", 2, "bp", [](const Line& l) -> Value* { return ops::Xori(l.b, l.x[0], l.x[1]); }},
};

struct Comparison {
  absl::string_view name;
  ComparisonPredicate predicate;
  ComparisonOrdering ordering;
  bool is_unsigned;
};
constexpr Comparison kComparisons[] = {
    {"eq", ComparisonPredicate::kEqual, ComparisonOrdering::kOrdered, false},
    {"ne", ComparisonPredicate::kNotEqual, ComparisonOrdering::kOrdered, false},
    {"lt", ComparisonPredicate::kLessThan, ComparisonOrdering::kOrdered, false},
    {"le", ComparisonPredicate::kLessThanOrEqual, ComparisonOrdering::kOrdered, false},
    {"gt", ComparisonPredicate::kGreaterThan, ComparisonOrdering::kOrdered, false},
    {"ge", ComparisonPredicate::kGreaterThanOrEqual, ComparisonOrdering::kOrdered, false},
    {"equ", ComparisonPredicate::kEqual, ComparisonOrdering::kUnordered, false},
    {"neu", ComparisonPredicate::kNotEqual, ComparisonOrdering::kUnordered, false},
    {"ltu", ComparisonPredicate::kLessThan, ComparisonOrdering::kUnordered, false},
    {"leu", ComparisonPredicate::kLessThanOrEqual, ComparisonOrdering::kUnordered, false},
    {"gtu", ComparisonPredicate::kGreaterThan, ComparisonOrdering::kUnordered, false},
    {"geu", ComparisonPredicate::kGreaterThanOrEqual, ComparisonOrdering::kUnordered, false},
    {"lo", ComparisonPredicate::kLessThan, ComparisonOrdering::kOrdered, true},
    {"ls", ComparisonPredicate::kLessThanOrEqual, ComparisonOrdering::kOrdered, true},
    {"hi", ComparisonPredicate::kGreaterThan, ComparisonOrdering::kOrdered, true},
    {"hs", ComparisonPredicate::kGreaterThanOrEqual, ComparisonOrdering::kOrdered, true},
};

// The registers of one piece of assembly, and what its lines make of them.
class Assembly {
 public:
  Assembly(Builder& b, std::vector<int64_t> shape) : b_(b), shape_(std::move(shape)) {}

  void Set(const std::string& name, Value* v) { registers_[name] = v; }
  Value* Get(const std::string& name) const {
    const auto it = registers_.find(name);
    return it == registers_.end() ? nullptr : it->second;
  }
  // False: the line is not understood.
  bool Run(const PtxLine& line);

 private:
  Type TileOf(Elem e) const { return b_.types().Tile(Element::Number(e), shape_); }
  Value* ReadBits(const std::string& operand, int bits);
  Value* Read(const std::string& operand, const PtxType& t);
  bool Write(const PtxLine& line, const std::string& target, Value* v);
  Value* AsBits(Value* v) {
    const Elem e = v->type().elem();
    return IsInt(e) ? v : ops::Bitcast(b_, TileOf(IntOf(ElemInfoOf(e).bits)), v);
  }
  Value* Low(Value* v, int bits) {
    return ElemInfoOf(v->type().elem()).bits == bits ? v : ops::Trunci(b_, TileOf(IntOf(bits)), v);
  }
  Value* Part(Value* word, int from, int bits) {
    Value* moved = from == 0 ? word : ops::Shri(b_, word, ops::Integer(b_, word->type(), from), Signedness::kUnsigned);
    return Low(moved, bits);
  }
  Value* Half(Value* word, int k) { return Part(word, 16 * k, 16); }
  Value* Pair(Value* low, Value* high);
  Value* Apply(const PtxLine& line, const PtxType& t);
  Value* ApplyTyped(const PtxLine& line, const PtxType& t, std::vector<Value*> x);
  bool Compare(const PtxLine& line, const PtxType& t);
  Value* ConvertFrom(const PtxLine& line);

  Builder& b_;
  const std::vector<int64_t> shape_;
  absl::flat_hash_map<std::string, Value*> registers_;
};

Value* Assembly::Pair(Value* low, Value* high) {
  const Type word = TileOf(Elem::kI32);
  Value* up = ops::Shli(b_, ops::Exti(b_, word, high, Signedness::kUnsigned), ops::Integer(b_, word, 16));
  return ops::Ori(b_, up, ops::Exti(b_, word, low, Signedness::kUnsigned));
}

// Null: it is none, or of another width.
Value* Assembly::ReadBits(const std::string& operand, int bits) {
  PtxNumber number;
  if (ParsePtxNumber(operand, &number)) {
    return number.is_float ? nullptr : ops::Integer(b_, TileOf(IntOf(bits)), number.integer);
  }
  Value* v = Get(operand);
  return v != nullptr && ElemInfoOf(v->type().elem()).bits == bits ? v : nullptr;
}

Value* Assembly::Read(const std::string& operand, const PtxType& t) {
  PtxNumber number;
  if (t.kind == 'f' && !t.pair && ParsePtxNumber(operand, &number) && (number.is_float || t.bits >= 32)) {
    return ops::Splat(b_, TileOf(t.elem), number.real);
  }
  Value* v = ReadBits(operand, t.pair ? 32 : t.bits);
  return v == nullptr || t.kind != 'f' || t.pair ? v : ops::Bitcast(b_, TileOf(t.elem), v);
}

bool Assembly::Write(const PtxLine& line, const std::string& target, Value* v) {
  if (v == nullptr) return false;
  v = AsBits(v);
  if (!line.guard.empty()) {
    Value *guard = ReadBits(line.guard, 1), *before = Get(target);
    if (guard == nullptr) return false;
    if (before == nullptr) before = ops::Integer(b_, v->type(), 0);
    if (before->type() != v->type()) return false;
    v = line.unless ? ops::Select(b_, guard, before, v) : ops::Select(b_, guard, v, before);
  }
  Set(target, v);
  return true;
}

Value* Assembly::ApplyTyped(const PtxLine& line, const PtxType& t, std::vector<Value*> x) {
  for (const Instruction& i : kInstructions) {
    if (line.words[0] != i.name || x.size() != i.operands ||
        !absl::StrContains(i.kinds, absl::string_view(&t.kind, 1))) {
      continue;
    }
    return i.make({b_, line.words, t, std::move(x)});
  }
  return nullptr;
}

Value* Assembly::Apply(const PtxLine& line, const PtxType& t) {
  const std::string& name = line.words[0];
  std::vector<Value*> x;
  for (size_t i = 1; i < line.operands.size(); ++i) {
    PtxType at = t;
    if (name == "selp" && i == 3) at = {'p', 1, Elem::kI1, false};
    if ((name == "shl" || name == "shr") && i == 2) at = {'b', 32, Elem::kI32, false};
    PtxNumber number;
    if ((name == "lop3" || name == "prmt") && i == (name == "lop3" ? 4u : 3u)) {
      if (t.bits != 32 || x.size() != i - 1 || !ParsePtxNumber(line.operands[i], &number) || number.is_float)
        return nullptr;
      const Line l = {b_, line.words, t, x};
      const uint64_t v = static_cast<uint64_t>(number.integer);
      return name == "lop3" ? MakeLop3(l, v) : MakePrmt(l, v);
    }
    x.push_back(Read(line.operands[i], at));
    if (x.back() == nullptr) return nullptr;
  }
  if (name == "selp") return x.size() == 3 && !t.pair ? ops::Select(b_, x[2], x[0], x[1]) : nullptr;
  if ((name == "shl" || name == "shr") && x.size() == 2 && t.bits != 32) {
    x[1] = t.bits < 32 ? Low(x[1], t.bits) : ops::Exti(b_, TileOf(t.elem), x[1], Signedness::kUnsigned);
  }
  if (!t.pair) return ApplyTyped(line, t, x);
  PtxType one = t;
  one.pair = false;
  std::array<Value*, 2> halves = {};
  for (int k = 0; k < 2; ++k) {
    std::vector<Value*> parts;
    for (Value* v : x) parts.push_back(ops::Bitcast(b_, TileOf(one.elem), Half(v, k)));
    halves[static_cast<size_t>(k)] = ApplyTyped(line, one, parts);
    if (halves[static_cast<size_t>(k)] == nullptr) return nullptr;
  }
  return Pair(AsBits(halves[0]), AsBits(halves[1]));
}

// setp.lt.f32 p, a, b; setp.lt.f16x2 p|q, a, b
bool Assembly::Compare(const PtxLine& line, const PtxType& t) {
  if (line.operands.size() != 3 || line.words.size() < 3) return false;
  const std::vector<std::string> targets = absl::StrSplit(line.operands[0], '|');
  if (targets.size() != (t.pair ? 2u : 1u)) return false;
  Value *x = Read(line.operands[1], t), *y = Read(line.operands[2], t);
  if (x == nullptr || y == nullptr) return false;
  for (const Comparison& c : kComparisons) {
    if (line.words[1] != c.name) continue;
    for (size_t k = 0; k < targets.size(); ++k) {
      const auto part = [&](Value* v) {
        return t.pair ? ops::Bitcast(b_, TileOf(t.elem), Half(v, static_cast<int>(k))) : v;
      };
      const bool is_signed = t.kind == 's' && !c.is_unsigned;
      Value* v = t.kind == 'f'
                     ? ops::CmpF(b_, c.predicate, part(x), part(y), c.ordering)
                     : ops::CmpI(b_, c.predicate, x, y, is_signed ? Signedness::kSigned : Signedness::kUnsigned);
      if (!Write(line, targets[k], v)) return false;
    }
    return true;
  }
  return false;
}

// cvt.rn.f16.f32 d, a: between floats of 16 to 64 bits and integers. Null: another one.
Value* Assembly::ConvertFrom(const PtxLine& line) {
  const size_t n = line.words.size();
  if (n < 3 || line.operands.size() != 2) return nullptr;
  const PtxType to = TypeOf(line.words[n - 2]), from = TypeOf(line.words[n - 1]);
  if (to.kind == 0 || from.kind == 0 || to.pair || from.pair) return nullptr;
  const Line words = {b_, line.words, to, {}};
  if (words.has("sat") || words.has("satfinite") || words.has("relu")) return nullptr;
  Value* v = Read(line.operands[1], from);
  // A wider register holds it in its low bits.
  if (v == nullptr && from.kind != 'f' && Get(line.operands[1]) != nullptr) {
    Value* wide = Get(line.operands[1]);
    if (ElemInfoOf(wide->type().elem()).bits > from.bits) v = Low(wide, from.bits);
  }
  if (v == nullptr || to.elem == from.elem) return v;
  const auto sign = [](const PtxType& t) { return t.kind == 's' ? Signedness::kSigned : Signedness::kUnsigned; };
  if (to.kind == 'f' && from.kind != 'f') {
    return words.has("rn") ? ops::IToF(b_, TileOf(to.elem), v, sign(from)) : nullptr;
  }
  // Numbers out of range become the nearest one.
  if (from.kind == 'f' && to.kind != 'f') {
    return words.has("rzi") ? ops::FToI(b_, TileOf(to.elem), v, sign(to), /*saturating=*/true) : nullptr;
  }
  if (to.kind == 'f') return ops::FToF(b_, TileOf(to.elem), v, words.rounding());
  if (to.bits < from.bits) return Low(v, to.bits);
  return ops::Exti(b_, TileOf(to.elem), v, sign(from));
}

bool Assembly::Run(const PtxLine& line) {
  const std::string& name = line.words[0];
  if (name == "reg") {
    for (const std::string& r : line.operands) registers_.erase(r);
    return true;
  }
  const PtxType t = TypeOf(line.words.back());
  if (t.kind == 0 || line.operands.size() < 2) return false;
  if (name == "setp") return Compare(line, t);
  if (name == "cvt") return Write(line, line.operands[0], ConvertFrom(line));
  const auto braced = [](absl::string_view s) { return absl::ConsumePrefix(&s, "{") && absl::ConsumeSuffix(&s, "}"); };
  const auto parts = [](absl::string_view s) -> std::vector<std::string> {
    std::vector<std::string> out;
    for (absl::string_view p : absl::StrSplit(s.substr(1, s.size() - 2), ','))
      out.emplace_back(absl::StripAsciiWhitespace(p));
    return out;
  };
  if (name == "mov" && braced(line.operands[0])) {
    Value* word = ReadBits(line.operands[1], t.bits);
    const std::vector<std::string> targets = parts(line.operands[0]);
    const int bits = t.bits / static_cast<int>(targets.size());
    if (word == nullptr || bits < 8 || bits * static_cast<int>(targets.size()) != t.bits) return false;
    for (size_t k = 0; k < targets.size(); ++k) {
      if (!Write(line, targets[k], Part(word, static_cast<int>(k) * bits, bits))) return false;
    }
    return true;
  }
  if (name == "mov" && braced(line.operands[1])) {
    const std::vector<std::string> sources = parts(line.operands[1]);
    const int bits = t.bits / static_cast<int>(sources.size());
    const Type whole = TileOf(IntOf(t.bits));
    Value* word = nullptr;
    if (bits < 8 || bits * static_cast<int>(sources.size()) != t.bits) return false;
    for (size_t k = 0; k < sources.size(); ++k) {
      Value* part = ReadBits(sources[k], bits);
      if (part == nullptr) return false;
      part = bits == t.bits ? part : ops::Exti(b_, whole, part, Signedness::kUnsigned);
      Value* places = ops::Integer(b_, whole, static_cast<int64_t>(k) * bits);
      word = k == 0 ? part : ops::Ori(b_, word, ops::Shli(b_, part, places));
    }
    return Write(line, line.operands[0], word);
  }
  return Write(line, line.operands[0], Apply(line, t));
}

}  // namespace

// The registers of an element of this many bits: how many share one, and its width.
Translator::Packing Translator::PackingOf(Elem e, int64_t pack) {
  const int bits = e == Elem::kI1 ? 8 : ElemInfoOf(e).bits;
  const int64_t share = std::min<int64_t>(bits < 32 ? 32 / bits : 1, pack);
  return {share, static_cast<int>(share * bits)};
}

// grid dependencies are all that assembly may do besides computing.
bool Translator::AsmEffect(const Node& n, const std::vector<PtxLine>& lines, bool* done) {
  *done = lines.size() == 1 && lines[0].words[0] == "griddepcontrol" && lines[0].words.size() == 2;
  if (!*done) return true;
  const Opcode op = lines[0].words[1] == "wait" ? Opcode::kGdcWait : Opcode::kGdcLaunchDependents;
  order_.NoteWrite(b_.Create(op, {{order_.ForWrite(b_)}}, {b_.types().Token()})->result(0));
  std::vector<Val> out;
  for (const TtType& t : n.outputs) {
    if (t.kind != TtType::Kind::kTile || t.tile.element().is_pointer()) return WrongType(n, "gives no number");
    out.push_back(TileVal(ops::Integer(b_, t.tile, 0)));  // a dummy
  }
  return Define(n, std::move(out));
}

bool Translator::InlineAsm(const Node& n, const OpRow&) {
  const std::optional<std::string> text = Unescape(n.word(""));
  std::vector<PtxLine> lines;
  std::string wrong;
  const absl::string_view fix = "write it with tl functions, or with PTX that computes each element";
  if (!text || !ParsePtx(*text, &lines, &wrong)) return Unsupported(n, absl::StrCat("has \"", wrong, "\""), fix);
  bool done = false;
  if (!AsmEffect(n, lines, &done)) return false;
  if (done) return true;
  const int64_t pack = n.number("packed_element", 1);
  std::vector<TtType> outputs = n.outputs.empty() ? n.types : n.outputs;
  int64_t elements = 0;
  for (TtType& t : outputs) {
    if (lift_ != nullptr && t.kind == TtType::Kind::kTile && t.tile.is_scalar()) {
      t.tile = b_.types().Tile(t.tile.element(), *lift_);
    }
    if (t.kind != TtType::Kind::kTile || t.tile.element().is_pointer()) return WrongType(n, "gives no tile of numbers");
    elements = t.tile.num_elements();
  }
  if (pack < 1 || elements == 0 || elements % pack != 0) return WrongType(n, "packs elements that are not there");
  Assembly assembly(b_, {elements / pack});
  int64_t outs = 0, next = 0;
  for (const TtType& t : outputs) outs += pack / PackingOf(t.tile.elem(), pack).share;
  for (int64_t i = 0; i < outs; ++i) assembly.Set(absl::StrCat("$", i), nullptr);
  next = outs;
  for (const Val& v : in_) {
    if (!v.is_tile() || v.type.tile.element().is_pointer() || v.type.tile.num_elements() != elements) {
      return WrongType(n, "takes tiles of numbers of its result's size");
    }
    for (Value* r : ToRegisters(v.tile(), pack)) assembly.Set(absl::StrCat("$", next++), r);
  }
  for (const PtxLine& line : lines) {
    if (assembly.Run(line)) continue;
    return Unsupported(
        n,
        absl::StrCat("has the instruction ", absl::StrJoin(line.words, "."), " ", absl::StrJoin(line.operands, ", ")),
        fix);
  }
  std::vector<Val> out;
  next = 0;
  for (const TtType& t : outputs) {
    std::vector<Value*> registers;
    for (int64_t i = pack / PackingOf(t.tile.elem(), pack).share; i > 0; --i) {
      registers.push_back(assembly.Get(absl::StrCat("$", next++)));
      if (registers.back() == nullptr) return Unsupported(n, "leaves a result without a value", fix);
    }
    Value* tile = FromRegisters(registers, t.tile, pack);
    if (tile == nullptr) return Unsupported(n, "gives a register of another width than its type", fix);
    out.push_back(TileVal(tile));
  }
  return Define(n, std::move(out));
}

// Element k of all groups of `pack` neighbours, several of them in one register.
std::vector<Value*> Translator::ToRegisters(Value* v, int64_t pack) {
  const Elem e = v->type().elem();
  const Packing p = PackingOf(e, pack);
  const int64_t groups = v->type().num_elements() / pack;
  const int bits = static_cast<int>(p.bits / p.share);
  const auto tile = [&](int width) { return b_.types().Tile(Element::Number(IntOf(width)), {groups}); };
  if (e == Elem::kI1) v = ops::Exti(b_, WithElem(Elem::kI8, v), v, Signedness::kUnsigned);
  if (!IsInt(v->type().elem())) v = ops::Bitcast(b_, WithElem(IntOf(bits), v), v);
  v = Reshape(v, {groups, pack});
  const Type i32 = b_.types().Scalar(Elem::kI32);
  std::vector<Value*> out;
  for (int64_t k = 0; k < pack; ++k) {
    Value* one = pack == 1 ? v
                           : ops::Extract(b_, WithShape(v, {groups, 1}), v,
                                          {ops::Integer(b_, i32, 0), ops::Integer(b_, i32, k)});
    one = Reshape(one, {groups});
    if (p.share > 1) one = ops::Exti(b_, tile(p.bits), one, Signedness::kUnsigned);
    if (k % p.share == 0) {
      out.push_back(one);
    } else {
      Value* places = ops::Integer(b_, one->type(), bits * (k % p.share));
      out.back() = ops::Ori(b_, out.back(), ops::Shli(b_, one, places));
    }
  }
  return out;
}

Value* Translator::FromRegisters(const std::vector<Value*>& registers, Type t, int64_t pack) {
  const Packing p = PackingOf(t.elem(), pack);
  const int64_t groups = t.num_elements() / pack;
  const int bits = static_cast<int>(p.bits / p.share);
  const auto tile = [&](int width) { return b_.types().Tile(Element::Number(IntOf(width)), {groups}); };
  std::vector<Value*> parts;
  for (int64_t k = 0; k < pack; ++k) {
    Value* r = registers[static_cast<size_t>(k / p.share)];
    const int have = ElemInfoOf(r->type().elem()).bits;
    if (have < p.bits || (have > p.bits && p.share > 1)) return nullptr;
    if (k % p.share != 0) {
      r = ops::Shri(b_, r, ops::Integer(b_, r->type(), bits * (k % p.share)), Signedness::kUnsigned);
    }
    if (have != bits) r = ops::Trunci(b_, tile(bits), r);
    parts.push_back(Reshape(r, {groups, 1}));
  }
  Value* v = Reshape(Interleave(parts), t.shape());
  if (t.elem() == Elem::kI1) return ops::Trunci(b_, t, v);
  return v->type() == t ? v : ops::Bitcast(b_, t, v);
}

}  // namespace tile::ir::ttir

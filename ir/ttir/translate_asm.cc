// Inline assembly: PTX that computes each element by itself, instruction by instruction, on tiles of registers.
//
//   tt.elementwise_inline_asm "tanh.approx.f32 $0, $1;" {constraints = "=r,r", packed_element = 1 : i32, pure = true} %x : …
//
// A register is a tile of integers, or of i1 for a predicate; an instruction reads it as its type says. With
// `packed_element` above 1 neighbours share registers: two of 16 bits, four of 8 bits. An element may also be narrower
// than the register that its constraint names: it is in the low bits, with zeros above it, as Triton's code has it. What
// instructions compute is in ptx_instructions.h; what that does not have is refused.

#include <algorithm>
#include <array>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "ir/ttir/lexer.h"
#include "ir/ttir/libdevice_floats.h"
#include "ir/ttir/ptx.h"
#include "ir/ttir/ptx_instructions.h"
#include "ir/ttir/translator.h"

namespace tile::ir::ttir {
namespace {

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
  // How wide the register is; what it holds may be narrower.
  void SetWidth(const std::string& name, int bits) { widths_[name] = bits; }
  // What is the same number everywhere may also stand where only a number may: an operand of constraint "n".
  void SetConstant(const std::string& name, int64_t n) { constants_[name] = n; }
  Value* Get(const std::string& name) const {
    const auto it = registers_.find(name);
    return it == registers_.end() ? nullptr : it->second;
  }
  // Its low bits: at least `bits`, if the register has them. Null: it has no value.
  Value* GetWide(const std::string& name, int bits);
  // False: the line is not understood.
  bool Run(const PtxLine& line);

 private:
  Type TileOf(Elem e) const { return b_.types().Tile(Element::Number(e), shape_); }
  Value* ReadBits(const std::string& operand, int bits);
  void Declare(const PtxLine& line);
  Value* Read(const std::string& operand, const PtxType& t);
  bool Write(const PtxLine& line, const std::string& target, Value* v);
  Value* AsBits(Value* v) {
    const Elem e = v->type().elem();
    return IsInt(e) ? v : ops::Bitcast(b_, TileOf(PtxIntOf(ElemInfoOf(e).bits)), v);
  }
  Value* Low(Value* v, int bits) {
    return ElemInfoOf(v->type().elem()).bits == bits ? v : ops::Trunci(b_, TileOf(PtxIntOf(bits)), v);
  }
  Value* Part(Value* word, int from, int bits) {
    Value* moved = from == 0 ? word : ops::Shri(b_, word, ops::Integer(b_, word->type(), from), Signedness::kUnsigned);
    return Low(moved, bits);
  }
  Value* Half(Value* word, int k) {
    const int bits = ElemInfoOf(word->type().elem()).bits / 2;
    return Part(word, bits * k, bits);
  }
  Value* Pair(Value* low, Value* high);
  // Of an operand that is a number or a constant; null: it is none.
  const int64_t* NumberOf(const std::string& operand, int64_t* storage) const;
  Value* Apply(const PtxLine& line, const PtxType& t);
  Value* ApplyTable(const PtxLine& line, const PtxType& t);
  Value* Choose(const PtxLine& line, const PtxType& t);
  bool Carry(const PtxLine& line, const PtxType& t);
  bool Compare(const PtxLine& line, const PtxType& t);
  Value* Set(const PtxLine& line);
  Value* Packed(const PtxLine& line);
  Value* Video(const PtxLine& line);
  Value* Test(const PtxLine& line, const PtxType& t);
  Value* ConvertFrom(const PtxLine& line);
  bool Split(const PtxLine& line, const PtxType& t);
  Value* Joined(const PtxLine& line, const PtxType& t);

  Builder& b_;
  const std::vector<int64_t> shape_;
  absl::flat_hash_map<std::string, Value*> registers_;
  absl::flat_hash_map<std::string, int> widths_;
  absl::flat_hash_map<std::string, int64_t> constants_;
};

Value* Assembly::Pair(Value* low, Value* high) {
  const int bits = ElemInfoOf(low->type().elem()).bits;
  const Type word = TileOf(PtxIntOf(2 * bits));
  Value* up = ops::Shli(b_, ops::Exti(b_, word, high, Signedness::kUnsigned), ops::Integer(b_, word, bits));
  return ops::Ori(b_, up, ops::Exti(b_, word, low, Signedness::kUnsigned));
}

const int64_t* Assembly::NumberOf(const std::string& operand, int64_t* storage) const {
  PtxNumber number;
  if (ParsePtxNumber(operand, &number) && !number.is_float) {
    *storage = number.integer;
    return storage;
  }
  const auto it = constants_.find(operand);
  return it == constants_.end() ? nullptr : &it->second;
}

Value* Assembly::GetWide(const std::string& name, int bits) {
  Value* v = Get(name);
  const auto width = widths_.find(name);
  if (v == nullptr || ElemInfoOf(v->type().elem()).bits >= bits || width == widths_.end() || width->second < bits)
    return v;
  return ops::Exti(b_, TileOf(PtxIntOf(bits)), v, Signedness::kUnsigned);
}

// Null: it is none, or of another width.
Value* Assembly::ReadBits(const std::string& operand, int bits) {
  Value* v = GetWide(operand, bits);
  if (v != nullptr && ElemInfoOf(v->type().elem()).bits == bits) return v;
  int64_t storage;
  const int64_t* number = NumberOf(operand, &storage);
  return number == nullptr ? nullptr : ops::Integer(b_, TileOf(PtxIntOf(bits)), *number);
}

Value* Assembly::Read(const std::string& operand, const PtxType& t) {
  PtxNumber number;
  if (t.kind == 'f' && !t.pair && ParsePtxNumber(operand, &number) && (number.is_float || t.bits >= 32)) {
    return ops::Splat(b_, TileOf(t.elem), number.real);
  }
  Value* v = ReadBits(operand, t.pair ? 2 * t.bits : t.bits);
  return v == nullptr || t.kind != 'f' || t.pair ? v : ops::Bitcast(b_, TileOf(t.elem), v);
}

bool Assembly::Write(const PtxLine& line, const std::string& target, Value* v) {
  if (v == nullptr) return false;
  v = AsBits(v);
  const int bits = ElemInfoOf(v->type().elem()).bits;
  const auto width = widths_.find(target);
  // A conversion fills a wider register: with the sign, if its type has one.
  if (line.words[0] == "cvt" && absl::StartsWith(line.words[line.words.size() - 2], "s") && width != widths_.end() &&
      width->second > bits) {
    v = ops::Exti(b_, TileOf(PtxIntOf(width->second)), v, Signedness::kSigned);
  }
  if (!line.guard.empty()) {
    Value *guard = ReadBits(line.guard, 1), *before = GetWide(target, ElemInfoOf(v->type().elem()).bits);
    if (guard == nullptr) return false;
    if (before == nullptr) before = ops::Integer(b_, v->type(), 0);
    if (before->type() != v->type()) return false;
    v = line.unless ? ops::Select(b_, guard, before, v) : ops::Select(b_, guard, v, before);
  }
  Set(target, v);
  return true;
}

// Those whose last operand is a number that says what they do.
Value* Assembly::ApplyTable(const PtxLine& line, const PtxType& t) {
  const bool lop3 = line.words[0] == "lop3";
  const size_t last = lop3 ? 4 : 3;
  if (t.bits != 32 || t.kind != 'b' || line.operands.size() != last + 1 || (lop3 && line.words.size() != 2))
    return nullptr;
  std::vector<Value*> x;
  for (size_t i = 1; i < last; ++i) {
    x.push_back(Read(line.operands[i], t));
    if (x.back() == nullptr) return nullptr;
  }
  const PtxWork w = {b_, line.words, t, x};
  int64_t storage;
  const int64_t* number = NumberOf(line.operands[last], &storage);
  if (lop3) return number == nullptr ? nullptr : MakeLop3(w, static_cast<uint64_t>(*number));
  Value* selector = Read(line.operands[last], t);
  return selector == nullptr ? nullptr : MakePrmt(w, selector, number);
}

// selp.b32 d, a, b, p; slct.f32.s32 d, a, b, c: a where c >= 0.
Value* Assembly::Choose(const PtxLine& line, const PtxType& t) {
  if (line.operands.size() != 4) return nullptr;
  const bool slct = line.words[0] == "slct";
  if (line.words.size() != (slct ? 3u : 2u) || t.pair) return nullptr;
  const PtxType of = slct ? PtxTypeOf(line.words[1]) : t;
  Value *x = Read(line.operands[1], of), *y = Read(line.operands[2], of);
  Value* c = Read(line.operands[3], slct ? t : PtxType{'p', 1, Elem::kI1, false});
  if (x == nullptr || y == nullptr || c == nullptr || of.pair || of.kind == 0) return nullptr;
  if (!slct) return ops::Select(b_, c, x, y);
  if (t.kind == 'f') {  // a NaN chooses b
    return ops::Select(b_, ops::CmpF(b_, ComparisonPredicate::kGreaterThanOrEqual, c, ops::Splat(b_, c->type(), 0)), x,
                       y);
  }
  Value* zero = ops::Integer(b_, c->type(), 0);
  return ops::Select(b_, ops::CmpI(b_, ComparisonPredicate::kGreaterThanOrEqual, c, zero, Signedness::kSigned), x, y);
}

// The type of operand i where it is not that of the instruction.
PtxType OperandType(const PtxLine& line, size_t i, const PtxType& t) {
  const std::string& name = line.words[0];
  const bool amount =
      ((name == "shl" || name == "shr") && i == 2) || (name == "bfe" && i >= 2) || (name == "bfi" && i >= 3);
  if (amount) return {'b', 32, Elem::kI32, false};
  const bool wide =
      name == "mad" && i == 3 && std::find(line.words.begin(), line.words.end(), "wide") != line.words.end();
  return wide ? PtxType{t.kind, 2 * t.bits, PtxIntOf(2 * t.bits), false} : t;
}

Value* Assembly::Apply(const PtxLine& line, const PtxType& t) {
  const std::string& name = line.words[0];
  if (name == "lop3" || name == "prmt") return ApplyTable(line, t);
  if (name == "selp" || name == "slct") return Choose(line, t);
  if (name == "testp") return Test(line, t);
  std::vector<Value*> x;
  for (size_t i = 1; i < line.operands.size(); ++i) {
    x.push_back(Read(line.operands[i], OperandType(line, i, t)));
    if (x.back() == nullptr) return nullptr;
  }
  if (x.empty() || t.kind == 'm') return nullptr;
  if (name == "mov") return x.size() == 1 && line.words.size() == 2 ? x[0] : nullptr;
  if ((name == "shl" || name == "shr") && x.size() == 2 && t.bits != 32) {
    Value* most = ops::Integer(b_, x[1]->type(), t.bits);
    x[1] = ops::Mini(b_, x[1], most, Signedness::kUnsigned);
    x[1] = t.bits < 32 ? Low(x[1], t.bits) : ops::Exti(b_, TileOf(t.elem), x[1], Signedness::kUnsigned);
  }
  if (!t.pair) return MakePtx({b_, line.words, t, x});
  if (t.kind != 'f' && name != "add" && name != "min" && name != "max") return nullptr;
  // Two f32 in 64 bits are added, subtracted and multiplied only.
  if (t.bits == 32 && name != "add" && name != "sub" && name != "mul" && name != "fma") return nullptr;
  PtxType one = t;
  one.pair = false;
  std::array<Value*, 2> halves = {};
  for (int k = 0; k < 2; ++k) {
    std::vector<Value*> parts;
    for (Value* v : x) parts.push_back(t.kind == 'f' ? ops::Bitcast(b_, TileOf(one.elem), Half(v, k)) : Half(v, k));
    halves[static_cast<size_t>(k)] = MakePtx({b_, line.words, one, parts});
    if (halves[static_cast<size_t>(k)] == nullptr) return nullptr;
  }
  return Pair(AsBits(halves[0]), AsBits(halves[1]));
}

// vadd.s32.u32.s32 d, a.b0, b
Value* Assembly::Video(const PtxLine& line) {
  std::vector<Value*> x;
  std::array<std::string, 2> parts;
  for (size_t i = 1; i < line.operands.size(); ++i) {
    absl::string_view name = line.operands[i];
    if (i <= 2) parts[i - 1] = PtxSelector(name);
    if (i <= 2 && !parts[i - 1].empty()) name.remove_suffix(1 + parts[i - 1].size());
    x.push_back(ReadBits(std::string(name), 32));
    if (x.back() == nullptr) return nullptr;
  }
  if (x.size() < 2) return nullptr;
  return MakePtxVideo({b_, line.words, PtxTypeOf("u32"), x}, parts[0], parts[1]);
}

// testp.finite.f32 p, a
Value* Assembly::Test(const PtxLine& line, const PtxType& t) {
  if (line.operands.size() != 2 || line.words.size() != 3 || t.kind != 'f' || t.bits < 32) return nullptr;
  Value* x = Read(line.operands[1], t);
  if (x == nullptr) return nullptr;
  const Floats f(b_, x);
  Value* a = f.Abs(x);
  const std::string& what = line.words[1];
  const double least = f.f32 ? 0x1p-126 : 0x1p-1022;
  if (what == "finite") return f.Less(a, Floats::kInf);
  if (what == "infinite") return f.Equal(a, Floats::kInf);
  if (what == "notanumber") return f.IsNan(x);
  if (what == "number") return ops::Xori(b_, f.IsNan(x), ops::Integer(b_, TileOf(Elem::kI1), -1));
  if (what == "normal")
    return ops::Andi(b_, f.Less(a, Floats::kInf), f.Is(ComparisonPredicate::kGreaterThanOrEqual, a, f.Number(least)));
  return what == "subnormal" ? ops::Andi(b_, f.Less(a, least), f.Above(a, 0)) : nullptr;
}

// setp.lt.f32 p, a, b; setp.lt.f16x2 p|q, a, b; setp.lt.and.f32 p, a, b, q
bool Assembly::Compare(const PtxLine& line, const PtxType& t) {
  if (line.operands.size() < 3 || line.words.size() < 3) return false;
  const std::vector<std::string> targets = absl::StrSplit(line.operands[0], '|');
  if (t.pair && (t.bits == 32 || t.kind != 'f')) return false;
  if (targets.size() != (t.pair ? 2u : 1u)) return false;
  std::string with;
  for (size_t i = 2; i + 1 < line.words.size(); ++i) {
    if (line.words[i] == "and" || line.words[i] == "or" || line.words[i] == "xor") {
      with = line.words[i];
    } else if (line.words[i] != "ftz") {
      return false;
    }
  }
  if (line.operands.size() != (with.empty() ? 3u : 4u)) return false;
  Value *x = Read(line.operands[1], t), *y = Read(line.operands[2], t);
  Value* other = with.empty() ? nullptr : ReadBits(line.operands[3], 1);
  if (x == nullptr || y == nullptr || (!with.empty() && other == nullptr)) return false;
  const PtxWork w = {b_, line.words, t, {x, y}};
  x = PtxFlushed(w, x);
  y = PtxFlushed(w, y);
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
      if (with == "and") v = ops::Andi(b_, v, other);
      if (with == "or") v = ops::Ori(b_, v, other);
      if (with == "xor") v = ops::Xori(b_, v, other);
      if (!Write(line, targets[k], v)) return false;
    }
    return true;
  }
  return false;
}

// set.lt.f32.s32 d, a, b: what setp.lt.s32 says, as 1 or 0; as all bits of an integer.
Value* Assembly::Set(const PtxLine& line) {
  if (line.words.size() < 4 || line.operands.size() != 3) return nullptr;
  const PtxType to = PtxTypeOf(line.words[line.words.size() - 2]), of = PtxTypeOf(line.words.back());
  if (to.bits != 32 || to.pair || of.pair || of.kind == 0 || (to.kind != 'f' && to.kind != 's' && to.kind != 'u'))
    return nullptr;
  PtxLine compare = line;
  compare.guard.clear();
  compare.words[0] = "setp";
  compare.words.erase(compare.words.end() - 2);
  compare.operands[0] = " ";  // no text has this name
  if (!Compare(compare, of)) return nullptr;
  Value* p = Get(" ");
  if (to.kind != 'f') return ops::Exti(b_, TileOf(Elem::kI32), p, Signedness::kSigned);
  return ops::Select(b_, p, ops::Splat(b_, TileOf(Elem::kF32), 1), ops::Splat(b_, TileOf(Elem::kF32), 0));
}

// cvt.rn.f16.f32 d, a; cvt.rn.f16x2.f32 d, high, low. Null: another one.
Value* Assembly::ConvertFrom(const PtxLine& line) {
  const size_t n = line.words.size();
  if (n < 3) return nullptr;
  const PtxType to = PtxTypeOf(line.words[n - 2]), from = PtxTypeOf(line.words[n - 1]);
  if (to.kind == 0 || from.kind == 0) return nullptr;
  std::vector<Value*> x;
  for (size_t i = 1; i < line.operands.size(); ++i) {
    const bool is_random = i == 3 && std::find(line.words.begin(), line.words.end(), "rs") != line.words.end();
    Value* v = Read(line.operands[i], is_random ? PtxTypeOf("b32") : from);
    // A wider register holds it in its low bits.
    if (v == nullptr && from.kind != 'f' && from.kind != 'm' && Get(line.operands[i]) != nullptr) {
      Value* wide = Get(line.operands[i]);
      if (ElemInfoOf(wide->type().elem()).bits > from.bits) v = Low(wide, from.bits);
    }
    if (v == nullptr) return nullptr;
    x.push_back(v);
  }
  return x.empty() ? nullptr : MakeConvert({b_, line.words, to, x}, from);
}

// cvt.pack.sat.s8.s32.b32 d, a, b, c: a above b in the low bits, c above them; of 16 bits without c.
Value* Assembly::Packed(const PtxLine& line) {
  const size_t n = line.words.size();
  if (n < 5 || line.words[2] != "sat" || line.operands.size() != n - 2) return nullptr;
  const PtxType to = PtxTypeOf(line.words[3]), from = PtxTypeOf(line.words[4]);
  if ((to.kind != 's' && to.kind != 'u') || to.pair || from.kind != 's' || from.bits != 32 || from.pair) return nullptr;
  if (n != (to.bits == 16 ? 5u : 6u) || to.bits > 16 || (n == 6 && line.words[5] != "b32")) return nullptr;
  const std::vector<std::string> words = {"cvt", "sat", line.words[3], line.words[4]};
  std::vector<Value*> x;
  for (size_t i = 1; i < line.operands.size(); ++i) {
    x.push_back(Read(line.operands[i], from));
    if (x.back() == nullptr) return nullptr;
    if (i <= 2) x.back() = MakeConvert({b_, words, to, {x.back()}}, from);
  }
  Value* both = Pair(x[1], x[0]);
  if (n == 5) return both;
  return Pair(both, Low(x[2], 16));
}

// add.cc.u32 d, a, b; addc.u32 d, a, b: the sum that the carry of the one before is added to.
bool Assembly::Carry(const PtxLine& line, const PtxType& t) {
  const std::string carry = " carry";  // no text has this name
  std::vector<Value*> x;
  for (size_t i = 1; i < line.operands.size(); ++i) {
    x.push_back(Read(line.operands[i], t));
    if (x.back() == nullptr) return false;
  }
  const PtxSum sum = MakePtxCarry({b_, line.words, t, x}, Get(carry));
  return sum.value != nullptr && Write(line, line.operands[0], sum.value) &&
         (sum.carry == nullptr || Write(line, carry, sum.carry));
}

bool IsBraced(absl::string_view s) { return absl::ConsumePrefix(&s, "{") && absl::ConsumeSuffix(&s, "}"); }
std::vector<std::string> PartsOf(absl::string_view s) {
  std::vector<std::string> out;
  for (absl::string_view p : absl::StrSplit(s.substr(1, s.size() - 2), ','))
    out.emplace_back(absl::StripAsciiWhitespace(p));
  return out;
}

// mov.b32 {low, high}, a
bool Assembly::Split(const PtxLine& line, const PtxType& t) {
  Value* word = ReadBits(line.operands[1], t.bits);
  const std::vector<std::string> targets = PartsOf(line.operands[0]);
  const int bits = t.bits / static_cast<int>(targets.size());
  if (word == nullptr || bits < 8 || bits * static_cast<int>(targets.size()) != t.bits) return false;
  for (size_t k = 0; k < targets.size(); ++k) {
    if (targets[k] == "_") continue;
    if (!Write(line, targets[k], Part(word, static_cast<int>(k) * bits, bits))) return false;
  }
  return true;
}

// mov.b32 d, {low, high}
Value* Assembly::Joined(const PtxLine& line, const PtxType& t) {
  const std::vector<std::string> sources = PartsOf(line.operands[1]);
  const int bits = t.bits / static_cast<int>(sources.size());
  const Type whole = TileOf(PtxIntOf(t.bits));
  Value* word = nullptr;
  if (bits < 8 || bits * static_cast<int>(sources.size()) != t.bits) return nullptr;
  for (size_t k = 0; k < sources.size(); ++k) {
    Value* part = ReadBits(sources[k], bits);
    if (part == nullptr) return nullptr;
    part = bits == t.bits ? part : ops::Exti(b_, whole, part, Signedness::kUnsigned);
    Value* places = ops::Integer(b_, whole, static_cast<int64_t>(k) * bits);
    word = k == 0 ? part : ops::Ori(b_, word, ops::Shli(b_, part, places));
  }
  return word;
}

void Assembly::Declare(const PtxLine& line) {
  const PtxType t = PtxTypeOf(line.words[1]);
  for (const std::string& r : line.operands) {
    registers_.erase(r);
    widths_[r] = t.pair ? 2 * t.bits : t.bits;
  }
}

bool Assembly::Run(const PtxLine& line) {
  const std::string& name = line.words[0];
  if (name == "reg") {
    Declare(line);
    return true;
  }
  if (line.operands.size() < 2 || line.words.size() < 2) return false;
  if (name == "set") return Write(line, line.operands[0], Set(line));
  if (name == "cvt" && line.words[1] == "pack") return Write(line, line.operands[0], Packed(line));
  if (name == "cvt") return Write(line, line.operands[0], ConvertFrom(line));
  if (IsPtxVideo(name)) return Write(line, line.operands[0], Video(line));
  const PtxType t = PtxTypeOf(name == "prmt" ? line.words[1] : line.words.back());
  if (t.kind == 0) return false;
  if (name == "setp") return Compare(line, t);
  if (HasPtxCarry(line.words)) return Carry(line, t);
  if (name == "mov" && IsBraced(line.operands[0])) return Split(line, t);
  if (name == "mov" && IsBraced(line.operands[1])) return Write(line, line.operands[0], Joined(line, t));
  return Write(line, line.operands[0], Apply(line, t));
}

}  // namespace

// The registers of an element of this many bits: how many share one, and its width.
Translator::Packing Translator::PackingOf(Elem e, int64_t pack) {
  const int bits = e == Elem::kI1 ? 8 : ElemInfoOf(e).bits;
  const int64_t share = std::min<int64_t>(bits < 32 ? 32 / bits : 1, pack);
  return {share, static_cast<int>(share * bits)};
}

// The widths of the registers that constraints like "=&r,=h,f,n" name, in their order; 0: it is none.
std::vector<int> WidthsOf(absl::string_view constraints) {
  std::vector<int> widths;
  for (absl::string_view one : absl::StrSplit(constraints, ',')) {
    one = absl::StripAsciiWhitespace(one);
    while (absl::ConsumePrefix(&one, "=") || absl::ConsumePrefix(&one, "&")) {
    }
    widths.push_back(one == "h" ? 16 : one == "r" || one == "f" ? 32 : one == "l" || one == "d" ? 64 : 0);
  }
  return widths;
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
  next = 0;
  for (int width : WidthsOf(n.word("constraints"))) assembly.SetWidth(absl::StrCat("$", next++), width);
  next = outs;
  for (const Val& v : in_) {
    if (!v.is_tile() || v.type.tile.element().is_pointer() || v.type.tile.num_elements() != elements) {
      return WrongType(n, "takes tiles of numbers of its result's size");
    }
    const std::optional<int64_t> constant = IntegerIn(v.tile());
    for (Value* r : ToRegisters(v.tile(), pack)) {
      if (constant && pack == 1) assembly.SetConstant(absl::StrCat("$", next), *constant);
      assembly.Set(absl::StrCat("$", next++), r);
    }
  }
  for (const PtxLine& line : lines) {
    if (assembly.Run(line)) continue;
    const std::string text = absl::StrCat(absl::StrJoin(line.words, "."), " ", absl::StrJoin(line.operands, ", "));
    const std::string forms = PtxForms(line.words[0]);
    return Unsupported(n, absl::StrCat("has the instruction ", text), forms.empty() ? std::string(fix) : forms);
  }
  std::vector<Val> out;
  next = 0;
  for (const TtType& t : outputs) {
    std::vector<Value*> registers;
    const Packing packing = PackingOf(t.tile.elem(), pack);
    for (int64_t i = pack / packing.share; i > 0; --i) {
      registers.push_back(assembly.GetWide(absl::StrCat("$", next++), packing.bits));
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
  const auto tile = [&](int width) { return b_.types().Tile(Element::Number(PtxIntOf(width)), {groups}); };
  if (e == Elem::kI1) v = ops::Exti(b_, WithElem(Elem::kI8, v), v, Signedness::kUnsigned);
  if (!IsInt(v->type().elem())) v = ops::Bitcast(b_, WithElem(PtxIntOf(bits), v), v);
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
  const auto tile = [&](int width) { return b_.types().Tile(Element::Number(PtxIntOf(width)), {groups}); };
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

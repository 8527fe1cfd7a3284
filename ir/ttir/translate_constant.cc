// Constants, indices of the grid, assertions.

#include <cmath>
#include <cstring>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "ir/bits.h"
#include "ir/limits.h"
#include "ir/op_views.h"
#include "ir/text/number.h"
#include "ir/ttir/lexer.h"
#include "ir/ttir/translator.h"

namespace tile::ir::ttir {

std::optional<int64_t> IntegerIn(const Value* v) {
  constexpr int kDepth = 32;
  for (int i = 0; i < kDepth && v->def() != nullptr && (BroadcastOp::Is(v->def()) || ReshapeOp::Is(v->def())); ++i) {
    v = v->def()->operand(0);
  }
  const auto constant = DefAs<ConstantOp>(v);
  if (!constant || !IsInt(v->type().elem()) || !constant->value().splat) return std::nullopt;
  uint64_t n = 0;
  std::memcpy(&n, constant->value().bytes.data(), static_cast<size_t>(StorageBytes(v->type().elem())));
  return SignExtend(n, ElemInfoOf(v->type().elem()).bits);
}

// The elements of an arith.constant.
bool Translator::Dense(const Node& n, Type t) {
  if (t.element().is_pointer()) return WrongType(n, "cannot be a pointer");
  const size_t size = static_cast<size_t>(StorageBytes(t.elem()));
  std::vector<uint8_t> bytes;
  if (n.raw) {
    absl::string_view digits = n.literals[0].text;
    if (!absl::ConsumePrefix(&digits, "0x") || digits.size() % 2 != 0 || ElemInfoOf(t.elem()).bits % 8 != 0) {
      return Fail(n, "ttir.syntax", "has bytes that are none");
    }
    for (char c : digits) {
      if (!absl::ascii_isxdigit(c)) return Fail(n, "ttir.syntax", "has bytes that are none");
    }
    const std::string decoded = absl::HexStringToBytes(digits);
    bytes.assign(decoded.begin(), decoded.end());
  }
  for (size_t i = 0; i < n.literals.size() && !n.raw; ++i) {
    uint64_t bits = 0;
    const Literal& v = n.literals[i];
    if (const auto wrong = text::ParseNumber(t.elem(), v.negative, v.text, &bits)) {
      return Fail(n, "ttir.value", absl::StrCat("has the number ", v.text, ": ", *wrong));
    }
    for (size_t k = 0; k < size; ++k) bytes.push_back(static_cast<uint8_t>(bits >> (8 * k)));
  }
  const size_t count = bytes.size() / size, elements = static_cast<size_t>(t.num_elements());
  // One element may stand for all.
  if (bytes.size() % size != 0 || (count != elements && count != 1)) {
    return Fail(n, "ttir.type", absl::StrCat("has ", count, " elements for ", t.ToString()));
  }
  ir::Dense d;
  d.elem = t.elem();
  d.splat = count == 1;
  d.bytes = module_.arena().Copy(absl::Span<const uint8_t>(bytes));
  return Define(n, ops::Constant(b_, t, module_.arena().New<ir::Dense>(d)));
}

bool Translator::ConstantValue(const Node& n, const OpRow&) {
  if (n.types.size() != 1 || n.types[0].kind != TtType::Kind::kTile)
    return WrongType(n, "has no type that there is here");
  return n.literals.empty() ? Fail(n, "ttir.syntax", "has no value") : Dense(n, n.types[0].tile);
}

// Any value will do.
bool Translator::Poison(const Node& n, const OpRow&) {
  if (n.types.size() != 1 || n.types[0].kind != TtType::Kind::kTile)
    return WrongType(n, "has no type that there is here");
  const Type t = n.types[0].tile;
  if (!t.element().is_pointer()) return Define(n, ops::Integer(b_, t, 0));
  Value* null = ops::Integer(b_, b_.types().Tile(Element::Number(Elem::kI64), t.shape()), 0);
  return Define(n, Create(Opcode::kIntToPtr, {null}, t));
}

bool Translator::GridIndex(const Node& n, const OpRow& row) {
  const absl::string_view axis = n.words.empty() ? "" : n.words[0];
  if (axis != "x" && axis != "y" && axis != "z") return Fail(n, "ttir.syntax", "names no axis x, y or z");
  const Type i32 = b_.types().Scalar(Elem::kI32);
  return Define(n, b_.Create(row.op, {}, {i32, i32, i32})->result(axis[0] - 'x'));
}

bool Translator::MakeRange(const Node& n, const OpRow&) {
  Type t;
  if (!Output(n, &t)) return false;
  const int64_t start = n.number("start", 0), end = n.number("end", 0);
  if (t.rank() != 1 || t.elem() != Elem::kI32 || start < INT32_MIN || end > INT32_MAX || end - start != t->shape[0]) {
    return WrongType(n, "gives another tile than its type says");
  }
  Value* numbers = ops::Iota(b_, t);
  return Define(n, start == 0 ? numbers : ops::Addi(b_, numbers, ops::Integer(b_, t, start)));
}

// What only helps to compile is left out.
bool Translator::Nothing(const Node& n, const OpRow&) { return Define(n, std::vector<Val>()); }

bool Translator::AssertTrue(const Node& n, const OpRow&) {
  const std::optional<std::string> message = Unescape(n.word("", "assertion failed"));
  if (!message) return Fail(n, "ttir.syntax", "has a message with a wrong escape");
  ops::Assert(b_, tile(0), *message);
  return true;
}

}  // namespace tile::ir::ttir

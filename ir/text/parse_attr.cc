// Values of attributes as text, one function per kind.
#include <limits>

#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/strip.h"
#include "ir/text/number.h"
#include "ir/text/parser_internal.h"

namespace tile::ir::text {

bool Parser::ParseUint(uint64_t* value, uint64_t max) {
  if (tok_.kind != Tok::kInt) return FailExpected("a number");
  const bool hex = absl::StartsWithIgnoreCase(tok_.text, "0x");
  if (!(hex ? absl::SimpleHexAtoi(tok_.text, value) : absl::SimpleAtoi(tok_.text, value)) || *value > max) {
    return Fail(tok_, "number", absl::StrCat(tok_.text, " is more than ", max));
  }
  Advance();
  return true;
}

bool Parser::ParseInt(int64_t* value) {
  constexpr uint64_t kMax = std::numeric_limits<int64_t>::max();
  const bool negative = Accept("-");
  uint64_t magnitude;
  if (!ParseUint(&magnitude, kMax + negative)) return false;
  *value = static_cast<int64_t>(negative ? 0 - magnitude : magnitude);
  return true;
}

bool Parser::ParseIntList(std::vector<int64_t>* values) {
  if (!Expect("[", "before a list of numbers")) return false;
  while (!tok_.is("]")) {
    if (!values->empty() && !Expect(",", "or ']' in a list of numbers")) return false;
    values->emplace_back();
    if (!ParseInt(&values->back())) return false;
  }
  Advance();
  return true;
}

bool Parser::ParseString(absl::string_view* value) {
  if (tok_.kind != Tok::kString) return FailExpected("a string in quotes");
  std::optional<std::string> s = Unquote(tok_.text);
  if (!s && in_dialect()) s = Unescape(tok_.text.substr(1, tok_.text.size() - 2), HexEscape::kBare);
  if (!s)
    return Fail(tok_, "string", "the string has a wrong escape",
                "known are \\n \\t \\r \\\" \\\\ and \\x with two digits");
  *value = module_->Copy(*s);
  Advance();
  return true;
}

bool Parser::ParseKey(absl::string_view* value) {
  if (tok_.kind == Tok::kString) return ParseString(value);
  if (tok_.kind != Tok::kIdent) return FailExpected("a name");
  *value = module_->Copy(tok_.text);
  Advance();
  return true;
}

bool Parser::ParseSymbol(absl::string_view* value) {
  if (tok_.kind != Tok::kSymbol) {
    return FailExpected("a name like @kernel", tok_.kind == Tok::kIdent ? absl::StrCat("write @", tok_.text) : "");
  }
  const std::optional<std::string> s =
      tok_.text.front() == '"' ? Unquote(tok_.text) : std::optional<std::string>(std::string(tok_.text));
  if (!s)
    return Fail(tok_, "string", "the name has a wrong escape",
                "known are \\n \\t \\r \\\" \\\\ and \\x with two digits");
  if (s->size() > kMaxNameBytes)
    return Fail(tok_, "limit", absl::StrCat("a name has at most ", kMaxNameBytes, " bytes"));
  *value = module_->Copy(*s);
  Advance();
  return true;
}

namespace {

// What is meant by another word, or what to choose where none stands.
std::string EnumAdvice(EnumId id, const Token& t, const std::vector<absl::string_view>& all) {
  constexpr struct {
    absl::string_view others, own;
  } kPredicates[] = {
      {" lt slt ult olt < ", "less_than"},    {" le sle ule ole <= ", "less_than_or_equal"},
      {" gt sgt ugt ogt > ", "greater_than"}, {" ge sge uge oge >= ", "greater_than_or_equal"},
      {" eq oeq ueq == ", "equal"},           {" ne une one != ", "not_equal"},
  };
  if (id == EnumId::kComparisonPredicate) {
    for (const auto& row : kPredicates) {
      if (absl::StrContains(row.others, absl::StrCat(" ", t.text, " ")))
        return absl::StrCat("did you mean ", row.own, "?");
    }
  }
  const std::string near = t.kind == Tok::kIdent ? DidYouMean(t.text, all) : "";
  if (!near.empty()) return near;
  switch (id) {
    case EnumId::kMemoryOrdering: return "write weak, unless other blocks touch the same memory";
    case EnumId::kMemoryScope: return "write device: all blocks of the GPU";
    case EnumId::kSignedness: return "write signed, or unsigned if the numbers are never negative";
    case EnumId::kComparisonOrdering: return "write ordered: the comparison is false if a number is nan";
    default: return "";
  }
}

}  // namespace

bool Parser::ParseEnum(EnumId id, int64_t* number) {
  const EnumValueInfo* v = tok_.kind == Tok::kIdent ? FindEnumKeyword(id, tok_.text) : nullptr;
  if (v == nullptr) {
    std::vector<absl::string_view> all;
    std::string list;
    for (const EnumValueInfo& e : kEnumValues) {
      if (e.id != id) continue;
      all.push_back(e.keyword);
      absl::StrAppend(&list, list.empty() ? "" : ", ", e.keyword);
    }
    return FailExpected(absl::StrCat("one of ", list), EnumAdvice(id, tok_, all));
  }
  *number = v->number;
  Advance();
  return true;
}

// --- elements -------------------------------------------------------------------------------------------------------

std::optional<std::string> Parser::ReadNumber(Elem elem, bool negative, absl::string_view digits,
                                              uint64_t* bits) const {
  return ParseNumber(elem, negative, digits, bits, in_dialect() ? Beyond::kInfinite : Beyond::kWrong);
}

std::string Parser::NumberAdvice(Elem elem, const Token& digits) {
  if (digits.kind != Tok::kFloat || !IsInt(elem)) return "";
  return absl::StrCat(ElemInfoOf(elem).spelling, " holds whole numbers: write one, or make the values floats (itof)");
}

bool Parser::ParseNumberOf(Elem elem, uint64_t* bits) {
  const Token at = tok_;
  const bool negative = Accept("-");
  if (tok_.kind != Tok::kInt && tok_.kind != Tok::kFloat && tok_.kind != Tok::kIdent) {
    return FailExpected(absl::StrCat("a number of type ", ElemInfoOf(elem).spelling));
  }
  if (const std::optional<std::string> wrong = ReadNumber(elem, negative, tok_.text, bits))
    return Fail(at, "number", *wrong, NumberAdvice(elem, tok_));
  Advance();
  return true;
}

bool Parser::ParseDenseList(Elem elem, size_t level, std::vector<int64_t>* shape, std::vector<uint8_t>* bytes) {
  const Token open = tok_;
  if (level >= kMaxRank) return Fail(open, "limit", absl::StrCat("lists nest at most ", kMaxRank, " deep"));
  Advance();
  const bool first = level == shape->size();
  if (first) shape->push_back(-1);
  int64_t n = 0;
  bool leaves = false;
  while (!tok_.is("]")) {
    if (n > 0 && !Expect(",", "or ']' between elements")) return false;
    const bool list = tok_.is("[");
    if (n > 0 && list == leaves) return Fail(tok_, "constant_shape", "numbers and lists stand side by side");
    leaves = !list;
    if (list) {
      if (!first && level + 1 == shape->size())
        return Fail(tok_, "constant_shape", "lists of one level nest differently");
      if (!ParseDenseList(elem, level + 1, shape, bytes)) return false;
    } else {
      if (level + 1 != shape->size()) return Fail(tok_, "constant_shape", "lists of one level nest differently");
      uint64_t bits = 0;
      if (!ParseNumberOf(elem, &bits)) return false;
      for (int b = 0; b < StorageBytes(elem); ++b) bytes->push_back(static_cast<uint8_t>(bits >> (8 * b)));
    }
    ++n;
  }
  Advance();
  if ((*shape)[level] >= 0 && (*shape)[level] != n) {
    return Fail(open, "constant_shape",
                absl::StrCat("this list has ", n, " elements, the one before it ", (*shape)[level]));
  }
  (*shape)[level] = n;
  return true;
}

bool Parser::ParseDense(Dense* dense, std::vector<int64_t>* shape) {
  return Expect("<", "before the elements, as in <i32: 1>") && ParseElem(&dense->elem) &&
         Expect(":", "between the element type and the elements") && ParseElements(dense, shape) &&
         Expect(">", "behind the elements");
}

bool Parser::ParseElements(Dense* dense, std::vector<int64_t>* shape) {
  const Token at = tok_;
  const size_t size = StorageBytes(dense->elem);
  std::vector<uint8_t> bytes;
  if (tok_.is("[")) {
    if (!ParseDenseList(dense->elem, 0, shape, &bytes)) return false;
  } else if (tok_.kind == Tok::kString) {
    absl::string_view hex = tok_.text.substr(1, tok_.text.size() - 2);
    const bool marked = absl::StartsWith(hex, "0x");
    hex.remove_prefix(marked ? 2 : 0);
    for (char c : hex) {
      if (!marked || !absl::ascii_isxdigit(c))
        return Fail(at, "constant_bits", "the string is not 0x and hexadecimal digits");
    }
    if (hex.size() % (2 * size) != 0) {
      return Fail(at, "constant_bits",
                  absl::StrCat("the string has ", hex.size(), " digits; an element takes ", 2 * size));
    }
    const std::string raw = absl::HexStringToBytes(hex);
    bytes.assign(raw.begin(), raw.end());
    const uint64_t mask = ElementMask(dense->elem);
    for (size_t i = 0; i < bytes.size(); ++i) {
      if (bytes[i] & ~(mask >> (8 * (i % size)))) {
        return Fail(at, "constant_bits",
                    absl::StrCat("element ", i / size, " has bits that ", ElemInfoOf(dense->elem).spelling, " lacks"));
      }
    }
    Advance();
  } else {
    dense->splat = true;
    uint64_t bits = 0;
    if (!ParseNumberOf(dense->elem, &bits)) return false;
    for (size_t b = 0; b < size; ++b) bytes.push_back(static_cast<uint8_t>(bits >> (8 * b)));
  }
  if (static_cast<int64_t>(bytes.size()) > kMaxConstantBytes) {
    return Fail(at, "limit", absl::StrCat("a constant has at most ", kMaxConstantBytes, " bytes"));
  }
  dense->bytes = Copy(bytes);
  return true;
}

// Identities of the operands, in order; one without a type has that of its operand's elements.
bool Parser::ParseScalars(const PendingOp& op, std::vector<Scalar>* scalars) {
  if (!Expect("[", "before numbers, as in [0.0, -inf]")) return false;
  while (!tok_.is("]")) {
    if (!scalars->empty() && !Expect(",", "or ']' between numbers")) return false;
    // The type decides what the number means and stands behind it.
    const Token number = tok_;
    const bool negative = Accept("-");
    const Token digits = tok_;
    if (tok_.kind != Tok::kInt && tok_.kind != Tok::kFloat && tok_.kind != Tok::kIdent) return FailExpected("a number");
    Advance();
    Scalar s;
    const size_t i = scalars->size();
    bool known = true;
    if (Accept(":")) {
      if (!ParseElem(&s.elem)) return false;
    } else {
      const Value* like = i < op.operands[0].size() ? op.operands[0][i] : nullptr;
      if (i >= op.operands[0].size() || (like != nullptr && !like->type().is_tile())) {
        return Fail(number, "number_type", "the type of this number does not follow from an operand",
                    "there is one number per operand, in the same order");
      }
      known = like != nullptr;
      if (known) s.elem = like->type().elem();
    }
    if (s.elem == Elem::kPtr) {
      return Fail(number, "number_type", "a pointer is wanted here, not a number", "reduce tiles of numbers");
    }
    if (!known) {
      // The operand has an error; what the number means is not known.
    } else if (const auto wrong = ReadNumber(s.elem, negative, digits.text, &s.bits))
      return Fail(number, "number", *wrong);
    scalars->push_back(s);
  }
  Advance();
  return true;
}

// --- predicates and hints -------------------------------------------------------------------------------------------

bool Parser::ParseBound(std::optional<int64_t>* bound) {
  if (Accept("?")) return true;
  return ParseInt(&bound->emplace());
}

bool Parser::ParsePredicate(Predicate* p) {
  if (Accept("div_by")) {
    p->kind = Predicate::Kind::kDivBy;
    if (!Expect("<", "after div_by") || !ParseUint(&p->divisor, ~uint64_t{0})) return false;
    if (Accept(",")) {
      if (!tok_.is("every") && !tok_.is("along")) return FailExpected("'every N along D'");
      if (Accept("every") && !ParseInt(&p->every.emplace())) return false;
      if (Accept("along") && !ParseInt(&p->along.emplace())) return false;
    }
    return Expect(">", "or ', every N along D' in div_by");
  }
  if (Accept("bounded")) {
    p->kind = Predicate::Kind::kBounded;
    return Expect("<", "after bounded") && ParseBound(&p->lower) && Expect(",", "between the bounds") &&
           ParseBound(&p->upper) && (!Accept("along") || ParseInt(&p->along.emplace())) &&
           Expect(">", "behind the bounds");
  }
  if (Accept("same_elements")) {
    p->kind = Predicate::Kind::kSameElements;
    std::vector<int64_t> groups;
    if (!Expect("<", "after same_elements") || !ParseIntList(&groups)) return false;
    p->groups = Copy(groups);
    return Expect(">", "behind the list");
  }
  return FailExpected("div_by<…>, bounded<…> or same_elements<…>");
}

bool Parser::ParseHint(Hint* hint) {
  if (!ParseKey(&hint->name) || !Expect("=", "after the name of a hint")) return false;
  if (tok_.is("true") || tok_.is("false")) {
    hint->kind = Hint::Kind::kBool;
    hint->number = tok_.is("true");
    Advance();
    return true;
  }
  if (tok_.kind == Tok::kString) {
    hint->kind = Hint::Kind::kString;
    return ParseString(&hint->text);
  }
  if (!ParseInt(&hint->number)) return false;
  if (Accept(":")) {
    absl::string_view width = tok_.text;
    if (tok_.kind != Tok::kIdent || !absl::ConsumePrefix(&width, "i") || !absl::SimpleAtoi(width, &hint->int_bits) ||
        hint->int_bits < 1 || hint->int_bits > 64) {
      return FailExpected("an integer type, i1 to i64");
    }
    Advance();
  }
  return true;
}

bool Parser::ParseHints(Hints* hints) {
  std::vector<ArchHints> archs;
  if (!Expect("<", "before hints, as in <sm_90 = {occupancy = 2}>")) return false;
  while (!tok_.is(">")) {
    if (!archs.empty() && !Expect(",", "or '>' between architectures")) return false;
    ArchHints arch;
    std::vector<Hint> list;
    if (!ParseKey(&arch.arch) || !Expect("=", "after the architecture") || !Expect("{", "before its hints"))
      return false;
    while (!tok_.is("}")) {
      if (!list.empty() && !Expect(",", "or '}' between hints")) return false;
      list.emplace_back();
      if (!ParseHint(&list.back())) return false;
    }
    Advance();
    arch.hints = Copy(list);
    archs.push_back(arch);
  }
  Advance();
  hints->archs = Copy(archs);
  return true;
}

bool Parser::ParseAttr(const AttrInfo& info, PendingOp& op, Attr* attr) {
  int64_t number = 0;
  absl::string_view string;
  if (!Expand()) return false;
  switch (info.kind) {
    case AttrKind::kFlag:
      if (!Expect(info.name, "")) return false;
      *attr = Attr::Flag(true);
      return true;
    case AttrKind::kBool:
      if (!tok_.is("true") && !tok_.is("false")) return FailExpected("true or false");
      *attr = Attr::Int(AttrKind::kBool, tok_.is("true"));
      Advance();
      return true;
    case AttrKind::kInt:
      if (!ParseInt(&number)) return false;
      *attr = Attr::Int(AttrKind::kInt, number);
      return true;
    case AttrKind::kEnum:
      if (!ParseEnum(info.enum_id, &number)) return false;
      *attr = Attr::Int(AttrKind::kEnum, number);
      return true;
    case AttrKind::kString:
    case AttrKind::kSymbol:
      if (!(info.kind == AttrKind::kString ? ParseString(&string) : ParseSymbol(&string))) return false;
      *attr = Attr::String(info.kind, string);
      return true;
    case AttrKind::kDense: {
      Dense* d = module_->arena().New<Dense>();
      op.list = tok_;
      if (!ParseDense(d, &op.list_shape)) return false;
      *attr = Attr::Of(d);
      return true;
    }
    case AttrKind::kInts: {
      std::vector<int64_t> v;
      if (!ParseIntList(&v)) return false;
      *attr = Attr::Ints(Copy(v));
      return true;
    }
    case AttrKind::kBools: {
      std::vector<uint8_t> v;
      if (!Expect("[", "before true and false")) return false;
      while (!tok_.is("]")) {
        if (!v.empty() && !Expect(",", "or ']' in a list of true and false")) return false;
        if (!tok_.is("true") && !tok_.is("false")) return FailExpected("true or false");
        v.push_back(tok_.is("true"));
        Advance();
      }
      Advance();
      *attr = Attr::Bools(Copy(v));
      return true;
    }
    case AttrKind::kPredicate: {
      Predicate* p = module_->arena().New<Predicate>();
      if (!ParsePredicate(p)) return false;
      *attr = Attr::Of(p);
      return true;
    }
    case AttrKind::kHints: {
      Hints* h = module_->arena().New<Hints>();
      if (!ParseHints(h)) return false;
      *attr = Attr::Of(h);
      return true;
    }
    case AttrKind::kScalars: {
      std::vector<Scalar> v;
      if (!ParseScalars(op, &v)) return false;
      *attr = Attr::Scalars(Copy(v));
      return true;
    }
  }
  return false;
}

}  // namespace tile::ir::text

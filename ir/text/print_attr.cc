// Attributes, constants and debug records as text.
#include <algorithm>

#include "absl/strings/escaping.h"
#include "absl/strings/str_join.h"
#include "ir/text/lexer.h"
#include "ir/text/number.h"
#include "ir/text/print_internal.h"

namespace tile::ir::text {
namespace {

// A list of elements as nested brackets, one level per dimension.
void PutNested(const Dense& d, absl::Span<const int64_t> shape, int64_t* next, std::string* out) {
  out->push_back('[');
  const int size = StorageBytes(d.elem);
  for (int64_t i = 0; i < shape[0]; ++i) {
    if (i > 0) out->append(", ");
    if (shape.size() > 1) {
      PutNested(d, shape.subspan(1), next, out);
      continue;
    }
    uint64_t bits = 0;
    for (int b = 0; b < size; ++b) bits |= uint64_t{d.bytes[*next * size + b]} << (8 * b);
    out->append(FormatNumber(d.elem, bits));
    ++*next;
  }
  out->push_back(']');
}

std::string PredicateText(const Predicate& p) {
  const auto bound = [](std::optional<int64_t> b) { return b ? absl::StrCat(*b) : std::string("?"); };
  switch (p.kind) {
    case Predicate::Kind::kDivBy:
      return absl::StrCat("div_by<", p.divisor, p.every ? absl::StrCat(", every ", *p.every) : "",
                          p.along ? absl::StrCat(p.every ? " along " : ", along ", *p.along) : "", ">");
    case Predicate::Kind::kBounded:
      return absl::StrCat("bounded<", bound(p.lower), ", ", bound(p.upper),
                          p.along ? absl::StrCat(" along ", *p.along) : "", ">");
    case Predicate::Kind::kSameElements: return absl::StrCat("same_elements<[", absl::StrJoin(p.groups, ", "), "]>");
  }
  return "?";
}

std::string EnumText(EnumId id, int64_t number) {
  const EnumValueInfo* v = FindEnumValue(id, number);
  return v != nullptr ? v->keyword : absl::StrCat("?", number);
}

}  // namespace

std::string DenseText(const Dense& d, absl::Span<const int64_t> shape) {
  const std::string type = ElemInfoOf(d.elem).spelling;
  const int64_t count = static_cast<int64_t>(d.bytes.size()) / StorageBytes(d.elem);
  int64_t next = 0;
  std::string list;
  if (d.splat && count == 1) {
    PutNested(d, {1}, &next, &list);
    list = list.substr(1, list.size() - 2);
  } else if (count > kMaxListed) {
    list = absl::StrCat("\"0x", absl::BytesToHexString({reinterpret_cast<const char*>(d.bytes.data()), d.bytes.size()}),
                        "\"");
  } else {
    int64_t product = 1;
    for (int64_t n : shape) product = n <= 0 || n > kMaxListed || product > kMaxListed ? -1 : product * n;
    const bool nested = shape.size() > 1 && product == count;
    PutNested(d, nested ? shape : absl::Span<const int64_t>(&count, 1), &next, &list);
  }
  return absl::StrCat("<", type, ": ", list, ">");
}

std::string HintsText(const Hints& hints) {
  const auto key = [](absl::string_view s) { return IsIdentifier(s) ? std::string(s) : Quote(s); };
  std::string s = "<";
  for (const ArchHints& a : hints.archs) {
    absl::StrAppend(&s, s.size() > 1 ? ", " : "", key(a.arch), " = {");
    bool first = true;
    for (const Hint& h : a.hints) {
      absl::StrAppend(&s, first ? "" : ", ", key(h.name), " = ");
      first = false;
      switch (h.kind) {
        case Hint::Kind::kInt:
          absl::StrAppend(&s, h.number, h.int_bits != 32 ? absl::StrCat(" : i", h.int_bits) : "");
          break;
        case Hint::Kind::kBool: absl::StrAppend(&s, h.number ? "true" : "false"); break;
        case Hint::Kind::kString: absl::StrAppend(&s, Quote(h.text)); break;
      }
    }
    s += "}";
  }
  return s + ">";
}

std::string AttrText(const AttrInfo& info, const Attr& attr, const Op& op) {
  if (!attr.present()) return absl::StrCat("<no ", info.name, ">");
  switch (attr.kind()) {
    case AttrKind::kFlag: return info.name;
    case AttrKind::kBool: return attr.as_bool() ? "true" : "false";
    case AttrKind::kInt: return absl::StrCat(attr.as_int());
    case AttrKind::kEnum: return EnumText(info.enum_id, attr.as_int());
    case AttrKind::kString: return Quote(attr.as_string());
    case AttrKind::kSymbol: return SymbolText(attr.as_string());
    case AttrKind::kDense: {
      const bool tile = op.num_results() > 0 && op.result(0)->type().is_tile();
      return DenseText(attr.dense(), tile ? op.result(0)->type().shape() : absl::Span<const int64_t>());
    }
    case AttrKind::kInts: return absl::StrCat("[", absl::StrJoin(attr.ints(), ", "), "]");
    case AttrKind::kBools:
      return absl::StrCat(
          "[",
          absl::StrJoin(attr.bools(), ", ", [](std::string* out, uint8_t b) { out->append(b ? "true" : "false"); }),
          "]");
    case AttrKind::kPredicate: return PredicateText(attr.predicate());
    case AttrKind::kHints: return HintsText(attr.hints());
    case AttrKind::kScalars:
      return absl::StrCat("[",
                          absl::StrJoin(attr.scalars(), ", ",
                                        [](std::string* out, const Scalar& s) {
                                          absl::StrAppend(out, FormatNumber(s.elem, s.bits), " : ",
                                                          ElemInfoOf(s.elem).spelling);
                                        }),
                          "]");
  }
  return "?";
}

std::string DebugText(const DebugRecord& r, LocId id) {
  using Kind = DebugRecord::Kind;
  std::string s = absl::StrCat("#", id, " = ");
  if (r.kind == Kind::kLocation) {
    return absl::StrCat(s, "loc(", Quote(r.name), ":", r.line, ":", r.column,
                        r.scope ? absl::StrCat(" in #", r.scope) : "", ")");
  }
  std::string fields;
  const auto add = [&](absl::string_view key, const std::string& value) {
    absl::StrAppend(&fields, fields.empty() ? "" : ", ", key, " = ", value);
  };
  const auto ref = [&](absl::string_view key, LocId v) {
    if (v != 0) add(key, absl::StrCat("#", v));
  };
  const auto number = [&](absl::string_view key, uint32_t v) {
    if (v != 0) add(key, absl::StrCat(v));
  };
  const auto string = [&](absl::string_view key, absl::string_view v) {
    if (!v.empty()) add(key, Quote(v));
  };
  switch (r.kind) {
    case Kind::kCompileUnit: ref("file", r.file); return absl::StrCat(s, "compile_unit<", fields, ">");
    case Kind::kFile:
      string("name", r.name);
      string("directory", r.directory);
      return absl::StrCat(s, "file<", fields, ">");
    case Kind::kLexicalBlock:
      ref("scope", r.scope);
      ref("file", r.file);
      number("line", r.line);
      number("column", r.column);
      return absl::StrCat(s, "lexical_block<", fields, ">");
    case Kind::kSubprogram:
      string("name", r.name);
      string("linkage_name", r.linkage_name);
      ref("file", r.file);
      number("line", r.line);
      ref("compile_unit", r.scope);
      number("scope_line", r.scope_line);
      number("flags", r.flags);
      return absl::StrCat(s, "subprogram<", fields, ">");
    case Kind::kCallSite:
      ref("callee", r.callee);
      ref("caller", r.caller);
      return absl::StrCat(s, "call_site<", fields, ">");
    case Kind::kLocation: break;
  }
  return s;
}

}  // namespace tile::ir::text

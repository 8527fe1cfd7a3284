// Types, attributes and locations.

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "ir/element.h"
#include "ir/ttir/parser_internal.h"

namespace tile::ir::ttir {

// --- tokens -----------------------------------------------------------------------------------------------------------

void TtirParser::Advance() {
  if (failed_) return;
  token_ = lexer_.Next();
  if (token_.kind == Tok::kError) Fail(token_.text);
}

bool TtirParser::Take(absl::string_view s) {
  if (failed_ || !Is(s)) return false;
  Advance();
  return true;
}

bool TtirParser::Expect(absl::string_view s) { return Take(s) || Fail(absl::StrCat("expected `", s, "` here")); }

absl::string_view TtirParser::ExpectText(Tok kind, absl::string_view what) {
  if (!Is(kind)) {
    Fail(absl::StrCat("expected ", what, " here"));
    return "";
  }
  const absl::string_view text = token_.text;
  Advance();
  return text;
}

uint64_t TtirParser::ExpectInt(absl::string_view what) {
  uint64_t v = 0;
  const absl::string_view text = Is(Tok::kInt) ? token_.text : "";
  if (!absl::SimpleAtoi(text, &v) && !(absl::StartsWith(text, "0x") && absl::SimpleHexAtoi(text, &v))) {
    Fail(absl::StrCat("expected ", what, ", an integer of at most 64 bits"));
    return 0;
  }
  Advance();
  return v;
}

// After an error every token is the end, so that all loops stop.
bool TtirParser::Fail(absl::string_view message, absl::string_view fix, absl::string_view code) {
  if (!failed_) {
    diags_->Error(code, absl::StrCat(module_->source_name, ":", token_.pos.line, ":", token_.pos.column), message, fix);
  }
  failed_ = true;
  token_ = Token();
  return false;
}

void TtirParser::SkipBrackets() {
  int depth = 0;
  do {
    if (Is("(") || Is("[") || Is("{") || Is("<")) ++depth;
    if (Is(")") || Is("]") || Is("}") || Is(">")) --depth;
    if (Is(Tok::kEnd)) {
      Fail("the text ends inside of brackets");
      return;
    }
    Advance();
  } while (depth > 0);
}

// --- types ------------------------------------------------------------------------------------------------------------

TtType TtirParser::Word(absl::string_view word) {
  if (word == "index") word = "i64";
  const bool is_unsigned = absl::StartsWith(word, "ui");
  if (is_unsigned || absl::StartsWith(word, "si")) word.remove_prefix(1);
  const std::optional<Elem> elem = FindElem(word);
  if (!elem) return {};
  TtType t = {TtType::Kind::kTile, module_->types().Scalar(*elem)};
  t.is_unsigned = is_unsigned;
  return t;
}

TtType TtirParser::ParseShaped(int depth) {
  std::vector<int64_t> shape;
  int64_t elements = 1;
  while (const std::optional<int64_t> size = lexer_.TakeDim()) {
    if (*size < 1 || (*size & (*size - 1)) != 0 || *size > kMaxTileElements || shape.size() >= size_t{kMaxRank} ||
        (elements *= *size) > kMaxTileElements) {
      Fail(absl::StrCat("a tensor has at most ", kMaxRank, " dimensions and ", kMaxTileElements,
                        " elements, and each size is a power of two"),
           "", "ttir.limit");
      return {};
    }
    shape.push_back(*size);
  }
  Advance();
  TtType t = ParseType(depth + 1);
  if (shape.empty() && t.kind == TtType::Kind::kTile) {  // a pointer without its name, `<f32>`
    TakeAddressSpace();
    return t;
  }
  if (Is(",")) {
    Fail("this tensor has a layout: the text is TTGIR, a later form",
         "pass what Triton calls `ttir` (kernel.asm[\"ttir\"])", "ttir.unsupported");
  }
  if (t.kind != TtType::Kind::kTile || !t.tile.is_scalar()) return {};
  t.tile = module_->types().Tile(t.tile.element(), shape);
  return t;
}

// `, 1` of a pointer; `, "constant"` since Triton 3.9, where a parameter is declared `tl.const`. What is constant is global memory, too.
void TtirParser::TakeAddressSpace() {
  if (!Take(",")) return;
  if (!Is(Tok::kString)) {
    ExpectInt("an address space");
    return;
  }
  const absl::string_view name = ExpectText(Tok::kString, "an address space");
  if (name == "constant" || name == "global") return;
  Fail(absl::StrCat("a pointer to the address space `", name, "`"), "use pointers to global memory",
       "ttir.unsupported");
}

TtType TtirParser::ParseBang(int depth) {
  const absl::string_view name = ExpectText(Tok::kBang, "a type");
  if (const auto alias = type_aliases_.find(name); alias != type_aliases_.end()) return alias->second;
  if (!Is("<")) return {};
  TtType t;
  if (name == "tt.ptr") {
    Advance();
    t = ParseType(depth + 1);
    TakeAddressSpace();
    if (t.kind == TtType::Kind::kTile && t.tile.is_scalar() && (!t.tile.element().is_pointer() || !t.inner)) {
      if (t.tile.element().is_pointer()) t.inner = t.tile.element();
      t.tile = module_->types().Scalar(Element::Pointer(t.inner ? Elem::kI64 : t.tile.elem()));
    } else {
      t.kind = t.kind == TtType::Kind::kTile && !t.tile.is_scalar() ? TtType::Kind::kBlockPointer : TtType::Kind::kNone;
    }
  } else if (name == "tt.tensordesc") {
    t = ParseShaped(depth);  // with sizes, or `tensor<…>` inside
    if (t.kind == TtType::Kind::kTile) t.kind = TtType::Kind::kDescriptor;
  } else {
    SkipBrackets();
    return {};
  }
  Expect(">");
  return t;
}

TtType TtirParser::ParseType(int depth) {
  if (depth > kMaxDepth) {
    Fail(absl::StrCat("types nest more than ", kMaxDepth, " deep"), "", "ttir.limit");
    return {};
  }
  if (Is(Tok::kBang)) return ParseBang(depth);
  // An operation may leave out `!tt.ptr` or `!tt.tensordesc` before the brackets.
  if (Is("<")) {
    TtType t = ParseShaped(depth);
    if (t.kind == TtType::Kind::kTile) {
      const bool pointer = t.tile.is_scalar();
      t.kind = pointer ? TtType::Kind::kTile : TtType::Kind::kDescriptor;
      if (pointer && t.tile.element().is_pointer()) t.inner = t.tile.element();
      if (pointer) t.tile = module_->types().Scalar(Element::Pointer(t.inner ? Elem::kI64 : t.tile.elem()));
    }
    Expect(">");
    return t;
  }
  const absl::string_view word = ExpectText(Tok::kWord, "a type");
  if (word != "tensor") {
    if (Is("<")) SkipBrackets();
    return Word(word);
  }
  if (!Is("<")) {
    Fail("expected `<` here");
    return {};
  }
  const TtType t = ParseShaped(depth);
  Expect(">");
  return t;
}

std::vector<TtType> TtirParser::ParseTypes() {
  std::vector<TtType> types;
  const bool list = Take("(");
  while (!failed_ && !(list && Is(")"))) {
    if (static_cast<int64_t>(types.size()) >= kMaxOperands) {
      Fail(absl::StrCat("more than ", kMaxOperands, " types"), "", "ttir.limit");
    }
    types.push_back(ParseType());
    if (list && Is("{")) SkipBrackets();  // attributes of a function's result
    if (!Take(",") && !Take("*")) break;
  }
  if (list) Expect(")");
  return types;
}

// --- attributes -------------------------------------------------------------------------------------------------------

// `name = value, …` or `name` (a flag) up to the closing bracket; none: one of them.
void TtirParser::ParseAttrs(absl::string_view close, std::vector<Attribute>* out) {
  while (!failed_ && (close.empty() || !Take(close))) {
    Attribute a;
    a.name = Is(Tok::kString) ? ExpectText(Tok::kString, "a name") : ExpectText(Tok::kWord, "the name of an attribute");
    if (Take("=")) ParseAttrValue(&a, 0);
    if (static_cast<int64_t>(out->size()) >= kMaxListItems) {
      Fail(absl::StrCat("more than ", kMaxListItems, " attributes"), "", "ttir.limit");
    }
    out->push_back(std::move(a));
    if (close.empty()) return;
    if (!Take(",") && !Is(close)) Expect(close);
  }
}

void TtirParser::ParseArray(Attribute* a) {
  while (!failed_ && !Is("]") && !Is(">")) {
    const bool negative = Take("-");
    int64_t v = 0;
    if (Is("true") || Is("false")) {
      v = Is("true");
      Advance();
    } else {
      v = static_cast<int64_t>(ExpectInt("an integer"));
    }
    if (static_cast<int64_t>(a->ints.size()) >= kMaxListItems) {
      Fail(absl::StrCat("more than ", kMaxListItems, " numbers"), "", "ttir.limit");
    }
    a->ints.push_back(negative ? static_cast<int64_t>(-static_cast<uint64_t>(v)) : v);
    if (Take(":")) ParseType();
    if (!Take(",")) break;
  }
}

// dense<64>, dense<[1, 64]>; what holds other things than integers has none.
void TtirParser::ParseDenseInts(Attribute* a) {
  Expect("<");
  bool all = true;
  for (; !failed_ && !Is(">"); Advance()) {
    if (Is(Tok::kEnd)) {
      Fail("the text ends inside of brackets");
      return;
    }
    if (Is("[") || Is("]") || Is(",")) continue;
    all &= Is(Tok::kInt) && static_cast<int64_t>(a->ints.size()) < kMaxListItems;
    int64_t v = 0;
    all = all && absl::SimpleAtoi(token_.text, &v);
    if (all) a->ints.push_back(v);
  }
  if (!all) a->ints.clear();
  Expect(">");
}

void TtirParser::ParseAttrValue(Attribute* a, int depth, bool typed) {
  if (depth > kMaxDepth) {
    Fail(absl::StrCat("attributes nest more than ", kMaxDepth, " deep"), "", "ttir.limit");
    return;
  }
  const bool negative = Take("-");
  a->text = token_.text;
  if (Is(Tok::kInt)) {
    const uint64_t v = ExpectInt("an integer");
    a->ints = {static_cast<int64_t>(negative ? -v : v)};
  } else if (Is(Tok::kString)) {
    a->is_string = true;
    Advance();
  } else if (Is("array")) {
    Advance();
    Expect("<");
    ExpectText(Tok::kWord, "a type");
    if (Take(":")) ParseArray(a);
    Expect(">");
    return;
  } else if (Is("dense")) {
    Advance();
    ParseDenseInts(a);
  } else if (Is("[")) {
    Advance();
    if (Is(Tok::kInt) || Is("-")) {
      ParseArray(a);
      Expect("]");
      return;
    }
    for (Attribute item; !failed_ && !Is("]");) {
      ParseAttrValue(&item, depth + 1);
      if (!Take(",")) break;
    }
    Expect("]");
  } else if (Is("{")) {
    SkipBrackets();
  } else if (Is(Tok::kWord) || Is(Tok::kAlias) || Is(Tok::kBang) || Is(Tok::kFloat) || Is(Tok::kSymbol)) {
    if (Is("true") || Is("false")) a->ints = {Is("true")};
    const auto alias = Is(Tok::kAlias) ? attr_aliases_.find(token_.text) : attr_aliases_.end();
    Advance();
    if (alias != attr_aliases_.end()) {
      const absl::string_view name = a->name;
      *a = alias->second;
      a->name = name;
    }
    if (Is("<")) SkipBrackets();  // dense<…>, #tt.x<…>
  } else {
    Fail("expected the value of an attribute here");
  }
  if (typed && Take(":")) ParseType();
}

// --- locations --------------------------------------------------------------------------------------------------------

LocRef TtirParser::AddLoc(Location loc) {
  tree_->locations.push_back(loc);
  return static_cast<LocRef>(tree_->locations.size());
}

LocRef TtirParser::ParseLoc(int depth) {
  const LocRef loc = ParseLocBody(depth);
  Expect(")");
  return loc;
}

LocRef TtirParser::ParseLocBody(int depth) {
  if (depth > kMaxDepth) {
    Fail(absl::StrCat("locations nest more than ", kMaxDepth, " deep"), "", "ttir.limit");
    return 0;
  }
  Location loc;
  if (Take("unknown")) return 0;
  if (Is(Tok::kAlias)) {
    loc.kind = Location::Kind::kAlias;
    loc.text = ExpectText(Tok::kAlias, "a location");
    return AddLoc(loc);
  }
  if (Take("callsite")) {
    loc.kind = Location::Kind::kCallSite;
    Expect("(");
    loc.inner = ParseLocBody(depth + 1);
    Expect("at");
    loc.outer = ParseLocBody(depth + 1);
    Expect(")");
    return AddLoc(loc);
  }
  if (Take("fused")) {  // the first that says something
    if (Is("<")) SkipBrackets();
    Expect("[");
    LocRef first = 0;
    while (!failed_ && !Is("]")) {
      const LocRef one = ParseLocBody(depth + 1);
      if (first == 0) first = one;
      if (!Take(",")) break;
    }
    Expect("]");
    return first;
  }
  if (Take("loc")) {
    Expect("(");
    return ParseLoc(depth + 1);
  }
  loc.text = ExpectText(Tok::kString, "a location");
  if (Take(":")) {
    loc.kind = Location::Kind::kFile;
    loc.line = static_cast<uint32_t>(ExpectInt("a line"));
    if (Take(":")) loc.column = static_cast<uint32_t>(ExpectInt("a column"));
    if (Take("to")) {  // a range: its begin is what counts
      Take(":");
      ExpectInt("a line or column");
      if (Take(":")) ExpectInt("a column");
    }
    return AddLoc(loc);
  }
  loc.kind = Location::Kind::kName;
  if (Take("(")) loc.inner = ParseLoc(depth + 1);
  return AddLoc(loc);
}

// `#loc3 = loc(…)`, `#attr = 16 : i32`
void TtirParser::ParseAlias() {
  const absl::string_view name = ExpectText(Tok::kAlias, "an alias");
  Expect("=");
  if (Take("loc")) {
    Expect("(");
    tree_->aliases[name] = ParseLoc();
    return;
  }
  ParseAttrValue(&attr_aliases_[name], 0);
}

// `!tensor = tensor<16xf32>`
void TtirParser::ParseTypeAlias() {
  const absl::string_view name = ExpectText(Tok::kBang, "an alias");
  Expect("=");
  type_aliases_[name] = ParseType();
}

}  // namespace tile::ir::ttir

// MLIR's generic form, which its tools print with -mlir-print-op-generic and where an operation breaks its own rules:
//
//   %r = "cuda_tile.addf"(%x, %y) <{rounding_mode = #cuda_tile.rounding<zero>}> : (tile<f32>, tile<f32>) -> tile<f32>
//   "cuda_tile.if"(%c) ({
//     "cuda_tile.yield"() : () -> ()
//   }, {
//   }) : (tile<i1>) -> ()
//
// Operands stand in the order of the format, `operandSegmentSizes` says how many each field has. Attributes have the names
// of the format but for a few, and MLIR's own spellings (`dense<…>`, `array<i32: …>`, `1 : i32`).
#include <algorithm>

#include "absl/strings/match.h"
#include "absl/strings/strip.h"
#include "ir/text/parser_internal.h"

namespace tile::ir::text {
namespace {

// Attributes that NVIDIA's dialect calls otherwise.
constexpr struct {
  absl::string_view theirs, ours;
} kNames[] = {
    {"rounding_mode", "rounding"},       {"comparison_predicate", "predicate"},
    {"comparison_ordering", "ordering"}, {"memory_ordering_semantics", "ordering"},
    {"memory_scope", "scope"},           {"optimization_hints", "hints"},
    {"unsignedCmp", "unsigned_cmp"},     {"str", "format"},
};

const AttrInfo* AttrOf(const FormatInfo& format, absl::string_view name) {
  int i = format.attr_index(name);
  for (const auto& row : kNames) {
    if (i < 0 && row.theirs == name) i = format.attr_index(row.ours);
  }
  return i < 0 ? nullptr : &format.attrs[i];
}

}  // namespace

// Of what a dictionary holds, only the end matters.
bool Parser::SkipValue() {
  int depth = 0;
  while (tok_.kind != Tok::kEnd && (depth > 0 || (!tok_.is(",") && !tok_.is("}")))) {
    depth += tok_.is("{") + tok_.is("[") + tok_.is("<") + tok_.is("(");
    depth -= tok_.is("}") + tok_.is("]") + tok_.is(">") + tok_.is(")");
    Advance();
  }
  return tok_.kind != Tok::kEnd || FailExpected("'}' behind attributes");
}

// `<{` or `{` to its end: calls `entry(name)` behind each `name =`, and with `unit` where nothing follows the name.
template <class Fn>
bool Parser::ParseDictionary(Fn&& entry) {
  const bool properties = Accept("<");
  if (!Expect("{", "before attributes")) return false;
  for (bool first = true; !tok_.is("}"); first = false) {
    if (!first && !Expect(",", "or '}' between attributes")) return false;
    const Token name = tok_;
    absl::string_view key;
    if (!ParseKey(&key)) return false;
    while (Accept(".")) {
      if (!ParseKey(&key)) return false;
    }
    const bool unit = !Accept("=");
    if (!entry(name, key, unit)) return false;
  }
  Advance();
  return !properties || Expect(">", "behind attributes");
}

// array<i32: 1, 2>
bool Parser::ParseArray(std::vector<int64_t>* values) {
  Elem elem;
  if (!Expect("array", "before a list of numbers") || !Expect("<", "after array") || !ParseElem(&elem)) return false;
  if (Accept(":")) {
    do {
      if (tok_.is("true") || tok_.is("false")) {
        values->push_back(tok_.is("true"));
        Advance();
      } else {
        values->emplace_back();
        if (!ParseInt(&values->back())) return false;
      }
    } while (Accept(","));
  }
  return Expect(">", "behind the numbers");
}

// dense<1.0> : tile<4xf32>: the type, which says what the elements are, stands behind them.
bool Parser::ParseGenericDense(Dense* dense, std::vector<int64_t>* shape, Type* type) {
  if (!Expect("dense", "before elements") || !Expect("<", "after dense")) return false;
  const Token first = tok_;
  const Lexer elements = lexer_;
  for (int depth = 1; depth > 0; Advance()) {
    depth += tok_.is("<") - tok_.is(">");
    if (tok_.kind == Tok::kEnd) return FailExpected("'>' behind the elements");
  }
  if (!Expect(":", "and the type of the elements") || !ParseType(type)) return false;
  if (!type->is_tile()) return Fail(first, "type", "the elements of a constant are those of a tile");
  const Token next = tok_;
  const Lexer behind = lexer_;
  lexer_ = elements;
  tok_ = first;
  dense->elem = type->elem();
  const bool ok = ParseElements(dense, shape) && Expect(">", "behind the elements");
  if (!ok) return false;
  lexer_ = behind;
  tok_ = next;
  return true;
}

bool Parser::ParseGenericAttr(const AttrInfo& info, PendingOp& op, Attr* attr) {
  std::vector<int64_t> numbers;
  if (!Expand()) return false;
  switch (info.kind) {
    case AttrKind::kEnum:
      // #cuda_tile.rounding<zero>
      if (tok_.kind == Tok::kIdent) {
        Advance();
        return Expect("<", "before the keyword") && ParseAttr(info, op, attr) && Expect(">", "behind the keyword");
      }
      [[fallthrough]];
    case AttrKind::kInt: {
      int64_t number = 0;
      Elem elem;
      if (!ParseInt(&number) || (Accept(":") && !ParseElem(&elem))) return false;
      *attr = Attr::Int(info.kind, number);
      return true;
    }
    case AttrKind::kInts:
      if (!ParseArray(&numbers)) return false;
      *attr = Attr::Ints(Copy(numbers));
      return true;
    case AttrKind::kBools:
      if (!ParseArray(&numbers)) return false;
      *attr = Attr::Bools(Copy(std::vector<uint8_t>(numbers.begin(), numbers.end())));
      return true;
    case AttrKind::kHints:
      if (tok_.kind == Tok::kIdent) Advance();
      return ParseAttr(info, op, attr);
    case AttrKind::kDense: {
      Dense* dense = module_->arena().New<Dense>();
      Type type;
      op.list = tok_;
      if (!ParseGenericDense(dense, &op.list_shape, &type)) return false;
      *attr = Attr::Of(dense);
      return true;
    }
    default: return ParseAttr(info, op, attr);
  }
}

bool Parser::ParseGenericAttrs(PendingOp& op, std::vector<int64_t>* segments) {
  const FormatInfo& format = *op.info->format;
  return ParseDictionary([&](const Token& at, absl::string_view name, bool unit) {
    if (name == "operandSegmentSizes") return ParseArray(segments);
    const AttrInfo* info = AttrOf(format, name);
    if (info == nullptr) return unit || SkipValue();
    Attr& attr = op.attrs[info - format.attrs.data()];
    if (unit || tok_.is("unit")) {
      if (info->kind != AttrKind::kFlag) return Fail(at, "syntax", absl::StrCat(name, " has no value"));
      if (!unit) Advance();
      attr = Attr::Flag(true);
      return true;
    }
    return ParseGenericAttr(*info, op, &attr);
  });
}

// Operands in a row to the fields of the format.
bool Parser::SpreadOperands(PendingOp& op, const Token& at, const std::vector<Value*>& values,
                            std::vector<int64_t> segments) {
  const std::vector<FieldInfo>& fields = op.info->format->operands;
  if (segments.empty()) {
    // One field at most may have another number than one.
    const int64_t n = static_cast<int64_t>(values.size()), least = static_cast<int64_t>(fields.size());
    bool open = false;
    for (const FieldInfo& f : fields) {
      const bool more = f.arity != Arity::kOne && !open;
      segments.push_back(more ? std::max<int64_t>(0, n - least + 1) : 1);
      open |= more;
    }
  }
  segments.resize(std::max(segments.size(), fields.size()));  // fields of later versions are absent
  int64_t sum = 0;
  for (int64_t n : segments) sum += n;
  if (segments.size() != fields.size() || sum != static_cast<int64_t>(values.size()) ||
      std::any_of(segments.begin(), segments.end(), [](int64_t n) { return n < 0; })) {
    return Fail(at, "syntax",
                absl::StrCat(op.info->mnemonic, " has ", values.size(), " operands, which are not those of its ",
                             fields.size(), " fields"),
                "operandSegmentSizes says how many each field has");
  }
  size_t next = 0;
  for (size_t f = 0; f < fields.size(); ++f) {
    for (int64_t i = 0; i < segments[f]; ++i) {
      op.operands[f].push_back(values[next++]);
      op.places[f].push_back(at.pos);
    }
  }
  return true;
}

// { ^bb0(%x: tile<i32>): … }, without the label if there are no arguments.
bool Parser::ParseGenericRegion(Block** body) {
  if (!tok_.is("{")) return FailExpected("'{' before a region");
  if (depth_ >= kMaxNesting) return Fail(tok_, "limit", absl::StrCat("regions nest at most ", kMaxNesting, " deep"));
  const Token open = tok_;
  Advance();
  std::vector<Token> names;
  std::vector<Type> types;
  if (Accept("^")) {
    if (tok_.kind != Tok::kIdent) return FailExpected("the name of a block");
    Advance();
    if (Accept("(") && !ParseParams(&names, &types)) return false;
    if (!Expect(":", "behind the name of the block")) return false;
  }
  *body = module_->CreateBlock(types);
  num_values_ += static_cast<int64_t>(types.size());
  const size_t scope = scope_.size();
  for (size_t i = 0; i < names.size(); ++i) Define(names[i], (*body)->arg(static_cast<int>(i)));
  ++depth_;
  ParseOps(*body);
  --depth_;
  CloseScope(scope);
  if (stop()) return false;
  if (!tok_.is("}")) return Fail(open, "unclosed", "this '{' is not closed", "add '}' behind the last operation");
  Advance();
  return true;
}

// (types) -> types
bool Parser::ParseFunctionType(std::vector<Type>* operands, std::vector<Type>* results) {
  if (!Expect("(", "before the types of the operands")) return false;
  if (!tok_.is(")") && !ParseTypeList(operands)) return false;
  if (!Expect(")", "behind the types of the operands") || !tok_.is("->")) return FailExpected("'->' and the results");
  return ParseArrowTypes(results);
}

bool Parser::ParseGenericOp(PendingOp& op, Block* block, Op** created) {
  const Token at = op.mnemonic;
  std::vector<Value*> values;
  std::vector<int64_t> segments;
  if (!Expect("(", "before the operands")) return false;
  while (!tok_.is(")")) {
    if (!values.empty() && !Expect(",", "or ')' between operands")) return false;
    if (!ParseUse(op, &values)) return false;
  }
  Advance();
  if (tok_.is("<") && !ParseGenericAttrs(op, &segments)) return false;
  std::vector<Block*> regions;
  if (Accept("(")) {
    do {
      regions.push_back(nullptr);
      if (!ParseGenericRegion(&regions.back())) return false;
    } while (Accept(","));
    if (!Expect(")", "behind the regions")) return false;
  }
  std::vector<Type> types, results;
  if ((tok_.is("{") && !ParseGenericAttrs(op, &segments)) || !Expect(":", "and the types") ||
      !ParseFunctionType(&types, &results) || !SpreadOperands(op, at, values, segments)) {
    return false;
  }
  for (size_t i = 0; i < values.size() && !op.poisoned; ++i) {
    if (i < types.size() && types.size() == values.size() && types[i] == values[i]->type()) continue;
    return Fail(at, "operand_types", absl::StrCat("operand ", i, " is of type ", values[i]->type().ToString()),
                "write one type per operand, that of its definition");
  }
  if (!op.names.empty() && op.num_names() != results.size()) {
    return Fail(at, "result_count",
                absl::StrCat(op.info->mnemonic, " gives ", results.size(), " results, ", op.num_names(), " named"));
  }
  const size_t num_regions = op.info->format->regions.size();
  if (regions.size() > num_regions) {
    return Fail(at, "syntax", absl::StrCat(op.info->mnemonic, " has ", num_regions, " regions"));
  }
  *created = Create(op, results, block);
  for (size_t r = 0; r < regions.size() && *created != nullptr; ++r) {
    // An else without anything in it is none.
    const bool none = r > 0 && regions[r]->empty() && results.empty();
    if (!none) (*created)->set_region(static_cast<int>(r), regions[r]);
  }
  return true;
}

// --- modules, entries, globals --------------------------------------------------------------------------------------

// "cuda_tile.module"() <{sym_name = "kernels"}> ({
bool Parser::ParseGenericItem() {
  const Token at = tok_;
  absl::string_view word;
  if (!ParseString(&word)) return false;
  const bool known = absl::ConsumePrefix(&word, "cuda_tile.") || word == "builtin.module";
  absl::ConsumePrefix(&word, "builtin.");
  const bool module = word == "module", entry = word == "entry" || word == "testing$func", global = word == "global";
  if (!known || (!module && !entry && !global)) {
    return Fail(at, "syntax", absl::StrCat("expected entry, global or a debug record, found '", at.text, "'"));
  }
  GenericItem item;
  item.kernel = word == "entry";
  if (!Expect("(", "before no operands") || !Expect(")", "as there are no operands")) return false;
  if (tok_.is("(") && !module) {
    return FailExpected("<{sym_name = …}> before the region", "print the text with a newer MLIR, or in its short form");
  }
  if (!tok_.is("(") && !ParseItemAttrs(&item)) return false;
  if (global) return ParseGenericGlobal(item, at);
  if (!Expect("(", "before the body")) return false;
  if (entry) return ParseGenericEntry(item, at);
  if (!Expect("{", "before the body")) return false;
  if (Accept("^") && (tok_.kind != Tok::kIdent || (Advance(), !Expect(":", "behind the name of the block")))) {
    return FailExpected("the name of a block");
  }
  BeginModule(item.name, /*named=*/!item.name.empty());
  if (open_modules_.size() >= kMaxNesting) return Fail(at, "limit", "too many modules stand inside each other");
  open_modules_.push_back({.generic = true});
  return true;
}

bool Parser::ParseItemAttrs(GenericItem* item) {
  return ParseDictionary([&](const Token& at, absl::string_view name, bool unit) {
    uint64_t number = 0;
    Elem elem;
    if (name == "sym_name") return ParseString(&item->name);
    if (name == "producer") {
      absl::string_view producer;
      if (!ParseString(&producer)) return false;
      module_->producer = std::string(producer);
      return true;
    }
    if (name == "constant") return item->is_constant = true;
    if (name == "alignment") {
      item->alignment = 0;
      return ParseUint(&item->alignment, ~uint64_t{0}) && (!Accept(":") || ParseElem(&elem));
    }
    if (name == "symbol_visibility" || name == "sym_visibility") {
      if (tok_.kind == Tok::kString) {
        item->is_private = tok_.text == "\"private\"";
      } else if (tok_.kind == Tok::kInt) {
        return ParseUint(&number, 1) && (item->is_private = number == 1, !Accept(":") || ParseElem(&elem));
      } else {
        Lexer ahead = lexer_;
        ahead.Next();
        item->is_private = ahead.Next().is("private");
      }
      return SkipValue();
    }
    if (name == "value") {
      item->value_at = at;
      return ParseGenericDense(&item->value, &item->value_shape, &item->type);
    }
    if (name == "optimization_hints") {
      item->hints = module_->arena().New<Hints>();
      if (tok_.kind == Tok::kIdent) Advance();
      return ParseHints(item->hints);
    }
    return unit || SkipValue();
  });
}

bool Parser::ParseItemEnd(LocId* loc) {
  std::vector<Type> operands, results;
  return (!tok_.is("{") || SkipDictionary()) && Expect(":", "and the type") && ParseFunctionType(&operands, &results) &&
         ParseLoc(loc);
}

bool Parser::ParseGenericGlobal(const GenericItem& item, const Token& at) {
  LocId loc = 0;
  return ParseItemEnd(&loc) && AddGlobal(item.name, at, item.value, item.type, item.value_at, item.alignment,
                                         item.is_constant, item.is_private, loc);
}

bool Parser::ParseGenericEntry(const GenericItem& item, const Token& at) {
  names_.clear();
  scope_.clear();
  if (!tok_.is("{")) return FailExpected("'{' before the body");
  const Token open = tok_;
  Advance();
  std::vector<Token> params;
  std::vector<Type> types;
  if (Accept("^")) {
    if (tok_.kind != Tok::kIdent) return FailExpected("the name of a block");
    Advance();
    if (Accept("(") && !ParseParams(&params, &types, !item.kernel)) return false;
    if (!Expect(":", "behind the name of the block")) return false;
  }
  Function* f = BeginEntry(item.name, at, params, types, item.kernel);
  if (f == nullptr) return false;
  f->visibility = item.is_private ? Visibility::kPrivate : Visibility::kPublic;
  f->hints = item.hints;
  return ParseBody(f, open) && Expect(")", "behind the body") && ParseItemEnd(&f->loc);
}

}  // namespace tile::ir::text

// Operations by the table: names of results, the syntax column, types, locations.
#include <algorithm>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_join.h"
#include "ir/foreign_names.h"
#include "ir/text/parser_internal.h"

namespace tile::ir::text {

// --- names ----------------------------------------------------------------------------------------------------------

bool Parser::Define(const Token& name, Value* value, uint32_t count) {
  const auto [it, fresh] = names_.try_emplace(name.text, Definition{value, count, name.pos.line});
  if (!fresh) {
    const uint32_t line = it->second.line;
    it->second.value = nullptr;  // which of the two a use means is not known
    const bool loop = std::any_of(loops_.begin(), loops_.end(), [&](uint32_t l) { return l >= line; });
    return Fail(name, "redefined", absl::StrCat("%", name.text, " is already defined in line ", line),
                loop ? absl::StrCat("a value never changes; a loop carries it: for … iter_values(%carried = %",
                                    name.text, ") { … continue %next }")
                     : "choose another name");
  }
  scope_.push_back(name.text);
  if (value != nullptr && name.text.size() <= kMaxNameBytes) {
    // Results lie one behind the other.
    for (uint32_t i = 0; i < count; ++i) {
      value[i].name = module_->Copy(count == 1 ? std::string(name.text) : absl::StrCat(name.text, "#", i));
    }
  }
  return true;
}

void Parser::CloseScope(size_t size) {
  for (; scope_.size() > size; scope_.pop_back()) names_.erase(scope_.back());
}

std::string Parser::ClosestName(absl::string_view name) const {
  constexpr size_t kMaxLookedAt = 2000;
  std::vector<absl::string_view> all(scope_.end() - std::min(scope_.size(), kMaxLookedAt), scope_.end());
  const std::string s = DidYouMean(name, all);
  return s.empty() ? s : absl::StrCat("did you mean %", s.substr(13));
}

bool Parser::ParseUse(PendingOp& op, std::vector<Value*>* values) {
  if (tok_.kind != Tok::kValue) {
    return FailExpected("a value like %x", tok_.is("(") ? "operands stand without parentheses"
                                           : NumberStarts()
                                               ? "make it a value first: %c = constant <f32: 0.0> : tile<64xf32>"
                                           : tok_.is(".") && info_ != nullptr
                                               ? absl::StrCat("no type stands behind the name: ", FormOf(*info_))
                                               : "");
  }
  const Token name = tok_;
  Advance();
  std::optional<uint64_t> index;
  Token index_token;
  if (tok_.kind == Tok::kHash && tok_.begin == name.end) {
    index_token = tok_;
    uint64_t i = 0;
    if (!absl::SimpleAtoi(tok_.text, &i)) i = ~uint64_t{0};
    index = i;
    Advance();
  }
  const auto it = names_.find(name.text);
  if (it == names_.end()) {
    op.poisoned = true;
    values->push_back(nullptr);
    // The rest of the operation can still be read.
    const std::string closest = ClosestName(name.text);
    Fail(name, "undefined", absl::StrCat("%", name.text, " is not defined here"),
         closest.empty() ? "define it above, in this region or one around it" : closest);
    return true;
  }
  const Definition& d = it->second;
  if (d.value == nullptr) {
    op.poisoned = true;
    values->push_back(nullptr);
    return true;
  }
  if (in_dialect() && !index) index = 0;  // MLIR: the first of them
  if (!index && d.count > 1) {
    return Fail(name, "result_index", absl::StrCat("%", name.text, " names ", d.count, " values"),
                absl::StrCat("write %", name.text, "#0 for the first"));
  }
  if (index && *index >= d.count) {
    return Fail(index_token, "result_index",
                absl::StrCat("%", name.text, " names ", d.count, d.count == 1 ? " value" : " values"),
                d.count == 1 ? absl::StrCat("write %", name.text)
                             : absl::StrCat("the last one is %", name.text, "#", d.count - 1));
  }
  values->push_back(d.value + index.value_or(0));
  return true;
}

// --- the syntax column ----------------------------------------------------------------------------------------------

bool Parser::GroupStarts(const PendingOp& op, const SyntaxItem& group) const {
  const SyntaxItem& first = group.items.front();
  switch (first.kind) {
    case SyntaxItem::kLiteral: return tok_.is(first.literal);
    case SyntaxItem::kOperand: return tok_.kind == Tok::kValue;
    case SyntaxItem::kAttr: {
      const AttrInfo& info = op.info->format->attrs[first.field];
      if (info.kind == AttrKind::kEnum)
        return tok_.kind == Tok::kIdent && FindEnumKeyword(info.enum_id, tok_.text) != nullptr;
      return tok_.is(info.name);
    }
    case SyntaxItem::kGroup: break;
  }
  return false;
}

// NVIDIA's listings leave out an absent mask without a mark: what stands there is then the padding value behind it.
void Parser::MoveFromMask(PendingOp& op, const SyntaxItem& item, const SyntaxItem& next) {
  const int mask = ListElement(item), field = ListElement(next);
  if (mask < 0 || field < 0 || tok_.is(",") || !TypeRuleOf(*op.info).operands[mask].mask) return;
  std::vector<Value*>& values = op.operands[mask];
  if (values.size() != 1 || values[0] == nullptr || !values[0]->type().is_tile()) return;
  if (values[0]->type().elem() == Elem::kI1) return;
  values.swap(op.operands[field]);
  op.places[mask].swap(op.places[field]);
}

namespace {

// The token is a keyword that this item, an enumeration, may be.
bool KeywordOf(const PendingOp& op, const SyntaxItem& item, const Token& t) {
  if (item.kind != SyntaxItem::kAttr || t.kind != Tok::kIdent) return false;
  const AttrInfo& info = op.info->format->attrs[item.field];
  return info.kind == AttrKind::kEnum && FindEnumKeyword(info.enum_id, t.text) != nullptr;
}

// Forms of the operations that the syntax column leaves to parse_custom.cc.
constexpr struct {
  Format format;
  const char* form;
} kCustomForms[] = {
    {Format::kFor, "for %i in (%from to %to, step %step) iter_values(%x = %init) { … }"},
    {Format::kLoop, "loop iter_values(%x = %init) { … }"},
    {Format::kIf, "if %condition { … } else { … }"},
    {Format::kReduce, "reduce %x dim=0 identities=[0.0] (%element, %accumulator) { … }"},
    {Format::kScan, "scan %x dim=0 reverse=false identities=[0.0] (%element, %accumulator) { … }"},
    {Format::kMakeTensorView, "make_tensor_view %base, shape = [%n, 8], strides = [8, 1]"},
    {Format::kConstant, "constant <f32: 0.0> : tile<64xf32>"},
};

}  // namespace

std::string FormOf(const OpInfo& info) {
  for (const auto& row : kCustomForms) {
    if (row.format == info.format->id) return absl::StrCat("the form is: ", row.form);
  }
  const absl::string_view syntax = info.format->syntax;
  return absl::StrCat("the form is: ", info.mnemonic, syntax.empty() || syntax[0] == ' ' ? "" : " ", syntax);
}

// Groups that follow each other may stand in any order.
bool Parser::ParseGroups(PendingOp& op, const std::vector<SyntaxItem>& items, size_t* i) {
  size_t end = *i;
  while (end < items.size() && items[end].kind == SyntaxItem::kGroup) ++end;
  std::vector<bool> read(end - *i);
  for (bool first = true, again = true; again; first = false) {
    again = false;
    for (size_t g = *i; g < end; ++g) {
      if (!read[g - *i] && GroupStarts(op, items[g])) {
        if (!ParseItems(op, items[g].items)) return false;
        again = read[g - *i] = true;
      }
      if (first && g + 1 < items.size()) MoveFromMask(op, items[g], items[g + 1]);
    }
  }
  *i = end - 1;
  return true;
}

bool Parser::ParseItems(PendingOp& op, const std::vector<SyntaxItem>& items) {
  const FormatInfo& format = *op.info->format;
  for (size_t i = 0; i < items.size(); ++i) {
    const SyntaxItem& item = items[i];
    switch (item.kind) {
      case SyntaxItem::kGroup:
        if (!ParseGroups(op, items, &i)) return false;
        break;
      case SyntaxItem::kLiteral:
        // The comma in front of a keyword may be missing, or be there though the form has none.
        if (item.literal == "," && !tok_.is(",") && i + 1 < items.size() && KeywordOf(op, items[i + 1], tok_)) break;
        if (!Expect(item.literal, absl::StrCat("in ", op.info->mnemonic))) return false;
        break;
      case SyntaxItem::kAttr:
        if (tok_.is(",") && i > 0) {
          Lexer ahead = lexer_;
          if (KeywordOf(op, item, ahead.Next())) Advance();
        }
        if (!ParseAttr(format.attrs[item.field], op, &op.attrs[item.field])) return false;
        break;
      case SyntaxItem::kOperand: {
        if (format.operands[item.field].arity == Arity::kVariadic) {
          if (!ParseOperands(op, item.field)) return false;
        } else if (format.operands[item.field].arity == Arity::kOptional && Accept("_")) {
          // Absent, though one behind it is there.
        } else if (!ParseOperand(op, item.field)) {
          return false;
        }
        break;
      }
    }
  }
  return true;
}

// --- types ----------------------------------------------------------------------------------------------------------

namespace {

// The tensor_view under a view that the operation makes. Where an error hides it, any tensor_view will do.
Type SourceTensorOf(const PendingOp& op, TypeContext& types) {
  const auto& rules = TypeRuleOf(*op.info).operands;
  for (size_t f = 0; f < rules.size(); ++f) {
    if (rules[f].kind != FieldRule::kUnderView || op.operands[f].size() != 1) continue;
    const Value* v = op.operands[f][0];
    if (v == nullptr) return types.TensorView(Element::Number(Elem::kF32), {}, {});
    if (v->type().is_tensor_view()) return v->type();
  }
  return Type();
}

// What the first operand should be, where it is of another kind than the operation takes.
std::string OperandAdvice(const PendingOp& op) {
  const absl::string_view c = op.info->constraints;
  for (const std::vector<Value*>& field : op.operands) {
    for (const Value* v : field) {
      if (v == nullptr || !v->type()) continue;
      const std::string name = v->name.empty() ? "%x" : absl::StrCat("%", v->name);
      if (v->type().is_tensor_view() && absl::StrContains(c, "VIEW")) {
        return absl::StrCat("cut it into tiles: %v = make_partition_view ", name, " : partition_view<tile=(64)>");
      }
      if (absl::StrContains(c, "PTR") && (!v->type().is_tile() || v->type().elem() != Elem::kPtr)) {
        return absl::StrCat(name, " is ", v->type().ToString(), "; what is wanted is a pointer: tile<ptr<f32>>");
      }
      break;
    }
  }
  return absl::StrCat("its operands are not what it takes; `tilevm ops ", op.info->mnemonic, "` says what that is");
}

// What a result type that does not follow may look like. `next` is the token behind the operands.
std::string ExampleType(const PendingOp& op, const Token& next) {
  const OpInfo& info = *op.info;
  const absl::string_view c = info.constraints;
  // As many elements as the operand, or as a number in its place says.
  std::string size = "64";
  const Value* first = op.operands.empty() || op.operands[0].empty() ? nullptr : op.operands[0][0];
  if (info.has(kElementwise) && first != nullptr && first->type() && first->type().is_tile()) {
    const std::string type =
        absl::StrCat("tile<", absl::StrJoin(first->type().shape(), "x"), first->type().rank() == 0 ? "" : "x");
    const bool ints = absl::StrContains(c, "result:INT");
    if (info.opcode == Opcode::kExti) return absl::StrCat(type, "i64>");
    if (info.opcode == Opcode::kTrunci) return absl::StrCat(type, "i8>");
    return absl::StrCat(type, ints ? "i32>" : first->type().elem() == Elem::kF32 ? "f16>" : "f32>");
  }
  if (op.operands.empty() && next.kind == Tok::kInt && next.text.size() < 8) size = std::string(next.text);
  if (absl::StrContains(c, "result:PVIEW")) return "partition_view<tile=(64)>";
  if (absl::StrContains(c, "result:SVIEW")) return "strided_view<tile=(64), traversal_strides=[32]>";
  if (absl::StrContains(c, "result:GVIEW")) return "gather_scatter_view<tile=(64x64), sparse_dim=0>";
  if (absl::StrContains(c, "result:TVIEW")) return "tensor_view<64xf32, strides=[1], shared>";
  if (absl::StrContains(c, "result:PTR")) return "tile<ptr<f32>>";
  return absl::StrCat("tile<", size, absl::StrContains(c, "result:INT") ? "xi32>" : "xf32>");
}

}  // namespace

bool Parser::OperandTypesAgree(const PendingOp& op, const std::vector<Type>& types) {
  std::vector<Value*> values;
  std::vector<uint32_t> ends;
  Open(op, &values, &ends);
  const std::vector<Type> brief = OperandTypes(*op.info, values, ends, false);
  const std::vector<Type> full = OperandTypes(*op.info, values, ends, true);
  // The dialect writes some in another order.
  const auto same = [&](const std::vector<Type>& own) {
    return types == own || std::is_permutation(types.begin(), types.end(), own.begin(), own.end());
  };
  return same(brief) || same(full);
}

bool Parser::FailOperandTypes(const PendingOp& op, const std::vector<Type>& types, const std::vector<Token>& tokens) {
  std::vector<Value*> values;
  std::vector<uint32_t> ends;
  Open(op, &values, &ends);
  const std::vector<Type> full = OperandTypes(*op.info, values, ends, true);
  const std::vector<Type> want = types.size() == full.size() ? full : OperandTypes(*op.info, values, ends, false);
  size_t i = 0;
  while (i + 1 < types.size() && i < want.size() && types[i] == want[i]) ++i;
  return Fail(tokens[i], "operand_types",
              want.empty() ? absl::StrCat(op.info->mnemonic, " has no operands whose types are written")
                           : absl::StrCat("the operands are of type ", TypeList(want)),
              want.empty() ? "leave the type out" : absl::StrCat("write \": ", TypeList(want), "\", or nothing"));
}

bool Parser::CheckResultCount(const PendingOp& op, size_t types, size_t* n) {
  const FormatInfo& format = *op.info->format;
  size_t least = 0, most = 0;
  bool open = false;
  for (const FieldInfo& f : format.results) {
    least += f.arity == Arity::kOne;
    most += f.arity != Arity::kVariadic;
    open |= f.arity == Arity::kVariadic;
  }
  const size_t named = op.num_names();
  *n = named > 0 ? named : least == most && !open ? least : types;
  // A token that nobody uses needs no name.
  const bool ends_in_token = least > 1 && TypeRuleOf(*op.info).results.back().kind == FieldRule::kToken;
  if (ends_in_token && named + 1 == least && named > 0) *n = least;
  if (*n < least || (*n > most && !open)) {
    const std::string count = least == most ? absl::StrCat(least) : absl::StrCat(least, " to ", most);
    std::vector<std::string> all;
    for (const FieldInfo& f : format.results) all.push_back(absl::StrCat("%", f.name));
    return Fail(named > 0 ? op.names[0].token : op.mnemonic, "result_count",
                absl::StrCat(op.info->mnemonic, " gives ", count, most == 1 ? " result, " : " results, ", *n,
                             named > 0 ? " named" : " written"),
                open ? ""
                : format.results.empty()
                    ? absl::StrCat("write it without a name: ", op.info->mnemonic, " …")
                    : absl::StrCat("name them: ", absl::StrJoin(all, ", "), " = ", op.info->mnemonic,
                                   absl::string_view(format.syntax).empty() ? "" : " …"));
  }
  return true;
}

bool Parser::ParseTypes(PendingOp& op, Block* block, std::vector<Type>* results) {
  std::vector<Type> first, second;
  std::vector<Token> first_tokens, second_tokens;
  source_tensor_ = SourceTensorOf(op, module_->types());
  if (in_dialect() && tok_.is("{") && !tok_.first_on_line && !SkipDictionary()) return false;
  const bool colon = Accept(":");
  if (colon && !ParseTypeList(&first, &first_tokens)) return false;
  const bool arrow = Accept("->");
  if (arrow) {
    const bool parenthesis = Accept("(");
    if (!ParseTypeList(&second, &second_tokens)) return false;
    if (parenthesis && !Expect(")", "behind the result types")) return false;
  }
  source_tensor_ = Type();
  if (op.poisoned) return true;
  if (!PlaceNumbers(op, block) || !StretchOperands(op, block, first)) return false;

  std::vector<Value*> values;
  std::vector<uint32_t> ends;
  const OpenOp open = Open(op, &values, &ends);
  size_t n;
  const auto swap = [&] {
    std::swap(first, second);
    std::swap(first_tokens, second_tokens);
  };
  const bool nothing_else = OperandTypes(*op.info, values, ends, false).empty() && !op.info->format->results.empty();
  if (colon && !arrow && nothing_else) swap();
  const bool agree = first.empty() || OperandTypesAgree(op, first);
  if (!CheckResultCount(op, second.empty() && !agree ? first.size() : second.size(), &n)) return false;
  if (n > static_cast<size_t>(kMaxOperands)) return Fail(op.mnemonic, "limit", "too many results");
  if (!agree) {
    // One list that is not that of the operands is that of the results, where they do not follow.
    if (arrow || InferResults(open, *module_, {}, n, results) || !InferResults(open, *module_, first, n, results)) {
      return FailOperandTypes(op, first, first_tokens);
    }
    swap();
  }
  // `%y = reshape %x : tile<8xi8>` of a tile<8xi8>: the one type written is that of the result.
  const bool same =
      second.empty() && !arrow && colon && !ResultsFollow(*op.info) && InferResults(open, *module_, first, n, results);
  if (!same && !InferResults(open, *module_, second, n, results)) {
    if (second.empty()) {
      Token behind = last_;
      behind.pos.column += last_.end - last_.begin;
      behind.begin = last_.end;
      const char* mark = values.empty() ? ": " : "-> ";
      return Fail(behind, "result_types",
                  absl::StrCat("the result type of ", op.info->mnemonic, " does not follow from its operands"),
                  ResultsFollow(*op.info)
                      ? OperandAdvice(op)
                      : absl::StrCat("add the type of the result, like \"", mark, ExampleType(op, tok_), "\""));
    }
    return Fail(second_tokens[0], "result_types",
                absl::StrCat(op.info->mnemonic, " gives ", n, n == 1 ? " result, " : " results, ", second.size(),
                             second.size() == 1 ? " type is" : " types are", " written"));
  }
  // Nested lists of a constant must have the shape of the tile.
  if (op.list_shape.size() > 1 && results->size() == 1 && (*results)[0].is_tile() &&
      absl::MakeConstSpan(op.list_shape) != (*results)[0].shape()) {
    return Fail(op.list, "constant_shape",
                absl::StrCat("the lists do not have the shape of ", (*results)[0].ToString()),
                "nest one list per dimension, or write all elements in one list");
  }
  return true;
}

// --- operations -----------------------------------------------------------------------------------------------------

Op* Parser::Create(const PendingOp& op, const std::vector<Type>& results, Block* block) {
  if (op.poisoned && !op.info->has(kRegions)) return nullptr;
  std::vector<Value*> values;
  std::vector<uint32_t> ends;
  std::vector<Type> types(results);
  Open(op, &values, &ends);
  if (op.poisoned) {
    if (error_value_ == nullptr) error_value_ = module_->CreateBlock(std::vector<Type>(1))->arg(0);
    std::replace(values.begin(), values.end(), static_cast<Value*>(nullptr), error_value_);
    if (types.size() < op.num_names()) types.resize(op.num_names());
  }
  num_values_ += static_cast<int64_t>(types.size());
  if (++num_ops_ > kMaxOps || num_values_ > kMaxValues || static_cast<int64_t>(values.size()) > kMaxOperands) {
    Fail(op.mnemonic, "limit",
         absl::StrCat("a module has at most ", kMaxOps, " operations and ", kMaxValues, " values, an operation ",
                      kMaxOperands, " operands"));
    return nullptr;
  }
  OpSpec spec;
  spec.info = op.info;
  spec.operands = values;
  spec.operand_ends = ends;
  spec.results = types;
  spec.attrs = op.attrs;
  spec.pos = op.mnemonic.pos;
  Op* created = module_->CreateOp(spec);
  module_->Append(block, created);
  return created;
}

void Parser::DefineResults(const PendingOp& op, Op* created) {
  int next = 0;
  for (const ResultName& r : op.names) {
    Value* first = created != nullptr && next < created->num_results() ? created->result(next) : nullptr;
    if (first != nullptr && !first->type()) first = nullptr;
    Define(r.token, first, first != nullptr ? r.count : 1);
    next += static_cast<int>(r.count);
  }
}

bool Parser::ParseResultNames(PendingOp& op) {
  if (tok_.kind != Tok::kValue) return true;
  size_t named = 0;
  do {
    if (tok_.kind != Tok::kValue) return FailExpected("the name of a result, like %x");
    ResultName r;
    r.token = tok_;
    Advance();
    if (Accept(":")) {
      uint64_t n;
      const Token at = tok_;
      if (tok_.kind != Tok::kInt) {
        return FailExpected("a number of results",
                            absl::StrCat("write %", r.token.text, " = …; the type stands at the end, or nowhere"));
      }
      if (!ParseUint(&n, kMaxOperands)) return false;
      if (n == 0) return Fail(at, "number", "a name stands for at least one result");
      r.count = static_cast<uint32_t>(n);
    }
    op.names.push_back(r);
    named += r.count;
    if (named > static_cast<size_t>(kMaxOperands)) return Fail(r.token, "limit", "too many results");
  } while (Accept(","));
  return Expect("=", "between the results and the operation");
}

bool Parser::ParseAnnotations(PendingOp& op, Op* created) {
  if (!tok_.is("{") || tok_.first_on_line) return true;
  if (second_.find_annotation == nullptr) return !in_dialect() || SkipDictionary();
  Advance();
  for (bool first = true; !tok_.is("}"); first = false) {
    if (!first && !Expect(",", "or '}' between annotations")) return false;
    const AttrInfo* info = tok_.kind == Tok::kIdent ? second_.find_annotation(tok_.text) : nullptr;
    if (info == nullptr) return FailExpected("the name of an annotation");
    if (info->kind != AttrKind::kFlag) {
      Advance();
      if (!Expect("=", absl::StrCat("behind ", info->name))) return false;
    }
    Attr value;
    if (!ParseAttr(*info, op, &value)) return false;
    if (created != nullptr) module_->Annotate(created, *info, value);
  }
  Advance();
  return true;
}

bool Parser::ParseLoc(LocId* loc) {
  if (!tok_.is("loc")) return true;
  Advance();
  return Expect("(", "after loc") && ParsePlace(loc) && Expect(")", "behind the location");
}

// The word with the name of its dialect: arith.addf.
bool Parser::FailUnknownOp(const Token& mnemonic) {
  Token word = mnemonic;
  Lexer ahead = lexer_;
  for (Token t = ahead.Next(); t.is(".") && t.begin == word.end; t = ahead.Next()) {
    const Token part = ahead.Next();
    if (part.kind != Tok::kIdent || part.begin != t.end) break;
    word.end = part.end;
    word.text = lexer_.text().substr(word.begin, word.end - word.begin);
  }
  std::string advice = OpAdvice(word.text);
  Lexer behind = lexer_;
  if (const Token next = behind.Next(); next.is("=") || (next.is(":") && behind.Next().is("="))) {
    advice = absl::StrCat("the name of a result begins with %: %", word.text, " = …");
  } else if (next.kind == Tok::kValue && behind.Next().is("=")) {
    advice = absl::StrCat("write %", next.text, " = …");
  }
  if (absl::StartsWith(word.text, "testing$")) advice = "it is an operation of NVIDIA's own tests, which no kernel has";
  return Fail(tok_, "unknown_op", absl::StrCat("there is no operation ", word.text.substr(0, 64)),
              advice.empty() ? "`tilevm ops` lists the operations" : advice);
}

// What is meant by a value or a number where an operation belongs: `%c = %a + %b`, `%c = %a`, `%c = 1.0`.
std::string Parser::ValueAdvice() const {
  if (NumberStarts()) {
    const bool whole = tok_.kind == Tok::kInt;
    return absl::StrCat("a number is a constant: constant <", whole ? "i32: " : "f32: ", tok_.text, ">");
  }
  if (tok_.kind != Tok::kValue) return "";
  constexpr struct {
    absl::string_view sign, op, integers, behind;
  } kInfix[] = {
      {"+", "addf", "addi", ""},
      {"-", "subf", "subi", ""},
      {"*", "mulf", "muli", ""},
      {"/", "divf", "divi", " signed"},
      {"%", "remf", "remi", " signed"},
      {"^", "xori", "xori", ""},
      {"==", "cmpf equal ordered", "cmpi equal", ", signed"},
      {"<", "cmpf less_than ordered", "cmpi less_than", ", signed"},
      {">", "cmpf greater_than ordered", "cmpi greater_than", ", signed"},
  };
  Lexer ahead = lexer_;
  const Token sign = ahead.Next(), right = ahead.Next();
  if (sign.first_on_line || sign.kind != Tok::kPunct) {
    return absl::StrCat("a value has one name: use %", tok_.text, " itself");
  }
  const auto known = names_.find(tok_.text);
  const Value* left = known == names_.end() ? nullptr : known->second.value;
  const bool integers = left != nullptr && left->type() && left->type().is_tile() && IsInt(left->type().elem());
  const absl::string_view other =
      right.kind == Tok::kEnd ? "%y" : lexer_.text().substr(right.begin, right.end - right.begin);
  for (const auto& row : kInfix) {
    if (sign.text != row.sign) continue;
    return absl::StrCat("write ", integers ? row.integers : row.op, " %", tok_.text, ", ", other,
                        integers ? row.behind : "");
  }
  return sign.is("[") ? "an element or a part of a tile is extract; of a view load_view_tko" : "";
}

bool Parser::ParseOp(Block* block) {
  PendingOp op;
  Op* created = nullptr;
  // Names are known, without a value, even if the rest is not understood.
  const auto fail = [&] {
    reading_->short_blocks.insert(block);
    if (created != nullptr) reading_->short_ops.insert(created);
    for (const ResultName& r : op.names) {
      if (names_.try_emplace(r.token.text, Definition{nullptr, 1, r.token.pos.line}).second)
        scope_.push_back(r.token.text);
    }
    return false;
  };
  if (!ParseResultNames(op)) return fail();
  op.mnemonic = tok_;
  const bool generic = tok_.kind == Tok::kString && absl::StartsWith(tok_.text, "\"cuda_tile.");
  if (generic) {
    op.mnemonic.kind = Tok::kIdent;
    op.mnemonic.text = tok_.text.substr(11, tok_.text.size() - 12);
  } else if (tok_.kind != Tok::kIdent) {
    if (op.names.empty()) last_ = Token();  // the error is this token, not the end of the line before it
    FailExpected("an operation", tok_.is("/") ? "a comment begins with //" : op.names.empty() ? "" : ValueAdvice());
    return fail();
  }
  op.info = FindOp(op.mnemonic.text);
  if (op.info == nullptr && second_.find_op != nullptr) op.info = second_.find_op(op.mnemonic.text);
  if (op.info == nullptr) {
    FailUnknownOp(op.mnemonic);
    return fail();
  }
  Advance();
  op.operands.resize(op.info->format->operands.size());
  op.places.resize(op.operands.size());
  op.attrs.resize(op.info->format->attrs.size());
  info_ = op.info;
  if (generic) {
    if (!ParseGenericOp(op, block, &created)) return fail();
  } else if (HasCustomSyntax(*op.info->format)) {
    if (!ParseCustom(op, block, &created)) return fail();
  } else {
    std::vector<Type> results;
    if (!ParseItems(op, SyntaxOf(*op.info->format)) || !ParseTypes(op, block, &results)) return fail();
    created = Create(op, results, block);
  }
  LocId loc = 0;
  if (!ParseAnnotations(op, created) || !ParseLoc(&loc)) return fail();
  if (created != nullptr) created->loc = loc;
  for (Op* inserted : op.inserted) inserted->loc = loc;
  if (created == nullptr) reading_->short_blocks.insert(block);
  DefineResults(op, created);
  return true;
}

void Parser::ParseOps(Block* block) {
  const size_t scope = scope_.size();
  bool fresh_line = true;  // true behind the opening brace
  while (tok_.kind != Tok::kEnd && !tok_.is("}") && !stop()) {
    if (ItemStarts()) break;
    if (!fresh_line && !tok_.first_on_line) {
      if (tok_.kind == Tok::kError) {
        Fail(tok_, "token", tok_.text);
      } else if (tok_.kind == Tok::kAlias) {
        FailAlias();
      } else {
        const bool number = (last_.kind == Tok::kInt || last_.kind == Tok::kFloat) && tok_.kind == Tok::kIdent &&
                            tok_.begin == last_.end;
        Fail(tok_, "same_line", "the operation ends before this",
             number ? absl::StrCat("a number has no suffix: write ", last_.text)
                    : absl::StrCat("start the next operation on a new line",
                                   info_ == nullptr ? "" : absl::StrCat("; ", FormOf(*info_))));
      }
      Recover();
      continue;
    }
    const uint32_t begin = tok_.begin;
    info_ = nullptr;
    if (!ParseOp(block)) {
      info_ = nullptr;
      if (tok_.begin == begin) Advance();
      Recover();
    }
    fresh_line = false;
  }
  info_ = nullptr;
  CloseScope(scope);
}

}  // namespace tile::ir::text

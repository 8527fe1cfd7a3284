// Operations by the table: names of results, the syntax column, types, locations.
#include <algorithm>

#include "absl/strings/numbers.h"
#include "ir/text/parser_internal.h"

namespace tile::ir::text {

// --- names ----------------------------------------------------------------------------------------------------------

bool Parser::Define(const Token& name, Value* value, uint32_t count) {
  const auto [it, fresh] = names_.try_emplace(name.text, Definition{value, count, name.pos.line});
  if (!fresh) {
    const uint32_t line = it->second.line;
    return Fail(name, "redefined", absl::StrCat("%", name.text, " is already defined in line ", line),
                "choose another name");
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
  if (tok_.kind != Tok::kValue) return FailExpected("a value like %x");
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
    Fail(name, "undefined", absl::StrCat("%", name.text, " is not defined here"), ClosestName(name.text));
    return true;
  }
  const Definition& d = it->second;
  if (d.value == nullptr) {
    op.poisoned = true;
    values->push_back(nullptr);
    return true;
  }
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

bool Parser::ParseUses(PendingOp& op, std::vector<Value*>* values) {
  if (tok_.kind != Tok::kValue) return true;
  do {
    if (!ParseUse(op, values)) return false;
  } while (Accept(","));
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
  if (values[0]->type().elem() != Elem::kI1) values.swap(op.operands[field]);
}

bool Parser::ParseItems(PendingOp& op, const std::vector<SyntaxItem>& items) {
  const FormatInfo& format = *op.info->format;
  for (size_t i = 0; i < items.size(); ++i) {
    const SyntaxItem& item = items[i];
    switch (item.kind) {
      case SyntaxItem::kGroup:
        if (GroupStarts(op, item) && !ParseItems(op, item.items)) return false;
        if (i + 1 < items.size()) MoveFromMask(op, item, items[i + 1]);
        break;
      case SyntaxItem::kLiteral:
        if (!Expect(item.literal, absl::StrCat("in ", op.info->mnemonic))) return false;
        break;
      case SyntaxItem::kAttr:
        if (!ParseAttr(format.attrs[item.field], op, &op.attrs[item.field])) return false;
        break;
      case SyntaxItem::kOperand: {
        std::vector<Value*>* values = &op.operands[item.field];
        if (format.operands[item.field].arity == Arity::kVariadic) {
          if (!ParseUses(op, values)) return false;
        } else if (format.operands[item.field].arity == Arity::kOptional && Accept("_")) {
          // Absent, though one behind it is there.
        } else if (!ParseUse(op, values)) {
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

void Flatten(const PendingOp& op, std::vector<Value*>* values, std::vector<uint32_t>* ends) {
  for (const std::vector<Value*>& field : op.operands) {
    values->insert(values->end(), field.begin(), field.end());
    ends->push_back(static_cast<uint32_t>(values->size()));
  }
}

}  // namespace

bool Parser::CheckOperandTypes(const PendingOp& op, const std::vector<Type>& types, const std::vector<Token>& tokens) {
  std::vector<Value*> values;
  std::vector<uint32_t> ends;
  Flatten(op, &values, &ends);
  const std::vector<Type> brief = OperandTypes(*op.info, values, ends, false);
  if (types == brief) return true;
  const std::vector<Type> full = OperandTypes(*op.info, values, ends, true);
  if (types == full) return true;
  const std::vector<Type>& want = types.size() == full.size() ? full : brief;
  size_t i = 0;
  while (i + 1 < types.size() && i < want.size() && types[i] == want[i]) ++i;
  return Fail(tokens[i], "operand_types",
              want.empty() ? absl::StrCat(op.info->mnemonic, " has no operands whose types are written")
                           : absl::StrCat("the operands are of type ", TypeList(want)),
              want.empty() ? "" : absl::StrCat("write \": ", TypeList(want), "\""));
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
  if (*n < least || (*n > most && !open)) {
    const std::string count = least == most ? absl::StrCat(least) : absl::StrCat(least, " to ", most);
    return Fail(named > 0 ? op.names[0].token : op.mnemonic, "result_count",
                absl::StrCat(op.info->mnemonic, " gives ", count, most == 1 ? " result, " : " results, ", *n,
                             named > 0 ? " named" : " written"));
  }
  return true;
}

bool Parser::ParseTypes(PendingOp& op, std::vector<Type>* results) {
  std::vector<Type> first, second;
  std::vector<Token> first_tokens, second_tokens;
  const bool colon = Accept(":");
  if (colon && !ParseTypeList(&first, &first_tokens)) return false;
  const bool arrow = Accept("->");
  if (arrow) {
    const bool parenthesis = Accept("(");
    if (!ParseTypeList(&second, &second_tokens)) return false;
    if (parenthesis && !Expect(")", "behind the result types")) return false;
  }
  if (op.poisoned) return true;

  std::vector<Value*> values;
  std::vector<uint32_t> ends;
  Flatten(op, &values, &ends);
  if (colon && !arrow && OperandTypes(*op.info, values, ends, false).empty() && !op.info->format->results.empty()) {
    std::swap(first, second);
    std::swap(first_tokens, second_tokens);
  }
  if (!first.empty() && !CheckOperandTypes(op, first, first_tokens)) return false;
  size_t n;
  if (!CheckResultCount(op, second.size(), &n)) return false;
  if (n > static_cast<size_t>(kMaxOperands)) return Fail(op.mnemonic, "limit", "too many results");
  if (!InferResults(*op.info, module_->types(), values, ends, second, n, results)) {
    if (second.empty()) {
      Token behind = last_;
      behind.pos.column += last_.end - last_.begin;
      behind.begin = last_.end;
      return Fail(behind, "result_types",
                  absl::StrCat("the result type of ", op.info->mnemonic, " does not follow from its operands"),
                  first.empty() && !colon ? "add \" : \" and the type" : "add \" -> \" and the type");
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
  if (op.poisoned) return nullptr;
  std::vector<Value*> values;
  std::vector<uint32_t> ends;
  Flatten(op, &values, &ends);
  num_values_ += static_cast<int64_t>(results.size());
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
  spec.results = results;
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
    Define(r.token, first, first != nullptr ? r.count : 1);
    next += static_cast<int>(r.count);
  }
}

bool Parser::ParseResultNames(PendingOp& op) {
  if (tok_.kind != Tok::kValue) return true;
  do {
    if (tok_.kind != Tok::kValue) return FailExpected("the name of a result, like %x");
    ResultName r;
    r.token = tok_;
    Advance();
    if (Accept(":")) {
      uint64_t n;
      const Token at = tok_;
      if (!ParseUint(&n, kMaxOperands)) return false;
      if (n == 0) return Fail(at, "number", "a name stands for at least one result");
      r.count = static_cast<uint32_t>(n);
    }
    op.names.push_back(r);
    if (op.num_names() > static_cast<size_t>(kMaxOperands)) return Fail(r.token, "limit", "too many results");
  } while (Accept(","));
  return Expect("=", "between the results and the operation");
}

bool Parser::ParseLoc(LocId* loc) {
  if (!tok_.is("loc")) return true;
  Advance();
  if (!Expect("(", "after loc")) return false;
  if (!Accept("unknown") && !ParseRef(loc)) return false;
  return Expect(")", "behind the location");
}

bool Parser::ParseOp(Block* block) {
  PendingOp op;
  // Names are known, without a value, even if the rest is not understood.
  const auto fail = [&] {
    for (const ResultName& r : op.names) {
      if (names_.try_emplace(r.token.text, Definition{nullptr, 1, r.token.pos.line}).second)
        scope_.push_back(r.token.text);
    }
    return false;
  };
  if (!ParseResultNames(op)) return fail();
  op.mnemonic = tok_;
  if (tok_.kind != Tok::kIdent) {
    FailExpected("an operation");
    return fail();
  }
  op.info = FindOp(tok_.text);
  if (op.info == nullptr) {
    std::vector<absl::string_view> all;
    for (const OpInfo& info : AllOps()) all.push_back(info.mnemonic);
    Fail(tok_, "unknown_op", absl::StrCat("there is no operation ", tok_.text.substr(0, 64)),
         DidYouMean(tok_.text, all));
    return fail();
  }
  Advance();
  op.operands.resize(op.info->format->operands.size());
  op.attrs.resize(op.info->format->attrs.size());
  Op* created = nullptr;
  if (HasCustomSyntax(*op.info->format)) {
    if (!ParseCustom(op, block, &created)) return fail();
  } else {
    std::vector<Type> results;
    if (!ParseItems(op, SyntaxOf(*op.info->format)) || !ParseTypes(op, &results)) return fail();
    created = Create(op, results, block);
  }
  LocId loc = 0;
  if (!ParseLoc(&loc)) return fail();
  if (created != nullptr) created->loc = loc;
  DefineResults(op, created);
  return true;
}

void Parser::ParseOps(Block* block) {
  const size_t scope = scope_.size();
  bool fresh_line = true;  // true behind the opening brace
  while (tok_.kind != Tok::kEnd && !tok_.is("}") && !stop()) {
    if (tok_.first_on_line && (tok_.is("entry") || tok_.is("global"))) break;
    if (!fresh_line && !tok_.first_on_line) {
      Fail(tok_, "same_line", absl::StrCat("the operation ends before this"), "start the next operation on a new line");
      Recover();
      continue;
    }
    const uint32_t begin = tok_.begin;
    if (!ParseOp(block)) {
      if (tok_.begin == begin) Advance();
      Recover();
    }
    fresh_line = false;
  }
  CloseScope(scope);
}

}  // namespace tile::ir::text

// Operations with regions, and make_tensor_view: what print_custom.cc writes.
#include <algorithm>

#include "ir/text/parser_internal.h"

namespace tile::ir::text {

bool Parser::ParseCustom(PendingOp& op, Block* block, Op** created) {
  switch (op.info->format->id) {
    case Format::kFor: return ParseFor(op, block, created);
    case Format::kLoop: return ParseLoop(op, block, created);
    case Format::kIf: return ParseIf(op, block, created);
    case Format::kRegion: {
      *created = Create(op, {}, block);
      return ParseRegion(*created, 0, {}, ImpliedTerminator(*op.info, 0, 0));
    }
    case Format::kReduce:
    case Format::kScan: return ParseReduce(op, block, created);
    default: return ParseMakeTensorView(op, block, created);
  }
}

bool Parser::ParseArrowTypes(std::vector<Type>* types) {
  if (!Accept("->")) return true;
  const bool parenthesis = Accept("(");
  if (parenthesis && Accept(")")) return true;
  return ParseTypeList(types) && (!parenthesis || Expect(")", "behind the result types"));
}

bool Parser::ParseIterValues(PendingOp& op, std::vector<Token>* names, std::vector<Value*>* inits) {
  if (!Accept("iter_values")) return true;
  if (!Expect("(", "after iter_values")) return false;
  while (!tok_.is(")")) {
    if (!names->empty() && !Expect(",", "or ')' between carried values")) return false;
    if (tok_.kind != Tok::kValue) return FailExpected("a carried value like %x = %init");
    names->push_back(tok_);
    Advance();
    if (!Expect("=", "after the name of a carried value") || !ParseUse(op, inits)) return false;
  }
  Advance();
  return true;
}

// A body carries values of the types of their initial values.
std::vector<Argument> Parser::LoopArguments(const std::vector<Token>& names, const std::vector<Value*>& inits,
                                            const std::vector<Type>& results) {
  std::vector<Argument> args;
  for (size_t i = 0; i < names.size(); ++i) {
    const bool known = inits[i] != nullptr;
    args.push_back({names[i], known ? inits[i]->type() : results.size() == names.size() ? results[i] : Type()});
  }
  return args;
}

bool Parser::ParseRegion(Op* op, int index, const std::vector<Argument>& args, std::optional<Opcode> implied) {
  if (!tok_.is("{")) return FailExpected("'{' before the body");
  if (depth_ >= kMaxNesting) return Fail(tok_, "limit", absl::StrCat("regions nest at most ", kMaxNesting, " deep"));
  const Token open = tok_;
  Advance();
  std::vector<Type> types;
  for (const Argument& a : args) types.push_back(a.type ? a.type : module_->types().Token());
  num_values_ += static_cast<int64_t>(args.size());
  Block* body = module_->CreateBlock(types);
  if (op != nullptr) op->set_region(index, body);
  const size_t scope = scope_.size();
  for (size_t i = 0; i < args.size(); ++i)
    Define(args[i].name, args[i].type ? body->arg(static_cast<int>(i)) : nullptr);
  ++depth_;
  ParseOps(body);
  --depth_;
  CloseScope(scope);
  if (stop()) return false;
  if (!tok_.is("}")) return Fail(open, "unclosed", "this '{' is not closed", "add '}' behind the last operation");
  if (implied && body->terminator() == nullptr) {
    PendingOp end;
    end.info = GetOp(*implied);
    end.mnemonic = tok_;
    end.operands.resize(end.info->format->operands.size());
    end.attrs.resize(end.info->format->attrs.size());
    Create(end, {}, body);
  }
  Advance();
  return true;
}

namespace {

std::string Count(size_t n, absl::string_view what) { return absl::StrCat(n, " ", what, n == 1 ? "" : "s"); }

}  // namespace

bool Parser::ParseFor(PendingOp& op, Block* block, Op** created) {
  const FormatInfo& format = *op.info->format;
  if (Accept("unsigned")) op.attrs[format.attr_index("unsigned_cmp")] = Attr::Flag(true);
  if (tok_.kind != Tok::kValue) return FailExpected("the loop's index, as in for %i in (%a to %b, step %c)");
  std::vector<Argument> args = {{tok_, Type()}};
  Advance();
  if (!Expect("in", "after the loop's index") || !Expect("(", "before the bounds") || !ParseOperand(op, 0) ||
      !Expect("to", "between the bounds") || !ParseOperand(op, 1) || !Expect(",", "after the bounds") ||
      !Expect("step", "and a value") || !ParseOperand(op, 2) || !Expect(")", "behind the step")) {
    return false;
  }
  Type& index = args[0].type;
  Element fallback = Element::Number(Elem::kI32);
  if (Accept(":")) {
    const Token at = tok_;
    if (!ParseType(&index)) return false;
    const Value* lower = op.operands[0][0];
    if (lower != nullptr && lower->type() != index) {
      return Fail(at, "operand_types", absl::StrCat("the lower bound is of type ", lower->type().ToString()),
                  absl::StrCat("write \": ", lower->type().ToString(), "\", or nothing"));
    }
    if (index.is_tile()) fallback = index.element();
  }
  if (!PlaceNumbers(op, block, fallback)) return false;
  for (int f = 0; f < 3 && !index; ++f) {
    if (op.operands[f][0] != nullptr) index = op.operands[f][0]->type();
  }
  std::vector<Token> names;
  std::vector<Value*>& inits = op.operands[3];
  std::vector<Type> results;
  if (!ParseIterValues(op, &names, &inits) || !ParseArrowTypes(&results)) return false;
  if (results.empty() && !op.poisoned) {
    for (Value* v : inits) results.push_back(v->type());
  }
  if (!op.poisoned && (results.size() != inits.size() || (!op.names.empty() && op.num_names() != results.size()))) {
    return Fail(op.mnemonic, "result_count",
                absl::StrCat("the loop carries ", Count(inits.size(), "value"), ", has ",
                             Count(results.size(), "result type"), " and ", Count(op.num_names(), "named result")));
  }
  for (Argument& a : LoopArguments(names, inits, results)) args.push_back(std::move(a));
  *created = Create(op, results, block);
  loops_.push_back(op.mnemonic.pos.line);
  const bool ok = ParseRegion(*created, 0, args, ImpliedTerminator(*op.info, results.size(), inits.size()));
  loops_.pop_back();
  return ok;
}

// Types of results that are named, but have no types, from what passes them: an operation with these operands.
bool Parser::TakeResultTypes(const PendingOp& op, Op* created, const Op* passes, absl::string_view what) {
  if (created == nullptr) return true;
  const int n = created->num_results();
  if (passes == nullptr || passes->num_operands() != n) {
    const std::string found =
        passes == nullptr ? absl::StrCat("no ", what, " passes a value")
                          : absl::StrCat("its first ", what, " passes ", Count(passes->num_operands(), "value"));
    return Fail(op.mnemonic, "result_count",
                absl::StrCat("the ", op.info->mnemonic, " has ", Count(n, "named result"), ", but ", found),
                absl::StrCat("pass one value per result: ", what, " %x"));
  }
  for (int i = 0; i < n; ++i) created->result(i)->set_type(passes->operand(i)->type());
  return true;
}

namespace {

// The break that leaves the loop of this body and stands first in the text; null if there is none.
const Op* FirstBreak(const Block* body) {
  if (body == nullptr) return nullptr;
  for (const Op* op : *body) {
    if (op->opcode() == Opcode::kBreak) return op;
    if (op->opcode() != Opcode::kIf) continue;
    for (int r = 0; r < op->num_regions(); ++r) {
      if (const Op* found = FirstBreak(op->region(r))) return found;
    }
  }
  return nullptr;
}

const Op* FirstYield(const Op& branch) {
  for (int r = 0; r < branch.num_regions(); ++r) {
    const Op* end = branch.region(r) == nullptr ? nullptr : branch.region(r)->terminator();
    if (end != nullptr && end->opcode() == Opcode::kYield) return end;
  }
  return nullptr;
}

}  // namespace

bool Parser::ParseLoop(PendingOp& op, Block* block, Op** created) {
  std::vector<Token> names, tokens;
  std::vector<Value*>& inits = op.operands[0];
  std::vector<Type> types, results;
  if (!ParseIterValues(op, &names, &inits)) return false;
  if (Accept(":") && !ParseTypeList(&types, &tokens)) return false;
  if (!ParseArrowTypes(&results)) return false;
  if (inits.empty() && results.empty()) results.swap(types);  // without an arrow, as nothing is carried
  for (size_t i = 0; i < types.size() && !op.poisoned; ++i) {
    if (i < inits.size() && inits[i]->type() == types[i] && types.size() == inits.size()) continue;
    return Fail(tokens[i], "operand_types",
                i < inits.size() ? absl::StrCat("the carried values are ", Count(inits.size(), "value"),
                                                ", this one of type ", inits[i]->type().ToString())
                                 : absl::StrCat("the loop carries ", Count(inits.size(), "value")));
  }
  const bool follows = results.empty() && !op.names.empty();
  if (follows) results.resize(op.num_names());
  if (!op.names.empty() && op.num_names() != results.size()) {
    return Fail(op.mnemonic, "result_count",
                absl::StrCat("the loop has ", Count(results.size(), "result type"), " and ",
                             Count(op.num_names(), "named result")),
                "name as many results as there are types behind the arrow");
  }
  *created = Create(op, results, block);
  const size_t gaps = reading_->short_blocks.size();
  loops_.push_back(op.mnemonic.pos.line);
  const bool ok = ParseRegion(*created, 0, LoopArguments(names, inits, results),
                              ImpliedTerminator(*op.info, results.size(), inits.size()));
  loops_.pop_back();
  if (!ok) return false;
  if (!follows || *created == nullptr) return true;
  const Op* passes = FirstBreak((*created)->region(0));
  return (passes == nullptr && reading_->short_blocks.size() != gaps) || TakeResultTypes(op, *created, passes, "break");
}

bool Parser::ParseIf(PendingOp& op, Block* block, Op** created) {
  std::vector<Type> results;
  if (!ParseUse(op, &op.operands[0]) || !ParseArrowTypes(&results)) return false;
  const bool follows = results.empty() && !op.names.empty();
  if (follows) results.resize(op.num_names());
  if (!op.names.empty() && op.num_names() != results.size()) {
    return Fail(op.mnemonic, "result_count",
                absl::StrCat("the if has ", Count(results.size(), "result type"), " and ",
                             Count(op.num_names(), "named result")),
                "name as many results as there are types behind the arrow");
  }
  *created = Create(op, results, block);
  const size_t gaps = reading_->short_blocks.size();
  const std::optional<Opcode> implied = ImpliedTerminator(*op.info, results.size(), 0);
  if (!ParseRegion(*created, 0, {}, implied)) return false;
  if (Accept("else") && !ParseRegion(*created, 1, {}, implied)) return false;
  if (!follows || *created == nullptr) return true;
  const Op* passes = FirstYield(**created);
  return (passes == nullptr && reading_->short_blocks.size() != gaps) || TakeResultTypes(op, *created, passes, "yield");
}

bool Parser::ParseReduce(PendingOp& op, Block* block, Op** created) {
  const FormatInfo& format = *op.info->format;
  std::vector<Value*>& operands = op.operands[0];
  if (!ParseUse(op, &operands)) return false;
  while (Accept(",")) {
    if (!ParseUse(op, &operands)) return false;
  }
  for (size_t i = 0; i < format.attrs.size(); ++i) {
    const AttrInfo& info = format.attrs[i];
    if (info.kind == AttrKind::kBool && !tok_.is(info.name)) continue;
    if (!Expect(info.name, absl::StrCat("= in ", op.info->mnemonic)) ||
        !Expect("=", absl::StrCat("after ", info.name)) || !ParseAttr(info, op, &op.attrs[i])) {
      return false;
    }
  }
  std::vector<Type> types, results;
  std::vector<Token> tokens;
  if (Accept(":") && !ParseTypeList(&types, &tokens)) return false;
  if (Accept("->") && !ParseTypeList(&results)) return false;
  for (size_t i = 0; i < operands.size() && !types.empty() && !op.poisoned; ++i) {
    if (types.size() == 1 || types.size() == operands.size()) {
      const size_t t = types.size() == 1 ? 0 : i;
      if (types[t] == operands[i]->type()) continue;
    }
    return Fail(
        tokens[std::min(i, tokens.size() - 1)], "operand_types",
        absl::StrCat("operand ", i + 1, " of ", operands.size(), " is of type ", operands[i]->type().ToString()),
        "write the types of the operands, or nothing");
  }
  if (results.empty() && !ReducedTypes(op, &results)) return false;
  if (!op.names.empty() && op.num_names() != results.size()) {
    return Fail(op.mnemonic, "result_count",
                absl::StrCat(op.info->mnemonic, " has ", Count(results.size(), "result"), ", ",
                             Count(op.num_names(), "named one")),
                "name one result per operand");
  }
  std::vector<Argument> args;
  if (!Expect("(", "before the arguments of the body")) return false;
  while (!tok_.is(")")) {
    if (!args.empty() && !Expect(",", "or ')' between arguments")) return false;
    if (tok_.kind != Tok::kValue) return FailExpected("an argument like %x");
    args.push_back({tok_, Type()});
    Advance();
    const size_t of = (args.size() - 1) / 2;  // element and accumulator of each operand
    if (Accept(":")) {
      LocId loc = 0;
      if (!ParseType(&args.back().type) || !ParseLoc(&loc)) return false;
    } else if (of >= operands.size()) {
      return Fail(args.back().name, "argument_type",
                  absl::StrCat(op.info->mnemonic, " of ", Count(operands.size(), "operand"), " has a body with ",
                               Count(2 * operands.size(), "argument")),
                  "name an element and an accumulator per operand: (%e, %acc)");
    } else if (operands[of] != nullptr && operands[of]->type().is_tile()) {
      args.back().type = module_->types().Scalar(operands[of]->type().element());
    }
  }
  Advance();
  *created = Create(op, results, block);
  return ParseRegion(*created, 0, args, std::nullopt);
}

// scan keeps the types of its operands, reduce drops a dimension.
bool Parser::ReducedTypes(const PendingOp& op, std::vector<Type>* results) {
  const bool keeps = op.info->opcode == Opcode::kScan;
  const Attr& dim = op.attrs[op.info->format->attr_index("dim")];
  for (const Value* v : op.operands[0]) {
    if (v == nullptr || keeps || !v->type().is_tile()) {
      results->push_back(v == nullptr ? Type() : v->type());
      continue;
    }
    std::vector<int64_t> shape(v->type().shape().begin(), v->type().shape().end());
    if (dim.as_int() < 0 || dim.as_int() >= static_cast<int64_t>(shape.size())) {
      return Fail(op.mnemonic, "result_types",
                  absl::StrCat("there is no dimension ", dim.as_int(), " in ", v->type().ToString()),
                  shape.empty() ? "a scalar cannot be reduced" : absl::StrCat("dim is 0 to ", shape.size() - 1));
    }
    shape.erase(shape.begin() + dim.as_int());
    results->push_back(module_->types().Tile(v->type().element(), shape));
  }
  return true;
}

// A list like [%m, 16]: numbers are part of the type, values are operands.
bool Parser::ParseSizes(PendingOp& op, absl::string_view name, std::vector<std::optional<int64_t>>* sizes,
                        std::vector<Value*>* values) {
  if (!Expect(",", "after an operand of make_tensor_view") || !Expect(name, "= […]") ||
      !Expect("=", absl::StrCat("after ", name)) || !Expect("[", "before a list")) {
    return false;
  }
  while (!tok_.is("]")) {
    if (!sizes->empty() && !Expect(",", "or ']' in a list")) return false;
    sizes->emplace_back();
    if (tok_.kind == Tok::kValue) {
      if (!ParseUse(op, values)) return false;
    } else if (!ParseInt(&sizes->back().emplace())) {
      return false;
    }
    if (sizes->size() > kMaxRank)
      return Fail(tok_, "limit", absl::StrCat("a type has at most ", kMaxRank, " dimensions"));
  }
  Advance();
  return true;
}

bool Parser::ParseMakeTensorView(PendingOp& op, Block* block, Op** created) {
  std::vector<std::optional<int64_t>> shape, strides;
  if (!ParseUse(op, &op.operands[0]) || !ParseSizes(op, "shape", &shape, &op.operands[1]) ||
      !ParseSizes(op, "strides", &strides, &op.operands[2])) {
    return false;
  }
  std::vector<Type> types, results;
  std::vector<Token> tokens = {op.mnemonic};
  if (Accept(":")) {
    tokens.clear();
    if (!ParseTypeList(&types, &tokens)) return false;
  }
  if (types.empty()) {
    results.emplace_back();
    if (!op.poisoned && !TensorOfLists(op, shape, strides, &results[0])) return false;
  } else if (tok_.is("->")) {
    Advance();
    tokens.push_back(tok_);
    results.emplace_back();
    if (!ParseType(&results[0])) return false;
    std::vector<Value*> open = op.operands[1];
    open.insert(open.end(), op.operands[2].begin(), op.operands[2].end());
    for (size_t i = 0; i < std::max(open.size(), types.size()) && !op.poisoned; ++i) {
      const size_t t = types.size() == 1 ? 0 : i;
      if (i < open.size() && t < types.size() && types[t] == open[i]->type()) continue;
      return Fail(tokens[std::min(t, types.size() - 1)], "operand_types",
                  i < open.size() ? absl::StrCat("size or stride ", i + 1, " is of type ", open[i]->type().ToString())
                                  : absl::StrCat("there are ", open.size(), " sizes and strides that are values"),
                  "write the types of the sizes and strides, or leave all types out");
    }
  } else {
    results = {types[0]};
    if (types.size() > 1) return Fail(tokens[1], "result_count", "make_tensor_view gives 1 result");
  }
  if (!op.names.empty() && op.num_names() != 1)
    return Fail(op.names[0].token, "result_count", "make_tensor_view gives 1 result");
  if (!results[0]) return true;  // an operand has an error
  const Type view = results[0];
  const auto fits = [](const std::vector<std::optional<int64_t>>& written, absl::Span<const int64_t> type) {
    return std::equal(written.begin(), written.end(), type.begin(), type.end(),
                      [](const auto& w, int64_t t) { return w ? *w == t && t != kDynamic : t == kDynamic; });
  };
  if (!view.is_tensor_view() || !fits(shape, view.shape()) || !fits(strides, view->strides)) {
    return Fail(tokens.back(), "tensor_view",
                absl::StrCat("the lists of sizes and strides do not make a ", view.ToString()),
                "numbers must agree with those of the type, values stand for its '?'");
  }
  *created = Create(op, results, block);
  return true;
}

// The type that the lists of make_tensor_view spell out.
bool Parser::TensorOfLists(const PendingOp& op, const std::vector<std::optional<int64_t>>& shape,
                           const std::vector<std::optional<int64_t>>& strides, Type* type) {
  const Type base = op.operands[0][0]->type();
  if (!base.is_tile() || base.elem() != Elem::kPtr) {
    return Fail(op.mnemonic, "tensor_view", absl::StrCat("a tensor lies at a pointer, not at ", base.ToString()),
                "give a value of type tile<ptr<…>>");
  }
  if (shape.size() != strides.size()) {
    return Fail(op.mnemonic, "tensor_view",
                absl::StrCat("there are ", Count(shape.size(), "size"), " and ", Count(strides.size(), "stride")),
                "give one stride per size");
  }
  std::vector<int64_t> sizes, steps;
  for (const auto& n : shape) sizes.push_back(n.value_or(kDynamic));
  for (const auto& n : strides) steps.push_back(n.value_or(kDynamic));
  *type = module_->types().TensorView(Element::Number(base.element().pointee), sizes, steps);
  return true;
}

}  // namespace tile::ir::text

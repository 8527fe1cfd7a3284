// Operations with regions, and make_tensor_view: what print_custom.cc writes.
#include <algorithm>

#include "ir/text/parser_internal.h"

namespace tile::ir::text {

bool Parser::ParseCustom(PendingOp& op, Block* block, Op** created) {
  switch (op.info->format->id) {
    case Format::kFor: return ParseFor(op, block, created);
    case Format::kLoop: return ParseLoop(op, block, created);
    case Format::kIf: return ParseIf(op, block, created);
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
  if (!Expect("in", "after the loop's index") || !Expect("(", "before the bounds") || !ParseUse(op, &op.operands[0]) ||
      !Expect("to", "between the bounds") || !ParseUse(op, &op.operands[1]) || !Expect(",", "after the bounds") ||
      !Expect("step", "and a value") || !ParseUse(op, &op.operands[2]) || !Expect(")", "behind the step") ||
      !Expect(":", "and the type of the loop's index")) {
    return false;
  }
  const Token at = tok_;
  if (!ParseType(&args[0].type)) return false;
  if (const Value* lower = op.operands[0][0]; lower != nullptr && lower->type() != args[0].type) {
    return Fail(at, "operand_types", absl::StrCat("the lower bound is of type ", lower->type().ToString()));
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
  return ParseRegion(*created, 0, args, ImpliedTerminator(*op.info, results.size(), inits.size()));
}

bool Parser::ParseLoop(PendingOp& op, Block* block, Op** created) {
  std::vector<Token> names, tokens;
  std::vector<Value*>& inits = op.operands[0];
  std::vector<Type> types, results;
  if (!ParseIterValues(op, &names, &inits)) return false;
  if (Accept(":") && !ParseTypeList(&types, &tokens)) return false;
  if (!ParseArrowTypes(&results)) return false;
  for (size_t i = 0; i < types.size() && !op.poisoned; ++i) {
    if (i < inits.size() && inits[i]->type() == types[i] && types.size() == inits.size()) continue;
    return Fail(tokens[i], "operand_types",
                i < inits.size() ? absl::StrCat("the carried values are ", Count(inits.size(), "value"),
                                                ", this one of type ", inits[i]->type().ToString())
                                 : absl::StrCat("the loop carries ", Count(inits.size(), "value")));
  }
  if (!op.names.empty() && op.num_names() != results.size()) {
    return Fail(op.mnemonic, "result_count",
                absl::StrCat("the loop has ", Count(results.size(), "result type"), " and ",
                             Count(op.num_names(), "named result")),
                "the types of its results follow an arrow: loop -> tile<i32> {");
  }
  *created = Create(op, results, block);
  return ParseRegion(*created, 0, LoopArguments(names, inits, results),
                     ImpliedTerminator(*op.info, results.size(), inits.size()));
}

bool Parser::ParseIf(PendingOp& op, Block* block, Op** created) {
  std::vector<Type> results;
  if (!ParseUse(op, &op.operands[0]) || !ParseArrowTypes(&results)) return false;
  if (!op.names.empty() && op.num_names() != results.size()) {
    return Fail(op.mnemonic, "result_count",
                absl::StrCat("the if has ", Count(results.size(), "result type"), " and ",
                             Count(op.num_names(), "named result")),
                "the types of its results follow an arrow: if %c -> (tile<i32>) {");
  }
  *created = Create(op, results, block);
  const std::optional<Opcode> implied = ImpliedTerminator(*op.info, results.size(), 0);
  if (!ParseRegion(*created, 0, {}, implied)) return false;
  return !Accept("else") || ParseRegion(*created, 1, {}, implied);
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
  if (!Expect(":", "and the operands' types") || !ParseTypeList(&types, &tokens) ||
      !Expect("->", "and the results' types") || !ParseTypeList(&results)) {
    return false;
  }
  for (size_t i = 0; i < operands.size() && !op.poisoned; ++i) {
    if (types.size() == 1 || types.size() == operands.size()) {
      const size_t t = types.size() == 1 ? 0 : i;
      if (types[t] == operands[i]->type()) continue;
    }
    return Fail(
        tokens[std::min(i, tokens.size() - 1)], "operand_types",
        absl::StrCat("operand ", i + 1, " of ", operands.size(), " is of type ", operands[i]->type().ToString()));
  }
  if (!op.names.empty() && op.num_names() != results.size()) {
    return Fail(op.mnemonic, "result_count",
                absl::StrCat(op.info->mnemonic, " has ", Count(results.size(), "result type"), " and ",
                             Count(op.num_names(), "named result")));
  }
  std::vector<Argument> args;
  if (!Expect("(", "before the arguments of the body")) return false;
  while (!tok_.is(")")) {
    if (!args.empty() && !Expect(",", "or ')' between arguments")) return false;
    if (tok_.kind != Tok::kValue) return FailExpected("an argument like %x: tile<f32>");
    args.push_back({tok_, Type()});
    Advance();
    if (!Expect(":", "and the type of the argument") || !ParseType(&args.back().type)) return false;
  }
  Advance();
  *created = Create(op, results, block);
  return ParseRegion(*created, 0, args, std::nullopt);
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
      !ParseSizes(op, "strides", &strides, &op.operands[2]) || !Expect(":", "and the types")) {
    return false;
  }
  std::vector<Type> types, results;
  std::vector<Token> tokens;
  if (!ParseTypeList(&types, &tokens)) return false;
  if (tok_.is("->")) {
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
                                  : absl::StrCat("there are ", open.size(), " sizes and strides that are values"));
    }
  } else {
    results = {types[0]};
    if (types.size() > 1) return Fail(tokens[1], "result_count", "make_tensor_view gives 1 result");
  }
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
  if (!op.names.empty() && op.num_names() != 1)
    return Fail(op.names[0].token, "result_count", "make_tensor_view gives 1 result");
  *created = Create(op, results, block);
  return true;
}

}  // namespace tile::ir::text

#include "ir/ttir/parser.h"

#include "absl/strings/numbers.h"
#include "ir/ttir/generic.h"
#include "ir/ttir/parser_internal.h"

namespace tile::ir::ttir {

// --- module and functions ---------------------------------------------------------------------------------------------

bool TtirParser::Parse() {
  while (!failed_ && !Is(Tok::kEnd)) {
    if (Is(Tok::kAlias)) {
      ParseAlias();
    } else if (Is("module") || Is("builtin.module")) {
      ParseModule(0);
    } else if (Is("tt.func")) {
      ParseFunction();
    } else if (Is(Tok::kBang)) {
      ParseTypeAlias();
    } else if (Is(Tok::kString)) {
      ParseGenericTop(0);
    } else {
      Fail("expected `module`, `tt.func` or a location here", "pass what Triton calls `ttir` (kernel.asm[\"ttir\"])");
    }
  }
  return !failed_;
}

// "builtin.module"() ({ … }) : () -> (), or "tt.func"() <{…}> ({ … }) : () -> ()
void TtirParser::ParseGenericTop(int depth) {
  if (depth > 1) {
    Fail("a module in a module");
    return;
  }
  Node n;
  n.pos = token_.pos;
  const absl::string_view name = token_.text;
  if (name == "tt.func") {
    ParseGeneric(&n, 0);
    ParseTail(&n);
    for (NodeRegion& r : n.regions) {
      for (size_t i = 0; i < r.blocks[0].args.size() && i < argument_attrs_.size(); ++i) {
        r.blocks[0].args[i].attrs = argument_attrs_[i];
      }
      if (r.blocks[0].ops.empty()) n.regions.clear();  // a declaration
      break;
    }
    argument_attrs_.clear();
    n.symbol = n.word("sym_name");
    n.words.push_back(n.word("sym_visibility", "public"));
    n.outputs = std::move(function_results_);
    function_results_.clear();
    n.types.clear();
    if (n.symbol.empty()) Fail("this function has no name");
    AddFunction(std::move(n));
    return;
  }
  if (name != "builtin.module") {
    Fail("expected a module or a function here");
    return;
  }
  Advance();
  Expect("(");
  Expect(")");
  if (Take("<")) {
    SkipBrackets();
    Expect(">");
  }
  Expect("(");
  Expect("{");
  if (Is(Tok::kBlock)) {
    Advance();
    Expect(":");
  }
  while (!failed_ && !Is("}")) {
    if (!Is(Tok::kString)) Fail("expected a function here");
    ParseGenericTop(depth + 1);
  }
  Expect("}");
  Expect(")");
  ParseTail(&n);
}

void TtirParser::AddFunction(Node f) {
  if (static_cast<int64_t>(tree_->functions.size()) >= kMaxFunctions) {
    Fail(absl::StrCat("more than ", kMaxFunctions, " functions"), "", "ttir.limit");
  }
  tree_->functions.push_back(std::move(f));
}

void TtirParser::ParseModule(int depth) {
  Advance();
  if (depth > 0) Fail("a module in a module");
  if (Is(Tok::kSymbol)) Advance();
  if (Take("attributes")) SkipBrackets();
  Expect("{");
  while (!failed_ && !Is("}")) {
    if (Is("tt.func")) {
      ParseFunction();
    } else {
      Fail("expected `tt.func` here");
    }
  }
  Expect("}");
  if (Take("loc")) {
    Expect("(");
    ParseLoc();
  }
}

std::vector<Argument> TtirParser::ParseArguments() {
  std::vector<Argument> args;
  Expect("(");
  while (!failed_ && !Is(")")) {
    Argument a;
    a.name = ExpectText(Tok::kValue, "an argument");
    Expect(":");
    a.type = ParseType();
    if (Take("{")) ParseAttrs("}", &a.attrs);
    if (Take("loc")) {
      Expect("(");
      ParseLoc();
    }
    if (static_cast<int64_t>(args.size()) >= kMaxArguments) {
      Fail(absl::StrCat("more than ", kMaxArguments, " arguments"), "", "ttir.limit");
    }
    args.push_back(std::move(a));
    if (!Take(",")) break;
  }
  Expect(")");
  return args;
}

void TtirParser::ParseFunction() {
  Node f;
  f.pos = token_.pos;
  f.name = "tt.func";
  Advance();
  for (absl::string_view word : {"public", "private", "nested"}) {
    if (Take(word)) f.words.push_back(word);
  }
  f.symbol = ExpectText(Tok::kSymbol, "the name of a function");
  std::vector<Argument> args = ParseArguments();
  if (Take("->")) f.outputs = ParseTypes();
  if (Take("attributes")) {
    Expect("{");
    ParseAttrs("}", &f.attrs);
  }
  if (Is("{")) {
    f.regions.push_back(ParseRegion(0, std::move(args)));
  }
  ParseTail(&f);
  AddFunction(std::move(f));
}

// --- regions ----------------------------------------------------------------------------------------------------------

NodeRegion TtirParser::ParseRegion(int depth, std::vector<Argument> args) {
  NodeRegion region;
  if (depth >= kMaxNesting) {
    Fail(absl::StrCat("regions nest more than ", kMaxNesting, " deep"), "", "ttir.limit");
    return region;
  }
  Expect("{");
  region.blocks.emplace_back();
  region.blocks[0].args = std::move(args);
  while (!failed_ && !Is("}")) {
    if (!Is(Tok::kBlock)) {
      ParseOp(&region.blocks.back().ops, depth);
      continue;
    }
    if (!region.blocks.back().ops.empty() || region.blocks.size() > 1) region.blocks.emplace_back();
    NodeBlock& block = region.blocks.back();
    block.label = ExpectText(Tok::kBlock, "a block");
    if (Is("(")) block.args = ParseArguments();
    Expect(":");
  }
  Expect("}");
  return region;
}

// --- operations -------------------------------------------------------------------------------------------------------

ValueRef TtirParser::ParseValue() {
  ValueRef v;
  v.pos = token_.pos;
  v.name = ExpectText(Tok::kValue, "a value");
  // `%a#1`: the lexer takes what follows for an alias.
  if (Is(Tok::kAlias)) {
    if (!absl::SimpleAtoi(token_.text, &v.part)) Fail("expected the number of a result here");
    Advance();
  }
  return v;
}

void TtirParser::ParseResults(Node* n) {
  do {
    ResultName r;
    r.name = ExpectText(Tok::kValue, "a value");
    if (Take(":")) {
      const uint64_t count = ExpectInt("the number of results");
      if (count < 1 || count > static_cast<uint64_t>(kMaxOperands)) {
        Fail("an operation has 1 to 65535 results", "", "ttir.limit");
      }
      r.count = static_cast<uint32_t>(count);
    }
    n->results.push_back(r);
  } while (Take(","));
  Expect("=");
}

void TtirParser::ParseOp(std::vector<Node>* ops, int depth) {
  if (++num_ops_ > kMaxOps) {
    Fail(absl::StrCat("more than ", kMaxOps, " operations"), "", "ttir.limit");
    return;
  }
  Node n;
  n.pos = token_.pos;
  if (Is(Tok::kValue)) ParseResults(&n);
  const bool generic = Is(Tok::kString);
  if (generic) {
    ParseGeneric(&n, depth);
  } else {
    n.name = ExpectText(Tok::kWord, "an operation");
    if (n.name == "arith.constant") {
      ParseConstant(&n);
    } else if (n.name == "scf.for") {
      ParseFor(&n, depth);
    } else if (n.name == "scf.while") {
      ParseWhile(&n, depth);
    } else if (n.name == "scf.if") {
      ParseIf(&n, depth);
    } else {
      ParsePretty(&n);
    }
  }
  ParseTail(&n);
  if (generic && !failed_) ToPretty(&n);
  if (static_cast<int64_t>(n.operands.size()) > kMaxOperands) {
    Fail(absl::StrCat("more than ", kMaxOperands, " operands"), "", "ttir.limit");
  }
  ops->push_back(std::move(n));
}

void TtirParser::ParseTail(Node* n) {
  if (!token_.first_on_line && Take("attributes")) SkipBrackets();
  if (!token_.first_on_line && Take("{")) ParseAttrs("}", &n->attrs);
  if (Take(":")) {
    if (Is(Tok::kValue)) {  // tt.print has its operands here
      do {
        n->operands.push_back(ParseValue());
      } while (Take(","));
      Expect(":");
    }
    n->types = ParseTypes();
  }
  if (Take("->") || Take("to")) n->outputs = ParseTypes();
  if (!failed_ && Take("loc")) {
    Expect("(");
    n->loc = ParseLoc();
  }
}

// "name"(%a, %b) <{…}> ({ region }, …) {…} : (T, T) -> T
void TtirParser::ParseGeneric(Node* n, int depth) {
  n->name = ExpectText(Tok::kString, "an operation");
  Expect("(");
  while (!failed_ && !Is(")")) {
    n->operands.push_back(ParseValue());
    if (!Take(",")) break;
  }
  Expect(")");
  if (Take("[")) {
    while (!failed_ && !Is("]")) {
      n->successors.push_back(ParseSuccessor());
      if (!Take(",")) break;
    }
    Expect("]");
  }
  if (Take("<")) {
    ParseProperties(n);
    Expect(">");
  }
  if (Take("(")) {
    do {
      n->regions.push_back(ParseRegion(depth + 1));
    } while (Take(","));
    Expect(")");
  }
  if (Is("{") && !token_.first_on_line) ParseProperties(n);  // before MLIR had properties: of all attributes
}

// {name = value, …}; of a constant and a function some values are more than attributes.
void TtirParser::ParseProperties(Node* n) {
  Expect("{");
  const bool is_function = n->name == "tt.func";
  while (!failed_ && !Is("}")) {
    if (n->name == "arith.constant" && Is("value")) {
      Advance();
      Expect("=");
      ParseConstant(n);
      if (Take(":")) ParseType();
    } else if (is_function && Is("function_type")) {
      Advance();
      Expect("=");
      ParseTypes();
      Expect("->");
      function_results_ = Is("(") ? ParseTypes() : std::vector<TtType>{ParseType()};
    } else if (is_function && Is("arg_attrs")) {
      Advance();
      Expect("=");
      ParseArgumentAttrs();
    } else {
      ParseAttrs("", &n->attrs);
    }
    if (!Take(",") && !Is("}")) Expect("}");
  }
  Expect("}");
}

// [{tt.divisibility = 16 : i32}, {}, …]
void TtirParser::ParseArgumentAttrs() {
  Expect("[");
  while (!failed_ && !Is("]")) {
    argument_attrs_.emplace_back();
    Expect("{");
    ParseAttrs("}", &argument_attrs_.back());
    if (static_cast<int64_t>(argument_attrs_.size()) > kMaxArguments) {
      Fail(absl::StrCat("more than ", kMaxArguments, " arguments"), "", "ttir.limit");
    }
    if (!Take(",")) break;
  }
  Expect("]");
}

Successor TtirParser::ParseSuccessor() {
  Successor s;
  s.block = ExpectText(Tok::kBlock, "a block");
  if (Take("(")) {
    while (!failed_ && Is(Tok::kValue)) {
      s.args.push_back(ParseValue());
      if (!Take(",")) break;
    }
    if (Take(":")) ParseTypes();
    Expect(")");
  }
  return s;
}

// Anything up to the types: operands, words, `name = value`, `[…]` lists, attributes, successors.
void TtirParser::ParsePretty(Node* n) {
  while (!failed_ && !AtEndOfOp() && !Is(":") && !Is("->")) ParsePrettyItem(n);
}

void TtirParser::ParsePrettyItem(Node* n) {
  if (Is(Tok::kValue)) {
    n->operands.push_back(ParseValue());
  } else if (Is(Tok::kBlock)) {
    n->successors.push_back(ParseSuccessor());
  } else if (Is(Tok::kSymbol)) {
    n->symbol = ExpectText(Tok::kSymbol, "a symbol");
  } else if (Is(Tok::kWord)) {
    Attribute a;
    a.name = ExpectText(Tok::kWord, "a word");
    if (Take("=")) {
      ParseAttrValue(&a, 0, /*typed=*/false);
      n->attrs.push_back(std::move(a));
    } else {
      n->words.push_back(a.name);
      n->word_places.push_back(static_cast<uint32_t>(n->operands.size()));
      if (Is("<")) SkipBrackets();  // overflow<nsw>
    }
  } else if (Is(Tok::kString)) {
    Attribute a;
    a.is_string = true;
    a.text = ExpectText(Tok::kString, "a string");
    n->attrs.push_back(std::move(a));
  } else if (Is("[") || Is("]")) {
    n->groups.push_back(static_cast<uint32_t>(n->operands.size()));
    Advance();
  } else if (Take("{")) {
    ParseAttrs("}", &n->attrs);
  } else if (Take("<")) {
    Expect("{");
    ParseAttrs("}", &n->attrs);
    Expect(">");
  } else if (!Take(",") && !Take("(") && !Take(")")) {
    Fail("this has no meaning here");
  }
}

// --- constants --------------------------------------------------------------------------------------------------------

void TtirParser::ParseLiteral(Node* n) {
  Literal v;
  v.negative = Take("-");
  if (!Is(Tok::kInt) && !Is(Tok::kFloat) && !Is("true") && !Is("false")) {
    Fail("expected a number here");
    return;
  }
  v.text = token_.text;
  Advance();
  n->literals.push_back(v);
}

// dense<0>, dense<[[1, 2], [3, 4]]>, dense<"0x0102">
void TtirParser::ParseDense(Node* n) {
  Expect("<");
  n->splat = !Is("[");
  if (Is(Tok::kString)) {
    n->raw = true;
    n->splat = false;
    n->literals.push_back({false, ExpectText(Tok::kString, "bytes")});
  }
  while (!failed_ && !n->raw && !Is(">")) {
    if (!Take("[") && !Take("]") && !Take(",")) ParseLiteral(n);
  }
  Expect(">");
}

void TtirParser::ParseConstant(Node* n) {
  if (Take("{")) ParseAttrs("}", &n->attrs);
  n->splat = true;
  if (Take("dense")) {
    ParseDense(n);
  } else {
    const bool is_bool = Is("true") || Is("false");
    ParseLiteral(n);
    if (is_bool && !Is(":")) n->types.push_back({TtType::Kind::kTile, module_->types().Scalar(Elem::kI1)});
  }
}

// --- structured control flow ------------------------------------------------------------------------------------------

void TtirParser::ParseInits(Node* n, std::vector<Argument>* args) {
  Expect("(");
  while (!failed_ && !Is(")")) {
    Argument a;
    a.name = ExpectText(Tok::kValue, "an argument");
    Expect("=");
    n->operands.push_back(ParseValue());
    args->push_back(std::move(a));
    if (!Take(",")) break;
  }
  Expect(")");
}

// A region that hands on nothing is printed without its scf.yield.
void TtirParser::AddYield(NodeRegion* region) {
  if (failed_) return;
  std::vector<Node>& ops = region->blocks.back().ops;
  if (!ops.empty() && ops.back().name == "scf.yield") return;
  Node yield;
  yield.name = "scf.yield";
  ops.push_back(std::move(yield));
}

// scf.for %i = %a to %b step %c iter_args(%x = %y) -> (T) : i32 { … }
void TtirParser::ParseFor(Node* n, int depth) {
  if (Take("unsigned")) n->words.push_back("unsigned");
  std::vector<Argument> args(1);
  args[0].name = ExpectText(Tok::kValue, "the induction variable");
  Expect("=");
  n->operands.push_back(ParseValue());
  Expect("to");
  n->operands.push_back(ParseValue());
  Expect("step");
  n->operands.push_back(ParseValue());
  if (Take("iter_args")) ParseInits(n, &args);
  if (Take("->")) n->outputs = ParseTypes();
  if (Take(":")) {
    n->types = {ParseType()};
  } else {
    n->types = {Word("index")};
  }
  if (args.size() != n->outputs.size() + 1) {
    Fail("the loop carries another number of values than it has types for");
    return;
  }
  args[0].type = n->types[0];
  for (size_t i = 1; i < args.size(); ++i) args[i].type = n->outputs[i - 1];
  n->regions.push_back(ParseRegion(depth + 1, std::move(args)));
  AddYield(&n->regions.back());
}

// scf.while (%x = %y) : (T) -> (U) { … } do { ^bb0(%z: U): … }
void TtirParser::ParseWhile(Node* n, int depth) {
  std::vector<Argument> args;
  if (Is("(")) ParseInits(n, &args);
  Expect(":");
  n->types = ParseTypes();
  Expect("->");
  n->outputs = ParseTypes();
  if (args.size() != n->types.size()) {
    Fail("the loop carries another number of values than it has types for");
    return;
  }
  for (size_t i = 0; i < args.size(); ++i) args[i].type = n->types[i];
  n->regions.push_back(ParseRegion(depth + 1, std::move(args)));
  Expect("do");
  n->regions.push_back(ParseRegion(depth + 1));
}

// scf.if %c -> (T) { … } else { … }
void TtirParser::ParseIf(Node* n, int depth) {
  n->operands.push_back(ParseValue());
  if (Take("->")) n->outputs = ParseTypes();
  n->regions.push_back(ParseRegion(depth + 1));
  if (Take("else")) n->regions.push_back(ParseRegion(depth + 1));
  for (NodeRegion& r : n->regions) AddYield(&r);
}

bool ParseTtir(absl::string_view text, Module* module, Tree* tree, Diagnostics* diags) {
  if (static_cast<int64_t>(text.size()) > kMaxFileBytes) {
    diags->Error("ttir.limit", module->source_name, absl::StrCat("the text has more than ", kMaxFileBytes, " bytes"));
    return false;
  }
  return TtirParser(text, module, tree, diags).Parse();
}

}  // namespace tile::ir::ttir

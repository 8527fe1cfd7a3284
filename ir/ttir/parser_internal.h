// The parser's class: tokens and errors, types, attributes and locations (parse_parts.cc), operations and regions
// (parser.cc).
#ifndef TILE_IR_TTIR_PARSER_INTERNAL_H_
#define TILE_IR_TTIR_PARSER_INTERNAL_H_

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "ir/limits.h"
#include "ir/ttir/lexer.h"
#include "ir/ttir/parser.h"

namespace tile::ir::ttir {

class TtirParser {
 public:
  TtirParser(absl::string_view text, Module* module, Tree* tree, Diagnostics* diags)
      : lexer_(text), module_(module), tree_(tree), diags_(diags) {
    Advance();
  }

  bool Parse();

 private:
  // Attributes, types and locations may nest this deep.
  static constexpr int kMaxDepth = 64;

  // --- tokens (parse_parts.cc) ---
  void Advance();
  bool Is(absl::string_view s) const { return token_.is(s); }
  bool Is(Tok kind) const { return token_.kind == kind; }
  bool Take(absl::string_view s);
  bool Expect(absl::string_view s);
  absl::string_view ExpectText(Tok kind, absl::string_view what);
  uint64_t ExpectInt(absl::string_view what);
  bool Fail(absl::string_view message, absl::string_view fix = "", absl::string_view code = "ttir.syntax");
  // Goes over brackets and what they hold, from an opening one on.
  void SkipBrackets();

  // --- types, attributes, locations (parse_parts.cc) ---
  TtType ParseType(int depth = 0);
  TtType ParseShaped(int depth);  // behind `tensor<`: sizes and element, without the closing `>`
  TtType ParseBang(int depth);
  void TakeAddressSpace();
  TtType Word(absl::string_view word);
  std::vector<TtType> ParseTypes();  // `T, T`, also `(T, T)` and `A * B`
  void ParseAttrs(absl::string_view close, std::vector<Attribute>* out);
  // `typed`: its type may stand behind it.
  void ParseAttrValue(Attribute* a, int depth, bool typed = true);
  void ParseArray(Attribute* a);
  void ParseDenseInts(Attribute* a);
  LocRef ParseLoc(int depth = 0);  // behind `loc(`, with the closing parenthesis
  LocRef ParseLocBody(int depth);
  LocRef AddLoc(Location loc);
  void ParseAlias();
  void ParseTypeAlias();

  // --- operations (parser.cc) ---
  void ParseModule(int depth);
  void ParseFunction();
  void ParseOp(std::vector<Node>* ops, int depth);
  void ParseResults(Node* n);
  void ParseGeneric(Node* n, int depth);
  void ParseGenericTop(int depth);
  void ParseProperties(Node* n);
  void ParseArgumentAttrs();
  void AddFunction(Node f);
  void ParsePretty(Node* n);
  void ParsePrettyItem(Node* n);
  void ParseConstant(Node* n);
  void ParseDense(Node* n);
  void ParseLiteral(Node* n);
  void ParseFor(Node* n, int depth);
  void ParseWhile(Node* n, int depth);
  void ParseIf(Node* n, int depth);
  // `(%a = %b, …)`: operands and arguments of the region to come.
  void ParseInits(Node* n, std::vector<Argument>* args);
  NodeRegion ParseRegion(int depth, std::vector<Argument> args = {});
  void AddYield(NodeRegion* region);
  std::vector<Argument> ParseArguments();
  ValueRef ParseValue();
  Successor ParseSuccessor();
  // What closes every operation: attributes, types and location, as far as they are there.
  void ParseTail(Node* n);
  bool AtEndOfOp() const { return Is(Tok::kEnd) || token_.first_on_line || Is("loc") || Is("}"); }

  Lexer lexer_;
  Token token_;
  Module* module_;
  Tree* tree_;
  Diagnostics* diags_;
  bool failed_ = false;
  int64_t num_ops_ = 0;
  std::vector<std::vector<Attribute>> argument_attrs_;  // of the function at hand, in generic form
  std::vector<TtType> function_results_;
  absl::flat_hash_map<absl::string_view, Attribute> attr_aliases_;
  absl::flat_hash_map<absl::string_view, TtType> type_aliases_;
};

}  // namespace tile::ir::ttir

#endif  // TILE_IR_TTIR_PARSER_INTERNAL_H_

// Splits the text form of MLIR into tokens, on demand, as far as TTIR uses it. Comments (`// …`) and white space separate
// tokens and mean nothing else, but each token remembers whether it opens a line: printed operations end with their line.
//
//   Lexer lexer("%a = arith.addi %b, %c : i32");
//   lexer.Next().kind;    // Tok::kValue, text "a"
//
// A shape (`16x1x…`) is no token: the parser of types reads it by TakeDim where one may stand. Not thread-safe.
#ifndef TILE_IR_TTIR_LEXER_H_
#define TILE_IR_TTIR_LEXER_H_

#include <cstdint>
#include <optional>
#include <string>

#include "absl/strings/string_view.h"
#include "ir/module.h"

namespace tile::ir::ttir {

enum class Tok : uint8_t {
  kEnd,
  kWord,    // arith.addi, slt, true
  kValue,   // %a: text is "a"
  kSymbol,  // @k: text is "k"
  kBlock,   // ^bb1: text is "bb1"
  kAlias,   // #loc3: text is "loc3"
  kBang,    // !tt.ptr: text is "tt.ptr"
  kInt,     // 12, 0x1F
  kFloat,   // 1.5, 2e-3
  kString,  // "…", without its quotes, escapes as they stand
  kPunct,   // one character, or ->
  kError,   // text says what is wrong
};

struct Token {
  Tok kind = Tok::kEnd;
  bool first_on_line = false;
  SourcePos pos;
  absl::string_view text;

  bool is(absl::string_view s) const { return (kind == Tok::kPunct || kind == Tok::kWord) && text == s; }
};

class Lexer {
 public:
  explicit Lexer(absl::string_view text) : text_(text) {}

  Token Next();
  // One size of a shape right behind the last token: `16x` or `?x`; the sizes end where neither stands. -1 stands for `?`
  // and for what is too large.
  std::optional<int64_t> TakeDim();

 private:
  void SkipBlanks();
  Token Make(Tok kind, uint32_t begin, uint32_t end, absl::string_view text);
  Token Number(uint32_t begin);
  char at(size_t i) const { return i < text_.size() ? text_[i] : '\0'; }

  absl::string_view text_;
  uint32_t pos_ = 0, line_ = 1, line_begin_ = 0;
  bool first_ = true;
};

// The characters of a string token; nothing if an escape is wrong.
std::optional<std::string> Unescape(absl::string_view literal);

}  // namespace tile::ir::ttir

#endif  // TILE_IR_TTIR_LEXER_H_

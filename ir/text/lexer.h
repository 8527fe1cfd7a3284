// Splits tile code into tokens, on demand. Comments (`// …`) and white space separate tokens and mean nothing else, but
// each token remembers whether it opens a line, because error recovery goes on at the next line that can be an
// operation.
//
//   Lexer lexer("%a = addi %b, %c");
//   lexer.Next().kind;    // Tok::kValue, text "a"
//
// The prefixes of MLIR's text of the cuda_tile dialect are no part of a token: `cuda_tile.addf` is the word addf,
// `!cuda_tile.tile` the word tile and `#cuda_tile.div_by` the word div_by.
//
// A character that starts no token gives a token of kind kError whose text says what is wrong; the lexer goes on behind
// it. Not thread-safe.
#ifndef TILE_IR_TEXT_LEXER_H_
#define TILE_IR_TEXT_LEXER_H_

#include <cstdint>
#include <optional>
#include <string>

#include "absl/strings/string_view.h"
#include "ir/module.h"

namespace tile::ir::text {

enum class Tok : uint8_t {
  kEnd,
  kIdent,   // addf; also testing$func
  kValue,   // %a: text is "a"
  kSymbol,  // @k: text is "k"; @"k k": text is the literal with its quotes
  kHash,    // #12: text is "12"
  kAlias,   // #loc, !t: text is "#loc"; what MLIR gives a name above or below
  kInt,     // 12, 0x1F
  kFloat,   // 1.5, 2e-3
  kString,  // "…", with its quotes
  kPunct,   // one character, or -> or ==
  kError,
};

struct Token {
  Tok kind = Tok::kEnd;
  bool first_on_line = false;
  uint32_t begin = 0, end = 0;  // bytes of the text, marks included
  SourcePos pos;
  absl::string_view text;

  bool is(absl::string_view s) const { return (kind == Tok::kPunct || kind == Tok::kIdent) && text == s; }
};

class Lexer {
 public:
  explicit Lexer(absl::string_view text) : text_(text) {}

  Token Next();
  // Goes on at this byte of the line that `token` stands on.
  void Reset(const Token& token, uint32_t offset);
  void SkipLine();
  absl::string_view text() const { return text_; }

 private:
  bool SkipBlanks();  // true if a line ended
  Token Word(uint32_t begin);
  Token Mark(uint32_t begin);
  Token Make(Tok kind, uint32_t begin, uint32_t end, absl::string_view text);
  Token Number(uint32_t begin);
  Token String(uint32_t begin, Tok kind);
  char at(size_t i) const { return i < text_.size() ? text_[i] : '\0'; }

  absl::string_view text_;
  uint32_t pos_ = 0, line_ = 1, line_begin_ = 0;
  bool first_ = true;
};

bool IsNameChar(char c);                 // of values and symbols
bool IsIdentifier(absl::string_view s);  // a word
// A string literal with quotes and escapes: \n \t \r \" \\ \xHH; every byte outside printable ASCII is escaped.
std::string Quote(absl::string_view s);
// A byte as hexadecimal digits: \xHH here, \HH in the texts of MLIR.
enum class HexEscape { kMarked, kBare };
// What escaped text stands for; nothing if an escape is wrong.
std::optional<std::string> Unescape(absl::string_view text, HexEscape hex);
// The characters of a literal in quotes; nothing if an escape is wrong.
std::optional<std::string> Unquote(absl::string_view literal);

}  // namespace tile::ir::text

#endif  // TILE_IR_TEXT_LEXER_H_

#include "ir/ttir/lexer.h"

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "ir/text/lexer.h"

namespace tile::ir::ttir {
namespace {

bool IsWordStart(char c) { return absl::ascii_isalpha(c) || c == '_'; }
bool IsWordChar(char c) { return absl::ascii_isalnum(c) || c == '_' || c == '$' || c == '.'; }

// What opens a token whose text is the word behind it.
Tok MarkedKind(char c) {
  switch (c) {
    case '%': return Tok::kValue;
    case '@': return Tok::kSymbol;
    case '^': return Tok::kBlock;
    case '#': return Tok::kAlias;
    case '!': return Tok::kBang;
    default: return Tok::kError;
  }
}

}  // namespace

void Lexer::SkipBlanks() {
  while (pos_ < text_.size()) {
    const char c = text_[pos_];
    if (c == '\n') {
      first_ = true;
      ++line_;
      line_begin_ = ++pos_;
    } else if (absl::ascii_isspace(c)) {
      ++pos_;
    } else if (c == '/' && at(pos_ + 1) == '/') {
      while (pos_ < text_.size() && text_[pos_] != '\n') ++pos_;
    } else {
      break;
    }
  }
}

Token Lexer::Make(Tok kind, uint32_t begin, uint32_t end, absl::string_view text) {
  Token t;
  t.kind = kind;
  t.first_on_line = first_;
  t.pos = {line_, begin - line_begin_ + 1};
  t.text = text;
  pos_ = end;
  first_ = false;
  return t;
}

Token Lexer::Number(uint32_t begin) {
  uint32_t i = begin;
  Tok kind = Tok::kInt;
  if (text_[i] == '0' && at(i + 1) == 'x' && absl::ascii_isxdigit(at(i + 2))) {
    for (i += 2; absl::ascii_isxdigit(at(i));) ++i;
    return Make(kind, begin, i, text_.substr(begin, i - begin));
  }
  while (absl::ascii_isdigit(at(i))) ++i;
  if (at(i) == '.') {
    kind = Tok::kFloat;
    for (++i; absl::ascii_isdigit(at(i));) ++i;
    if ((at(i) | 32) == 'e') {
      const uint32_t digits = i + (at(i + 1) == '+' || at(i + 1) == '-' ? 2 : 1);
      if (absl::ascii_isdigit(at(digits))) {
        for (i = digits; absl::ascii_isdigit(at(i));) ++i;
      }
    }
  }
  return Make(kind, begin, i, text_.substr(begin, i - begin));
}

Token Lexer::Next() {
  SkipBlanks();
  const uint32_t begin = pos_;
  if (begin >= text_.size()) return Make(Tok::kEnd, begin, begin, "");
  const char c = text_[begin];
  uint32_t i = begin + 1;
  if (IsWordStart(c)) {
    while (IsWordChar(at(i))) ++i;
    return Make(Tok::kWord, begin, i, text_.substr(begin, i - begin));
  }
  if (absl::ascii_isdigit(c)) return Number(begin);
  if (c == '"' || (c == '@' && at(i) == '"')) {
    const uint32_t open = c == '@' ? i : begin;
    for (i = open + 1; i < text_.size() && text_[i] != '"' && text_[i] != '\n';) i += text_[i] == '\\' ? 2 : 1;
    if (at(i) != '"') return Make(Tok::kError, begin, begin + 1, "the string does not end on its line");
    return Make(c == '@' ? Tok::kSymbol : Tok::kString, begin, i + 1, text_.substr(open + 1, i - open - 1));
  }
  if (const Tok kind = MarkedKind(c); kind != Tok::kError) {
    while (IsWordChar(at(i)) || (at(i) == '-' && i > begin + 1 && at(i + 1) != '>')) ++i;
    if (i > begin + 1) return Make(kind, begin, i, text_.substr(begin + 1, i - begin - 1));
  }
  if (c == '-' && at(i) == '>') ++i;
  if (absl::StrContains("()[]{}<>,:=?*+-/#", c)) return Make(Tok::kPunct, begin, i, text_.substr(begin, i - begin));
  while ((at(i) & 0xC0) == 0x80) ++i;  // the whole UTF-8 character
  return Make(Tok::kError, begin, i, "this character has no meaning here");
}

std::optional<int64_t> Lexer::TakeDim() {
  uint32_t i = pos_;
  if (at(i) == '?' && at(i + 1) == 'x') {
    pos_ = i + 2;
    return -1;
  }
  while (absl::ascii_isdigit(at(i))) ++i;
  if (i == pos_ || at(i) != 'x') return std::nullopt;
  int64_t size;
  const bool fits = absl::SimpleAtoi(text_.substr(pos_, i - pos_), &size);
  pos_ = i + 1;
  return fits ? size : -1;
}

std::optional<std::string> Unescape(absl::string_view literal) {
  return text::Unescape(literal, text::HexEscape::kBare);
}

}  // namespace tile::ir::ttir

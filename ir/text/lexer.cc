#include "ir/text/lexer.h"

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_format.h"

namespace tile::ir::text {
namespace {

bool IsWordStart(char c) { return absl::ascii_isalpha(c) || c == '_'; }
bool IsWordChar(char c) { return absl::ascii_isalnum(c) || c == '_'; }

}  // namespace

bool IsNameChar(char c) { return IsWordChar(c) || c == '$' || c == '.'; }

bool IsIdentifier(absl::string_view s) {
  if (s.empty() || !IsWordStart(s[0])) return false;
  for (char c : s) {
    if (!IsWordChar(c)) return false;
  }
  return true;
}

std::string Quote(absl::string_view s) {
  std::string out = "\"";
  for (char c : s) {
    switch (c) {
      case '\n': out += "\\n"; break;
      case '\t': out += "\\t"; break;
      case '\r': out += "\\r"; break;
      case '"': out += "\\\""; break;
      case '\\': out += "\\\\"; break;
      default:
        if (absl::ascii_isprint(c)) {
          out += c;
        } else {
          out += absl::StrFormat("\\x%02X", static_cast<unsigned char>(c));
        }
    }
  }
  return out + "\"";
}

std::optional<std::string> Unescape(absl::string_view text, HexEscape hex) {
  const auto digit = [](char c) { return absl::ascii_isdigit(c) ? c - '0' : (absl::ascii_tolower(c) - 'a') + 10; };
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\\') {
      out += text[i];
      continue;
    }
    if (++i >= text.size()) return std::nullopt;
    switch (text[i]) {
      case 'n': out += '\n'; continue;
      case 't': out += '\t'; continue;
      case 'r': out += '\r'; continue;
      case '"': out += '"'; continue;
      case '\\': out += '\\'; continue;
      default: break;
    }
    if (hex == HexEscape::kMarked && text[i++] != 'x') return std::nullopt;
    if (i + 1 >= text.size() || !absl::ascii_isxdigit(text[i]) || !absl::ascii_isxdigit(text[i + 1]))
      return std::nullopt;
    out += static_cast<char>(digit(text[i]) * 16 + digit(text[i + 1]));
    ++i;
  }
  return out;
}

std::optional<std::string> Unquote(absl::string_view literal) {
  if (literal.size() < 2) return std::nullopt;
  return Unescape(literal.substr(1, literal.size() - 2), HexEscape::kMarked);
}

bool Lexer::SkipBlanks() {
  bool line_ended = false;
  while (pos_ < text_.size()) {
    const char c = text_[pos_];
    if (c == '\n') {
      line_ended = true;
      ++line_;
      line_begin_ = ++pos_;
    } else if (absl::ascii_isspace(c)) {
      ++pos_;
    } else if (c == '/' && at(pos_ + 1) == '/') {
      while (pos_ < text_.size() && text_[pos_] != '\n') ++pos_;
    } else if (pos_ == 0 && absl::StartsWith(text_, "\xEF\xBB\xBF")) {
      pos_ = line_begin_ = 3;  // byte order mark
    } else {
      break;
    }
  }
  return line_ended;
}

Token Lexer::Make(Tok kind, uint32_t begin, uint32_t end, absl::string_view text) {
  Token t;
  t.kind = kind;
  t.first_on_line = first_;
  t.begin = begin;
  t.end = end;
  t.pos = {line_, begin - line_begin_ + 1};
  t.text = text;
  pos_ = end;
  first_ = false;
  return t;
}

void Lexer::Reset(const Token& token, uint32_t offset) {
  pos_ = offset;
  line_ = token.pos.line;
  line_begin_ = token.begin - (token.pos.column - 1);
  first_ = false;
}

void Lexer::SkipLine() {
  while (pos_ < text_.size() && text_[pos_] != '\n') ++pos_;
}

Token Lexer::Word(uint32_t begin) {
  constexpr absl::string_view kDialect = "cuda_tile.";
  if (absl::StartsWith(text_.substr(begin), kDialect) && IsWordStart(at(begin + kDialect.size()))) {
    begin += kDialect.size();
  }
  uint32_t i = begin + 1;
  while (IsWordChar(at(i)) || (at(i) == '$' && IsWordChar(at(i + 1)))) ++i;
  return Make(Tok::kIdent, begin, i, text_.substr(begin, i - begin));
}

// Behind `#` and `!`.
Token Lexer::Mark(uint32_t begin) {
  uint32_t i = begin + 1;
  if (absl::StartsWith(text_.substr(i), "cuda_tile.") && IsWordStart(at(i + 10))) return Word(i);
  if (IsWordStart(at(i))) {
    while (IsNameChar(at(i))) ++i;
    return Make(Tok::kAlias, begin, i, text_.substr(begin, i - begin));
  }
  while (absl::ascii_isdigit(at(i))) ++i;
  if (i > begin + 1 && text_[begin] == '#') return Make(Tok::kHash, begin, i, text_.substr(begin + 1, i - begin - 1));
  if (text_[begin] == '!') return Make(Tok::kError, begin, begin + 1, "this character has no meaning here");
  // Taken for a comment, so that its words are no more errors.
  while (i < text_.size() && text_[i] != '\n') ++i;
  return Make(Tok::kError, begin, i, "'#' stands before the number of a debug record; a comment begins with //");
}

Token Lexer::Number(uint32_t begin) {
  uint32_t i = begin;
  if (text_[i] == '0' && (at(i + 1) | 32) == 'x' && absl::ascii_isxdigit(at(i + 2))) {
    for (i += 2; absl::ascii_isxdigit(at(i));) ++i;
    return Make(Tok::kInt, begin, i, text_.substr(begin, i - begin));
  }
  while (absl::ascii_isdigit(at(i))) ++i;
  Tok kind = Tok::kInt;
  if (at(i) == '.') {
    kind = Tok::kFloat;
    for (++i; absl::ascii_isdigit(at(i));) ++i;
  }
  if ((at(i) | 32) == 'e') {
    const uint32_t sign = at(i + 1) == '+' || at(i + 1) == '-' ? 1 : 0;
    if (absl::ascii_isdigit(at(i + 1 + sign))) {
      kind = Tok::kFloat;
      for (i += 1 + sign; absl::ascii_isdigit(at(i));) ++i;
    }
  }
  return Make(kind, begin, i, text_.substr(begin, i - begin));
}

Token Lexer::String(uint32_t quote, Tok kind) {
  const uint32_t begin = kind == Tok::kSymbol ? quote - 1 : quote;
  uint32_t i = quote + 1;
  while (i < text_.size() && text_[i] != '"' && text_[i] != '\n') i += text_[i] == '\\' && at(i + 1) != '\n' ? 2 : 1;
  if (i >= text_.size() || text_[i] != '"') {
    return Make(Tok::kError, begin, std::min<uint32_t>(i, text_.size()), "the string does not end on its line");
  }
  return Make(kind, begin, i + 1, text_.substr(quote, i + 1 - quote));
}

Token Lexer::Next() {
  if (SkipBlanks()) first_ = true;
  const uint32_t begin = pos_;
  if (begin >= text_.size()) return Make(Tok::kEnd, begin, begin, "");
  const char c = text_[begin];
  uint32_t i = begin + 1;
  const auto text = [&] { return text_.substr(begin, i - begin); };
  if (IsWordStart(c)) return Word(begin);
  if (absl::ascii_isdigit(c)) return Number(begin);
  if (c == '"') return String(begin, Tok::kString);
  if (c == '@' && at(i) == '"') return String(i, Tok::kSymbol);
  if (c == '%' || c == '@') {
    // NVIDIA's names of constants hold a minus sign: %cst_-1_i32.
    while (IsNameChar(at(i)) || (i > begin + 1 && at(i) == '-' && absl::ascii_isdigit(at(i + 1)))) ++i;
    if (i > begin + 1)
      return Make(c == '%' ? Tok::kValue : Tok::kSymbol, begin, i, text_.substr(begin + 1, i - begin - 1));
    if (c == '@') return Make(Tok::kError, begin, i, "'@' stands before a name");
  }
  if (c == '#' || c == '!') return Mark(begin);
  if ((c == '-' && at(i) == '>') || (c == '=' && at(i) == '=')) ++i;
  if (absl::StrContains("()[]{}<>,:=?*+-/%.^", c)) return Make(Tok::kPunct, begin, i, text());
  if (c == ';') return Make(Tok::kError, begin, i, "operations end with their line, without a semicolon");
  while ((at(i) & 0xC0) == 0x80) ++i;  // the whole UTF-8 character
  return Make(Tok::kError, begin, i, "this character has no meaning here");
}

}  // namespace tile::ir::text

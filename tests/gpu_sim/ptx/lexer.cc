#include "tests/gpu_sim/ptx/lexer.h"

#include <bit>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"

namespace tile::gpu_sim::ptx {
namespace {

bool BeginsWord(char c) { return absl::ascii_isalpha(c) || c == '_' || c == '$' || c == '%' || c == '.'; }
bool InWord(char c) { return absl::ascii_isalnum(c) || c == '_' || c == '$' || c == '%' || c == '.'; }

class Lexer {
 public:
  explicit Lexer(absl::string_view source) : source_(source) {}

  absl::StatusOr<std::vector<Token>> Run() {
    std::vector<Token> tokens;
    while (true) {
      if (absl::Status s = SkipBlanks(); !s.ok()) return s;
      if (at_ == source_.size()) break;
      absl::StatusOr<Token> token = Next();
      if (!token.ok()) return token.status();
      tokens.push_back(*token);
    }
    tokens.push_back({TokenKind::kEnd, "end of file", 0, line_});
    return tokens;
  }

 private:
  absl::Status Error(absl::string_view what) const {
    return absl::InvalidArgumentError(absl::StrCat("line ", line_, ": ", what));
  }

  char Peek(size_t ahead = 0) const { return at_ + ahead < source_.size() ? source_[at_ + ahead] : '\0'; }

  absl::Status SkipBlanks() {
    while (at_ < source_.size()) {
      const char c = source_[at_];
      if (c == '\n') ++line_;
      if (absl::ascii_isspace(c)) {
        ++at_;
      } else if (c == '/' && Peek(1) == '/') {
        while (at_ < source_.size() && source_[at_] != '\n') ++at_;
      } else if (c == '/' && Peek(1) == '*') {
        const size_t end = source_.find("*/", at_ + 2);
        if (end == absl::string_view::npos) return Error("a comment does not end");
        for (; at_ < end + 2; ++at_) line_ += source_[at_] == '\n';
      } else {
        break;
      }
    }
    return absl::OkStatus();
  }

  Token Make(TokenKind kind, size_t begin) const { return {kind, source_.substr(begin, at_ - begin), 0, line_}; }

  absl::StatusOr<Token> Next() {
    const size_t begin = at_;
    const char c = source_[at_];
    if (absl::ascii_isdigit(c)) return Number();
    if (BeginsWord(c)) {
      while (InWord(Peek()) || (Peek() == ':' && Peek(1) == ':' && InWord(Peek(2)))) at_ += Peek() == ':' ? 2 : 1;
      return Make(TokenKind::kWord, begin);
    }
    if (c == '"') {
      const size_t end = source_.find('"', at_ + 1);
      if (end == absl::string_view::npos) return Error("a string does not end");
      at_ = end + 1;
      return Make(TokenKind::kString, begin);
    }
    if (absl::string_view("[]{}(),;:@!|+-<>=").find(c) == absl::string_view::npos) {
      return Error(absl::StrCat("PTX has no character `", absl::string_view(&source_[at_], 1), "` here"));
    }
    ++at_;
    return Make(TokenKind::kPunctuation, begin);
  }

  absl::StatusOr<Token> Number() {
    const size_t begin = at_;
    while (InWord(Peek())) ++at_;
    Token token = Make(TokenKind::kInteger, begin);
    absl::string_view text = token.text;
    const char kind = text.size() > 1 && text[0] == '0' ? absl::ascii_tolower(text[1]) : '\0';
    if (kind == 'f' || kind == 'd') {
      const size_t digits = kind == 'f' ? 8 : 16;
      token.kind = kind == 'f' ? TokenKind::kFloat32 : TokenKind::kFloat64;
      if (text.size() == digits + 2 && absl::SimpleHexAtoi(text.substr(2), &token.bits)) return token;
      return Error(absl::StrCat("`", text, "` is no number"));
    }
    if (text.find('.') != absl::string_view::npos) {
      double value;
      token.kind = TokenKind::kFloat64;
      if (!absl::SimpleAtod(text, &value)) return Error(absl::StrCat("`", text, "` is no number"));
      token.bits = std::bit_cast<uint64_t>(value);
      return token;
    }
    if (text.size() > 1 && absl::ascii_toupper(text.back()) == 'U') text.remove_suffix(1);
    const bool ok =
        kind == 'x' ? absl::SimpleHexAtoi(text.substr(2), &token.bits) : absl::SimpleAtoi(text, &token.bits);
    if (!ok) return Error(absl::StrCat("`", text, "` is no number"));
    return token;
  }

  const absl::string_view source_;
  size_t at_ = 0;
  int line_ = 1;
};

}  // namespace

absl::StatusOr<std::vector<Token>> Tokenize(absl::string_view source) { return Lexer(source).Run(); }

}  // namespace tile::gpu_sim::ptx

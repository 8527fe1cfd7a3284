#include "tools/data/json.h"

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace tile::tools {
namespace {

constexpr int kMaxDepth = 64;

void AppendUtf8(uint32_t c, std::string* out) {
  const auto put = [&](uint32_t byte) { out->push_back(static_cast<char>(byte)); };
  if (c < 0x80) return put(c);
  if (c < 0x800) {
    put(0xC0 | c >> 6);
  } else {
    if (c < 0x10000) {
      put(0xE0 | c >> 12);
    } else {
      put(0xF0 | c >> 18);
      put(0x80 | (c >> 12 & 63));
    }
    put(0x80 | (c >> 6 & 63));
  }
  put(0x80 | (c & 63));
}

}  // namespace

absl::Status JsonReader::Error(absl::string_view what) const {
  return absl::InvalidArgumentError(absl::StrCat("offset ", offset_ + pos_, ": ", what));
}

absl::Status JsonReader::Expected(absl::string_view what) const { return Error(absl::StrCat("expected ", what)); }

char JsonReader::Peek() {
  while (pos_ < text_.size() && absl::StrContains(" \t\r\n", text_.substr(pos_, 1))) ++pos_;
  return pos_ < text_.size() ? text_[pos_] : '\0';
}

bool JsonReader::Take(char c) {
  Peek();
  if (pos_ >= text_.size() || text_[pos_] != c) return false;
  ++pos_;
  return true;
}

absl::Status JsonReader::Object(absl::FunctionRef<absl::Status(const std::string& key)> member) {
  if (!Take('{')) return Expected("'{'");
  if (++depth_ > kMaxDepth) return Error("nested too deep");
  if (!Take('}')) {
    do {
      std::string key;
      if (absl::Status s = String(&key); !s.ok()) return s;
      if (!Take(':')) return Expected("':'");
      if (absl::Status s = member(key); !s.ok()) return s;
    } while (Take(','));
    if (!Take('}')) return Expected("',' or '}'");
  }
  --depth_;
  return absl::OkStatus();
}

absl::Status JsonReader::List(absl::FunctionRef<absl::Status()> element) {
  if (!Take('[')) return Expected("'['");
  if (++depth_ > kMaxDepth) return Error("nested too deep");
  if (!Take(']')) {
    do {
      if (absl::Status s = element(); !s.ok()) return s;
    } while (Take(','));
    if (!Take(']')) return Expected("',' or ']'");
  }
  --depth_;
  return absl::OkStatus();
}

absl::Status JsonReader::Hex4(uint32_t* out) {
  const absl::string_view digits = text_.substr(pos_, 4);
  *out = 0;
  for (char c : digits) {
    if (!absl::ascii_isxdigit(c)) return Expected("four hexadecimal digits");
    *out = *out * 16 + (absl::ascii_isdigit(c) ? c - '0' : absl::ascii_tolower(c) - 'a' + 10);
  }
  if (digits.size() < 4) return Expected("four hexadecimal digits");
  pos_ += 4;
  return absl::OkStatus();
}

absl::Status JsonReader::String(std::string* out) {
  if (!Take('"')) return Expected("a string");
  out->clear();
  while (pos_ < text_.size()) {
    const char c = text_[pos_];
    if (static_cast<unsigned char>(c) < 0x20) return Error("a control character in a string");
    ++pos_;
    if (c == '"') return absl::OkStatus();
    if (c != '\\') {
      out->push_back(c);
      continue;
    }
    if (pos_ == text_.size()) break;
    const char e = text_[pos_++];
    constexpr absl::string_view kFrom = "\"\\/bfnrt", kTo = "\"\\/\b\f\n\r\t";
    if (const size_t i = kFrom.find(e); i != absl::string_view::npos) {
      out->push_back(kTo[i]);
      continue;
    }
    if (e != 'u') return Error("an unknown escape");
    uint32_t code;
    if (absl::Status s = Hex4(&code); !s.ok()) return s;
    if (code >= 0xD800 && code < 0xDC00 && absl::StartsWith(text_.substr(pos_), "\\u")) {
      pos_ += 2;
      uint32_t low;
      if (absl::Status s = Hex4(&low); !s.ok()) return s;
      if (low < 0xDC00 || low > 0xDFFF) return Error("half of a surrogate pair");
      code = 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00);
    } else if (code >= 0xD800 && code <= 0xDFFF) {
      return Error("half of a surrogate pair");
    }
    AppendUtf8(code, out);
  }
  return Error("a string that does not end");
}

absl::Status JsonReader::Integer(int64_t* out) {
  Peek();
  size_t end = pos_;
  while (end < text_.size() && absl::ascii_isdigit(text_[end])) ++end;
  if (!absl::SimpleAtoi(text_.substr(pos_, end - pos_), out)) return Expected("an integer of 0 or more");
  pos_ = end;
  return absl::OkStatus();
}

absl::Status JsonReader::Literal(std::string* out) {
  Peek();
  size_t end = pos_;
  while (end < text_.size() && (absl::ascii_isalnum(text_[end]) || absl::StrContains("+-.", text_.substr(end, 1))))
    ++end;
  if (end == pos_) return Expected("a number, true or false");
  *out = std::string(text_.substr(pos_, end - pos_));
  pos_ = end;
  return absl::OkStatus();
}

absl::Status JsonReader::Skip() {
  const char c = Peek();
  std::string ignored;
  if (c == '{') return Object([&](const std::string&) { return Skip(); });
  if (c == '[') return List([&] { return Skip(); });
  if (c == '"') return String(&ignored);
  for (absl::string_view word : {"true", "false", "null"}) {
    if (!absl::StartsWith(text_.substr(pos_), word)) continue;
    pos_ += word.size();
    return absl::OkStatus();
  }
  const size_t start = pos_;
  while (pos_ < text_.size() && (absl::ascii_isdigit(text_[pos_]) || absl::StrContains("+-.eE", text_.substr(pos_, 1))))
    ++pos_;
  return pos_ > start ? absl::OkStatus() : Expected("a value");
}

absl::Status JsonReader::End() {
  Peek();
  return pos_ == text_.size() ? absl::OkStatus() : Expected("the end");
}

std::string JsonQuote(absl::string_view text) {
  std::string out = "\"";
  for (char c : text) {
    if (c == '"' || c == '\\') {
      out.push_back('\\');
      out.push_back(c);
    } else if (static_cast<unsigned char>(c) < 0x20) {
      absl::StrAppendFormat(&out, "\\u%04x", static_cast<unsigned char>(c));
    } else {
      out.push_back(c);
    }
  }
  return out + "\"";
}

}  // namespace tile::tools

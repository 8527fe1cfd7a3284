#include "ir/ttir/ptx.h"

#include <cstring>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"

namespace tile::ir::ttir {
namespace {

constexpr size_t kMaxLines = 1000;

std::string WithoutComments(absl::string_view text) {
  std::string out;
  for (size_t i = 0; i < text.size();) {
    const absl::string_view rest = text.substr(i);
    size_t end = absl::string_view::npos;
    if (absl::StartsWith(rest, "//")) end = rest.find('\n');
    if (absl::StartsWith(rest, "/*")) {
      end = rest.find("*/");
      if (end != absl::string_view::npos) end += 2;
    }
    if (absl::StartsWith(rest, "//") || absl::StartsWith(rest, "/*")) {
      i = end == absl::string_view::npos ? text.size() : i + end;
      out += ' ';
    } else {
      out += text[i++];
    }
  }
  return out;
}

// At commas outside of braces.
std::vector<std::string> Operands(absl::string_view text) {
  std::vector<std::string> out;
  int depth = 0;
  size_t begin = 0;
  for (size_t i = 0; i <= text.size(); ++i) {
    if (i < text.size() && text[i] == '{') ++depth;
    if (i < text.size() && text[i] == '}') --depth;
    if (i < text.size() && (text[i] != ',' || depth > 0)) continue;
    const absl::string_view one = absl::StripAsciiWhitespace(text.substr(begin, i - begin));
    if (!one.empty()) out.emplace_back(one);
    begin = i + 1;
  }
  return out;
}

// `a<3>` declares a0, a1, a2.
bool Declare(absl::string_view name, std::vector<std::string>* out) {
  const size_t open = name.find('<');
  if (open == absl::string_view::npos) {
    out->emplace_back(name);
    return true;
  }
  int count = 0;
  absl::string_view digits = name.substr(open + 1);
  if (!absl::ConsumeSuffix(&digits, ">") || !absl::SimpleAtoi(digits, &count) || count < 0 || count > 256) return false;
  for (int i = 0; i < count; ++i) out->push_back(absl::StrCat(name.substr(0, open), i));
  return true;
}

bool ParseLine(absl::string_view text, PtxLine* line) {
  if (absl::ConsumePrefix(&text, "@")) {
    line->unless = absl::ConsumePrefix(&text, "!");
    const size_t end = text.find_first_of(" \t\n\r");
    if (end == absl::string_view::npos) return false;
    line->guard = std::string(text.substr(0, end));
    text = absl::StripLeadingAsciiWhitespace(text.substr(end));
  }
  const size_t end = std::min(text.size(), text.find_first_of(" \t\n\r"));
  const absl::string_view word = text.substr(0, end);
  if (word == ".reg") {
    absl::string_view rest = absl::StripLeadingAsciiWhitespace(text.substr(end));
    const size_t type = std::min(rest.size(), rest.find_first_of(" \t\n\r"));
    absl::string_view name = rest.substr(0, type);
    if (!absl::ConsumePrefix(&name, ".")) return false;
    line->words = {"reg", std::string(name)};
    for (const std::string& one : Operands(rest.substr(type))) {
      if (!Declare(one, &line->operands)) return false;
    }
    return true;
  }
  if (word.empty() || !absl::ascii_isalpha(word[0])) return false;
  line->words = absl::StrSplit(word, '.');
  line->operands = Operands(text.substr(end));
  return true;
}

}  // namespace

bool ParsePtx(absl::string_view text, std::vector<PtxLine>* lines, std::string* wrong) {
  const std::string clean = WithoutComments(text);
  absl::string_view rest = clean;
  for (;;) {
    rest = absl::StripLeadingAsciiWhitespace(rest);
    if (rest.empty()) return true;
    if (absl::ConsumePrefix(&rest, "{") || absl::ConsumePrefix(&rest, "}") || absl::ConsumePrefix(&rest, ";")) continue;
    const size_t end = std::min(rest.size(), rest.find(';'));
    PtxLine line;
    if (lines->size() >= kMaxLines || !ParseLine(absl::StripTrailingAsciiWhitespace(rest.substr(0, end)), &line)) {
      *wrong = std::string(rest.substr(0, std::min<size_t>(end, 60)));
      return false;
    }
    lines->push_back(std::move(line));
    rest.remove_prefix(end);
  }
}

bool ParsePtxNumber(absl::string_view text, PtxNumber* out) {
  const bool negative = absl::ConsumePrefix(&text, "-");
  uint64_t bits = 0;
  if (absl::StartsWith(text, "0f") || absl::StartsWith(text, "0F") || absl::StartsWith(text, "0d") ||
      absl::StartsWith(text, "0D")) {
    const bool f32 = absl::ascii_tolower(static_cast<unsigned char>(text[1])) == 'f';
    if (text.size() != (f32 ? 10u : 18u) || !absl::SimpleHexAtoi(text.substr(2), &bits)) return false;
    out->is_float = true;
    if (f32) {
      const uint32_t word = static_cast<uint32_t>(bits);
      float v;
      std::memcpy(&v, &word, sizeof v);
      out->real = static_cast<double>(v);
    } else {
      std::memcpy(&out->real, &bits, sizeof bits);
    }
    if (negative) out->real = -out->real;
    return true;
  }
  if (text.empty() || !absl::ascii_isdigit(static_cast<unsigned char>(text[0]))) return false;
  absl::string_view digits = text;
  absl::ConsumeSuffix(&digits, "U");
  bool good;
  if (absl::StartsWith(digits, "0x") || absl::StartsWith(digits, "0X")) {
    good = absl::SimpleHexAtoi(digits, &bits);
  } else if (absl::StartsWith(digits, "0b") || absl::StartsWith(digits, "0B")) {
    good = digits.size() > 2 && digits.size() <= 66;
    for (char c : digits.substr(2)) {
      good &= c == '0' || c == '1';
      bits = bits << 1 | (c == '1');
    }
  } else {
    good = absl::SimpleAtoi(digits, &bits);
  }
  if (good) {
    out->integer = static_cast<int64_t>(negative ? -bits : bits);
    out->real = static_cast<double>(out->integer);
    return true;
  }
  out->is_float = true;
  if (!absl::SimpleAtod(text, &out->real)) return false;
  if (negative) out->real = -out->real;
  return true;
}

}  // namespace tile::ir::ttir

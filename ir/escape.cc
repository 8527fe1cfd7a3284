#include "ir/escape.h"

#include <unistd.h>

#include <cstdint>

#include "absl/strings/str_format.h"

namespace tile::ir {
namespace {

// Bytes of the UTF-8 character that the text begins with; 0 if it begins with none.
size_t CharacterBytes(absl::string_view text, uint32_t* code) {
  const auto byte = [&](size_t i) { return static_cast<uint32_t>(static_cast<unsigned char>(text[i])); };
  *code = byte(0);
  if (*code < 0x80) return 1;
  const size_t n = *code >= 0xF0 ? 4 : *code >= 0xE0 ? 3 : 2;
  if (*code < 0xC2 || *code > 0xF4 || text.size() < n) return 0;
  *code &= 0x7Fu >> n;
  for (size_t i = 1; i < n; ++i) {
    if ((byte(i) & 0xC0) != 0x80) return 0;
    *code = *code << 6 | (byte(i) & 0x3F);
  }
  const bool overlong = (n == 3 && *code < 0x800) || (n == 4 && *code < 0x10000);
  const bool surrogate = *code >= 0xD800 && *code <= 0xDFFF;
  return overlong || surrogate || *code > 0x10FFFF ? 0 : n;
}

// Those that change the direction of the text around them: what is shown is not what stands there.
bool IsDirection(uint32_t code) {
  return code == 0x61C || code == 0x200E || code == 0x200F || (code >= 0x202A && code <= 0x202E) ||
         (code >= 0x2066 && code <= 0x2069);
}

bool IsControl(uint32_t code) {
  return (code < 0x20 && code != '\n' && code != '\t') || (code >= 0x7F && code < 0xA0) || IsDirection(code);
}

}  // namespace

std::string Escaped(absl::string_view text) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    uint32_t code = 0;
    const size_t n = CharacterBytes(text, &code);
    const size_t taken = n == 0 ? 1 : n;
    if (n > 0 && !IsControl(code)) {
      out.append(text.data(), n);
    } else {
      for (size_t i = 0; i < taken; ++i) absl::StrAppendFormat(&out, "\\x%02x", static_cast<unsigned char>(text[i]));
    }
    text.remove_prefix(taken);
  }
  return out;
}

void WritePrinted(absl::string_view text, FILE* file) {
  if (isatty(fileno(file)) == 0) {
    std::fwrite(text.data(), 1, text.size(), file);
    return;
  }
  const std::string shown = Escaped(text);
  std::fwrite(shown.data(), 1, shown.size(), file);
}

}  // namespace tile::ir

#include "ir/excerpt.h"

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"

namespace tile::ir {

std::string Excerpt(absl::string_view text, size_t line, size_t at) {
  constexpr size_t kWidth = 100;
  size_t begin = line;
  if (at - line > kWidth) begin = at - kWidth / 2;  // only what stands around the error in a very long line
  std::string code = "    ", caret = "    ";
  for (size_t i = begin; i < text.size() && text[i] != '\n' && i < begin + 2 * kWidth; ++i) {
    const unsigned char c = text[i];
    code += c < 0x20 && c != '\t' ? ' ' : c == 0x7F ? ' ' : text[i];
    if (i < at && (c & 0xC0) != 0x80) caret += c == '\t' ? '\t' : ' ';
  }
  return absl::StrCat(absl::StripTrailingAsciiWhitespace(code), "\n", caret, "^");
}

}  // namespace tile::ir

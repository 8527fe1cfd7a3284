// A reader of JSON text, one token at a time, for headers that come from strangers: no tree is built, nesting is
// limited.
//
//   JsonReader r(text);
//   absl::Status s = r.Object([&](const std::string& key) { return key == "n" ? r.Integer(&n) : r.Skip(); });
//   if (s.ok()) s = r.End();
//
// Messages begin with "offset N: ". One thread.
#ifndef TILE_TOOLS_DATA_JSON_H_
#define TILE_TOOLS_DATA_JSON_H_

#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace tile::tools {

class JsonReader {
 public:
  // `offset` of the text in its file, for messages.
  explicit JsonReader(absl::string_view text, size_t offset = 0) : text_(text), offset_(offset) {}

  // `member` reads the value that is after the key.
  absl::Status Object(absl::FunctionRef<absl::Status(const std::string& key)> member);
  // `element` reads one value.
  absl::Status List(absl::FunctionRef<absl::Status()> element);
  absl::Status String(std::string* out);   // escapes become UTF-8
  absl::Status Integer(int64_t* out);      // 0 or more, no fraction
  absl::Status Literal(std::string* out);  // a number, true, false, NaN, Infinity: as written
  absl::Status Skip();                     // any value
  absl::Status End();                      // nothing but white space is left

  absl::Status Error(absl::string_view what) const;

 private:
  char Peek();  // the next character that is not white space; 0 at the end
  bool Take(char c);
  absl::Status Expected(absl::string_view what) const;
  absl::Status Hex4(uint32_t* out);

  absl::string_view text_;
  size_t offset_;
  size_t pos_ = 0;
  int depth_ = 0;
};

// The text as a JSON string, with quotes; bytes that are not ASCII stand for themselves.
std::string JsonQuote(absl::string_view text);

}  // namespace tile::tools

#endif  // TILE_TOOLS_DATA_JSON_H_

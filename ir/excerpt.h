// The line of a text that a diagnostic is about, with a caret:
//
//       %2 = addf %0, %1
//                     ^
#ifndef TILE_IR_EXCERPT_H_
#define TILE_IR_EXCERPT_H_

#include <string>

#include "absl/strings/string_view.h"

namespace tile::ir {

// The line that begins at byte `line` and, below, a caret under byte `at`. Of a very long line what stands around the caret.
std::string Excerpt(absl::string_view text, size_t line, size_t at);

}  // namespace tile::ir

#endif  // TILE_IR_EXCERPT_H_

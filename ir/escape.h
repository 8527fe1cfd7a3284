// Text of strangers, kept from steering a terminal. Names, assertions and prints of a module hold any bytes: an escape
// sequence among them could erase what stands above, or retitle the window.
//
//   Escaped("a\x1b[2J\xff\n")          // "a\\x1b[2J\\xff\n"
//   WritePrinted(text, stdout);         // escaped on a terminal; into a file or a pipe as it is: data for a program
//
// Thread-safe.
#ifndef TILE_IR_ESCAPE_H_
#define TILE_IR_ESCAPE_H_

#include <cstdio>
#include <string>

#include "absl/strings/string_view.h"

namespace tile::ir {

// Control characters (of ASCII but line break and tab, and of Unicode, also those that change the direction of text) and bytes
// that are not UTF-8 become \xNN; the rest stays.
std::string Escaped(absl::string_view text);

// What a kernel prints. `file` is stdout or stderr.
void WritePrinted(absl::string_view text, FILE* file);

}  // namespace tile::ir

#endif  // TILE_IR_ESCAPE_H_

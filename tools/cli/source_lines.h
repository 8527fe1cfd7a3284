// Diagnostics with the lines of the sources that they name, as errors of the text form have them:
//
//   add.tile:12:9: error[vm.race]: writes `y`[0], which block (0, 0, 0) wrote at add.tile:14:5 (store_view_tko, weak): …
//     in kernel `add`, block (1, 0, 0), at store_view_tko
//       store_view_tko weak %x, %y[%0] -> token
//       ^
//     add.tile:14:5:
//       store_view_tko weak %z, %y[%0] -> token
//       ^
//     fix: let each block have its own elements, …
//
// A program may come from anywhere, so only files whose names are those of sources are read, and what a diagnostic shows already
// stays as it is. Thread-safe.
#ifndef TILE_TOOLS_CLI_SOURCE_LINES_H_
#define TILE_TOOLS_CLI_SOURCE_LINES_H_

#include <string>

#include "absl/strings/string_view.h"

namespace tile::tools {

std::string WithSourceLines(absl::string_view diagnostics);

}  // namespace tile::tools

#endif  // TILE_TOOLS_CLI_SOURCE_LINES_H_

// What a command writes: all of it into a file or to stdout, or an error and nothing.
#ifndef TILE_TOOLS_CLI_OUTPUT_H_
#define TILE_TOOLS_CLI_OUTPUT_H_

#include <string>

#include "absl/strings/string_view.h"

namespace tile::tools {

// To the file `path`, or "-" for stdout. Binary data is not written to a terminal. Returns the exit code; errors are reported.
int WriteOutput(const std::string& path, absl::string_view bytes, bool binary);

}  // namespace tile::tools

#endif  // TILE_TOOLS_CLI_OUTPUT_H_

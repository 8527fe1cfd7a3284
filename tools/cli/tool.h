// The main program of a tool: picks the command, handles --help, --version, completion and manual, parses, runs.
#ifndef TILE_TOOLS_CLI_TOOL_H_
#define TILE_TOOLS_CLI_TOOL_H_

#include "tools/cli/options.h"

namespace tile::tools {

// Returns the exit code.
//
// With --json every call prints its result on stdout as JSON. A command that fails without having done so gets
//   {"result":"rejected","diagnostics":[…]}        also "usage", "environment", "internal"
// with the diagnostics of diagnostic_json.h; the same are on stderr as text.
int RunTool(const Tool& tool, int argc, char** argv);

}  // namespace tile::tools

#endif  // TILE_TOOLS_CLI_TOOL_H_

// Scripts with which a shell completes a tool's commands, options and their values, made from the tables of options.
// Everything else is completed as a file.
#ifndef TILE_TOOLS_CLI_COMPLETION_H_
#define TILE_TOOLS_CLI_COMPLETION_H_

#include <string>

#include "tools/cli/options.h"

namespace tile::tools {

std::string BashCompletion(const Tool& tool);  // for bash 4.4 and later
std::string ZshCompletion(const Tool& tool);   // to be called _TOOL in a folder of $fpath

}  // namespace tile::tools

#endif  // TILE_TOOLS_CLI_COMPLETION_H_

// The manual page of a tool, in the markup of man(7), made from the tables that --help is made from.
#ifndef TILE_TOOLS_CLI_MANUAL_H_
#define TILE_TOOLS_CLI_MANUAL_H_

#include <string>

#include "tools/cli/options.h"

namespace tile::tools {

std::string ManualPage(const Tool& tool);

}  // namespace tile::tools

#endif  // TILE_TOOLS_CLI_MANUAL_H_

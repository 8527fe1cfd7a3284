// The commands of tilec.
#ifndef TILE_TOOLS_TILEC_TILEC_COMMANDS_H_
#define TILE_TOOLS_TILEC_TILEC_COMMANDS_H_

#include "tools/cli/options.h"

namespace tile::tools {

extern const Command kCompileCommand;  // compile_command.cc
extern const Command kDoctorCommand;   // doctor_command.cc

}  // namespace tile::tools

#endif  // TILE_TOOLS_TILEC_TILEC_COMMANDS_H_

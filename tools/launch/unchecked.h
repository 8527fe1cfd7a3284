// What happens when a kernel that runs with --check=none reads or writes where there is no memory, or overwrites what
// is not its own: this process gets a signal. Here it ends with words and the exit code of a trapped kernel.
#ifndef TILE_TOOLS_LAUNCH_UNCHECKED_H_
#define TILE_TOOLS_LAUNCH_UNCHECKED_H_

#include <string>

#include "absl/strings/string_view.h"

namespace tile::tools {

// Before an unchecked run; from here on, since damage may show later. `file` and `kernel` are for the message. For
// programs, not for libraries: it takes signals.
void ExpectStrayAccesses(const std::string& file, absl::string_view kernel);

}  // namespace tile::tools

#endif  // TILE_TOOLS_LAUNCH_UNCHECKED_H_

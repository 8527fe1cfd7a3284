// Diagnostics on stderr: `file:line:col: error[code]: what`, in colour on a terminal unless NO_COLOR is set.
#ifndef TILE_TOOLS_CLI_REPORT_H_
#define TILE_TOOLS_CLI_REPORT_H_

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "tools/cli/options.h"

namespace tile::tools {

// Prints text that already has the form of diagnostics, colouring "error" and "warning".
void PrintDiagnostics(absl::string_view text);

// Prints "error[code]: message" (and the fix) and returns the exit code, so that a command can `return Fail(…)`.
int Fail(ExitCode exit, absl::string_view code, absl::string_view message, absl::string_view fix = "");
// The same for a status: a message that is a diagnostic already is printed as it is.
int Fail(ExitCode exit, absl::string_view code, const absl::Status& status);

}  // namespace tile::tools

#endif  // TILE_TOOLS_CLI_REPORT_H_

// Diagnostics on stderr: `file:line:col: error[code]: what`, in colour on a terminal unless NO_COLOR is set or TERM is
// dumb. Control characters and bytes that are not UTF-8 are shown as \xNN, wherever stderr goes: names and assertions come
// from files. Results of --json on stdout. Thread-safe.
#ifndef TILE_TOOLS_CLI_REPORT_H_
#define TILE_TOOLS_CLI_REPORT_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "tools/cli/diagnostic_json.h"
#include "tools/cli/options.h"

namespace tile::tools {

// Whether stderr is a terminal that can do more than append lines: TERM names one, and not `dumb`.
bool CanDraw();
// Whether it may be coloured: CanDraw, and NO_COLOR is not set.
bool UseColor();

// Prints text that already has the form of diagnostics, with the source lines that they name (tools/cli/source_lines.h), colouring "error" and
// "warning".
void PrintDiagnostics(absl::string_view text);

// Prints "error[code]: message" (and the fix) and returns the exit code, so that a command can `return Fail(…)`.
int Fail(ExitCode exit, absl::string_view code, absl::string_view message, absl::string_view fix = "");
// The same for a status: a message that is a diagnostic already is printed as it is.
int Fail(ExitCode exit, absl::string_view code, const absl::Status& status);
// The same about a file or a place in one: "where: error[code]: message". A message that begins with the place does not
// say it twice, and a diagnostic that has a place keeps it.
int FailAt(absl::string_view where, ExitCode exit, absl::string_view code, absl::string_view message,
           absl::string_view fix = "");
int FailAt(absl::string_view where, ExitCode exit, absl::string_view code, const absl::Status& status);

// Whether what PrintDiagnostics prints is kept, too; and takes what was kept.
void KeepDiagnostics(bool keep);
std::vector<PrintedDiagnostic> TakeDiagnostics();
// `"result":"rejected","diagnostics":[…]` for an exit code other than kOk, with what was kept.
std::string FailureMembers(int exit);

// One line of JSON on stdout.
void PrintJson(absl::string_view json);
bool HasPrintedJson();

// "where: error[code]: message", without colour, for a status that is printed later.
std::string Located(absl::string_view where, absl::string_view code, absl::string_view message);

}  // namespace tile::tools

#endif  // TILE_TOOLS_CLI_REPORT_H_

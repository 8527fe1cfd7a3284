// Diagnostics for other programs, from the text in which tools print them:
//
//   [{"severity":"error","code":"addf.c6","file":"x.tile","line":2,"col":8,"message":"…","fix":"…","details":"…"}]
//
// file, line, col and fix are null where a diagnostic has none; details are the lines between the message and the fix (the
// source line with a caret, the block of a trap), null if there are none. Bytes that are not UTF-8 are as \xNN.
#ifndef TILE_TOOLS_CLI_DIAGNOSTIC_JSON_H_
#define TILE_TOOLS_CLI_DIAGNOSTIC_JSON_H_

#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace tile::tools {

struct PrintedDiagnostic {
  std::string severity;  // "error", "warning"
  std::string code;
  std::string file;       // empty: none
  int line = 0, col = 0;  // 0: none
  std::string message, fix, details;
};

// The inverse of printing. Lines before the first diagnostic are left out.
std::vector<PrintedDiagnostic> ParseDiagnostics(absl::string_view text);

// `"severity":"error","code":…,"details":…`, without braces, for an object that has more.
std::string DiagnosticMembers(const PrintedDiagnostic& diagnostic);

std::string DiagnosticsJson(const std::vector<PrintedDiagnostic>& diagnostics);

}  // namespace tile::tools

#endif  // TILE_TOOLS_CLI_DIAGNOSTIC_JSON_H_

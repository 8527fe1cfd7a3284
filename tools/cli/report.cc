#include "tools/cli/report.h"

#include <unistd.h>

#include <cstdio>
#include <cstdlib>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

namespace tile::tools {

bool UseColor() {
  const char* no_color = std::getenv("NO_COLOR");
  return isatty(2) != 0 && (no_color == nullptr || no_color[0] == '\0');
}

void PrintDiagnostics(absl::string_view text) {
  const bool color = UseColor();
  std::string out;
  for (absl::string_view line : absl::StrSplit(absl::StripSuffix(text, "\n"), '\n')) {
    for (const auto& [word, code] : {std::pair<absl::string_view, const char*>{"error[", "\033[1;31m"}, {"warning[", "\033[1;33m"}}) {
      const size_t at = color ? line.find(word) : absl::string_view::npos;
      const size_t end = at == absl::string_view::npos ? at : line.find(']', at);
      if (end == absl::string_view::npos) continue;
      absl::StrAppend(&out, line.substr(0, at), code, line.substr(at, end + 1 - at), "\033[0m");
      line = line.substr(end + 1);
      break;
    }
    absl::StrAppend(&out, line, "\n");
  }
  std::fflush(stdout);
  std::fwrite(out.data(), 1, out.size(), stderr);
}

int Fail(ExitCode exit, absl::string_view code, absl::string_view message, absl::string_view fix) {
  PrintDiagnostics(absl::StrCat("error[", code, "]: ", message, fix.empty() ? "" : absl::StrCat("\n  fix: ", fix)));
  return exit;
}

int Fail(ExitCode exit, absl::string_view code, const absl::Status& status) {
  if (absl::StrContains(status.message(), "error[")) {
    PrintDiagnostics(status.message());
    return exit;
  }
  return Fail(exit, code, status.message());
}

std::string Located(absl::string_view where, absl::string_view code, absl::string_view message) {
  if (absl::StartsWith(message, absl::StrCat(where, ": "))) message.remove_prefix(where.size() + 2);
  return absl::StrCat(where, ": error[", code, "]: ", message);
}

int FailAt(absl::string_view where, ExitCode exit, absl::string_view code, absl::string_view message,
           absl::string_view fix) {
  PrintDiagnostics(absl::StrCat(Located(where, code, message), fix.empty() ? "" : absl::StrCat("\n  fix: ", fix)));
  return exit;
}

int FailAt(absl::string_view where, ExitCode exit, absl::string_view code, const absl::Status& status) {
  if (absl::StrContains(status.message(), "error[")) return Fail(exit, code, status);
  return FailAt(where, exit, code, status.message());
}

}  // namespace tile::tools

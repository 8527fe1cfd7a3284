#include "tools/cli/report.h"

#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "ir/escape.h"
#include "tools/cli/source_lines.h"

namespace tile::tools {

namespace {

std::mutex g_mutex;
bool g_keep = false;
std::vector<PrintedDiagnostic>& Kept() {
  static auto* kept = new std::vector<PrintedDiagnostic>;
  return *kept;
}
bool g_printed_json = false;

const char* ResultName(int exit) {
  switch (exit) {
    case kRejected: return "rejected";
    case kUsage: return "usage";
    case kDiffers: return "differs";
    case kTrapped: return "trapped";
    case kEnvironment: return "environment";
    default: return "internal";
  }
}

}  // namespace

bool CanDraw() {
  const char* term = std::getenv("TERM");
  return isatty(STDERR_FILENO) != 0 && term != nullptr && *term != '\0' && absl::string_view(term) != "dumb";
}

bool UseColor() {
  const char* no_color = std::getenv("NO_COLOR");
  return CanDraw() && (no_color == nullptr || no_color[0] == '\0');
}

void PrintDiagnostics(absl::string_view unsafe) {
  const std::string text = ir::Escaped(WithSourceLines(absl::StripSuffix(unsafe, "\n")));
  const bool color = UseColor();
  std::string out;
  for (absl::string_view line : absl::StrSplit(text, '\n')) {
    for (const auto& [word, code] :
         {std::pair<absl::string_view, const char*>{"error[", "\033[1;31m"}, {"warning[", "\033[1;33m"}}) {
      const size_t at = color ? line.find(word) : absl::string_view::npos;
      const size_t end = at == absl::string_view::npos ? at : line.find(']', at);
      if (end == absl::string_view::npos) continue;
      absl::StrAppend(&out, line.substr(0, at), code, line.substr(at, end + 1 - at), "\033[0m");
      line = line.substr(end + 1);
      break;
    }
    absl::StrAppend(&out, line, "\n");
  }
  std::lock_guard<std::mutex> lock(g_mutex);
  std::fflush(stdout);
  std::fwrite(out.data(), 1, out.size(), stderr);
  if (!g_keep) return;
  for (PrintedDiagnostic& d : ParseDiagnostics(text)) Kept().push_back(std::move(d));
}

void KeepDiagnostics(bool keep) {
  std::lock_guard<std::mutex> lock(g_mutex);
  g_keep = keep;
}

std::vector<PrintedDiagnostic> TakeDiagnostics() {
  std::lock_guard<std::mutex> lock(g_mutex);
  return std::exchange(Kept(), {});
}

std::string FailureMembers(int exit) {
  return absl::StrCat("\"result\":\"", ResultName(exit), "\",\"diagnostics\":", DiagnosticsJson(TakeDiagnostics()));
}

void PrintJson(absl::string_view json) {
  std::lock_guard<std::mutex> lock(g_mutex);
  std::fwrite(json.data(), 1, json.size(), stdout);
  std::fputc('\n', stdout);
  g_printed_json = true;
}

bool HasPrintedJson() {
  std::lock_guard<std::mutex> lock(g_mutex);
  return g_printed_json;
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
  if (absl::StartsWith(status.message(), "error[")) {  // of no place
    PrintDiagnostics(absl::StrCat(where, ": ", status.message()));
    return exit;
  }
  if (absl::StrContains(status.message(), "error[")) return Fail(exit, code, status);
  return FailAt(where, exit, code, status.message());
}

}  // namespace tile::tools

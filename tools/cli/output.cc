#include "tools/cli/output.h"

#include "absl/status/status.h"
#include "tools/cli/report.h"
#include "tools/data/files.h"

namespace tile::tools {

int WriteOutput(const std::string& path, absl::string_view bytes, bool binary) {
  OutputFile file;
  absl::Status s = file.Open(path);
  if (s.ok() && binary && file.is_terminal()) {
    return FailAt("stdout", kUsage, "output.terminal", "will not write a binary file to a terminal",
                  "name a file with -o, or redirect the output");
  }
  if (s.ok()) s = file.Write(bytes);
  if (s.ok()) s = file.Commit();
  return s.ok() ? kOk : FailAt(path == "-" ? "stdout" : path, kEnvironment, "output.write", s);
}

}  // namespace tile::tools

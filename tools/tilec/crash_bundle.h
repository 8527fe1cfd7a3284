// When the compiler itself fails (an internal error, PTX that ptxas refuses, a crash), all that is needed to find out
// why is put into a folder: the input, the command that repeats it, every stage, versions, the error.
//
//   CrashBundle bundle(command, options);          // before the work; watches for crashes from here on
//   bundle.SetInput(path, module_bytes);
//   … trace.on_text = [&](pass, text) { bundle.Add("sm_90a.llvm", text); } if bundle.active() …
//   if (internal error) return bundle.Fail(status);
//
// The folder is made by a second run of the same command, which the first one becomes (exec) when it has failed: a run
// that goes well pays nothing for it, and what a crash left of the first process is not relied on. In the second run
// active() is true and nothing else is written. One object in a process.
#ifndef TILE_TOOLS_TILEC_CRASH_BUNDLE_H_
#define TILE_TOOLS_TILEC_CRASH_BUNDLE_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "tools/cli/options.h"

namespace tile::tools {

class CrashBundle {
 public:
  CrashBundle(const Command& command, const Options& options);
  ~CrashBundle();  // crashes are no longer watched for
  CrashBundle(const CrashBundle&) = delete;
  CrashBundle& operator=(const CrashBundle&) = delete;

  bool active() const { return active_; }
  // The file of the command line ("-": stdin), and the module as a .tbc. `versions`: what compiled it, for people.
  void SetInput(const std::string& path, std::string module_bytes, std::string versions);
  // Of the second run: a file of the folder. Characters that file names lack are replaced.
  void Add(absl::string_view name, absl::string_view text);
  // Ends the process or, in the second run, returns the exit code, after saying on stderr what is wrong and where the
  // folder is.
  int Fail(const absl::Status& status);
  // The end of a second run that did not fail again.
  int DidNotFail();

 private:
  std::vector<std::string> Flags() const;  // all but the output
  std::string RepeatScript(const std::string& input) const;

  const Command& command_;
  const Options& options_;
  bool active_ = false;
};

}  // namespace tile::tools

#endif  // TILE_TOOLS_TILEC_CRASH_BUNDLE_H_

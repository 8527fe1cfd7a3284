#include "codegen/ptxas.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <sstream>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

extern char** environ;

namespace tile::codegen {
namespace {

std::string Env(const char* name) {
  const char* v = std::getenv(name);
  return v == nullptr ? "" : v;
}

// The first of these that exists below one of CUDA's folders.
std::string FindBelowCuda(const std::vector<std::string>& names, int mode) {
  std::vector<std::string> roots;
  for (const char* v : {"CUDA_HOME", "CUDA_PATH"}) {
    if (!Env(v).empty()) roots.push_back(Env(v));
  }
  roots.push_back("/usr/local/cuda");
  for (const std::string& root : roots) {
    for (const std::string& name : names) {
      const std::string path = absl::StrCat(root, "/", name);
      if (access(path.c_str(), mode) == 0) return path;
    }
  }
  return "";
}

// A folder that is gone with the object.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string path = absl::StrCat(Env("TMPDIR").empty() ? "/tmp" : Env("TMPDIR"), "/tilec-XXXXXX");
    if (mkdtemp(path.data()) != nullptr) path_ = path;
  }
  ~TemporaryFolder() {
    for (const std::string& f : files_) unlink(f.c_str());
    if (!path_.empty()) rmdir(path_.c_str());
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  bool ok() const { return !path_.empty(); }
  std::string File(const std::string& name) {
    files_.push_back(path_ + "/" + name);
    return files_.back();
  }

 private:
  std::string path_;
  std::vector<std::string> files_;
};

std::string ReadAll(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  std::stringstream s;
  s << in.rdbuf();
  return s.str();
}

// Runs a program, its words to a file. False if it could not be started.
bool Run(std::vector<std::string> words, const std::string& log, int* status) {
  std::vector<char*> argv;
  for (std::string& w : words) argv.push_back(w.data());
  argv.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 1, log.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  posix_spawn_file_actions_adddup2(&actions, 1, 2);
  pid_t pid = 0;
  const int spawned = posix_spawn(&pid, argv[0], &actions, nullptr, argv.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  return spawned == 0 && waitpid(pid, status, 0) == pid;
}

// The number before `what` in the log of `ptxas -v`.
int NumberBefore(const std::string& log, const std::string& what) {
  int best = 0;
  for (size_t at = log.find(what); at != std::string::npos; at = log.find(what, at + 1)) {
    size_t begin = at;
    while (begin > 0 && std::isdigit(static_cast<unsigned char>(log[begin - 1])) != 0) --begin;
    int n = 0;
    if (absl::SimpleAtoi(log.substr(begin, at - begin), &n)) best = std::max(best, n);
  }
  return best;
}

}  // namespace

std::string FindPtxas() {
  if (const std::string path = Env("TILEC_PTXAS"); !path.empty()) return access(path.c_str(), X_OK) == 0 ? path : "";
  if (const std::string path = FindBelowCuda({"bin/ptxas"}, X_OK); !path.empty()) return path;
  for (absl::string_view dir : absl::StrSplit(Env("PATH"), ':')) {
    const std::string path = absl::StrCat(dir, "/ptxas");
    if (!dir.empty() && access(path.c_str(), X_OK) == 0) return path;
  }
  return "";
}

std::string PtxasVersion() {
  const std::string ptxas = FindPtxas();
  TemporaryFolder folder;
  if (ptxas.empty() || !folder.ok()) return "";
  const std::string log = folder.File("log");
  int status = 0;
  return Run({ptxas, "--version"}, log, &status) ? ReadAll(log) : "";
}

std::string FindLibdevice() {
  if (const std::string path = Env("TILEC_LIBDEVICE"); !path.empty()) return access(path.c_str(), R_OK) == 0 ? path : "";
  return FindBelowCuda({"nvvm/libdevice/libdevice.10.bc"}, R_OK);
}

absl::StatusOr<Assembled> Assemble(const std::string& ptx, const std::string& arch, const AssembleOptions& options) {
  const std::string ptxas = FindPtxas();
  if (ptxas.empty()) {
    return absl::NotFoundError(
        "error[codegen.ptxas]: no ptxas was found, so there is no machine code. Install the CUDA toolkit, name its "
        "folder in CUDA_HOME or the program in TILEC_PTXAS, or use --emit=ptx and let the driver compile");
  }
  TemporaryFolder folder;
  if (!folder.ok()) return absl::UnavailableError("error[codegen.io]: no temporary folder could be made");
  const std::string in = folder.File("kernel.ptx"), out = folder.File("kernel.cubin"), log = folder.File("log");
  std::ofstream(in, std::ios::binary) << ptx;

  std::vector<std::string> words = {ptxas, "-v", absl::StrCat("-O", options.opt_level), absl::StrCat("-arch=", arch)};
  if (options.line_info) words.push_back("-lineinfo");
  words.insert(words.end(), {in, "-o", out});
  int status = 0;
  if (!Run(std::move(words), log, &status)) {
    return absl::UnavailableError(absl::StrCat("error[codegen.ptxas]: ", ptxas, " could not be started"));
  }
  Assembled result;
  result.log = ReadAll(log);
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
    return absl::InternalError(absl::StrCat("error[codegen.ptxas]: ptxas rejects the PTX of this kernel, which is an "
                                            "error of the code generator:\n", result.log));
  }
  result.cubin = ReadAll(out);
  result.registers = NumberBefore(result.log, " registers");
  result.spill_bytes = NumberBefore(result.log, " bytes spill stores") + NumberBefore(result.log, " bytes spill loads");
  result.stack_bytes = NumberBefore(result.log, " bytes stack frame");
  return result;
}

}  // namespace tile::codegen

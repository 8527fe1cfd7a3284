#include "codegen/child_process.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <sstream>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "codegen/cuda_files.h"

extern char** environ;

namespace tile::codegen {

std::string FindCudaProgram(const std::string& name, const char* variable) {
  if (const std::string path = Environment(variable); !path.empty()) return IsExecutable(path) ? path : "";
  if (const std::string path = FindBelowCuda("bin/" + name, /*executable=*/true); !path.empty()) return path;
  for (absl::string_view dir : absl::StrSplit(Environment("PATH"), ':')) {
    const std::string path = absl::StrCat(dir, "/", name);
    if (!dir.empty() && IsExecutable(path)) return path;
  }
  return "";
}

TemporaryFolder::TemporaryFolder() {
  const std::string below = Environment("TMPDIR");
  std::string path = absl::StrCat(below.empty() ? "/tmp" : below, "/tilec-XXXXXX");
  if (mkdtemp(path.data()) != nullptr) path_ = path;
}

TemporaryFolder::~TemporaryFolder() {
  for (const std::string& f : files_) unlink(f.c_str());
  if (!path_.empty()) rmdir(path_.c_str());
}

std::string TemporaryFolder::File(const std::string& name) {
  files_.push_back(path_ + "/" + name);
  return files_.back();
}

std::string ReadAll(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  std::stringstream s;
  s << in.rdbuf();
  return s.str();
}

void WriteAll(const std::string& path, const std::string& bytes) { std::ofstream(path, std::ios::binary) << bytes; }

bool Run(std::vector<std::string> words, const std::string& out, const std::string& err, int* status) {
  std::vector<char*> argv;
  for (std::string& w : words) argv.push_back(w.data());
  argv.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 1, out.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  if (out == err) {
    posix_spawn_file_actions_adddup2(&actions, 1, 2);
  } else {
    posix_spawn_file_actions_addopen(&actions, 2, err.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  }
  pid_t pid = 0;
  const int spawned = posix_spawn(&pid, argv[0], &actions, nullptr, argv.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  return spawned == 0 && waitpid(pid, status, 0) == pid;
}

}  // namespace tile::codegen

#include "codegen/library/worker.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "codegen/assemble/cuda_files.h"

extern char** environ;

namespace tile::codegen {
namespace {

constexpr size_t kMostWords = 4096;  // of what the program said before it ended

// A file without a name, which is gone with the last process that has it open.
class MemoryFile {
 public:
  explicit MemoryFile(const char* name) {
    const int fd = memfd_create(name, MFD_CLOEXEC);
    // Not one of 0, 1, 2, which the host may have closed and which the child gets.
    fd_ = fd < 0 ? -1 : fcntl(fd, F_DUPFD_CLOEXEC, 3);
    if (fd >= 0) close(fd);
  }
  ~MemoryFile() {
    if (fd_ >= 0) close(fd_);
  }
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;

  int fd() const { return fd_; }
  uint64_t size() const {
    struct stat s;
    return fstat(fd_, &s) == 0 ? static_cast<uint64_t>(s.st_size) : 0;
  }
  bool Write(uint64_t at, const void* data, size_t size) {
    const char* p = static_cast<const char*>(data);
    while (size > 0) {
      const ssize_t n = pwrite(fd_, p, size, static_cast<off_t>(at));
      if (n < 0 && errno == EINTR) continue;
      if (n <= 0) return false;
      p += n;
      at += static_cast<uint64_t>(n);
      size -= static_cast<size_t>(n);
    }
    return true;
  }
  bool Read(uint64_t at, void* data, size_t size) const {
    char* p = static_cast<char*>(data);
    while (size > 0) {
      const ssize_t n = pread(fd_, p, size, static_cast<off_t>(at));
      if (n < 0 && errno == EINTR) continue;
      if (n <= 0) return false;
      p += n;
      at += static_cast<uint64_t>(n);
      size -= static_cast<size_t>(n);
    }
    return true;
  }

 private:
  int fd_ = -1;
};

std::string AbsoluteFolder(const std::string& file) {
  const size_t slash = file.find_last_of('/');
  char folder[PATH_MAX];
  return realpath(slash == std::string::npos ? "." : file.substr(0, slash + 1).c_str(), folder) == nullptr ? ""
                                                                                                           : folder;
}

// The folders where the file with this code is: that of the name that it was opened by, that of the file which it leads
// to.
std::pair<std::string, std::string> OwnFolders() {
  Dl_info info;
  if (dladdr(reinterpret_cast<void*>(&FindWorker), &info) == 0 || info.dli_fname == nullptr) return {};
  char file[PATH_MAX];
  return {AbsoluteFolder(info.dli_fname), realpath(info.dli_fname, file) == nullptr ? "" : AbsoluteFolder(file)};
}

// When the library is loaded: its name may be relative to a folder that the host leaves.
const std::pair<std::string, std::string> kOwnFolders = OwnFolders();

Answer Missing(std::string why) { return {TILEC_ENVIRONMENT, absl::StrCat("error[tilec.worker]: ", why)}; }

// The end of what the program said.
std::string LastWords(const MemoryFile& words) {
  const uint64_t size = words.size(), n = std::min<uint64_t>(size, kMostWords);
  std::string text(n, '\0');
  if (!words.Read(size - n, text.data(), n)) return "";
  const absl::string_view said = absl::StripAsciiWhitespace(text);
  return said.empty() ? "" : absl::StrCat(". It said:\n", said);
}

Answer WithoutAnswer(const std::string& program, absl::string_view kernel, bool known, int status,
                     const MemoryFile& words) {
  const std::string said = LastWords(words);
  if (known && WIFEXITED(status) && WEXITSTATUS(status) == 127) {
    return Missing(absl::StrCat(program, " can't be run", said));
  }
  const std::string whose = absl::StrCat(" while it compiled @", kernel);
  if (known && WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL) {
    return {TILEC_ENVIRONMENT, absl::StrCat("error[tilec.memory]: the compiler was killed", whose,
                                            ": most likely by the system, for want of memory", said)};
  }
  const std::string how = !known ? "without an answer"
                          : WIFSIGNALED(status)
                              ? absl::StrCat("by signal ", WTERMSIG(status), " (", strsignal(WTERMSIG(status)), ")")
                              : absl::StrCat("with exit code ", WEXITSTATUS(status));
  return {TILEC_INTERNAL, absl::StrCat("error[tilec.crash]: the compiler ended ", how, whose, said)};
}

}  // namespace

std::string FindWorker() {
  if (const std::string named = Environment("TILEC_WORKER"); !named.empty()) return IsExecutable(named) ? named : "";
  for (const std::string& folder : {kOwnFolders.first, kOwnFolders.second}) {
    const std::string path = folder + "/tilevm/tilec-worker";
    if (!folder.empty() && IsExecutable(path)) return path;
  }
  return "";
}

Answer AskWorker(const std::string& program, const std::string& build_id, absl::Span<const uint8_t> tbc,
                 absl::string_view kernel, int32_t compute_capability) {
  if (program.empty()) {
    return Missing(
        "the program tilec-worker, which compiles, is not in the folder tilevm beside libtilec.so. Install tilec with "
        "./install, or "
        "name the program in TILEC_WORKER");
  }
  MemoryFile request("tilec request"), answer("tilec answer"), words("tilec words");
  WorkerRequest head;
  head.compute_capability = compute_capability;
  head.parent = getpid();
  head.kernel_bytes = kernel.size();
  head.tbc_bytes = tbc.size();
  if (request.fd() < 0 || answer.fd() < 0 || words.fd() < 0 || !request.Write(0, &head, sizeof head) ||
      !request.Write(sizeof head, kernel.data(), kernel.size()) ||
      !request.Write(sizeof head + kernel.size(), tbc.data(), tbc.size())) {
    return Missing(absl::StrCat("no file in memory could be made: ", std::strerror(errno)));
  }
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_adddup2(&files, request.fd(), 0);
  posix_spawn_file_actions_adddup2(&files, answer.fd(), 1);
  posix_spawn_file_actions_adddup2(&files, words.fd(), 2);
  // Signals as in a new process, and none that a terminal sends to the host.
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  posix_spawnattr_setpgroup(&attributes, 0);
  sigset_t signals;
  sigemptyset(&signals);
  posix_spawnattr_setsigmask(&attributes, &signals);
  sigfillset(&signals);
  posix_spawnattr_setsigdefault(&attributes, &signals);
  std::string name = "tilec-worker";
  char* argv[] = {name.data(), nullptr};
  pid_t pid = 0;
  const int spawned = posix_spawn(&pid, program.c_str(), &files, &attributes, argv, environ);
  posix_spawn_file_actions_destroy(&files);
  posix_spawnattr_destroy(&attributes);
  if (spawned != 0) return Missing(absl::StrCat(program, " can't be started: ", std::strerror(spawned)));
  int status = 0;
  pid_t ended = 0;
  do ended = waitpid(pid, &status, 0);
  while (ended < 0 && errno == EINTR);
  // A host may ignore SIGCHLD or collect all children itself: the program has ended all the same.
  const bool known = ended == pid;

  WorkerAnswer got;
  if (!answer.Read(0, &got, sizeof got) || got.magic != kWorkerMagic || answer.size() - sizeof got != got.bytes) {
    return WithoutAnswer(program, kernel, known, status, words);
  }
  if (absl::string_view(got.build_id.data(), got.build_id.size()) != build_id) {
    return Missing(
        absl::StrCat(program, " is not the one that was there when this process began: start the process again"));
  }
  Answer result;
  result.status = got.status;
  result.bytes.resize(got.bytes);
  if (!answer.Read(sizeof got, result.bytes.data(), got.bytes))
    return WithoutAnswer(program, kernel, known, status, words);
  return result;
}

}  // namespace tile::codegen
